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

// placeWords begin the sentence about things that another one holds, by the preposition of their links: {it} is that
// one, and {s} and {is} agree with the things.
var placeWords = []struct{ how, words string }{{"in", "{It} hold{es}"}, {"on", "On {it} lie{s}"}, {"under",
	"Under {it} lie{s}"},
	{"behind", "Behind {it} lie{s}"}, {"beside", "Beside {it} lie{s}"}, {"before", "Before {it} lie{s}"}, {"tied",
		"Tied to {it} {is}"}}

// tellContents tells of the things that one holds, and how: of all, or of those that lie there in one way.
func (m narrator) tellContents(ctx context.Context, t world.Card, only string) (string, error) {
	inside, err := m.HeldItems(ctx, t.ID)
	if err != nil || len(inside) == 0 || world.IsAlive(t) {
		return "", err
	}
	var parts []string
	for _, w := range placeWords {
		if only != "" && only != w.how {
			continue
		}
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
		if len(names) > 0 {
			holder, things := world.IsAre(t.Title()) == "are", len(names) > 1 || world.IsAre(names[0]) == "are"
			choose := func(many bool, plural, singular string) string {
				if many {
					return plural
				}
				return singular
			}
			begins := strings.NewReplacer("{It}", choose(holder, "They", "It"), "{it}", choose(holder, "them", "it"),
				"{es}", choose(holder, "", "s"), "{s}", choose(things, "", "s"), "{is}", choose(things, "are",
					"is")).Replace(w.words)
			parts = append(parts, begins+" "+world.JoinNames(names, "and")+".")
		}
	}
	return strings.Join(parts, " "), nil
}
