package play

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
	"loregate/internal/world"
)

type createPlayerIn struct {
	Name string `json:"name" minlen:"1" maxlen:"60" jsonschema:"Name of the player. No other card may have it."`
}

type createPlayerOut struct {
	Player world.PlayerState `json:"player"`
	Token  string            `json:"token" jsonschema:"Bearer token of the audience play."`
}

func (h *Host) createPlayer(ctx context.Context, c *op.Call, in createPlayerIn) (out createPlayerOut, err error) {
	if h.tokens == nil {
		return out, fault.New(fault.Unavailable, "this server issues no tokens to play with; ask its operator")
	}
	if err := checkPlayerName(in.Name); err != nil {
		return out, err
	}
	receipt, err := h.canon.Update(ctx, c.Grant, func(p *canon.Plan) error { return h.planPlayer(ctx, p, in.Name) })
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	if receipt.DryRun {
		return out, fault.New(fault.Invalid, "a player cannot be created as a dry run; leave dry_run out")
	}
	id := receipt.Targets[0]
	if out.Player, err = h.readPlayer(ctx, c.Grant, id); err != nil {
		return out, err
	}
	c.Reply.Location = "/api/players/" + id.String()
	out.Token, err = h.tokens.IssuePlayer(ctx, c.Grant, id)
	return out, err
}

// checkPlayerName refuses names that have another meaning in the canon.
func checkPlayerName(name string) error {
	switch {
	case strings.ContainsAny(name, "+~:|[]{}") || markup.KeyOf(name) == "":
		return fault.BadField("name", "must be letters, digits and spaces, without + ~ : | or brackets")
	case markup.Clean(name) != name:
		return fault.BadField("name", "contains invisible characters; remove them")
	}
	return nil
}

func (h *Host) planPlayer(ctx context.Context, p *canon.Plan, name string) error {
	m := h.world.Current(p.Snapshot)
	start, ok, err := m.FindPlace(ctx, "")
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.Rule, "this world has no place where players begin; its admin sets starter_location")
	}
	everyone := access.NewLabel(access.LevelUser)
	clock, err := m.AnchorAt(ctx, start.ID, func(l access.Label) bool { return world.IsOpenTo(everyone, l) })
	if err != nil {
		return err
	}
	card, err := p.Create(canon.NewCard{Name: name, Type: world.TypePlayer, Root: true})
	if err != nil {
		return err
	}
	if card.Label.Level > access.LevelUser {
		return fault.BadField("name", "is hidden from players by a rule of this world; choose another")
	}
	p.Target(card.ID)
	_, err = p.Link(canon.Link{ID: canon.LinkIDOf(world.LinkAt, card.ID.String()), Kind: world.LinkAt,
		From: card.ID, To: start.ID,
		Attrs: world.Presence{Clock: clock}.Attrs()})
	return err
}

type onePlayerIn struct {
	ID string `json:"id" maxlen:"100" jsonschema:"The player's id or codename."`
}

type onePlayerOut struct {
	Player world.PlayerState `json:"player"`
}

func (h *Host) getPlayer(ctx context.Context, c *op.Call, in onePlayerIn) (out onePlayerOut, err error) {
	id, err := h.findOwnPlayer(ctx, c.Grant, in.ID)
	if err != nil {
		return out, err
	}
	out.Player, err = h.readPlayer(ctx, c.Grant, id)
	return out, err
}

// findOwnPlayer returns a player that the caller may play: the player its token is bound to, a
// player that it created, or for a GM any player. Any other player is treated as absent.
func (h *Host) findOwnPlayer(ctx context.Context, g access.Grant, text string) (id canon.CardID, err error) {
	caller := g.Caller()
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		card, ok, err := world.FindCard(ctx, snap, text)
		if err != nil {
			return err
		}
		id = card.ID
		bound := caller.Player != uuid.Nil || caller.Audience == audiencePlay
		mine := caller.Player == uuid.UUID(id) || !bound && (g.Role() >= access.RoleGM || card.CreatedBy == caller.Subject)
		if !ok || !mine || !world.CardOf(card).IsType(world.TypePlayer) {
			return noPlayer()
		}
		return nil
	})
	return id, err
}

func orNoPlayer(err error) error {
	if err != nil {
		return err
	}
	return noPlayer()
}

func noPlayer() error {
	return fault.New(fault.NotFound, "there is no such player; create one with POST /api/players")
}

// readPlayer returns the state of a player.
func (h *Host) readPlayer(ctx context.Context, g access.Grant, id canon.CardID) (s world.PlayerState, err error) {
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) (err error) {
		var ok bool
		if s, ok, err = h.world.Current(snap).PlayerState(ctx, id); err == nil && !ok {
			err = noPlayer()
		}
		return err
	})
	return s, err
}

// readPlayerClock returns a player's clock.
func (h *Host) readPlayerClock(ctx context.Context, g access.Grant, player canon.CardID) (tick int64, err error) {
	err = h.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		at, ok, err := h.world.Current(snap).FindAtLink(ctx, player)
		if ok {
			tick = world.PresenceOf(at).Clock
		}
		return err
	})
	return tick, err
}
