package front

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Surface is the name of the default set as a surface.
const Surface = "default"

// Engine invokes and finds operations. [op.Local] implements it.
type Engine interface {
	op.Invoker
	// Operations returns the operations that are of use to the caller on a surface ("" for all).
	Operations(c access.Caller, surface string) []*op.Operation
	// Exists reports whether an operation exists for the caller on a surface ("" for any).
	Exists(c access.Caller, surface, name string) bool
	Find(name string) (*op.Operation, bool)
	Surfaces() []op.Surface
}

// Config configures a Front.
type Config struct {
	// Shared are operations of other surfaces that the set shows too, in this order, before its own.
	Shared []*op.Operation
	Random func([]byte) // randomness of dice; required
}

// Front holds the tools of the default set.
type Front struct {
	engine Engine
	cfg    Config
	words  catalogue
}

// New returns the set. Connect it to an engine before its first call.
func New(c Config) *Front { return &Front{cfg: c} }

// Connect sets the engine, whose surfaces contain this one.
func (f *Front) Connect(e Engine) { f.engine = e }

// Surface returns the set as a surface. It adds itself to the surfaces of the shared operations.
func (f *Front) Surface() op.Surface {
	for _, o := range f.cfg.Shared {
		o.Surfaces = append(slices.Clone(o.Surfaces), Surface)
	}
	own := []*op.Operation{
		f.browseOp(), f.historyOp(), f.contextOp(), f.askOp(), f.writeOp(), f.linkOp(), f.uploadOp(), f.proposeOp(),
		f.rollOp(), f.findOp(), f.callOp(), f.changeOp(), f.openOp(),
	}
	return op.Surface{
		Name:       Surface,
		Title:      "Default set",
		Doc:        "The most useful tools, and the doors to all others; shown where an address names no set.",
		Operations: append(slices.Clone(f.cfg.Shared), own...),
	}
}

// define declares a tool of the set in a world. Its handler calls other operations.
func define[In, Out any](s op.Spec, handle func(context.Context, *op.Call, In) (Out, error)) *op.Operation {
	s.Surfaces, s.MinRole, s.Delegates, s.TextOnly = []string{Surface}, access.RoleUser, true, true
	return op.Define(s, handle)
}

// invoke calls an operation as a part of a call and decodes its output.
func invoke[Out any](ctx context.Context, f *Front, c *op.Call, operation string, input any) (out Out, err error) {
	a, err := f.invokeRaw(ctx, c, operation, input)
	if err != nil {
		return out, err
	}
	return out, decode(a.Output, &out)
}

// invokeRaw calls an operation as a part of a call.
func (f *Front) invokeRaw(ctx context.Context, c *op.Call, operation string, input any) (*op.Answer, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return nil, fault.New(fault.Internal, "input of %s", operation).Because(err)
	}
	a, err := f.engine.Invoke(ctx, c.Grant.Caller(), c.PartOf(operation, b))
	if err != nil {
		return nil, ownFault(err)
	}
	if a.Asks != nil {
		return nil, &op.Asking{Form: *a.Asks}
	}
	c.Reply.Replayed = c.Reply.Replayed || a.Reply.Replayed
	return a, nil
}

// ownFault returns the error of a part as one of the whole call: without the example of an operation that the caller has
// not named, and with the codes of the default set.
func ownFault(err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	own := *e
	own.Message, _, _ = strings.Cut(e.Message, "; for example {")
	return &own
}

func decode(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fault.New(fault.Internal, "an operation's output has another form").Because(err)
	}
	return nil
}

// isAbsent reports whether an optional part of an answer does not exist for the caller.
func isAbsent(err error) bool {
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Denied, fault.Invalid, fault.Rule:
		return err != nil
	}
	return false
}

// args is the input of a part.
type args map[string]any

// set adds a member unless the value is zero.
func set[T comparable](a args, name string, v T) {
	var zero T
	if v != zero {
		a[name] = v
	}
}
