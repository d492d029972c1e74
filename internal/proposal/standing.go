package proposal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// The types of a ledger's events about standing approvals.
const (
	typeGranted = "Proposal.StandingGranted"
	typeEnded   = "Proposal.StandingEnded"
)

// standingApproval is the payload of a Proposal.StandingGranted event. A caller who may approve
// lets proposals of a kind pass without being asked each time. It replaces only the policy of the
// kind: every gate and every other reason to wait still applies.
type standingApproval struct {
	ID        uuid.UUID      `json:"id"`
	Kind      string         `json:"kind"`
	Operation string         `json:"operation,omitempty"` // of a canon change
	Under     canon.CardID   `json:"under,omitzero"`      // every change is of this card or below it; zero for anywhere
	Name      string         `json:"under_name,omitempty"`
	PerHour   int            `json:"per_hour"`
	By        access.Subject `json:"by"`
	Key       string         `json:"key,omitempty"`
	Level     access.Level   `json:"level"` // of the giver: proposals above it are not let through
	At        time.Time      `json:"-"`
}

// standingEnd is the payload of a Proposal.StandingEnded event.
type standingEnd struct {
	ID  uuid.UUID      `json:"id,omitzero"` // the nil id ends all
	By  access.Subject `json:"by"`
	Key string         `json:"key,omitempty"`
}

// standingApprovals are the standing approvals that have not ended, oldest first.
type standingApprovals []standingApproval

func (s *standingApprovals) foldEntry(e ledgerEntry) {
	switch {
	case e.granted != nil:
		g := *e.granted
		g.At = e.at
		*s = append(*s, g)
	case e.ended != nil:
		*s = slices.DeleteFunc(*s, func(g standingApproval) bool { return e.ended.ID == uuid.Nil || g.ID == e.ended.ID })
	}
}

// touched is the set of cards that a change of a dry run affects.
type touched struct {
	beyond bool             // it does more than create and update cards, links and layers
	places [][]canon.CardID // per change: the card and its ancestors
}

// findStandingApproval returns a standing approval that lets a candidate through now.
func (a *admission) findStandingApproval(c *candidate) (standingApproval, bool) {
	for _, g := range a.standings {
		own := g.By == c.rec.Author.Subject || g.Key != "" && g.Key == c.rec.Author.Key
		if g.Kind != c.kind.Name || own || c.rec.Author.Level > g.Level || c.reach.beyond {
			continue
		}
		if d, ok := c.draft.(changeDraft); ok && d.operation.Name != g.Operation {
			continue
		}
		within := func(place []canon.CardID) bool { return slices.Contains(place, g.Under) }
		if !g.Under.IsZero() && (len(c.reach.places) == 0 ||
			slices.ContainsFunc(c.reach.places, func(p []canon.CardID) bool { return !within(p) })) {
			continue
		}
		if len(a.timesSince(standingKey(g.ID), c.now.Add(-time.Hour), c.now)) < g.PerHour {
			return g, true
		}
	}
	return standingApproval{}, false
}

func standingKey(id uuid.UUID) string { return "standing:" + id.String() }

// touchedBy returns the cards that a change affects, at their places before and after it.
func touchedBy(ctx context.Context, snap *canon.Snapshot, set canon.ChangeSet, scope string) (r touched, err error) {
	images := map[canon.CardID]*canon.CardImage{}
	for _, ch := range set.Changes {
		if ch.Card != nil {
			images[ch.Card.ID] = ch.Card
		}
	}
	add := func(id canon.CardID, after bool) error {
		place, err := cardAndAncestors(ctx, snap, id, images, after)
		r.places = append(r.places, place)
		return err
	}
	for _, ch := range set.Changes {
		switch {
		case ch.Card != nil && (ch.Card.Act == canon.ActCreate || ch.Card.Act == canon.ActUpdate):
			err = add(ch.Card.ID, true)
			if err == nil && ch.Card.Act != canon.ActCreate {
				err = add(ch.Card.ID, false)
			}
		case ch.Link != nil:
			err = add(ch.Link.From, true)
		case ch.Layer != nil:
			err = add(ch.Layer.Card, true)
		default:
			r.beyond = true
		}
		if err != nil {
			return r, err
		}
	}
	if len(set.Changes) == 0 { // an event: the place where it happens
		for part := range strings.SplitSeq(scope, ":") {
			if id, bad := uuid.Parse(part); bad == nil {
				err = add(canon.CardID(id), false)
			}
		}
	}
	return r, err
}

// cardAndAncestors returns a card and all its ancestors.
func cardAndAncestors(ctx context.Context, snap *canon.Snapshot, id canon.CardID,
	images map[canon.CardID]*canon.CardImage, after bool) (list []canon.CardID, err error) {
	for !id.IsZero() && !slices.Contains(list, id) {
		list = append(list, id)
		if im := images[id]; im != nil && after {
			id = im.Parent
			continue
		}
		c, ok, err := snap.ByID(ctx, id)
		if err != nil || !ok {
			return list, err
		}
		id = c.Parent
	}
	return list, nil
}

