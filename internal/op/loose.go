package op

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
)

// DefineLoose is Define for an operation that judges its input itself: callers are shown the
// schema, and the handler is given whatever strict JSON object came, canonical and without
// the engine's own fields, so that it can record what is wrong with it.
func DefineLoose[Out any](s Spec, in *jsonschema.Schema, handle func(ctx context.Context, c *Call, input json.RawMessage) (Out, error)) *Operation {
	out, err := inferOutput(reflect.TypeFor[Out]())
	if err != nil {
		panic("op: output of " + s.Name + ": " + err.Error())
	}
	o := &Operation{Spec: s, In: in, Out: out, loose: true}
	if o.shape, err = compile(in); err != nil {
		panic("op: input of " + s.Name + ": " + err.Error())
	}
	o.shownIn, o.shownOut = shownInput(o), shownOutput(o)
	o.handle = func(ctx context.Context, c *Call, input, _ []byte) (any, error) { return handle(ctx, c, input) }
	return o
}

// InputOf is the schema of an input type, inferred as Define documents.
func InputOf[T any]() (*jsonschema.Schema, error) { return inferInput(reflect.TypeFor[T]()) }

// Check checks an input as a call of the operation would, and gives it canonical and
// complete with defaults, without the engine's own fields. Its error lists every fault.
func (o *Operation) Check(input json.RawMessage) (json.RawMessage, error) {
	in, err := o.read(Request{Input: input})
	return in.json, err
}

// Run runs the operation's handler on an input that Check gave, under a grant that a
// Guard has admitted already: for those who carry out later what was asked for before. The
// grant decides what is committed; nothing is counted or recorded again.
func (o *Operation) Run(ctx context.Context, c *Call, input json.RawMessage) (output json.RawMessage, err error) {
	if !c.Grant.Valid() {
		return nil, fault.New(fault.Internal, "operation %s was run without a grant", o.Name)
	}
	if c.Progress == nil {
		c.Progress = noProgress
	}
	out, err := o.safely(ctx, c, input, nil)
	if err != nil {
		return nil, timely(ctx, err)
	}
	return o.encode(out, 0, beforehand(input))
}

// beforehand is an input that was read before.
func beforehand(b json.RawMessage) input { return input{json: b} }
