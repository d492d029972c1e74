package op

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// For returns the schema of an output type, inferred as Define documents.
func For[T any]() (*jsonschema.Schema, error) { return inferOutput(reflect.TypeFor[T]()) }

// Shape is a schema compiled for decoding JSON other than an operation's input: a body, a stored
// filter, the parts of a plan.
type Shape struct{ shape *shape }

// ShapeOf compiles the Shape of a struct, inferred as Define documents for inputs.
func ShapeOf[T any]() (*Shape, error) {
	s, err := inferInput(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	p, err := compileSchema(s)
	return &Shape{p}, err
}

// Decode checks data like an operation's input, fills in defaults and decodes it. Its error is
// fault.Invalid and lists every fault by field.
func (s *Shape) Decode(data []byte, into any) error {
	n, err := parseJSON(data)
	if err != nil {
		return err
	}
	var f faults
	s.shape.checkValue(&n, nil, &f)
	if err := f.err(); err != nil {
		return err
	}
	if err := json.Unmarshal(appendCanonical(nil, &n), into, json.RejectUnknownMembers(true)); err != nil {
		return faultFromDecode(err)
	}
	return nil
}
