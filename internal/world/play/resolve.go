package play

import (
	"slices"

	"loregate/internal/world"
	"loregate/internal/world/command"
)

// cardsAround returns the other cards at the place: those with a link at to it, and those that it
// holds.
func (s *turn) cardsAround() ([]world.Card, error) {
	here, err := s.CardsHere(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	lying, err := s.HeldItems(s.ctx, s.place.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range lying {
		if !slices.ContainsFunc(here, func(t world.Card) bool { return t.ID == c.ID }) {
			here = append(here, c.Card)
		}
	}
	return slices.DeleteFunc(here, func(t world.Card) bool { return t.ID == s.player.ID }), nil
}

// carriedCards returns the things that the player has.
func (s *turn) carriedCards() ([]world.Card, error) {
	list, err := s.HeldItems(s.ctx, s.player.ID)
	out := make([]world.Card, len(list))
	for i, c := range list {
		out[i] = c.Card
	}
	return out, err
}

// findOne returns the only card that a typed name matches best. It is an *impossible error if there
// is none or several.
func (s *turn) findOne(name string, among []world.Card, missing string) (world.Card, error) {
	found := findMatches(name, among)
	switch len(found) {
	case 1:
		s.narrowLabel(found[0])
		return found[0], nil
	case 0:
		return world.Card{}, cannot("absent", missing, name)
	}
	return world.Card{}, cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(found), "or"))
}

// findPersonHere returns the character, creature or player at the place that a name means.
func (s *turn) findPersonHere(name string) (world.Card, error) {
	all, err := s.cardsAround()
	if err != nil {
		return world.Card{}, err
	}
	return s.findOne(name, slices.DeleteFunc(all, func(t world.Card) bool { return !world.IsAlive(t) }),
		"There is nobody called %q here.")
}

// isPortable reports whether a card can be carried off.
func isPortable(t world.Card) bool {
	var f struct {
		Fixed    bool  `json:"fixed"`
		Portable *bool `json:"portable"`
	}
	world.DecodeFields(t.Fields, &f)
	switch {
	case world.IsAlive(t) || t.IsType(world.TypeLocation) || t.IsType(world.TypeRealm) || t.IsType("Faction") || f.Fixed:
		return false
	case f.Portable != nil:
		return *f.Portable
	}
	return true
}

// namesOf returns the names that a card can be called by: the last part of its name, and its
// aliases.
func namesOf(t world.Card) []string {
	var f struct {
		Aliases []string `json:"aliases"`
	}
	world.DecodeFields(t.Fields, &f)
	return append([]string{t.Title()}, f.Aliases...)
}

// rateFit returns the grade of the match between a typed name and a card.
func rateFit(typed string, t world.Card) command.Fit {
	return command.Rate(typed, namesOf(t))
}

// findMatches returns the cards that a typed name matches best, in their order.
func findMatches(typed string, among []world.Card) []world.Card {
	best, out := command.FitNone, []world.Card(nil)
	for _, t := range among {
		f := rateFit(typed, t)
		if f == command.FitNone || f < best || slices.ContainsFunc(out, func(o world.Card) bool { return o.ID == t.ID }) {
			continue
		}
		if f > best {
			best, out = f, nil
		}
		out = append(out, t)
	}
	return out
}

// titlesOf returns the titles of cards.
func titlesOf(things []world.Card) []string {
	out := make([]string, len(things))
	for i, t := range things {
		out[i] = t.Title()
	}
	return out
}
