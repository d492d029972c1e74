package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planMove goes through an exit. The exit must exist, be visible to the player and be unlocked.
func (s *turn) planMove() error {
	exits, err := s.Exits(s.ctx, s.place)
	if err != nil {
		return err
	}
	way, err := s.findExit(exits)
	if err != nil {
		return err
	}
	return s.goThrough(way)
}

func (s *turn) goThrough(way world.Exit) error {
	if err := s.checkPassable(way); err != nil {
		return err
	}
	dest, ok, err := s.CardByID(s.ctx, *way.To)
	if err != nil {
		return err
	}
	if !ok || !dest.IsType(world.TypeLocation) {
		return cannot("no_exit", "There is no way %s from here.", way.Direction.Phrase())
	}
	s.narrowLabel(dest)
	s.plan.DependOnLink(way.Link)
	from := s.place.ID
	s.to, s.travel = dest, way.TravelDurationMs
	s.action.From, s.action.To, s.action.Direction = &from, way.To, way.Direction
	return s.finishTurn(world.PlayerMove)
}

// findExit returns the exit that the command means: by direction, by the way the player came, or by
// the place where it leads.
func (s *turn) findExit(exits []world.Exit) (world.Exit, error) {
	d := s.intent.Direction
	if d == "" && s.intent.DirectObject == "" && slices.Contains(s.intent.Modifiers, "back") {
		if d = s.presence.Heading.Opposite(); d == "" {
			return world.Exit{}, cannot("no_way_back", "You have not come from anywhere that you could go back to.")
		}
	}
	if d == "" {
		return s.findExitTo(exits)
	}
	way, ok := world.ExitToward(exits, d)
	if !ok && d == "out" && slices.Contains([]string{"leave", "exit"}, s.intent.Manner().Verb) {
		if way, ok = world.ExitToward(exits, s.presence.Heading.Opposite()); !ok && len(exits) == 1 {
			way, ok = exits[0], true // leave the yard
		}
	}
	if n := len(s.intent.Targets); ok && n > 0 && d.Index() >= 8 {
		if to, err := s.findExitOf(s.intent.Targets[n-1]); err != nil || to != nil {
			return *cmp.Or(to, &way), err // walk down the causeway to the stone
		}
	}
	if !ok && s.intent.DirectObject != "" && d.Index() >= 8 {
		return world.Exit{}, cannot("no_exit", "You see no way to %s from here. %s",
			world.DefiniteName(markup.Clean(s.intent.DirectObject)), tellExits(exits))
	}
	if !ok && d == "down" && slices.Contains(strings.Fields("get climb come jump hop step"), s.intent.Manner().Verb) {
		return world.Exit{}, cannot("no_exit", "You stand on the ground.") // where an act upon a thing ends by itself
	}
	if !ok {
		return world.Exit{}, cannot("no_exit", "You cannot go %s from here. %s", d.Going(), tellExits(exits))
	}
	return way, nil
}

// findExitOf returns the exit to a place that a move up, down, in or out names as its goal; nil if it is none, and an
// *impossible error if it is farther away.
func (s *turn) findExitOf(goal string) (*world.Exit, error) {
	var r referent
	if err := s.findWayAs(goal, command.FitForms, &r); err != nil || r.way != nil {
		return r.way, err
	}
	return nil, s.checkNear(goal)
}

// checkNear returns an *impossible error with the way if a name is that of a place that is not next to here.
func (s *turn) checkNear(name string) error {
	ways, err := s.WaysFrom(s.ctx, s.place.ID)
	if route := tellWayTo(name, ways); route != "" && err == nil {
		return cannot("far", "That is not next to here. %s", route)
	}
	return err
}

// findExitTo returns the exit that leads to a place with the given name, or whose description
// matches the name.
func (s *turn) findExitTo(exits []world.Exit) (world.Exit, error) {
	name := s.intent.DirectObject
	if name == "" {
		return world.Exit{}, cannot("no_exit", "You see no way there from here.")
	}
	var r referent
	for _, least := range []command.Fit{command.FitForms, command.FitSlip} {
		if err := s.findWayAs(name, least, &r); err != nil {
			return world.Exit{}, err
		}
		if r.way != nil {
			return *r.way, nil
		}
		if err := r.unclear(); err != nil {
			return world.Exit{}, err
		}
	}
	if err := s.findKindOfPlace(name, nil, &r); err != nil {
		return world.Exit{}, err
	}
	if r.way != nil {
		return *r.way, nil
	}
	for _, d := range []command.Direction{"up", "down"} {
		if way, ok := world.ExitToward(exits, d); ok && slices.Contains(flights, command.HeadOf(name)) {
			return way, nil // climb the stairs
		}
	}
	if err := s.checkNear(name); err != nil {
		return world.Exit{}, err
	}
	return world.Exit{}, cannot("absent", "You see no way to %q from here.", markup.Clean(name))
}

