package world

import (
	"strings"

	"loregate/internal/world/command"
)

// Handling is the outcome of an act on a thing: opening, lighting, tying. The narration is made from it.
type Handling struct {
	Act    string `json:"act"`              // such as open
	Effect string `json:"effect,omitempty"` // "" is the plain success
	Thing  string `json:"thing,omitempty"`  // as told: the bucket
	Other  string `json:"other,omitempty"`  // the second thing
	Words  string `json:"words,omitempty"`  // written words, or a preposition
}

// Definite returns the name of a card as used within a sentence: "the Quay Boathook", "the rope", "Old Cod Wilkin",
// "Oda's Thimble".
func Definite(t Card) string {
	title := t.Title()
	first, rest, more := strings.Cut(title, " ")
	switch {
	case more && (first == "The" || first == "the" || first == "A" || first == "An"):
		return "the " + rest
	case IsAlive(t) && !t.IsType("Creature") && first != strings.ToLower(first), strings.HasSuffix(first, "'s"),
		strings.HasSuffix(first, "’s"),
		t.IsType(TypeLocation) || t.IsType(TypePlayer):
		return title
	}
	return "the " + title
}

// DefiniteName returns a name as used within a sentence: "the rope" for a common noun, other names as they are.
func DefiniteName(name string) string {
	switch first, rest, _ := strings.Cut(name, " "); {
	case rest != "" && (first == "The" || first == "A" || first == "An"):
		return "the " + rest
	case first == "" || first != strings.ToLower(first):
		return name
	}
	return "the " + name
}

// Indefinite returns the name of a card in a list of things: "a rope", "nets", "The Quay Boathook".
func Indefinite(t Card) string {
	title := t.Title()
	first, rest, _ := strings.Cut(title, " ")
	switch {
	case rest != "" && (first == "The" || first == "A" || first == "An") && !IsAlive(t):
		return strings.ToLower(first) + " " + rest
	case title == "" || title[:1] != strings.ToLower(title[:1]) || isPlural(title):
		return title
	case command.IsMass(title):
		return title
	case strings.ContainsAny(title[:1], "aeiou"):
		return "an " + title
	}
	return "a " + title
}

// isPlural reports whether a name in lower case ends like a plural: nets, fish boxes, but not glass.
func isPlural(name string) bool {
	return strings.HasSuffix(name, "s") && !strings.HasSuffix(name, "ss") && !strings.HasSuffix(name, "us") &&
		!strings.HasSuffix(name, "is") && command.HeadOf(name) != name // canvas
}

// IsAre returns the verb "to be" for a thing by its name: "is" for the net, "are" for the nets.
func IsAre(name string) string {
	if last := name[strings.LastIndexByte(name, ' ')+1:]; last == strings.ToLower(last) && isPlural(last) {
		return "are"
	}
	return "is"
}
