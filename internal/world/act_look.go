package world

import (
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// planLook looks around, in a direction, or at something here.
func (s *turn) planLook() error {
	name := s.intent.DirectObject
	switch {
	case s.intent.Direction != "":
		s.action.Direction = s.intent.Direction
		return s.finishTurn(PlayerLook)
	case name == "" || isHere(name):
		return s.finishTurn(PlayerLook)
	}
	return s.planLookAt(name)
}

// isHere reports whether a name means the place itself.
func isHere(name string) bool {
	switch strings.Join(bareWords(name), " ") {
	case "here", "around", "place", "room", "surroundings", "everything", "area":
		return true
	}
	return false
}

func (s *turn) planLookAt(name string) error {
	all, err := s.listLookTargets()
	if err != nil {
		return err
	}
	found := findMatches(name, all)
	if len(found) > 1 {
		return cannot("ambiguous", "Which do you mean: %s?", joinNames(titlesOf(found), "or"))
	}
	if len(found) == 1 {
		s.narrowLabel(found[0])
		s.action.Objects = []objectRef{toObjectRef(found[0], 0)}
		return s.finishTurn(PlayerLook)
	}
	if d, ok := directionWords[foldWord(name)]; ok {
		s.action.Direction = d
		return s.finishTurn(PlayerLook)
	}
	text, err := s.readText(s.ctx, s.place)
	if err != nil {
		return err
	}
	if sentenceAbout(text, name) == "" {
		return cannot("absent", "You see no %s here.", markup.Clean(name))
	}
	s.action.Detail = markup.Clean(name)
	return s.finishTurn(PlayerLook)
}

// listLookTargets lists everything that the player can look at: the things here, the things it carries,
// the parts of the place that have a card, and the player itself.
func (s *turn) listLookTargets() ([]cardAt, error) {
	all, err := s.cardsAround()
	if err != nil {
		return nil, err
	}
	own, err := s.carriedCards()
	if err != nil {
		return nil, err
	}
	all = append(append(all, own...), s.place)
	parts, _, err := s.Descendants(s.ctx, s.place.ID, 1, canon.Page{Limit: 50})
	for _, c := range parts {
		if c.Key.Parts()[len(c.Key.Parts())-1] != "tag" {
			all = append(all, toCardAt(c))
		}
	}
	me := s.player
	me.Fields = []byte(`{"aliases":["me","myself","self"]}`)
	return append(all, me), err
}

// sentenceAbout returns the first sentence of a text that mentions a name, or "" if none does.
func sentenceAbout(text, name string) string {
	want := bareWords(name)
	if len(want) == 0 {
		return ""
	}
	for _, s := range splitSentences(text) {
		if hasAllWords(want, bareWords(s), isSameOrPlural) {
			return s
		}
	}
	return ""
}

// splitSentences splits a text after its full stops, question and exclamation marks, and at line
// ends.
func splitSentences(text string) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		from := 0
		for i, r := range line {
			if end := i + 1; (r == '.' || r == '!' || r == '?') && (end == len(line) || line[end] == ' ') {
				out = append(out, strings.TrimSpace(line[from:end]))
				from = end
			}
		}
		if rest := strings.TrimSpace(line[from:]); rest != "" {
			out = append(out, rest)
		}
	}
	return out
}

// planInventory looks at the things that the player has.
func (s *turn) planInventory() error { return s.finishTurn(PlayerLook) }
