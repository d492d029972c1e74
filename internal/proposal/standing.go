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
		if g.Kind != c.kind.Name || own || c.rec.Author.Level > g.Level || c.seen.reach.beyond {
			continue
		}
		if d, ok := c.draft.(changeDraft); ok && d.operation.Name != g.Operation {
			continue
		}
		within := func(place []canon.CardID) bool { return slices.Contains(place, g.Under) }
		if !g.Under.IsZero() && (len(c.seen.reach.places) == 0 ||
			slices.ContainsFunc(c.seen.reach.places, func(p []canon.CardID) bool { return !within(p) })) {
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
