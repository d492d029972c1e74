package play

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/slicesx"
	"loregate/internal/world"
	"loregate/internal/world/command"
	"loregate/internal/world/market"
)

// nameWithoutTitle returns a name without a form of address.
func nameWithoutTitle(name string) string {
	first, rest, ok := strings.Cut(name, " ")
	if ok && slices.Contains(formsOfAddress, strings.ToLower(strings.TrimRight(first, "."))) {
		return strings.TrimSpace(rest)
	}
	return name
}

var formsOfAddress = strings.Fields("mr mister mrs missus ms miss mx dr doctor sir madam madame master mistress lady lord " +
	"goodman goodwife brother sister father mother uncle aunt")

// findCalled returns those of some people whom a name means: by name, with a form of address or not, else by what they
// are: the innkeeper, the seller, the woman.
func (s *turn) findCalled(name string, people []world.Card) ([]world.Card, error) {
	if found := findMatches(name, people); len(found) > 0 {
		return found, nil
	}
	if plain := nameWithoutTitle(name); plain != name {
		return findMatches(plain, people), nil
	}
	words := command.BareWords(name)
	if len(words) == 0 || len(words) > 3 {
		return nil, nil
	}
	noun := words[len(words)-1]
	if slices.Contains(sellerWords, noun) {
		sellers, err := market.SellersAt(s.ctx, s.AsOf, s.place)
		return slicesx.Filter(sellers, func(t world.Card) bool {
			return !t.IsType(world.TypePlayer) && slices.ContainsFunc(people, func(o world.Card) bool { return o.ID == t.ID })
		}), err
	}
	if sex := sexWords[noun]; sex != "" {
		return s.filterBySex(people, sex)
	}
	if len(noun) < 4 {
		return nil, nil
	}
	var found []world.Card
	for _, t := range people {
		var f struct {
			Role string `json:"role"`
		}
		world.DecodeFields(t.Fields, &f)
		if command.Mentions(f.Role, name) || command.Mentions(f.Role, noun) {
			found = append(found, t)
		}
	}
	if len(found) > 0 || !isPersonNoun(noun) {
		return found, nil
	}
	for _, t := range people {
		text, err := s.ReadText(s.ctx, t)
		if err != nil {
			return nil, err
		}
		if first := command.Sentences(text); len(first) > 0 && command.Mentions(first[0], noun) {
			found = append(found, t)
		}
	}
	return found, nil
}

// onlyOne returns the only one of several cards. It is an *impossible error if there are more.
func (s *turn) onlyOne(found []world.Card, err error) (world.Card, error) {
	if err != nil {
		return world.Card{}, err
	}
	if len(found) > 1 {
		return world.Card{}, cannot("ambiguous", "Which do you mean: %s?", world.JoinNames(titlesOf(found), "or"))
	}
	s.narrowLabel(found[0])
	return found[0], nil
}

// isPersonNoun reports whether a noun means persons.
func isPersonNoun(noun string) bool {
	noun = meaning.Lemma(noun, meaning.Noun)
	return noun != "" && meaning.IsA(noun, meaning.Noun, "person")
}

var (
	// sellerWords mean whoever sells here.
	sellerWords = strings.Fields("seller merchant trader vendor shopkeeper shopkeep stallholder stallkeeper salesman saleswoman dealer tradesman monger keeper")
	// sexWords mean a man or a woman.
	sexWords = map[string]string{"man": "m", "fellow": "m", "guy": "m", "gentleman": "m", "boy": "m", "lad": "m", "woman": "f",
		"lady": "f", "girl": "f", "lass": "f"}
)
