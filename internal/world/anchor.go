package world

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// LinkAnchor is the kind of the links that store the anchors of places. Each leads from a place to
// itself; there is one for each label of the players who met there, with attribute clock.
const LinkAnchor = "anchor"

// MaxLead bounds how far an anchor or a player may be ahead of the world's clock.
const MaxLead = Hour

// policy names the rule by which a player and a place are set to one time.
type policy string

// The policies; "" if both already have the same time.
const (
	PolicyWait     policy = "wait"     // the player is behind, and its clock moves up
	policySlow     policy = "slow"     // the player is ahead, and the anchor moves up
	PolicyCompress policy = "compress" // the player is far ahead; neither clock moves until the place has caught up
)

// Reconciliation records how a player and a place were set to one time. It is the payload of
// Player.Clock.Reconciled.
type Reconciliation struct {
	PlayerID   canon.CardID `json:"playerId"`
	LocationID canon.CardID `json:"locationId"`
	Policy     policy       `json:"policy"`
	From       int64        `json:"fromClock"` // the player's clock before
	Clock      int64        `json:"clock"`     // and after
	FromAnchor int64        `json:"fromAnchor"`
	Anchor     int64        `json:"anchor"`
	World      int64        `json:"world"`
}

// Reconcile sets a player's clock and a place's anchor to one time. Neither goes back, and
// the anchor stays within MaxLead of the world's clock.
func Reconcile(clock, anchor, world int64) Reconciliation {
	r := Reconciliation{From: clock, Clock: clock, FromAnchor: anchor, Anchor: anchor, World: world}
	switch ahead := clock - anchor; {
	case ahead <= -Minute:
		r.Policy, r.Clock = PolicyWait, anchor
	case ahead < Minute:
	case ahead < MaxLead:
		r.Policy, r.Anchor = policySlow, min(clock, world+MaxLead)
	default:
		r.Policy = PolicyCompress
	}
	return r
}

// AnchorOf returns the time of a place: the world's time, or up to an hour later if players met
// there who were ahead of the world. Only links whose label seen accepts count.
func AnchorOf(links []canon.Link, world int64, seen func(access.Label) bool) int64 {
	return min(max(world, LatestMeeting(links, seen)), world+MaxLead)
}

// LatestMeeting returns the latest time at which players met, among the links whose label seen
// accepts.
func LatestMeeting(links []canon.Link, seen func(access.Label) bool) (at int64) {
	for _, l := range links {
		if seen(l.Label) {
			at = max(at, PresenceOf(l).Clock)
		}
	}
	return at
}

// maxAnchors bounds how many labels of one place have an anchor.
const maxAnchors = 50

// AnchorLinks returns the links that store the anchor of a place.
func (m *AsOf) AnchorLinks(ctx context.Context, place canon.CardID) ([]canon.Link, error) {
	return m.ReadLinks(ctx, canon.LinkQuery{From: place, Kinds: []string{LinkAnchor}}, maxAnchors)
}

// AnchorAt returns the time of a place as the reader sees it, of the meetings whose label seen accepts.
func (m *AsOf) AnchorAt(ctx context.Context, place canon.CardID, seen func(access.Label) bool) (int64, error) {
	now, err := m.WorldTick(ctx)
	if err != nil {
		return 0, err
	}
	links, err := m.AnchorLinks(ctx, place)
	return AnchorOf(links, now, seen), err
}

// IsOpenTo reports whether everyone who sees label all also sees label l, and so may learn anything
// that follows from it.
func IsOpenTo(all, l access.Label) bool { return all.Meet(l).Equal(all) }
