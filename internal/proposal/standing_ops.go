package proposal

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// standingOut is a standing approval in an answer.
type standingOut struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Operation string         `json:"operation,omitempty"`
	Under     string         `json:"under,omitempty" jsonschema:"Only changes of this card and of the cards below it."`
	PerHour   int            `json:"perHour" jsonschema:"Maximum of proposals that it lets through in an hour."`
	By        access.Subject `json:"by"`
	At        time.Time      `json:"atUtc"`
}

type standingsOut struct {
	Standing []standingOut `json:"standing"`
}

type giveIn struct {
	Kind      string `json:"kind" enum:"canon_change,quest,world_event" jsonschema:"Kind of proposal. The other kinds need no approval."`
	Operation string `json:"operation,omitzero" maxlen:"64" jsonschema:"For canon_change: the one write operation that is let through, such as update_card. It must not destroy data."`
	Under     string `json:"under,omitzero" maxlen:"1020" jsonschema:"A card: only changes of it and of the cards below it are let through. Default: all changes."`
	PerHour   int    `json:"perHour" min:"1" max:"60" numeric:"string" jsonschema:"Maximum of proposals that it lets through in an hour."`
}

type endIn struct {
	ID string `json:"id,omitzero" format:"uuid" jsonschema:"Id of the approval to end. Default: all approvals of this world."`
}

// standingOps returns the operations on standing approvals.
func (s *Service) standingOps() []*op.Operation {
	spec := func(e access.Effect, o op.Spec) op.Spec {
		o.Surfaces, o.Effect, o.MinRole, o.Approver, o.NoTool = []string{Surface}, e, access.RoleGM, true, true
		return o
	}
	return []*op.Operation{
		op.Define(spec(access.Read, op.Spec{
			Name: "list-standing-approvals", Title: "List standing approvals", Route: "GET /api/standing-approvals",
			Doc:      "List the standing approvals that have not ended. Their proposals pass without asking a person. Needs a key that may approve.",
			Examples: []op.Example{{Title: "All", Input: `{}`}},
		}), func(ctx context.Context, c *op.Call, _ struct{}) (standingsOut, error) {
			return s.listStanding(ctx, c.Grant)
		}),
		op.Define(spec(access.Propose, op.Spec{
			Name: "give-standing-approval", Title: "Give a standing approval", Route: "POST /api/standing-approvals",
			Status: 201,
			Doc: "Let proposals of a kind pass without asking each time, up to a number an hour, and optionally only below a card. Every gate still applies, and proposals based on imported or hidden text still wait. " +
				"Needs a key that may approve. Your own proposals are not let through.",
			Examples: []op.Example{{Title: "Changes of the quay",
				Input: `{"kind": "canon_change", "operation": "update_card", "under": "Rent Quay", "perHour": 10}`}},
		}), s.giveStanding),
		op.Define(spec(access.Propose, op.Spec{
			Name: "end-standing-approvals", Title: "End standing approvals", Route: "POST /api/standing-approvals/end",
			Doc:      "End all standing approvals of the world, or one of them. Applied proposals stay; later ones wait for a person again.",
			Examples: []op.Example{{Title: "All of them", Input: `{}`}},
		}), func(ctx context.Context, c *op.Call, in endIn) (standingsOut, error) {
			return s.endStanding(ctx, c.Grant, in)
		}),
	}
}

// requireApprover refuses callers who may not decide on proposals.
func requireApprover(g access.Grant) error {
	if g.MayDecide() {
		return nil
	}
	return fault.New(fault.Denied,
		"standing approvals need a key that may approve; make one with loregate key create --actor person --approve")
}

func (s *Service) listStanding(ctx context.Context, g access.Grant) (out standingsOut, err error) {
	if err := requireApprover(g); err != nil {
		return out, err
	}
	list, err := s.visibleStandingApprovals(ctx, g)
	for _, x := range list {
		out.Standing = append(out.Standing, standingOut{x.ID.String(), x.Kind, x.Operation, x.Name, x.PerHour, x.By, x.At})
	}
	return out, err
}

func (s *Service) giveStanding(ctx context.Context, c *op.Call, in giveIn) (standingsOut, error) {
	if err := requireApprover(c.Grant); err != nil {
		return standingsOut{}, err
	}
	if err := s.checkStandingInput(in); err != nil {
		return standingsOut{}, err
	}
	who := c.Grant.Caller()
	g := standingApproval{ID: s.cfg.NewID(), Kind: in.Kind, Operation: in.Operation, PerHour: in.PerHour, By: who.Subject,
		Key: who.Key, Level: c.Grant.View().Level}
	if in.Under != "" {
		err := s.cfg.Canon.Read(ctx, c.Grant, func(l *canon.Snapshot) error {
			card, err := l.Find(ctx, in.Under)
			g.Under, g.Name = card.ID, card.Name
			return err
		})
		if err != nil {
			return standingsOut{}, err
		}
	}
	if err := s.addToLedger(ctx, c.Grant, typeGranted, g); err != nil {
		return standingsOut{}, err
	}
	return s.listStanding(ctx, c.Grant)
}

// checkStandingInput checks that a standing approval may be given for the kind and operation.
func (s *Service) checkStandingInput(in giveIn) error {
	if in.Kind != CanonChange {
		if in.Operation != "" {
			return fault.BadField("operation", "is only valid for canon_change")
		}
		return nil
	}
	var o *op.Operation
	if s.cfg.Operation != nil {
		o, _ = s.cfg.Operation(in.Operation)
	}
	if o == nil || o.Effect != access.Write || o.NoWorld || o.Operator {
		return fault.BadField("operation",
			"must name one write operation that destroys no data, such as update_card or create_card")
	}
	return nil
}

func (s *Service) endStanding(ctx context.Context, g access.Grant, in endIn) (standingsOut, error) {
	if err := requireApprover(g); err != nil {
		return standingsOut{}, err
	}
	e := standingEnd{By: g.Caller().Subject, Key: g.Caller().Key}
	if in.ID != "" {
		list, err := s.visibleStandingApprovals(ctx, g)
		if err != nil {
			return standingsOut{}, err
		}
		e.ID = uuid.MustParse(in.ID) // the schema has checked its form
		if !slices.ContainsFunc(list, func(x standingApproval) bool { return x.ID == e.ID }) {
			return standingsOut{}, fault.New(fault.NotFound,
				"there is no standing approval %q; list-standing-approvals shows those that have not ended", in.ID)
		}
	}
	if err := s.addToLedger(ctx, g, typeEnded, e); err != nil {
		return standingsOut{}, err
	}
	return s.listStanding(ctx, g)
}

// addToLedger adds one event to the world's ledger.
func (s *Service) addToLedger(ctx context.Context, g access.Grant, typ string, payload any) error {
	_, err := s.updateLedger(ctx, g, typ, func(*admission) (any, error) { return payload, nil })
	return decisionFault(err)
}
