package play

import (
	"cmp"
	"slices"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/world"
	"loregate/internal/world/command"
)

// findRole finds those whose role, or the first sentence of whose text, says a phrase: the innkeeper, the copy boy.
func (s *turn) findRole(phrase string, among []world.Card, r *referent) error {
	return s.findSomebody(phrase, among, r, s.fitsRole)
}

// findGender finds people by a noun for people of any trade: the old woman.
func (s *turn) findGender(phrase string, among []world.Card, r *referent) error {
	if err := s.findSomebody(phrase, among, r, s.fitsGender); err != nil || len(r.cards) > 0 {
		return err
	}
	words := command.BareWords(phrase)
	if len(words) != 2 || !command.IsQuality(words[0]) { // the wrong quality is no reason to know nobody
		return nil
	}
	return s.findSomebody(words[1], among, r, s.fitsGender)
}

// findSomebody finds the characters that the words of a phrase fit.
func (s *turn) findSomebody(phrase string, among []world.Card, r *referent,
	fits func(words []string, t world.Card) (bool, error)) error {
	for at, n := range command.Namings(phrase) {
		words := command.BareWords(n.Name)
		if len(words) == 0 {
			continue
		}
		if at == 1 { // the ferryman's boy of the text is no other boy
			if stands, err := s.standsInText(phrase); err != nil || stands {
				return err
			}
		}
		var found []world.Card
		for _, t := range among {
			if !world.IsAlive(t) || t.ID == s.player.ID || t.IsType("Creature") {
				continue
			}
			ok, err := fits(words, t)
			if ok = ok || isTraveller(words, t); err != nil {
				return err
			}
			if ok {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			r.cards, r.all = pick(found, n)
			return nil
		}
	}
	return nil
}

// standsInText reports whether a phrase of several words means somebody in a text of the place.
func (s *turn) standsInText(phrase string) (bool, error) {
	if n := len(slices.DeleteFunc(strings.Fields(phrase), func(w string) bool { return !isContentWord(w) })); n < 2 ||
		!mayBePerson(command.HeadOf(phrase)) {
		return false, nil
	}
	all, err := s.textsOfPlace()
	return slices.ContainsFunc(all, func(p passage) bool {
		m, ok := p.prose.Find(phrase, command.SameWords)
		return ok && !m.Denied
	}), err
}

// isTraveller reports whether words describe a player's character.
func isTraveller(words []string, t world.Card) bool {
	return t.IsType(world.TypePlayer) && len(words) == 1 &&
		slices.Contains([]string{"traveller", "traveler", "player", "adventurer", "visitor"}, words[0])
}

// hosts are the nouns for people who keep an inn.
var hosts = strings.Fields("innkeeper landlord landlady publican barkeeper barkeep bartender barman barmaid host " +
	"hostess tavernkeeper taverner innkeep alewife")

// fitsRole reports whether words are the role of somebody, or a noun for people and other words from the first sentence
// of its text.
func (s *turn) fitsRole(words []string, t world.Card) (bool, error) {
	var f struct {
		Role  string `json:"role"`
		Minor bool   `json:"minor"`
		Age   int    `json:"age"`
	}
	world.DecodeFields(t.Fields, &f)
	last := words[len(words)-1]
	noun := cmp.Or(meaning.Lemma(last, meaning.Noun), last)
	role := command.ReadProse(f.Role)
	gender, isChild := genderOf(noun)
	if slices.Contains(hosts, noun) && slices.ContainsFunc(command.BareWords(f.Role), func(w string) bool {
		return slices.Contains(hosts, w)
	}) {
		return true, nil
	}
	if isChild && gender == anyone && 0 < f.Age && f.Age < grownUp {
		return true, nil
	}
	if gender == "" || f.Role != "" {
		if _, ok := role.Find(strings.Join(words, " "), command.SameWords); ok {
			return true, nil
		}
	}
	if f.Minor || noun == "" || gender != "" || !meaning.IsMainly(noun, meaning.Noun, "person") {
		return false, nil
	}
	text, err := s.ReadText(s.ctx, t)
	if err != nil {
		return false, err
	}
	told := strings.Join(namesOf(t), " ") + " " + f.Role
	for sentence := range meaning.Sentences(text) {
		told += " " + sentence
		break
	}
	_, ok := command.ReadProse(strings.ReplaceAll(told, ".", " ")).Find(strings.Join(words, " "), command.SameWords)
	return ok, nil
}

// fitsGender reports whether a noun for people of any trade describes somebody, and other words stand in its text.
func (s *turn) fitsGender(words []string, t world.Card) (bool, error) {
	gender, isChild := genderOf(cmp.Or(meaning.Lemma(words[len(words)-1], meaning.Noun), words[len(words)-1]))
	if gender == "" || len(words) > 2 {
		return false, nil
	}
	var f struct {
		Age int `json:"age"`
	}
	if world.DecodeFields(t.Fields, &f); isChild != (0 < f.Age && f.Age < grownUp) {
		return false, nil
	}
	text, err := s.ReadText(s.ctx, t)
	if gender != anyone && gender != spokenGender(text) {
		return false, err
	}
	told := command.ReadProse(strings.Join(namesOf(t), " ") + "\n" + text)
	for _, w := range words[:len(words)-1] {
		if _, ok := told.Find(w, command.SameWords); !ok {
			return false, err
		}
	}
	return true, err
}

// grownUp is the age from which somebody is no child.
const grownUp = 16

// Genders of nouns for people.
const (
	male   = "he"
	female = "she"
	anyone = "they"
)

// genderOf returns the gender that a noun for people of any trade has, or "", and whether it is one for children.
func genderOf(noun string) (gender string, isChild bool) {
	switch noun {
	case "man", "fellow", "guy", "gentleman", "bloke", "chap", "mister", "sir", "monsieur", "signor":
		return male, false
	case "boy", "lad":
		return male, true
	case "woman", "lady", "madam", "ma'am", "miss", "missus", "mistress", "madame", "mademoiselle", "signora":
		return female, false
	case "girl", "lass":
		return female, true
	case "child", "kid", "youngster":
		return anyone, true
	case "person", "stranger":
		return anyone, false
	}
	return "", false
}

// spokenGender returns the gender of the pronouns of which a text has the most, or "".
func spokenGender(text string) string {
	n := 0
	for w := range meaning.Words(text) {
		switch strings.ToLower(w) {
		case "he", "his", "him":
			n++
		case "she", "her", "hers":
			n--
		}
	}
	switch {
	case n > 0:
		return male
	case n < 0:
		return female
	}
	return ""
}
