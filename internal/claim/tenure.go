package claim

import (
	"fmt"
	"slices"
	"strings"
)

// officeFields are fields that tell an office of their card, or who holds one of it.
var officeFields = []string{"role", "office", "title", "occupation", "rank", "position"}

// judgeOffice compares an office with those that the canon gives to this person, and to others.
func judgeOffice(c Claim, w *World) (Truth, string) {
	words := strings.Fields(c.Word)
	if c.Object != None {
		words = append(words, contentOf(tokensOf(w.name(c.Object)))...)
	}
	if truth, source, ok := judgeLeader(c, words, w); ok {
		return truth, source
	}
	source, mine, theirs := "", 0, 0
	for i, e := range w.Entities {
		if e.Class != Person {
			continue
		}
		for _, office := range officesOf(e) {
			known := contentOf(tokensOf(office))
			switch {
			case !sameOffice(words, known):
			case i == c.Subject && c.Denied:
				return False, fmt.Sprintf("%s is %s", e.Name, office)
			case i == c.Subject && len(lengthsIn(tokensOf(c.Text))) > 0:
				return Unsure, "" // the canon rarely tells for how long
			case i == c.Subject:
				mine = max(mine, len(shared(words, known)))
			case len(words) > 1 && len(known) > 1 || c.Number == 1:
				source = fmt.Sprintf("%s is %s", e.Name, office)
				theirs = max(theirs, len(shared(words, known)))
			}
		}
	}
	switch {
	case mine > 0 && (mine > 1 || theirs < 2 || c.Number != 1): // not a physician for the doctor of the town
		return True, ""
	case c.Denied:
		return True, ""
	case source != "":
		return False, source
	case c.Object != None && c.Word == "keeper": // whoever keeps a place need not have an office
		return True, ""
	case c.Object == None && len(words) > 0 && tells(w.Entities[c.Subject], words[0]):
		return True, ""
	}
	return Unsure, ""
}

// judgeLeader judges who leads a group that the words of an office name. ok is false if they name none.
func judgeLeader(c Claim, words []string, w *World) (truth Truth, source string, ok bool) {
	for i, e := range w.Entities {
		leader := leaderOf(e)
		named := len(words) > 1 && len(shared(words[1:], contentOf(tokensOf(e.Name)))) > 0 && isLeading(words[0])
		if leader == "" || i != c.Object && !(e.Class == Group && named) {
			continue
		}
		if isNamed(w.Entities[c.Subject], leader) != c.Denied {
			if len(lengthsIn(tokensOf(c.Text))) > 0 {
				return Unsure, "", true
			}
			return True, "", true
		}
		return False, fmt.Sprintf("the leader of %s is %s", e.Name, leader), true
	}
	return True, "", false
}

// isLeading reports whether a noun is that of a leader of groups.
func isLeading(noun string) bool {
	return isAny(noun, "leader", "head", "ruler", "commander", "military officer", "captain", "administrator", "master")
}

// tells reports whether a card has a word.
func tells(e Entity, word string) bool {
	return slices.ContainsFunc(factsOf(e), func(told []token) bool {
		return len(shared([]string{word}, contentOf(told))) > 0
	})
}

// leaderOf returns the name of the leader in a group's fields, or "".
func leaderOf(e Entity) string {
	for _, name := range []string{"leader", "head", "captain", "ruler", "owner", "commander"} {
		if s, ok := e.Fields[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// isNamed reports whether a name is one of an entity.
func isNamed(e Entity, name string) bool {
	key := func(s string) string {
		return strings.TrimPrefix(strings.ToLower(strings.TrimSpace(s)), "the ")
	}
	return key(e.Name) == key(name) || slices.ContainsFunc(e.Aliases,
		func(a string) bool { return key(a) == key(name) })
}

func officesOf(e Entity) (list []string) {
	for _, name := range officeFields {
		if s, ok := e.Fields[name].(string); ok && s != "" {
			list = append(list, s)
		}
	}
	return list
}

// families are nouns for those who own a place, and for those who keep one. No two people have both.
var families = []map[string]bool{
	wordSet("owner proprietor possessor landlord landlady lord lady master mistress squire leader ruler"),
	wordSet("keeper caretaker custodian warden guardian innkeeper landlord landlady host hostess barkeep leader"),
}

// sameFamily reports whether the first nouns of two offices of a place stand for the same office.
func sameFamily(said, known []string) bool {
	return len(said) > 1 && len(known) > 1 && slices.ContainsFunc(families, func(f map[string]bool) bool {
		return f[said[0]] && f[known[0]]
	})
}

// sameOffice reports whether two offices are the same: their first nouns are akin, and so is a word of the rest.
func sameOffice(said, known []string) bool {
	if len(said) == 0 || len(known) == 0 || len(shared(said[:1], known)) == 0 && len(shared(known[:1], said)) == 0 &&
		!sameFamily(said, known) {
		return false
	}
	return len(said) == 1 || len(known) == 1 || len(shared(said[1:], known)) > 0
}
