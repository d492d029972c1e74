package canon

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AttributeText returns the attributes of a card as words to search: its type, the short values of its
// fields, and the names of fields that are true. A whole number is also joined with each word of its
// field's name, so that "level 3" can be found; other names of fields would match too many cards. It
// skips addresses and aliases.
func AttributeText(typ string, fields json.RawMessage) string {
	var own map[string]any
	if len(fields) > 0 && json.Unmarshal(fields, &own) != nil {
		own = nil
	}
	a := attributes{[]string{typ}}
	a.addObject(own, 0)
	return strings.Join(a.texts, "\n")
}

type attributes struct{ texts []string }

const (
	maxAttribute  = 80 // characters of a value that is an attribute
	maxAttributes = 200
	attributeDeep = 3 // objects within objects
)

func (a *attributes) addObject(object map[string]any, depth int) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if depth == 0 && name == "aliases" || len(a.texts) > maxAttributes {
			continue
		}
		values, isList := object[name].([]any)
		if isList && depth > 0 {
			continue // such lists are long, and say little of the card
		}
		if !isList {
			values = []any{object[name]}
		}
		for _, v := range values {
			a.addValue(name, v, depth)
		}
	}
}

func (a *attributes) addValue(name string, v any, depth int) {
	words := fieldWords(name)
	switch v := v.(type) {
	case map[string]any:
		if depth < attributeDeep {
			a.addObject(v, depth+1)
		}
	case string:
		if utf8.RuneCountInString(v) <= maxAttribute && !strings.Contains(v, "/") {
			a.texts = append(a.texts, v)
		}
	case bool:
		if v {
			a.texts = append(a.texts, words)
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e9 {
			number := strconv.Itoa(int(v))
			a.texts = append(a.texts, number)
			for word := range strings.FieldsSeq(words) {
				a.texts = append(a.texts, AttributePair(word, number))
			}
		}
	}
}

// fieldWords returns the words of a field's name: "challenge rating" for challenge_rating and for
// challengeRating.
func fieldWords(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || r == '-':
			r = ' '
		case i > 0 && unicode.IsUpper(r):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// AttributePair returns the one token that stands in an AttributeText for a word of a field's name
// with a number.
func AttributePair(word, number string) string { return word + "\ue000" + number }
