package op

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// Define makes an operation of a declaration, its types and its code. In and Out are
// structs whose json tags are the wire names and whose jsonschema tags describe the
// fields. It panics where the declaration is wrong, which a test that builds the
// surfaces shows.
func Define[In, Out any](s Spec, handle func(ctx context.Context, c *Call, in In) (Out, error)) *Operation {
	in, err := jsonschema.For[In](nil)
	if err != nil {
		panic("op: input of " + s.Name + ": " + err.Error())
	}
	out, err := jsonschema.For[Out](nil)
	if err != nil {
		panic("op: output of " + s.Name + ": " + err.Error())
	}
	return &Operation{Spec: s, In: in, Out: out, handle: func(ctx context.Context, c *Call, input []byte) (any, error) {
		var v In
		if err := json.Unmarshal(input, &v); err != nil {
			return nil, err
		}
		return handle(ctx, c, v)
	}}
}
