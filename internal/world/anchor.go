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

// reconciliation is how a player and a place come to one time: the payload of
// Player.Clock.Reconciled.
type reconciliation struct {
	PlayerID   canon.CardID `json:"playerId"`
	LocationID canon.CardID `json:"locationId"`
	Policy     policy       `json:"policy"`
	From       int64        `json:"fromClock"` // the player's clock before
	Clock      int64        `json:"clock"`     // and after
	FromAnchor int64        `json:"fromAnchor"`
	Anchor     int64        `json:"anchor"`
	World      int64        `json:"world"`
}

// reconcileClocks brings a player's clock and a place's anchor together. Neither falls, and the
// anchor stays within maxLead of the world's clock.
func reconcileClocks(clock, anchor, world int64) reconciliation {
	r := reconciliation{From: clock, Clock: clock, FromAnchor: anchor, Anchor: anchor, World: world}
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
	return min(max(world, latestMeeting(links, seen)), world+maxLead)
}

// latestMeeting is the latest time that players met at.
func latestMeeting(links []canon.Link, seen func(access.Label) bool) (at int64) {
	for _, l := range links {
		if seen(l.Label) {
			at = max(at, presenceOf(l).Clock)
		}
	}
	return at
}

// maxAnchors bounds the labels that a place has anchors of.
const maxAnchors = 50

func (m *asOf) anchorLinks(ctx context.Context, place canon.CardID) ([]canon.Link, error) {
	return m.readLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{linkAnchor}}, maxAnchors)
}

// anchorAt is the time of a place as the reader of the moment sees it.
func (m *asOf) anchorAt(ctx context.Context, place canon.CardID) (int64, error) {
	world, err := m.worldTick(ctx)
	if err != nil {
		return 0, err
	}
	links, err := m.anchorLinks(ctx, place)
	return anchorOf(links, world, func(access.Label) bool { return true }), err
}

// isOpenTo reports whether something is open to all to whom a label is: whether those may
// learn what follows from it.
func isOpenTo(all, l access.Label) bool { return all.Meet(l).Equal(all) }

// isOpenToWitnesses reports whether something may decide what everybody learns who sees the act.
func (s *turn) isOpenToWitnesses(l access.Label) bool { return isOpenTo(s.label, l) }

// isBehind reports whether the player must wait before it acts: it was joined by somebody
// later, comes back after a pause, or a GM has advanced the world since it acted.
func (s *turn) isBehind(links []canon.Link) bool {
	joined := latestMeeting(links, s.isOpenToWitnesses)-s.presence.Clock >= minute
	away := s.clock.known && (s.clock.seq > s.atLink.Since || s.plan.Clock().Sub(s.atLink.At) > playPause)
	return joined || away && anchorOf(links, s.world, s.isOpenToWitnesses)-s.presence.Clock >= minute
}

// reconcilePlayer reconciles a player with the place where it stands, in a commit of its own.
func (w *World) reconcilePlayer(ctx context.Context, g access.Grant, player canon.CardID) (canon.Receipt, error) {
	return w.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, w, p, player, Intent{})
		if err != nil {
			return err
		}
		links, err := s.anchorLinks(ctx, s.place.ID)
		if err != nil {
			return err
		}
		r := reconcileClocks(s.presence.Clock, anchorOf(links, s.world, s.isOpenToWitnesses), s.world)
		if r.Policy == "" {
			return nil
		}
		r.PlayerID, r.LocationID = player, s.place.ID
		if err := s.planAnchor(links, r.Anchor); err != nil {
			return err
		}
		if r.Clock != r.From {
			moved := s.atLink
			moved.Attrs = mergeAttrs(moved.Attrs, presence{Clock: r.Clock, Heading: s.presence.Heading}.toAttrs())
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

// planAnchor plans the anchor that the player and those who may see it met at.
func (s *turn) planAnchor(links []canon.Link, anchor int64) error {
	own := canon.Link{ID: canon.LinkIDOf(linkAnchor, s.place.ID.String(), s.label.String()), Kind: linkAnchor, From: s.place.ID, To: s.place.ID, Label: s.label}
	for _, l := range links {
		if l.ID == own.ID {
			own = l
		}
	}
	s.plan.Rest(own)
	if presenceOf(own).Clock >= anchor {
		return nil
	}
	own.Attrs = presence{Clock: anchor}.toAttrs()
	_, err := s.plan.Link(own)
	return err
}

// findReconciliation is the reconciliation that a repeated command made the first time; uuid.Nil for none.
func (w *World) findReconciliation(ctx context.Context, g access.Grant) (change uuid.UUID, err error) {
	err = w.canon.Read(ctx, g, func(l *canon.Snapshot) error {
		receipt, _, err := l.Repeated(ctx, g)
		change = receipt.Change
		return err
	})
	return change, err
}

// formatDuration is a length of world time as a sentence has it.
func formatDuration(ms int64) string {
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
