package play

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// isOpenToWitnesses reports whether everyone who sees the act also sees label l. Only such data may
// decide anything that the witnesses learn.
func (s *turn) isOpenToWitnesses(l access.Label) bool { return world.IsOpenTo(s.label, l) }

// isBehind reports whether the player must wait before it acts: a player with a later clock joined
// it, it comes back after a pause, or a GM has advanced the world since its last act.
func (s *turn) isBehind(links []canon.Link) bool {
	joined := world.LatestMeeting(links, s.isOpenToWitnesses)-s.presence.Clock >= world.Minute
	away := s.clock.HasLeft(s.atLink, s.plan.Clock())
	return joined || away && world.AnchorOf(links, s.world, s.isOpenToWitnesses)-s.presence.Clock >= world.Minute
}

// reconcilePlayer sets a player and its place to one time, in a commit of its own.
func (h *Host) reconcilePlayer(ctx context.Context, g access.Grant, player canon.CardID) (canon.Receipt, error) {
	return h.canon.Update(ctx, g, func(p *canon.Plan) error {
		s, err := newTurn(ctx, h.world, p, player, command.Intent{})
		if err != nil {
			return err
		}
		links, err := s.AnchorLinks(ctx, s.place.ID)
		if err != nil {
			return err
		}
		r := world.Reconcile(s.presence.Clock, world.AnchorOf(links, s.world, s.isOpenToWitnesses), s.world)
		if r.Policy == "" {
			return nil
		}
		r.PlayerID, r.LocationID = player, s.place.ID
		if err := s.planAnchor(links, r.Anchor); err != nil {
			return err
		}
		if r.Clock != r.From {
			moved := s.atLink
			moved.Attrs = mergeAttrs(moved.Attrs, world.Presence{Clock: r.Clock, Heading: s.presence.Heading}.Attrs())
			if _, err := p.Link(moved); err != nil {
				return err
			}
		}
		payload, err := json.Marshal(r)
		if err != nil {
			return err
		}
		return p.Event(canon.Event{Type: string(world.ClockReconciled), Payload: payload,
			Scope: string(world.PlayerScope(player)),
			Label: s.label, Version: 1,
			Actor: canon.EventActor{Kind: "system"}})
	})
}

// planAnchor plans the place's anchor for the turn's label, which says who may learn of the
// meeting. It never sets an anchor back.
func (s *turn) planAnchor(links []canon.Link, anchor int64) error {
	own := canon.Link{ID: canon.LinkIDOf(world.LinkAnchor, s.place.ID.String(), s.label.String()), Kind: world.LinkAnchor,
		From: s.place.ID, To: s.place.ID, Label: s.label}
	for _, l := range links {
		if l.ID == own.ID {
			own = l
		}
	}
	s.plan.DependOnLink(own)
	if world.PresenceOf(own).Clock >= anchor {
		return nil
	}
	own.Attrs = world.Presence{Clock: anchor}.Attrs()
	_, err := s.plan.Link(own)
	return err
}

// findReconciliation returns the reconciliation that the first run of a repeated command committed,
// or uuid.Nil if there was none.
func (h *Host) findReconciliation(ctx context.Context, g access.Grant) (change uuid.UUID, err error) {
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		receipt, _, err := snap.Repeated(ctx, g)
		change = receipt.Change
		return err
	})
	return change, err
}

// reconcileWithPlace records the time of the place where the player is afterwards. If the player
// arrives there, it also determines whether the two must be set to one time.
func (s *turn) reconcileWithPlace(place canon.CardID) error {
	links, err := s.AnchorLinks(s.ctx, place)
	if err != nil {
		return err
	}
	anchor := world.AnchorOf(links, s.world, s.isOpenToWitnesses)
	if place != s.place.ID {
		r := world.Reconcile(s.action.Clock, anchor, s.world)
		anchor, s.meets = r.Anchor, r.Policy != ""
	} else {
		s.waits = s.isBehind(links)
	}
	s.action.Anchor = &anchor
	return nil
}
