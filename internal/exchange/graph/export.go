package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// Export writes the cards that a grant sees to a new file of JSON lines: cards with a text as entities whose
// observations are the items of their list or their paragraphs, relationships as relations.
func Export(ctx context.Context, c *canon.Canon, g access.Grant, name string) (exchange.Summary, error) {
	return record.Export(ctx, c, g, name, writeGraph)
}

func writeGraph(to io.Writer, cards []*record.Written) error {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	for _, w := range cards {
		if err := lines.Encode(map[string]any{"type": "entity", "name": w.Card.Name, "entityType": entityTypeOf(w),
			"observations": observationsOf(w)}); err != nil {
			return err
		}
	}
	for _, w := range cards {
		for _, kind := range exchange.SortedKeys(w.Links) {
			for _, to := range w.Links[kind] {
				if err := lines.Encode(map[string]any{"type": "relation", "from": w.Card.Name, "to": to,
					"relationType": kind}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// entityTypeOf returns the entityType that a card was imported with, or its type.
func entityTypeOf(w *record.Written) string {
	m, _ := w.Fields["memory"].(map[string]any)
	return cmp.Or(exchange.TextOf(m["entityType"]), w.Card.Type)
}

// observationsOf returns the items of a text that is one list, or else its paragraphs.
func observationsOf(w *record.Written) []string {
	out := []string{}
	text := strings.TrimSpace(w.Text + "\n\n" + w.Secret)
	isList := strings.HasPrefix(text, "- ")
	for line := range strings.Lines(text) {
		isList = isList && (strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "  ") || strings.TrimSpace(line) == "")
	}
	if !isList {
		return append(out, exchange.TrimAll(strings.Split(text, "\n\n"))...)
	}
	for item := range strings.SplitSeq("\n"+text, "\n- ") {
		if item = strings.TrimSpace(strings.ReplaceAll(item, "\n  ", "\n")); item != "" {
			out = append(out, item)
		}
	}
	return out
}
