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

// linkAnchor is the kind of the links that store the anchors of places. Each leads from a place to
// itself; there is one for each label of the players who met there, with attribute clock.
const linkAnchor = "anchor"

// maxLead bounds how far an anchor or a player may be ahead of the world's clock.
const maxLead = hour

// policy names the rule by which a player and a place are set to one time.
type policy string

// The policies; "" if both already have the same time.
const (
	policyWait     policy = "wait"     // the player is behind, and its clock moves up
	policySlow     policy = "slow"     // the player is ahead, and the anchor moves up
	policyCompress policy = "compress" // the player is far ahead; neither clock moves until the place has caught up
)

// reconciliation records how a player and a place were set to one time. It is the payload of
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

// reconcileClocks sets a player's clock and a place's anchor to one time. Neither goes back, and
// the anchor stays within maxLead of the world's clock.
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

// anchorOf returns the time of a place: the world's time, or up to an hour later if players met
// there who were ahead of the world. Only links whose label seen accepts count.
func anchorOf(links []canon.Link, world int64, seen func(access.Label) bool) int64 {
	return min(max(world, latestMeeting(links, seen)), world+maxLead)
}

// latestMeeting returns the latest time at which players met, among the links whose label seen
// accepts.
func latestMeeting(links []canon.Link, seen func(access.Label) bool) (at int64) {
	for _, l := range links {
		if seen(l.Label) {
			at = max(at, presenceOf(l).Clock)
		}
	}
	return at
}

// maxAnchors bounds how many labels of one place have an anchor.
const maxAnchors = 50

func (m *asOf) anchorLinks(ctx context.Context, place canon.CardID) ([]canon.Link, error) {
	return m.readLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{linkAnchor}}, maxAnchors)
}

// anchorAt returns the time of a place as the reader sees it.
func (m *asOf) anchorAt(ctx context.Context, place canon.CardID) (int64, error) {
	world, err := m.worldTick(ctx)
	if err != nil {
		return 0, err
	}
	links, err := m.anchorLinks(ctx, place)
	return anchorOf(links, world, func(access.Label) bool { return true }), err
}

// isOpenTo reports whether everyone who sees label all also sees label l, and so may learn anything
// that follows from it.
func isOpenTo(all, l access.Label) bool { return all.Meet(l).Equal(all) }

// isOpenToWitnesses reports whether everyone who sees the act also sees label l. Only such data may
// decide anything that the witnesses learn.
func (s *turn) isOpenToWitnesses(l access.Label) bool { return isOpenTo(s.label, l) }

// isBehind reports whether the player must wait before it acts: a player with a later clock joined
// it, it comes back after a pause, or a GM has advanced the world since its last act.
func (s *turn) isBehind(links []canon.Link) bool {
	joined := latestMeeting(links, s.isOpenToWitnesses)-s.presence.Clock >= minute
	away := s.clock.known && (s.clock.seq > s.atLink.Since || s.plan.Clock().Sub(s.atLink.At) > playPause)
	return joined || away && anchorOf(links, s.world, s.isOpenToWitnesses)-s.presence.Clock >= minute
}

// reconcilePlayer sets a player and its place to one time, in a commit of its own.
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
		return p.Event(canon.Event{Type: string(ClockReconciled), Scope: string(PlayerScope(player)), Payload: payload,
			Label: s.label, Version: 1,
			Actor: canon.EventActor{Kind: "system"}})
	})
}

// planAnchor plans the place's anchor for the turn's label, which says who may learn of the
// meeting. It never sets an anchor back.
func (s *turn) planAnchor(links []canon.Link, anchor int64) error {
	own := canon.Link{ID: canon.LinkIDOf(linkAnchor, s.place.ID.String(), s.label.String()), Kind: linkAnchor,
		From: s.place.ID, To: s.place.ID, Label: s.label}
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

// findReconciliation returns the reconciliation that the first run of a repeated command committed,
// or uuid.Nil if there was none.
func (w *World) findReconciliation(ctx context.Context, g access.Grant) (change uuid.UUID, err error) {
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		receipt, _, err := snap.Repeated(ctx, g)
		change = receipt.Change
		return err
	})
	return change, err
}

// formatDuration formats a length of world time for use in a sentence.
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
