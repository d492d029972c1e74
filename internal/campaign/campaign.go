package campaign

import (
	"cmp"
	"context"
	"errors"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/surface"
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
	surface.Kit
	tags     op.ReadTags
	previews map[string]*op.Operation // reads that preview_as can make as a player
}

// New returns the surface.
func New(c Config) (op.Surface, error) {
	if c.Canon == nil {
		return op.Surface{}, errors.New("campaign: a Canon is needed")
	}
	d := &deps{Kit: surface.Kit{Name: Surface, Canon: c.Canon}, tags: c.Tags, previews: map[string]*op.Operation{}}
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
		Doc:        "The game master's store: the entities of the campaign, their relationships, the timeline, and the players' knowledge.",
		Codes:      codes,
		Operations: all,
		Resources:  newResources(d),
		Prompts:    newPrompts(d),
	}, nil
}

// defineGMRead is surface.DefineRead for operations that only the GM may call.
func defineGMRead[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, l *canon.Snapshot, c *op.Call, in In) (Out, error)) *op.Operation {
	s.ListRole = access.RoleGM
	return surface.DefineRead(d.Kit, s, func(ctx context.Context, l *canon.Snapshot, c *op.Call,
		in In) (out Out, err error) {
		if err := requireGM(c, s.Name); err != nil {
			return out, err
		}
		return handle(ctx, l, c, in)
	})
}

// defineWrite declares an operation that commits and that only the GM may call.
func defineWrite[In, Out any](d *deps, s op.Spec,
	handle func(ctx context.Context, d *deps, c *op.Call, in In) (Out, error)) *op.Operation {
	s.Surfaces, s.MinRole, s.ListRole = []string{Surface}, access.RoleUser, access.RoleGM
	s.Effect = cmp.Or(s.Effect, access.Write)
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

// replyCard returns the first card that a call wrote, as it is now visible to the caller. If the
// card was deleted since, the fault names it as a kind of object.
func replyCard(ctx context.Context, l *canon.Snapshot, r canon.Receipt, kind string) (canon.Card, error) {
	c, ok, err := surface.TargetCard(ctx, l, r, 0)
	if err == nil && !ok {
		err = goneFault(kind)
	}
	return c, err
}

// goneFault is the fault for a repeated call about an object that was deleted since.
func goneFault(kind string) error {
	return fault.New(fault.NotFound,
		"%s that this call created no longer exists; repeat the call without the idempotency key", kind)
}
