package proposal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// maxLine is the most characters of a text in a line of a listing.
const maxLine = 80

// namesIn returns the names of the cards whose ids are in a scope, as far as the snapshot shows
// them.
func namesIn(ctx context.Context, snap *canon.Snapshot, scope string) (string, error) {
	var names []string
	for _, part := range strings.FieldsFunc(scope, func(r rune) bool { return r == ':' || r == '/' }) {
		id, err := uuid.Parse(part)
		if err != nil {
			continue
		}
		card, ok, err := snap.ByID(ctx, canon.CardID(id))
		if err != nil {
			return "", err
		}
		if ok {
			names = append(names, card.Name)
		}
	}
	slices.Reverse(names) // a player's scope starts with the addressee of the line
	return strings.Join(names, " to "), nil
}

// describeProposal describes a proposal in two short texts: its subject and its change.
func (s *Service) describeProposal(j *judgedEvent) (what, change string) {
	if len(j.Preview) > 0 {
		first := j.Preview[0]
		change = first.Act + diffCounts(first)
		if more := len(j.Preview) - 1; more > 0 {
			change += fmt.Sprintf(", and %d more changes", more)
		}
		if first.Act == "event" { // an event's text is its payload
			return cmp.Or(j.About, first.What), j.firstLine(s, change)
		}
		return first.What, change
	}
	return cmp.Or(j.About, j.Scope), j.firstLine(s, "")
}

// diffCounts returns the number of lines that a change adds and removes, and the names of changed
// fields: " (+2 -1 lines)".
func diffCounts(item PreviewItem) string {
	diff := item.Text
	if diff == "" && item.Was == nil && len(item.Fields) == 0 {
		diff = item.Diff
	}
	plus, minus := 0, 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++") || strings.HasPrefix(line, "---"):
		case line[0] == '+':
			plus++
		case line[0] == '-':
			minus++
		}
	}
	var parts []string
	if plus+minus > 0 {
		parts = append(parts, fmt.Sprintf("+%d -%d lines", plus, minus))
	}
	for _, f := range item.Fields {
		parts = append(parts, f.Name)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + clipText(strings.Join(parts, ", "), maxLine) + ")"
}

// firstLine returns the beginning of the proposed text on one line, or other if there is no text.
func (j *judgedEvent) firstLine(s *Service, other string) string {
	for _, t := range s.textsOf(j) {
		if line := markup.OneLine(t.Text); line != "" {
			return "\u201c" + clipText(line, maxLine) + "\u201d"
		}
	}
	return other
}

// textsOf returns the texts of a recorded proposal, or none if its form is no longer known.
func (s *Service) textsOf(j *judgedEvent) []Text {
	k := s.kinds[kindName(j.Kind)]
	if k == nil {
		return nil
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return nil
	}
	return draft.Texts()
}

// clipText shortens a text to at most n characters.
func clipText(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "\u2026"
}
