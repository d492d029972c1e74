package world

import (
	"context"
	"iter"
	"maps"
	"slices"

	"loregate/internal/markup"
	"loregate/internal/world/command"
)

// Speaker holds the fields of a character that define its answers.
type Speaker struct {
	Says   []string          `json:"says"`   // lines, used in turn
	Topics map[string]string `json:"topics"` // lines by the topic that they answer
}

// readAnswer returns the line with which a character answered, or "" if it has none.
func (m *AsOf) readAnswer(ctx context.Context, d Action) (string, error) {
	t, ok, err := m.CardByID(ctx, d.Target.ID)
	if err != nil || !ok {
		return "", err
	}
	return AnswerOf(t, d), nil
}

// AnswerOf returns the line with which a character answers. It is "" for players: the people who
// play them answer.
func AnswerOf(t Card, d Action) string {
	if t.IsType(TypePlayer) {
		return ""
	}
	var f Speaker
	DecodeFields(t.Fields, &f)
	for topic, line := range sortedByKey(f.Topics) {
		if command.Mentions(d.Detail, topic) {
			return line
		}
	}
	if d.Line > 0 && d.Line <= len(f.Says) {
		return f.Says[d.Line-1]
	}
	return ""
}

func Quote(who, line string) string {
	line, _ = Shorten(markup.Clean(line), MaxText)
	return who + " says: “" + line + "”"
}

// sortedByKey yields the entries of a map in the order of its keys.
func sortedByKey[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
