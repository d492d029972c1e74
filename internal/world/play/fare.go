package play

import (
	"slices"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// Food and drink that only the texts of a place tell of are served by the one who keeps an inn there, and have no
// price.

// isFare reports whether a noun is mainly something to eat or to drink.
func isFare(noun string) bool { return isFood(noun) || isDrink(noun) }

func isFood(noun string) bool {
	return meaning.IsMainly(noun, meaning.Noun, "food") && !isDrink(noun) || meaning.IsMainly(noun, meaning.Noun, "dish")
}

func isDrink(noun string) bool { return meaning.IsMainly(noun, meaning.Noun, "beverage") }

// findFare returns the nouns for the food and the drink of a name that the texts of the place tell of: those for
// "beer", or all for "something to drink".
func (s *turn) findFare(name string) ([]string, error) {
	if first, second, ok := strings.Cut(name, " and "); ok {
		found, err := s.findFare(first)
		if err != nil {
			return nil, err
		}
		more, err := s.findFare(second)
		return append(found, more...), err
	}
	kind := fareKind(name)
	if kind == nil &&
		!slices.ContainsFunc(command.Namings(name), func(n command.Naming) bool { return isFare(command.HeadOf(n.Name)) }) {
		return nil, nil
	}
	texts, err := s.textsOfPlace()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range texts {
		if kind == nil {
			for _, n := range command.Namings(name) {
				if m, ok := p.prose.Find(n.Name, command.SameWords); ok && !m.Denied && isFare(command.HeadOf(n.Name)) {
					s.label = s.label.Meet(p.label)
					return []string{command.HeadOf(n.Name)}, nil
				}
			}
			if head := command.HeadOf(name); isFare(head) {
				if m, ok := p.prose.Find(head, command.SameWords); ok && !m.Denied {
					s.label = s.label.Meet(p.label)
					return []string{head}, nil
				}
			}
			continue
		}
		for _, w := range command.BareWords(p.text) {
			if noun := meaning.Lemma(w, meaning.Noun); noun != "" && kind(noun) && !slices.Contains(found, noun) &&
				!slices.Contains(waters, noun) {
				found = append(found, noun)
				s.label = s.label.Meet(p.label)
			}
		}
	}
	return found, nil
}

// fareKind returns the test for the nouns that a name for any food or drink means; nil if it is none.
func fareKind(name string) func(noun string) bool {
	lower := strings.ToLower(name)
	has := func(list ...string) bool {
		return slices.ContainsFunc(command.BareWords(lower), func(w string) bool { return slices.Contains(list, w) })
	}
	switch {
	case has("drink", "drinks", "beverage", "thirsty", "thirst", "tap", "pint", "pints", "drinking") || strings.HasPrefix(lower, "pint of your"):
		return isDrink
	case has("eat", "food", "meal", "dinner", "supper", "breakfast", "lunch", "bite", "hungry", "starving", "menu"):
		return isFood
	case lower == "something" || lower == "anything":
		return isFare
	}
	return nil
}

// findKeeper returns the one here who keeps an inn, and serves its food and drink.
func (s *turn) findKeeper() (t world.Card, ok bool, err error) {
	people, err := s.listPeople()
	for _, t := range people {
		var f struct {
			Role string `json:"role"`
		}
		if world.DecodeFields(t.Fields, &f); answers(t) && slices.ContainsFunc(command.BareWords(f.Role),
			func(w string) bool { return slices.Contains(hosts, w) }) {
			return t, true, err
		}
	}
	return t, false, err
}

// answerFare returns the line with which somebody answers the wish for food or drink, or the question for its price; ""
// if the texts of the place tell of none.
func (s *turn) answerFare(who world.Card, thing, said string) (string, error) {
	found, err := s.findFare(thing)
	if err != nil || len(found) == 0 {
		return "", err
	}
	keeper, kept, err := s.findKeeper()
	what := world.JoinNames(found, "and")
	switch {
	case err != nil:
		return "", err
	case !kept && fareKind(thing) != nil:
		return "", nil
	case kept && keeper.ID != who.ID:
		s.narrowLabel(keeper)
		return "For " + what + " ask " + keeper.Title() + ".", nil
	case kept && asksMenu.MatchString(said):
		return "There is " + what + ". Say what you will have.", nil
	case kept && priceWished.MatchString(said):
		return unpriced.tell(s.action.Line, what), nil
	case kept:
		return capitalize(serving.tell(s.action.Line, what)), nil
	}
	return capitalize(unsold.tell(s.action.Line, what)), nil
}

// asksMenu matches the question for all that there is to eat or drink.
var asksMenu = lazyregexp.New(`(?i)^(?:so |and |well,? )*(?:what\b.*\b(?:serve|have|got|eat|drink|menu|offer)|` +
	`(?:do|have) you (?:have |got )?(?:anything|something) to (?:eat|drink)|` +
	`is there (?:anything|something) to (?:eat|drink))\b`)

// tellFare tells who serves the food and the drink of a name here; "" if nobody does.
func (a *answerer) tellFare(name string) (string, error) {
	if name == "" {
		name = "something"
	}
	found, err := a.findFare(name)
	if err != nil || len(found) == 0 {
		return "", err
	}
	keeper, kept, err := a.findKeeper()
	if !kept || err != nil {
		return "", err
	}
	return keeper.Title() + " serves " + world.JoinNames(found, "and") + ", and has put no price on it. Ask for it.", nil
}