// flights are nouns of what leads up and down.
var flights = strings.Fields("stair stairs staircase stairway step steps ladder")

// checkPassable returns an *impossible error with the reason why the player cannot go through an
// exit, or nil if it can.
func (s *turn) checkPassable(way world.Exit) error {
	switch {
	case way.Availability == world.ExitPending:
		text := "Nothing leads " + way.Direction.Phrase() + " yet."
		text = cmp.Or(way.Reason, text)
		return &impossible{reason: "pending", text: text, hint: &hint{s.player.ID, s.place.ID, way.Direction, way.Reason}}
	case way.Availability == world.ExitForbidden && way.Reason != "":
		return cannot("forbidden", "%s", way.Reason)
	case way.Availability == world.ExitForbidden:
		return cannot("forbidden", "There is no going %s from here.", way.Direction.Phrase())
	case way.LockState == "locked":
		return cannot("locked", "The way %s is locked.", way.Direction.Phrase())
	}
	return nil
}

// planFlee leaves by the exit that the command names, else by the way the player came, else by the
// first exit that is open.
func (s *turn) planFlee() error {
	exits, err := s.Exits(s.ctx, s.place)
	if err != nil {
		return err
	}
	first := s.intent.Direction
	if first == "" && slices.Contains(command.BareWords(s.intent.Clause()), "out") {
		if _, ok := world.ExitToward(exits, "out"); ok {
			first = "out" // leg it out the door
		}
	}
	for _, d := range append([]command.Direction{first, s.presence.Heading.Opposite()}, command.Directions...) {
		way, ok := world.ExitToward(exits, d)
		if ok && s.checkPassable(way) == nil {
			return s.goThrough(way)
		}
		if ok && d == s.intent.Direction {
			return s.checkPassable(way)
		}
	}
	return cannot("no_exit", "There is nowhere to flee to.")
}

// hint records that a player wanted to go where an exit is pending.
type hint struct {
	PlayerID   canon.CardID      `json:"playerId"`
	LocationID canon.CardID      `json:"locationId"`
	Direction  command.Direction `json:"direction"`
	Reason     string            `json:"reason,omitempty"`
}

// hintPause is the time for which a recorded hint suppresses others like it.
const hintPause = time.Minute

// recordHint records that a player wanted to go where an exit is pending, at most once a minute for
// each player, place and direction.
func (h *Host) recordHint(ctx context.Context, g access.Grant, wish hint) (canon.Receipt, error) {
	return h.canon.Update(ctx, g, func(p *canon.Plan) error {
		now := p.Clock()
		events, _, err := p.Events(ctx, canon.EventQuery{Scopes: []string{string(world.LocationScope(wish.LocationID))},
			Types: []string{string(world.GenerationHint)},
			Actor: wish.PlayerID.String(), Page: canon.Page{Limit: 12}})
		if err != nil {
			return err
		}
		for _, e := range events {
			var earlier hint
			world.DecodeFields(e.Payload, &earlier)
			if earlier.Direction == wish.Direction && now.Sub(e.At) < hintPause {
				return nil
			}
		}
		place, ok, err := p.ByID(ctx, wish.LocationID)
		if err != nil || !ok {
			return err
		}
		payload, err := json.Marshal(wish)
		if err != nil {
			return err
		}
		_, _, err = p.EventOnce(canon.Event{Type: string(world.GenerationHint),
			Scope:   string(world.LocationScope(wish.LocationID)),
			Payload: payload, Label: place.Label, Version: 1,
			Actor: canon.EventActor{Kind: "player", ID: wish.PlayerID.String()},
			Key: fmt.Sprintf("hint:%s:%s:%s:%d", wish.PlayerID, wish.LocationID, wish.Direction,
				now.Unix()/int64(hintPause/time.Second))})
		return err
	})
}
