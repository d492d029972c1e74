package op

import (
	"reflect"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// For returns the schema of an output type, inferred as Define documents.
func For[T any]() (*jsonschema.Schema, error) { return inferOutput(reflect.TypeFor[T]()) }

// Shape is a schema compiled for decoding JSON other than an operation's input: a body, a stored
// filter, the parts of a plan.
type Shape struct{ compiled func() (*shape, error) }

// ShapeOf returns the Shape of a struct, inferred as Define documents for inputs when it is first needed.
func ShapeOf[T any]() *Shape {
	return &Shape{sync.OnceValues(func() (*shape, error) {
		s, err := inferInput(reflect.TypeFor[T]())
		if err != nil {
			return nil, err
		}
		return compileSchema(s)
	})}
}

// Decode checks data like an operation's input, fills in defaults and decodes it. Its error is
// fault.Invalid and lists every fault by field.
func (s *Shape) Decode(data []byte, into any) error {
	p, err := s.compiled()
	if err != nil {
		return err
	}
	n, err := parseJSON(data)
	if err != nil {
		return err
	}
	var f faults
	p.checkValue(&n, nil, &f)
	if err := f.err(); err != nil {
		return err
	}
	if err := json.Unmarshal(appendCanonical(nil, &n), into, json.RejectUnknownMembers(true)); err != nil {
		return faultFromDecode(err)
	}
	return nil
}
