package play

import (
	"context"
	"strings"

	"loregate/internal/slicesx"
	"loregate/internal/world"
)

// Things lie in, on, under or behind others: the other one holds them, and the link keeps the preposition.

// maxSearched bounds how many holders are searched for a thing that lies nowhere else.
const maxSearched = 20

// findStowed returns the thing of a name that lies in or on another one around the player.
func (h *handled) findStowed(name string) (held world.Held, ok bool, err error) {
	held, _, ok, err = h.findStowedIn(name)
	return held, ok, err
}

// findStowedIn returns the thing of a name that lies in or on another one around the player, and that one.
func (s *turn) findStowedIn(name string) (held world.Held, holder world.Card, ok bool, err error) {
	around, err := s.listLookTargets()
	if err != nil {
		return held, holder, false, err
	}
	searched := 0
	for _, t := range around {
		if world.IsAlive(t) || t.ID == s.place.ID || t.ID == s.player.ID || searched == maxSearched {
			continue
		}
		searched++
		inside, err := s.HeldItems(s.ctx, t.ID)
		if err != nil {
			return held, holder, false, err
		}
		cards := slicesx.Map(inside, func(c world.Held) world.Card { return c.Card })
		if found := findMatches(name, cards); len(found) == 1 {
			for _, c := range inside {
				if c.ID == found[0].ID {
					s.narrowLabel(t, c.Card)
					return c, t, isPortable(c.Card), nil
				}
			}
		}
	}
	return held, holder, false, nil
}

// placeWords begin the sentence about things that another one holds, by the preposition of their links.
var placeWords = []struct{ how, one, many string }{{"in", "It holds", "They hold"}, {"on", "On it lies", "On them lies"},
	{"under", "Under it lies", "Under them lies"}, {"behind", "Behind it lies", "Behind them lies"},
	{"beside", "Beside it lies", "Beside them lies"}, {"before", "Before it lies", "Before them lies"},
	{"tied", "Tied to it is", "Tied to them is"}}

// tellContents tells what a thing holds, and how.
func (m narrator) tellContents(ctx context.Context, t world.Card) (string, error) {
	inside, err := m.HeldItems(ctx, t.ID)
	if err != nil || len(inside) == 0 || world.IsAlive(t) {
		return "", err
	}
	var parts []string
	for _, w := range placeWords {
		var names []string
		for _, c := range inside {
			var a struct {
				How string `json:"how"`
			}
			world.DecodeFields(c.Link.Attrs, &a)
			if a.How == w.how || a.How == "" && w.how == "in" {
				names = append(names, world.CountedName(c))
			}
		}
		if begins := w.one; len(names) > 0 {
			if world.IsAre(t.Title()) == "are" {
				begins = w.many
			}
			parts = append(parts, begins+" "+world.JoinNames(names, "and")+".")
		}
	}
	return strings.Join(parts, " "), nil
}
