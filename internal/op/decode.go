package op

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// For is the schema of an output type, inferred as Define documents.
func For[T any]() (*jsonschema.Schema, error) { return inferOutput(reflect.TypeFor[T]()) }

// Shape is a schema made ready for decoding JSON that is no operation's input: a body, a
// stored filter, the parts of a plan.
type Shape struct{ shape *shape }

// ShapeOf makes the Shape of a struct, inferred as Define documents for inputs.
func ShapeOf[T any]() (*Shape, error) {
	s, err := inferInput(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	p, err := compile(s)
	return &Shape{p}, err
}

// Decode checks data as an operation's input is checked, completes it with defaults and
// decodes it. Its error is fault.Invalid with every fault by field.
func (s *Shape) Decode(data []byte, into any) error {
	n, err := parse(data)
	if err != nil {
		return err
	}
	var f faults
	s.shape.check(&n, nil, &f)
	if err := f.err(); err != nil {
		return err
	}
	if err := json.Unmarshal(appendCanonical(nil, &n), into, json.RejectUnknownMembers(true)); err != nil {
		return mismatch(err)
	}
	return nil
}
