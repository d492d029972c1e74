package world

import (
	"context"
	"encoding/json"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Reread answers the call of a context tool again, byte for byte as it was answered when the
// reference was given. Later changes do not matter, not even of names, codenames and the place
// where players begin; but the answer differs if a card that it showed has been erased, hidden or
// trashed since.
//
// The grant must reach as far as the view of the reference. Cards that were shared with the reader
// of the reference by name are read again only for that reader. The error is fault.Invalid if ref
// is not a reference of this world, or fault.Denied.
func (w *World) Reread(ctx context.Context, g access.Grant, ref string) (answer json.RawMessage, err error) {
	r, err := w.refs.open(g.World(), ref)
	if err != nil {
		return nil, err
	}
	tool := w.tools[r.Tool]
	if tool == nil {
		return nil, fault.BadField("contextRef", "is of a tool that is no more; read the context again")
	}
	if g, err = grantForRef(g, r); err != nil {
		return nil, err
	}
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		m := &AsOf{Snapshot: snap, w: w, Seq: r.Seq, readAt: time.UnixMilli(r.Read).UTC(), resolved: r.Meant,
			rereading: r.Meant != nil}
		answer, err = tool(ctx, m, r.Args)
		return err
	})
	return answer, err
}

// View returns the view that a reference was read with. Callers use it to decide which readers
// may see the content.
func (w *World) View(g access.Grant, ref string) (access.View, error) {
	r, err := w.refs.open(g.World(), ref)
	return access.View{Level: r.Level, Subject: r.Subject, Ceiling: r.Ceiling}, err
}

// Position returns the commit that a reference shows.
func (w *World) Position(g access.Grant, ref string) (canon.Seq, error) {
	r, err := w.refs.open(g.World(), ref)
	return r.Seq, err
}

// grantForRef returns the grant with the view of a reference.
func grantForRef(g access.Grant, r contextRef) (access.Grant, error) {
	v := g.View()
	switch {
	case v.Level == r.Level && v.Subject == r.Subject && v.Ceiling == r.Ceiling:
		return g, nil
	case v.Level < r.Level:
		return g, fault.New(fault.Denied,
			"this context was read by a higher role; use a key of that role").With("required_role", r.Level.String())
	}
	return g.As(r.Level), nil
}

// sealContext returns the reference of an answer that was read from m.
func (w *World) sealContext(m *AsOf, tool string, args json.RawMessage) (string, error) {
	v := m.View()
	return w.refs.seal(m.World().ID, contextRef{Tool: tool, Args: args, Seq: m.position(), Level: v.Level,
		Subject: v.Subject,
		Ceiling: v.Ceiling, Read: m.readAt.UnixMilli(), Meant: m.resolved})
}
