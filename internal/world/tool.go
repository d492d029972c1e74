package world

import (
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// rereadFunc answers the call of a tool again from m. args are the arguments that the reference
// recorded.
type rereadFunc func(ctx context.Context, m *AsOf, args json.RawMessage) (json.RawMessage, error)

// ContextTool declares a tool that reads a context. Its answers contain a reference, and can be
// read again.
func ContextTool[In any, Out any](w *World, s op.Spec,
	answer func(ctx context.Context, m *AsOf, in In) (Out, error)) *op.Operation {
	s.Effect, s.MinRole = access.Read, max(s.MinRole, access.RoleUser)
	w.tools[s.Name] = func(ctx context.Context, m *AsOf, args json.RawMessage) (json.RawMessage, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.BadField("contextRef", "does not match its tool; read the context again").Because(err)
		}
		if t, ok := any(&in).(timedInput); ok && t.requestedTime().Tick != nil {
			m.Tick, m.tickFixed = *t.requestedTime().Tick, true
		}
		out, err := answer(ctx, m, in)
		if err != nil {
			return nil, err
		}
		return op.Encode(out)
	}
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		err = w.canon.Read(ctx, c.Grant, func(snap *canon.Snapshot) error {
			ask := timeInput{}
			t, isTimed := any(&in).(timedInput)
			if isTimed {
				ask = t.requestedTime()
			}
			m, err := w.readAsOf(ctx, snap, ask)
			if err != nil {
				return err
			}
			if out, err = answer(ctx, m, in); err != nil {
				return err
			}
			if isTimed {
				t.fixTick(m.Tick)
			}
			return w.addCitation(c, m, s.Name, in, &out)
		})
		return out, err
	})
}

// Citation is the member of an answer with which a proposal cites it. It comes first, so that
// clients that cut long answers still show it to their model.
type Citation struct {
	ContextRef string `json:"contextRef,omitzero" jsonschema:"Send this as contextRef with a proposal that you base on this answer."`
}

// CiteAs sets the reference.
func (c *Citation) CiteAs(ref string) { c.ContextRef = ref }

// Item is an answer that consists of one item, which contains a Citation, or of none.
type Item[T any] struct {
	Item *T `json:"item"`
}

// CiteAs sets the reference of the item, if there is one.
func (i *Item[T]) CiteAs(ref string) {
	if c, ok := any(i.Item).(citable); ok && i.Item != nil {
		c.CiteAs(ref)
	}
}

// citable is implemented by answers with a citation. CiteAs does nothing if the answer is empty.
type citable interface{ CiteAs(ref string) }

// addCitation puts the reference of an answer into the answer and into its _meta.
func (w *World) addCitation(c *op.Call, m *AsOf, tool string, in any, out any) error {
	args, err := op.Encode(in)
	if err != nil {
		return err
	}
	ref, err := w.sealContext(m, tool, args)
	if err != nil {
		return err
	}
	if o, ok := out.(citable); ok {
		o.CiteAs(ref)
	}
	if c.Reply.Meta == nil {
		c.Reply.Meta = map[string]any{}
	}
	c.Reply.Meta["contextRef"] = ref
	return nil
}
