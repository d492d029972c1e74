package op

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
)

// DefineLoose is Define for an operation that checks its input itself. Callers are shown the
// schema that in returns, but the handler is given any strict JSON object, canonical and without the engine's own
// fields, so that it can record the faults of the input.
func DefineLoose[Out any](s Spec, in func() (*jsonschema.Schema, error),
	handle func(ctx context.Context, c *Call, input json.RawMessage) (Out, error)) *Operation {
	o := &Operation{Spec: s, loose: true}
	o.input = sync.OnceValue(func() *inputForm {
		schema, err := in()
		if err != nil {
			panic("op: input of " + s.Name + ": " + err.Error())
		}
		return formOf(o, schema)
	})
	o.output = sync.OnceValue(func() *outputForm { return newOutputForm(o, reflect.TypeFor[Out]()) })
	o.handle = func(ctx context.Context, c *Call, input, _ []byte) (any, error) { return handle(ctx, c, input) }
	return o
}

// InputOf returns the schema of an input type, inferred as Define documents.
func InputOf[T any]() (*jsonschema.Schema, error) { return inferInput(reflect.TypeFor[T]()) }

// Check checks an input as a call of the operation would. It returns the input in canonical form
// with defaults filled in, without the engine's own fields. Its error lists every fault.
func (o *Operation) Check(input json.RawMessage) (json.RawMessage, error) {
	in, err := o.readInput(Request{Input: input})
	return in.json, err
}

// Run runs the operation's handler on an input from Check, under a grant that a Guard has already
// admitted. It is for requests that are carried out later than they were made. The grant decides
// which changes are committed; nothing is counted or recorded again.
func (o *Operation) Run(ctx context.Context, c *Call, input json.RawMessage) (output json.RawMessage, err error) {
	if !c.Grant.Valid() {
		return nil, fault.New(fault.Internal, "operation %s was run without a grant", o.Name)
	}
	if c.Progress == nil {
		c.Progress = noProgress
	}
	c.Grant = c.Grant.Answering(o.answerIn(input))
	out, err := o.callHandler(ctx, c, input, nil)
	if err != nil {
		return nil, o.withAnswers(toTimeoutFault(ctx, err))
	}
	return o.encodeOutput(out, 0, inputFromJSON(input))
}

// inputFromJSON wraps JSON that has been checked before.
func inputFromJSON(b json.RawMessage) input { return input{json: b} }
