package surface

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
)

// Kit makes the operations of one surface.
type Kit struct {
	Name  string // of the surface
	Canon *canon.Canon
}

// DefineRead declares an operation that changes nothing. Its handler gets a snapshot of the call's
// world that shows only the cards visible to the caller. MinRole is the user role unless s has a
// higher one.
func DefineRead[In, Out any](k Kit, s op.Spec,
	handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces, s.Effect, s.MinRole = []string{k.Name}, access.Read, max(s.MinRole, access.RoleUser)
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (Out, error) {
		return Read(ctx, k, c, func(l *canon.Snapshot) (Out, error) { return handle(ctx, l, c, in) })
	})
}

// Read runs f on a snapshot of the call's world and returns its result.
func Read[T any](ctx context.Context, k Kit, c *op.Call, f func(*canon.Snapshot) (T, error)) (out T, err error) {
	err = k.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
		out, err = f(l)
		return err
	})
	return out, err
}

// Change is a change of the canon and the answer to its call.
type Change[Out any] struct {
	Grant access.Grant                // zero: the call's
	Check func(*canon.Snapshot) error // runs before Plan and before Reply; nil checks nothing
	Plan  func(*canon.Plan) error
	Reply func(*canon.Snapshot, canon.Receipt) (Out, error)
}

// Commit plans and commits a change. It builds the answer, also that to a repeated call, from the
// cards that are visible to the caller now.
func Commit[Out any](ctx context.Context, k Kit, c *op.Call, ch Change[Out]) (out Out, err error) {
	if !ch.Grant.Valid() {
		ch.Grant = c.Grant
	}
	if ch.Check == nil {
		ch.Check = func(*canon.Snapshot) error { return nil }
	}
	receipt, err := k.Canon.Update(ctx, ch.Grant, func(p *canon.Plan) error {
		if err := ch.Check(p.Snapshot); err != nil {
			return err
		}
		return ch.Plan(p)
	})
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	err = k.Canon.ReadAfter(ctx, c.Grant, receipt, func(l *canon.Snapshot) error {
		if err := ch.Check(l); err != nil {
			return err
		}
		out, err = ch.Reply(l, receipt)
		return err
	})
	return out, err
}

// TargetCard returns the n-th card that a call acted on, as it is now visible to the caller; false
// if there is none. For a dry run it returns the card as it would be.
func TargetCard(ctx context.Context, l *canon.Snapshot, r canon.Receipt, n int) (canon.Card, bool, error) {
	if n >= len(r.Targets) {
		return canon.Card{}, false, nil
	}
	if c, ok := CommittedCard(r, n); ok && r.DryRun {
		return c, true, nil
	}
	return l.ByID(ctx, r.Targets[n])
}

// CommittedCard returns the n-th card that a call acted on as its commit left it. It returns false
// for a repeated call, which committed nothing.
func CommittedCard(r canon.Receipt, n int) (canon.Card, bool) {
	for _, c := range slices.Backward(r.Cards) {
		if c.ID == r.Targets[n] {
			return c, true
		}
	}
	return canon.Card{}, false
}
