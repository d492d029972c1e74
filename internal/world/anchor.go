package world

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// linkAnchor is the kind of the links that keep the anchors of places: from a place to
// itself, one for each label of those who met there, with attribute clock.
const linkAnchor = "anchor"

// maxLead is how far an anchor, and a player, may be ahead of the world's clock.
const maxLead = hour

// policy is how a player and a place come to one time.
type policy string

// The policies; "" where both have the same time already.
const (
	policyWait     policy = "wait"     // the player is behind, and moves up
	policySlow     policy = "slow"     // the player is ahead, and the place moves up
	policyCompress policy = "compress" // the player is far ahead, and stands until the place catches up
)

// reckoning is how a player and a place come to one time: the payload of
// Player.Clock.Reconciled.
type reckoning struct {
	PlayerID   canon.CardID `json:"playerId"`
	LocationID canon.CardID `json:"locationId"`
	Policy     policy       `json:"policy"`
	From       int64        `json:"fromClock"` // the player's clock before
	Clock      int64        `json:"clock"`     // and after
	FromAnchor int64        `json:"fromAnchor"`
	Anchor     int64        `json:"anchor"`
	World      int64        `json:"world"`
}

// reckon brings a player's clock and a place's anchor together. Neither falls, and the
// anchor stays within maxLead of the world's clock.
func reckon(clock, anchor, world int64) reckoning {
	r := reckoning{From: clock, Clock: clock, FromAnchor: anchor, Anchor: anchor, World: world}
	switch ahead := clock - anchor; {
	case ahead <= -minute:
		r.Policy, r.Clock = policyWait, anchor
	case ahead < minute:
	case ahead < maxLead:
		r.Policy, r.Anchor = policySlow, min(clock, world+maxLead)
	default:
		r.Policy = policyCompress
	}
	return r
}

// anchorOf is a place's time: that of the world, or up to an hour later where players met
// who were ahead of it. Of the place's links those count that seen accepts.
func anchorOf(links []canon.Link, world int64, seen func(access.Label) bool) int64 {
	return min(max(world, met(links, seen)), world+maxLead)
}

// met is the latest time that players met at.
func met(links []canon.Link, seen func(access.Label) bool) (at int64) {
	for _, l := range links {
		if seen(l.Label) {
			at = max(at, presenceOf(l).Clock)
		}
	}
	return at
}

// maxAnchors bounds the labels that a place has anchors of.
const maxAnchors = 50

func (m *asOf) anchors(ctx context.Context, place canon.CardID) ([]canon.Link, error) {
	return m.links(ctx, canon.LinkQuery{From: place, Kinds: []string{linkAnchor}}, maxAnchors)
}

// anchorAt is the time of a place as the reader of the moment sees it.
func (m *asOf) anchorAt(ctx context.Context, place canon.CardID) (int64, error) {
	world, err := m.now(ctx)
	if err != nil {
		return 0, err
	}
	links, err := m.anchors(ctx, place)
	return anchorOf(links, world, func(access.Label) bool { return true }), err
}

// openTo reports whether something is open to all to whom a label is: whether those may
// learn what follows from it.
func openTo(all, l access.Label) bool { return all.Meet(l).Equal(all) }

// shared reports whether something may decide what everybody learns who sees the act.
func (s *turn) shared(l access.Label) bool { return openTo(s.label, l) }

// behind reports whether the player must wait before it acts: it was joined by somebody
// later, comes back after a pause, or a GM has advanced the world since it acted.
func (s *turn) behind(links []canon.Link) bool {
	joined := met(links, s.shared)-s.now.Clock >= minute
	away := s.clock.known && (s.clock.seq > s.at.Since || s.plan.Clock().Sub(s.at.At) > playPause)
	return joined || away && anchorOf(links, s.world, s.shared)-s.now.Clock >= minute
}

// meet reconciles a player with the place where it stands, in a commit of its own.
func (w *World) meet(ctx context.Context, g access.Grant, player canon.CardID) (canon.Receipt, error) {
	return w.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, w, p, player, Intent{})
		if err != nil {
			return err
		}
		links, err := s.anchors(ctx, s.where.ID)
		if err != nil {
			return err
		}
		r := reckon(s.now.Clock, anchorOf(links, s.world, s.shared), s.world)
		if r.Policy == "" {
			return nil
		}
		r.PlayerID, r.LocationID = player, s.where.ID
		if err := s.keepAnchor(links, r.Anchor); err != nil {
			return err
		}
		if r.Clock != r.From {
			moved := s.at
			moved.Attrs = merged(moved.Attrs, presence{Clock: r.Clock, Heading: s.now.Heading}.attrs())
			if _, err := p.Link(moved); err != nil {
				return err
			}
		}
		payload, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return p.Event(canon.Event{Type: string(ClockReconciled), Scope: string(PlayerScope(player)), Payload: payload, Label: s.label, Version: 1,
			Actor: canon.EventActor{Kind: "system"}})
	})
}

// keepAnchor plans the anchor that the player and those who may see it met at.
func (s *turn) keepAnchor(links []canon.Link, anchor int64) error {
	own := canon.Link{ID: canon.LinkIDOf(linkAnchor, s.where.ID.String(), s.label.String()), Kind: linkAnchor, From: s.where.ID, To: s.where.ID, Label: s.label}
	for _, l := range links {
		if l.ID == own.ID {
			own = l
		}
	}
	s.plan.Rest(own)
	if presenceOf(own).Clock >= anchor {
		return nil
	}
	own.Attrs = presence{Clock: anchor}.attrs()
	_, err := s.plan.Link(own)
	return err
}

// metBefore is the reconciliation that a repeated command made the first time; uuid.Nil for none.
func (w *World) metBefore(ctx context.Context, g access.Grant) (change uuid.UUID, err error) {
	err = w.canon.Read(ctx, g, func(l *canon.Snapshot) error {
		receipt, _, err := l.Repeated(ctx, g)
		change = receipt.Change
		return err
	})
	return change, err
}

// span is a length of world time as a sentence has it.
func span(ms int64) string {
	d := (time.Duration(ms) * time.Millisecond).Round(time.Minute)
	switch {
	case d < 2*time.Minute:
		return "a minute"
	case d >= 50*time.Minute && d < 90*time.Minute:
		return "an hour"
	case d < 50*time.Minute:
		return strconv.Itoa(int(d/time.Minute)) + " minutes"
	case d < 36*time.Hour:
		return strconv.Itoa(int((d+30*time.Minute)/time.Hour)) + " hours"
	}
	return strconv.Itoa(int((d+12*time.Hour)/(24*time.Hour))) + " days"
}
