package play

import (
	"slices"
	"strings"

	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/market"
)

// findCalled returns those of some people whom a name means: by name, by what they sell, by role, or by gender.
func (s *turn) findCalled(name string, people []world.Card) ([]world.Card, error) {
	if found, _ := matchNames(name, people, command.FitForms); len(found) > 0 {
		return found, nil
	}
	if words := command.BareWords(name); len(words) == 1 && slices.Contains(sellerWords, words[0]) {
		sellers, err := market.SellersAt(s.ctx, s.AsOf, s.place)
		return slicesx.Filter(sellers, func(t world.Card) bool {
			return !t.IsType(world.TypePlayer) && slices.ContainsFunc(people,
				func(o world.Card) bool { return o.ID == t.ID })
		}), err
	}
	var r referent
	for _, find := range []step{s.findRole, s.findGender} {
		if err := find(name, people, &r); err != nil || len(r.cards) > 0 {
			return r.cards, err
		}
	}
	return nil, nil
}

// sellerWords are the words for a seller of any goods.
var sellerWords = strings.Fields("seller merchant trader vendor shopkeeper shopkeep stallholder stallkeeper " +
	"salesman saleswoman dealer tradesman monger")