// standingOut is a standing approval in an answer.
type standingOut struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`
	Operation string         `json:"operation,omitempty"`
	Under     string         `json:"under,omitempty" jsonschema:"Only changes of this card and of what lies below it."`
	PerHour   int            `json:"perHour" jsonschema:"Most proposals that it lets through in an hour."`
	By        access.Subject `json:"by"`
	At        time.Time      `json:"atUtc"`
}

type standingsOut struct {
	Standing []standingOut `json:"standing"`
}

type giveIn struct {
	Kind      string `json:"kind" enum:"canon_change,quest,world_event" jsonschema:"The kind of proposal; the others need no approval."`
	Operation string `json:"operation,omitzero" maxlen:"64" jsonschema:"Of canon_change: the one write that is let through, such as update_card. None that destroys."`
	Under     string `json:"under,omitzero" maxlen:"1020" jsonschema:"A card: only changes of it and of what lies below it; anywhere unless given."`
	PerHour   int    `json:"perHour" min:"1" max:"60" numeric:"string" jsonschema:"Most proposals that it lets through in an hour."`
}

type endIn struct {
	ID string `json:"id,omitzero" format:"uuid" jsonschema:"The one to end; all of this world unless given."`
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
			Doc:      "List the standing approvals in force: which proposals pass without a person being asked. Needs a key that may approve.",
			Examples: []op.Example{{Title: "All", Input: `{}`}},
		}), func(ctx context.Context, c *op.Call, _ struct{}) (standingsOut, error) {
			return s.listStanding(ctx, c.Grant)
		}),
		op.Define(spec(access.Propose, op.Spec{
			Name: "give-standing-approval", Title: "Give a standing approval", Route: "POST /api/standing-approvals",
			Status: 201,
			Doc: "Let proposals of a kind pass without asking each time, up to a number an hour, and if you like only below a card. Every gate holds as before, and what rests on imported or hidden text still waits. " +
				"Needs a key that may approve; your own proposals are not let through.",
			Examples: []op.Example{{Title: "Changes of the quay",
				Input: `{"kind": "canon_change", "operation": "update_card", "under": "Rent Quay", "perHour": 10}`}},
		}), s.giveStanding),
		op.Define(spec(access.Propose, op.Spec{
			Name: "end-standing-approvals", Title: "End standing approvals", Route: "POST /api/standing-approvals/end",
			Doc:      "End every standing approval of the world, or one of them. What passed stays; what comes waits for a person again.",
			Examples: []op.Example{{Title: "All of them", Input: `{}`}},
		}), func(ctx context.Context, c *op.Call, in endIn) (standingsOut, error) {
			return s.endStanding(ctx, c.Grant, in)
		}),
	}
}

// requireApprover refuses callers who may not decide on proposals.
func requireApprover(g access.Grant) error {
	if g.Caller().Approve {
		return nil
	}
	return fault.New(fault.Denied,
		"standing approvals need a key that may approve; make one with loregate key create --actor person --approve")
}

// StandingLines describes each standing approval of a grant's world in one line.
func (s *Service) StandingLines(ctx context.Context, g access.Grant) (lines []string, err error) {
	list, err := s.visibleStandingApprovals(ctx, g)
	for _, x := range list {
		where := "anywhere"
		if x.Name != "" {
			where = "of " + x.Name + " and below"
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s", x.Kind,
			x.Operation))+fmt.Sprintf(" %s, %d an hour, by %s", where, x.PerHour, x.By))
	}
	return lines, err
}

// visibleStandingApprovals returns the standing approvals of a grant's world that its view can see.
// An approval below a card is hidden together with the card, and shows the card's current name.
func (s *Service) visibleStandingApprovals(ctx context.Context, g access.Grant) (seen []standingApproval, err error) {
	led := s.ledgerOf(g.World())
	if err := s.refreshCatalogue(ctx, g, led); err != nil {
		return nil, err
	}
	led.showMu.Lock()
	all := slices.Clone([]standingApproval(led.catalogue.standings))
	led.showMu.Unlock()
	err = s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		for _, x := range all {
			ok := x.Level <= g.View().Level
			if ok && !x.Under.IsZero() {
				var c canon.Card
				if c, ok, err = l.ByID(ctx, x.Under); err != nil {
					return err
				}
				x.Name = c.Name
			}
			if ok {
				seen = append(seen, x)
			}
		}
		return nil
	})
	return seen, err
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
			return fault.BadField("operation", "is of canon_change alone")
		}
		return nil
	}
	var o *op.Operation
	if s.cfg.Operation != nil {
		o, _ = s.cfg.Operation(in.Operation)
	}
	if o == nil || o.Effect != access.Write || o.NoWorld || o.Operator {
		return fault.BadField("operation",
			"names the one write that is let through, such as update_card or create_card; none that destroys")
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
				"there is no standing approval %q; list-standing-approvals shows those in force", in.ID)
		}
	}
	if err := s.addToLedger(ctx, g, typeEnded, e); err != nil {
		return standingsOut{}, err
	}
	return s.listStanding(ctx, g)
}

// addToLedger adds one event to the world's ledger.
func (s *Service) addToLedger(ctx context.Context, g access.Grant, typ string, payload any) error {
	_, err := s.cfg.Canon.UpdateLedger(ctx, g, s.ledgerOf(g.World()).stream, func(*canon.LedgerTx) ([]canon.Event, error) {
		e, err := eventOf(typ, payload)
		return []canon.Event{e}, err
	})
	return decisionFault(err)
}
