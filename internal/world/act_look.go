package world

import (
	"strings"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// look looks around, in a direction, or at something here.
func (s *turn) look() error {
	name := s.intent.DirectObject
	switch {
	case s.intent.Direction != "":
		s.action.Direction = s.intent.Direction
		return s.settle(PlayerLook)
	case name == "" || isHere(name):
		return s.settle(PlayerLook)
	}
	return s.lookAt(name)
}

// isHere reports whether a name means the place itself.
func isHere(name string) bool {
	switch strings.Join(bareWords(name), " ") {
	case "here", "around", "place", "room", "surroundings", "everything", "area":
		return true
	}
	return false
}

func (s *turn) lookAt(name string) error {
	all, err := s.inSight()
	if err != nil {
		return err
	}
	found := matching(name, all)
	if len(found) > 1 {
		return cannot("ambiguous", "Which do you mean: %s?", listed(titles(found), "or"))
	}
	if len(found) == 1 {
		s.involve(found[0])
		s.action.Objects = []something{as(found[0], 0)}
		return s.settle(PlayerLook)
	}
	if d, ok := directionWords[foldWord(name)]; ok {
		s.action.Direction = d
		return s.settle(PlayerLook)
	}
	text, err := s.text(s.ctx, s.where)
	if err != nil {
		return err
	}
	if sentence(text, name) == "" {
		return cannot("absent", "You see no %s here.", markup.Clean(name))
	}
	s.action.Detail = markup.Clean(name)
	return s.settle(PlayerLook)
}

// inSight are the things that can be looked at: what is here, what is carried, the parts
// of the place that have a card, and the player.
func (s *turn) inSight() ([]cardAt, error) {
	all, err := s.around()
	if err != nil {
		return nil, err
	}
	own, err := s.carrying()
	if err != nil {
		return nil, err
	}
	all = append(append(all, own...), s.where)
	parts, _, err := s.Descendants(s.ctx, s.where.ID, 1, canon.Page{Limit: 50})
	for _, c := range parts {
		if c.Key.Parts()[len(c.Key.Parts())-1] != "tag" {
			all = append(all, toCardAt(c))
		}
	}
	me := s.who
	me.Fields = []byte(`{"aliases":["me","myself","self"]}`)
	return append(all, me), err
}

// sentence finds the first sentence of a text that speaks of something; "" for none.
func sentence(text, name string) string {
	want := bareWords(name)
	if len(want) == 0 {
		return ""
	}
	for _, s := range sentences(text) {
		if within(want, bareWords(s), plural) {
			return s
		}
	}
	return ""
}

// sentences splits a text after its full stops and at line ends.
func sentences(text string) []string {
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

// inventory looks at what the player has.
func (s *turn) inventory() error { return s.settle(PlayerLook) }
