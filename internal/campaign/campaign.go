package campaign

import (
	"context"
	"errors"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Surface is the name of this surface.
const Surface = "campaign"

// codes maps error codes to the words of seed 002.
var codes = map[string]string{
	"validation_error":  "INVALID_PARAMS",
	"not_found":         "NOT_FOUND",
	"unauthorized":      "UNAUTHORIZED",
	"permission_denied": "FORBIDDEN",
	"internal_error":    "INTERNAL_ERROR",
	"rate_limited":      "RATE_LIMITED",
	"conflict":          "CONFLICT",
	"payload_too_large": "PAYLOAD_TOO_LARGE",
	"unavailable":       "UNAVAILABLE",
}

// Config configures the surface. Canon is required.
type Config struct {
	Canon *canon.Canon
	Tags  op.ReadTags // tags of entities that were read; processes on one store share their key
}

// deps holds the dependencies of the operations.
type deps struct {
	canon    *canon.Canon
	tags     op.ReadTags
	previews map[string]*op.Operation // reads that preview_as can make as a player
}

// New returns the surface.
func New(c Config) (op.Surface, error) {
	if c.Canon == nil {
		return op.Surface{}, errors.New("campaign: a Canon is needed")
	}
	d := &deps{canon: c.Canon, tags: c.Tags, previews: map[string]*op.Operation{}}
	var all []*op.Operation
	for _, area := range []func(*deps) []*op.Operation{
		campaignOps, entityReads, entityWrites, relationOps, mapOps, timelineOps, sessionOps, revealOps, knowledgeOps,
		conflictOps, systemOps,
	} {
		all = append(all, area(d)...)
	}
	for _, o := range all {
		if isPreviewable(o.Name) {
			d.previews[o.Name] = o
		}
	}
	return op.Surface{
		Name:       Surface,
		Title:      "Campaign",
		Doc:        "The game master's store: who and what is in the campaign, how they relate, when things happened, and what the players know of it.",
		Codes:      codes,
		Operations: all,
		Resources:  newResources(d),
		Prompts:    newPrompts(d),
	}, nil
}

// defineRead declares an operation that changes nothing. Its handler gets a snapshot of the
// campaign that shows only the cards visible to the caller.
func defineRead[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces, s.Effect, s.MinRole = []string{Surface}, access.Read, access.RoleUser
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		err = d.canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
			out, err = handle(ctx, l, c, in)
			return err
		})
		return out, err
	})
}

// defineGMRead is defineRead for operations that only the GM may call.
func defineGMRead[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
	return defineRead(d, s, func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (out Out, err error) {
		if err := requireGM(c, s.Name); err != nil {
			return out, err
		}
		return handle(ctx, l, c, in)
	})
}

// defineWrite declares an operation that commits and that only the GM may call.
func defineWrite[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, d *deps, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces, s.MinRole = []string{Surface}, access.RoleUser
	if s.Effect == "" {
		s.Effect = access.Write
	}
	return op.Define(s, func(ctx context.Context, c *op.Call, in In) (out Out, err error) {
		if err := requireGM(c, s.Name); err != nil {
			return out, err
		}
		return handle(ctx, d, c, in)
	})
}

// requireGM refuses callers below the role GM, before any card is read.
func requireGM(c *op.Call, operation string) error {
	if c.Grant.Role() >= access.RoleGM {
		return nil
	}
	return fault.New(fault.Denied, "%s is for the game master of this campaign; ask them, or use a key with the role gm",
		operation).
		With("required_role", access.RoleGM.String())
}

// task is one change and its reply.
type task[Out any] struct {
	plan  func(*canon.Plan) error
	reply func(*canon.Snapshot, canon.Receipt) (Out, error)
}

// commit plans and commits a task and builds its reply, also that of a repeated call, from the
// cards that are visible to the caller now.
func commit[Out any](ctx context.Context, d *deps, c *op.Call, t task[Out]) (out Out, err error) {
	receipt, err := d.canon.Update(ctx, c.Grant, t.plan)
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	err = d.canon.ReadAfter(ctx, c.Grant, receipt, func(l *canon.Snapshot) error {
		out, err = t.reply(l, receipt)
		return err
	})
	return out, err
}

// targetCard returns the n-th card that a call acted on, as it is now visible to the caller. For a
// dry run it returns the card as it would be.
func targetCard(ctx context.Context, l *canon.Snapshot, r canon.Receipt, n int) (canon.Card, bool, error) {
	if n >= len(r.Targets) {
		return canon.Card{}, false, nil
	}
	if r.DryRun {
		for i := len(r.Cards) - 1; i >= 0; i-- {
			if r.Cards[i].ID == r.Targets[n] {
				return r.Cards[i], true, nil
			}
		}
	}
	return l.ByID(ctx, r.Targets[n])
}
