package world

import (
	"slices"

	"loregate/internal/canon"
)

// hint is a wish to go where an exit is pending.
type hint struct {
	PlayerID   canon.CardID `json:"playerId"`
	LocationID canon.CardID `json:"locationId"`
	Direction  Direction    `json:"direction"`
	Reason     string       `json:"reason,omitempty"`
}

// move goes through an exit: it must be there, in sight and unlocked.
func (s *turn) move() error {
	exits, err := s.exits(s.ctx, s.where)
	if err != nil {
		return err
	}
	way, err := s.wayOut(exits)
	if err != nil {
		return err
	}
	return s.goBy(way)
}

func (s *turn) goBy(way exit) error {
	if err := s.passable(way); err != nil {
		return err
	}
	dest, ok, err := s.cardAt(s.ctx, *way.To)
	if err != nil {
		return err
	}
	if !ok || !dest.is(typeLocation) {
		return cannot("no_exit", "There is no way %s from here.", way.Direction.toward())
	}
	s.involve(dest)
	s.plan.Rest(way.link)
	from := s.where.ID
	s.to, s.travel = dest, way.TravelDurationMs
	s.action.From, s.action.To, s.action.Direction = &from, way.To, way.Direction
	return s.settle(PlayerMove)
}

// wayOut finds the exit that is meant: by direction, by the way one came, or by where it
// leads.
func (s *turn) wayOut(exits []exit) (exit, error) {
	d := s.intent.Direction
	if d == "" && s.intent.DirectObject == "" && slices.Contains(s.intent.Modifiers, "back") {
		if d = s.now.Heading.Opposite(); d == "" {
			return exit{}, cannot("no_way_back", "You have not come from anywhere that you could go back to.")
		}
	}
	if d == "" {
		return s.wayTo(exits)
	}
	way, ok := toward(exits, d)
	if !ok {
		return exit{}, cannot("no_exit", "There is no way %s from here.", d.toward())
	}
	return way, nil
}

// wayTo finds the exit that leads to a place by its name, or that is described so.
func (s *turn) wayTo(exits []exit) (exit, error) {
	name := s.intent.DirectObject
	var ids []canon.CardID
	for _, e := range exits {
		if e.To != nil {
			ids = append(ids, *e.To)
		}
	}
	places, err := s.things(s.ctx, ids)
	if err != nil {
		return exit{}, err
	}
	found := matching(name, places)
	if len(found) > 1 {
		return exit{}, cannot("ambiguous", "Which do you mean: %s?", listed(titles(found), "or"))
	}
	for _, e := range exits {
		if len(found) == 1 && e.To != nil && *e.To == found[0].ID || len(found) == 0 && describes(e.Description, name) {
			return e, nil
		}
	}
	return exit{}, cannot("absent", "You see no way to %q from here.", name)
}

// describes reports whether a description speaks of something.
func describes(text, name string) bool {
	want := bareWords(name)
	return len(want) > 0 && within(want, bareWords(text), func(a, b string) bool { return a == b })
}

// passable says why an exit cannot be gone through.
func (s *turn) passable(way exit) error {
	switch {
	case way.Availability == ExitPending:
		text := "Nothing leads " + way.Direction.toward() + " yet."
		if way.Reason != "" {
			text = way.Reason
		}
		return &impossible{reason: "pending", text: text, hint: &hint{s.who.ID, s.where.ID, way.Direction, way.Reason}}
	case way.Availability == ExitForbidden && way.Reason != "":
		return cannot("forbidden", "%s", way.Reason)
	case way.Availability == ExitForbidden:
		return cannot("forbidden", "There is no going %s from here.", way.Direction.toward())
	case way.LockState == "locked":
		return cannot("locked", "The way %s is locked.", way.Direction.toward())
	}
	return nil
}

// flee leaves by the way named, else the way one came, else the first that is open.
func (s *turn) flee() error {
	exits, err := s.exits(s.ctx, s.where)
	if err != nil {
		return err
	}
	back := s.now.Heading.Opposite()
	for _, d := range append([]Direction{s.intent.Direction, back}, Directions...) {
		way, ok := toward(exits, d)
		if ok && s.passable(way) == nil {
			return s.goBy(way)
		}
		if ok && d == s.intent.Direction {
			return s.passable(way)
		}
	}
	return cannot("no_exit", "There is nowhere to flee to.")
}
