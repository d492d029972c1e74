package command

import (
	"fmt"
)

// Question returns the question to the player about the first critical ambiguity of a
// command.
func (p Parsed) Question() string {
	for _, a := range p.Ambiguities {
		if !a.Critical {
			continue
		}
		runes := []rune(p.RawText)
		said := string(runes[a.Span.Start:a.Span.End])
		switch a.Kind {
		case "verb":
			return fmt.Sprintf("You are not sure how to %q. Try going somewhere, looking at something, taking it or talking to somebody.", said)
		case "direction":
			return "Where do you want to go?"
		case "object":
			return "What do you mean to do that with?"
		case "target":
			return "Whom, or what, do you mean?"
		case "pronoun":
			return fmt.Sprintf("What do you mean by %q?", said)
		}
	}
	return "You are not sure what you mean. Say it in other words."
}
