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

// maxLine is how many characters of a text stand in a line of a list.
const maxLine = 80

// namesIn are the names of the cards whose ids stand in a scope, as the look sees them.
func namesIn(ctx context.Context, l *canon.Snapshot, scope string) (string, error) {
	var names []string
	for _, part := range strings.FieldsFunc(scope, func(r rune) bool { return r == ':' || r == '/' }) {
		id, err := uuid.Parse(part)
		if err != nil {
			continue
		}
		card, ok, err := l.ByID(ctx, canon.CardID(id))
		if err != nil {
			return "", err
		}
		if ok {
			names = append(names, card.Name)
		}
	}
	slices.Reverse(names) // a player's scope names first whom the line is for
	return strings.Join(names, " to "), nil
}

// line tells of a proposal in two short texts: what it is about, and what it would change.
func (s *Service) line(j *judged) (what, change string) {
	if len(j.Preview) > 0 {
		first := j.Preview[0]
		change = first.Act + counted(first)
		if more := len(j.Preview) - 1; more > 0 {
			change += fmt.Sprintf(", and %d more changes", more)
		}
		if first.Act == "event" { // whose text is its payload
			return cmp.Or(j.About, first.What), j.text(s, change)
		}
		return first.What, change
	}
	return cmp.Or(j.About, j.Scope), j.text(s, "")
}

// counted says how many lines a change of text takes and gives: " (+2 -1 lines)".
func counted(item PreviewItem) string {
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
	return " (" + clip(strings.Join(parts, ", "), maxLine) + ")"
}

// text is the beginning of what is proposed, on one line; other where it holds no text.
func (j *judged) text(s *Service, other string) string {
	k := s.kinds[kindName(j.Kind)]
	if k == nil {
		return other
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return other
	}
	for _, t := range draft.Texts() {
		if line := markup.OneLine(t.Text); line != "" {
			return "\u201c" + clip(line, maxLine) + "\u201d"
		}
	}
	return other
}

// clip is a text of at most n characters.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "\u2026"
}
