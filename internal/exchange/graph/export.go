package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// Export writes the cards that a grant sees to a new file of JSON lines: cards with a text as entities whose
// observations are the items of their list or their paragraphs, relationships as relations.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, name string) (exchange.Summary, error) {
	return record.Export(ctx, c, g, name, writeGraph)
}

func writeGraph(to io.Writer, cards []*record.Written) (problems []exchange.Problem, err error) {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	for _, w := range cards {
		observations, ok := observationsOf(w)
		if !ok {
			problems = append(problems, record.ProblemLeftOut(w.Card))
		}
		line := map[string]any{"type": "entity", "name": w.Card.Name, "entityType": entityTypeOf(w),
			"observations": observations}
		if err := lines.Encode(withLabel(line, w.Card.Label)); err != nil {
			return nil, err
		}
	}
	for _, w := range cards {
		links := slices.Clone(w.Links)
		slices.SortStableFunc(links, func(a, b record.Relation) int { return strings.Compare(a.Kind, b.Kind) })
		for _, r := range links {
			if r.Kind == "" { // lies within
				continue
			}
			line := map[string]any{"type": "relation", "from": w.Card.Name, "to": r.To, "relationType": r.Kind}
			if err := lines.Encode(withLabel(line, r.Seen)); err != nil {
				return nil, err
			}
		}
	}
	return problems, nil
}

// withLabel adds the label of a card or relation that players do not see.
func withLabel(line map[string]any, label access.Label) map[string]any {
	if label.Level > access.LevelUser {
		line[memberVisibility] = label.String()
	}
	return line
}

// entityTypeOf returns the entityType that a card was imported with, or its type.
func entityTypeOf(w *record.Written) string {
	m, _ := w.Fields["memory"].(map[string]any)
	return cmp.Or(decoded.TextOf(m["entityType"]), w.Card.Type)
}

// observationsOf returns the items of a text that is one list, or else its paragraphs. The game master's text beside
// it, and hidden parts that would be divided, are one more. ok reports whether they have all of it.
func observationsOf(w *record.Written) (all []string, ok bool) {
	texts := w.Texts
	if w.Secret != "" {
		texts.Whole += "\n\n[gm]\n" + w.Secret + "\n[/gm]"
		texts.Hidden += "\n\n" + w.Secret
	}
	observations := func(text, hidden string) []string {
		return append([]string{}, decoded.NonEmpty(append(itemsOf(text), hidden)...)...)
	}
	text, hidden, ok := texts.For(record.Markdown, func(text, hidden string) string {
		return asList(observations(text, hidden))
	})
	return observations(text, hidden), ok
}

// itemsOf returns the items of a text that is one list, or else its paragraphs.
func itemsOf(text string) []string {
	out := []string{}
	text = strings.TrimSpace(text)
	isList := strings.HasPrefix(text, "- ")
	for line := range strings.Lines(text) {
		isList = isList && (strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "  ") || strings.TrimSpace(line) == "")
	}
	if !isList {
		return append(out, decoded.TrimAll(strings.Split(text, "\n\n"))...)
	}
	for item := range strings.SplitSeq("\n"+text, "\n- ") {
		if item = strings.TrimSpace(strings.ReplaceAll(item, "\n  ", "\n")); item != "" {
			out = append(out, item)
		}
	}
	return out
}
