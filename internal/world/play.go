package world

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// audiencePlay is the audience of the tokens to play with; see identity.AudiencePlay.
const audiencePlay = "play"

// playPart declares the operations that people play with. They are served over HTTP, never over
// MCP.
func (w *World) playPart() part {
	return part{
		operations: []*op.Operation{
			op.Define(op.Spec{
				Name: "create_player", Title: "Make a player",
				Doc:      "Make a player at the place where players begin, and a token that plays as that player and opens nothing else. The token is shown once.",
				Surfaces: onWorld, Effect: access.Write, MinRole: access.RoleUser, NoTool: true, Route: "POST /api/players",
				Status: 201, Target: "name",
				Examples: []op.Example{{Title: "A player", Input: `{"name": "Mira Lowtide"}`}},
			}, w.createPlayer),
			op.Define(op.Spec{
				Name: "get_player", Title: "See a player",
				Doc:      "See where a player stands, its clock and what it carries. A token to play with sees its own player only.",
				Surfaces: onWorld, Effect: access.Read, MinRole: access.RoleUser, NoTool: true, Audience: audiencePlay,
				Route: "GET /api/players/{id}", Target: "id",
				Examples: []op.Example{{Title: "One player", Input: `{"id": "0190a8e0-0000-7000-8000-000000000000"}`}},
			}, w.getPlayer),
			op.Define(op.Spec{
				Name: "send_command", Title: "Act as a player",
				Doc: "Do what a player types: up to eight acts, each recorded as it is done. An act that cannot be done gets an answer that fits the story, and changes nothing. " +
					"A player moves at most 30 times and looks at most 60 times a minute.",
				Surfaces: onWorld, Effect: access.Write, MinRole: access.RoleUser, Class: access.ClassCommand, NoTool: true,
				Audience: audiencePlay,
				Route:    "POST /api/players/{id}/commands", Target: "id",
				Examples: []op.Example{{Title: "Two acts",
					Input: `{"id": "0190a8e0-0000-7000-8000-000000000000", "text": "go north then look at the well"}`}},
			}, w.sendCommand),
		},
		feeds: []*op.Feed{w.playerFeed()},
	}
}

type createPlayerIn struct {
	Name string `json:"name" minlen:"1" maxlen:"60" jsonschema:"Name of the player. No other card may bear it."`
}

// playerState is a player as shown to the person who plays it.
type playerState struct {
	playerView
	Location  *location `json:"location"`
	Inventory []carried `json:"inventory"`
}

type createPlayerOut struct {
	Player playerState `json:"player"`
	Token  string      `json:"token" jsonschema:"Bearer token of the audience play."`
}

func (w *World) createPlayer(ctx context.Context, c *op.Call, in createPlayerIn) (out createPlayerOut, err error) {
	if w.cfg.Tokens == nil {
		return out, fault.New(fault.Unavailable, "playing is not set up here")
	}
	if err := checkPlayerName(in.Name); err != nil {
		return out, err
	}
	receipt, err := w.canon.Update(ctx, c.Grant, func(p *canon.Plan) error { return w.planPlayer(ctx, p, in.Name) })
	if err != nil {
		return out, err
	}
	c.Reply.Replayed = receipt.Replayed
	if receipt.DryRun {
		return out, fault.New(fault.Invalid, "a player cannot be rehearsed")
	}
	id := receipt.Targets[0]
	if out.Player, err = w.readPlayerState(ctx, c.Grant, id); err != nil {
		return out, err
	}
	c.Reply.Location = "/api/players/" + id.String()
	out.Token, err = w.cfg.Tokens.IssuePlayer(ctx, c.Grant, id)
	return out, err
}

// checkPlayerName refuses names that have another meaning in the canon.
func checkPlayerName(name string) error {
	switch {
	case strings.ContainsAny(name, "+~:|[]{}") || markup.KeyOf(name) == "":
		return fault.BadField("name", "is letters, digits and spaces, without + ~ : | or brackets")
	case markup.Clean(name) != name:
		return fault.BadField("name", "holds characters that cannot be seen")
	}
	return nil
}

func (w *World) planPlayer(ctx context.Context, p *canon.Plan, name string) error {
	m := &asOf{Snapshot: p.Snapshot, w: w}
	start, ok, err := m.findPlace(ctx, "")
	if err != nil {
		return err
	}
	if !ok {
		return fault.New(fault.Rule, "this world has no place where players begin; its admin sets starter_location")
	}
	links, err := m.anchorLinks(ctx, start.ID)
	if err != nil {
		return err
	}
	world, err := m.worldTick(ctx)
	if err != nil {
		return err
	}
	everyone := access.NewLabel(access.LevelUser)
	clock := anchorOf(links, world, func(l access.Label) bool { return isOpenTo(everyone, l) })
	card, err := p.Create(canon.NewCard{Name: name, Type: typePlayer, Root: true})
	if err != nil {
		return err
	}
	if card.Label.Level > access.LevelUser {
		return fault.BadField("name", "is not for players here; choose another")
	}
	p.Target(card.ID)
	_, err = p.Link(canon.Link{ID: canon.LinkIDOf(linkAt, card.ID.String()), Kind: linkAt, From: card.ID, To: start.ID,
		Attrs: presence{Clock: clock}.toAttrs()})
	return err
}

type onePlayerIn struct {
	ID string `json:"id" maxlen:"100" jsonschema:"The player's id or codename."`
}

type onePlayerOut struct {
	Player playerState `json:"player"`
}

func (w *World) getPlayer(ctx context.Context, c *op.Call, in onePlayerIn) (out onePlayerOut, err error) {
	id, err := w.findOwnPlayer(ctx, c.Grant, in.ID)
	if err != nil {
		return out, err
	}
	out.Player, err = w.readPlayerState(ctx, c.Grant, id)
	return out, err
}

// findOwnPlayer returns a player that the caller may play: the player its token is bound to, a
// player that it created, or for a GM any player. Any other player is treated as absent.
func (w *World) findOwnPlayer(ctx context.Context, g access.Grant, text string) (id canon.CardID, err error) {
	caller := g.Caller()
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		card, ok, err := cardByIDOrCode(ctx, snap, text)
		if err != nil {
			return err
		}
		id = card.ID
		bound := caller.Player != uuid.Nil || caller.Audience == audiencePlay
		mine := caller.Player == uuid.UUID(id) || !bound && (g.Role() >= access.RoleGM || card.CreatedBy == caller.Subject)
		if !ok || !mine || !toCardAt(card).isType(typePlayer) {
			return noPlayer()
		}
		return nil
	})
	return id, err
}

// readPlayerState returns the state of a player.
func (w *World) readPlayerState(ctx context.Context, g access.Grant, id canon.CardID) (s playerState, err error) {
	err = w.canon.Read(ctx, g, func(snap *canon.Snapshot) error {
		m := &asOf{Snapshot: snap, w: w}
		t, ok, err := m.cardAt(ctx, id)
		if err != nil || !ok {
			return orNoPlayer(err)
		}
		s.ID, s.Name = t.ID, markup.Clean(t.Name)
		at, ok, err := m.findAtLink(ctx, id)
		if err != nil {
			return err
		}
		if ok {
			p := presenceOf(at)
			s.Clock, s.Heading = p.Clock, p.Heading
			where, err := m.placeByID(ctx, at.To)
			if err != nil {
				return err
			}
			if where != nil {
				l, err := m.toLocation(ctx, *where, maxText)
				if err != nil {
					return err
				}
				s.Location = &l
			}
		}
		s.Inventory, err = m.heldItems(ctx, id)
		return err
	})
	return s, err
}
