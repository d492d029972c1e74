package play

import (
	"slices"
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// planLook looks around, in a direction, or at something here.
func (s *turn) planLook() error {
	name := s.intent.DirectObject
	switch {
	case s.intent.Direction != "":
		s.action.Direction = s.intent.Direction
		return s.finishTurn(world.PlayerLook)
	case name == "" || command.MeansHere(name):
		return s.finishTurn(world.PlayerLook)
	}
	return s.planLookAt(name)
}

func (s *turn) planLookAt(name string) error {
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	found := findMatches(name, all)
	if len(found) > 1 {
		return cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(found), "or"))
	}
	if len(found) == 1 {
		s.narrowLabel(found[0])
		s.action.Objects = []world.ObjectRef{world.NewObjectRef(found[0], 0)}
		return s.finishTurn(world.PlayerLook)
	}
	if d, ok := command.DirectionOf(name); ok {
		s.action.Direction = d
		return s.finishTurn(world.PlayerLook)
	}
	p, sentence, err := s.findPassage(name)
	if err != nil {
		return err
	}
	switch {
	case sentence != "":
		s.label = s.label.Meet(p.label)
	case !isEverywhere(name):
		return cannot("absent", "You see no %s here.", markup.Clean(name))
	}
	s.action.Detail = markup.Clean(name)
	return s.finishTurn(world.PlayerLook)
}

// isEverywhere reports whether a name means what every place has, such as the ground and the air.
func isEverywhere(name string) bool {
	words := command.BareWords(name)
	return len(words) == 1 && slices.Contains(everywhere, words[0])
}

var everywhere = strings.Fields(
	"air sky ground floor earth wind breeze weather surroundings silence darkness light shadows walls wall ceiling " +
		"sun moon stars clouds horizon smell noise sounds",
)

// listLookTargets lists everything that the player can look at: the things here, the things it carries,
// the parts of the place that have a card, and the player itself.
func (s *turn) listLookTargets() ([]world.Card, error) {
	all, err := s.cardsAround()
	if err != nil {
		return nil, err
	}
	own, err := s.carriedCards()
	if err != nil {
		return nil, err
	}
	all = append(append(all, own...), s.place)
	parts, err := s.partsOfPlace()
	all = append(all, parts...)
	me := s.player
	me.Fields = []byte(`{"aliases":["me","myself","self"]}`)
	return append(all, me), err
}

// partsOfPlace lists the parts of the place that have a card, without those that may have been carried off.
func (s *turn) partsOfPlace() (list []world.Card, err error) {
	parts, _, err := s.Descendants(s.ctx, s.place.ID, 1, canon.Page{Limit: 50})
	for _, c := range parts {
		var f struct{ Portable bool }
		if world.DecodeFields(c.Fields, &f); !c.IsTagList() && !f.Portable {
			list = append(list, world.CardOf(c))
		}
	}
	return list, err
}

// planInventory looks at the things that the player has.
func (s *turn) planInventory() error { return s.finishTurn(world.PlayerLook) }
