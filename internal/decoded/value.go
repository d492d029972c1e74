// Package decoded reads values that were decoded from JSON or YAML and may have any shape.
//
// Its invariant: a value of an unexpected shape gives the zero value of what was asked for, never an error or a panic.
package decoded

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// TextOf returns a text, number or truth value as text, or "" for a list, an object or nil.
func TextOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// FloatOf returns a number of a source that was decoded with its numbers as written, or a text that is
// a number, or 0.
func FloatOf(v any) float64 {
	f, err := strconv.ParseFloat(TextOf(v), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// IntOf is FloatOf without the part behind the point, at most a billion.
func IntOf(v any) int { return int(max(min(FloatOf(v), 1e9), -1e9)) }

// ListOf returns a value as a list. Unlike List it does not split text at commas, because card
// names may contain them.
func ListOf(v any) []string {
	list, ok := RestoreLinks(v).([]any)
	if !ok {
		list = []any{RestoreLinks(v)}
	}
	var out []string
	for _, item := range list {
		out = append(out, flattenList(item))
	}
	return TrimAll(out)
}

// TrimAll returns the texts without the space around them, and leaves out empty ones.
func TrimAll(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func flattenList(v any) string {
	list, ok := v.([]any)
	if !ok {
		return TextOf(v)
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, flattenList(item))
	}
	return strings.Join(parts, ", ")
}

// RestoreLinks turns lists in lists back into the text [[X]], which YAML reads as such when it is
// not quoted.
func RestoreLinks(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 1 {
			if inner, ok := v[0].([]any); ok && len(inner) == 1 && TextOf(inner[0]) != "" {
				return "[[" + TextOf(inner[0]) + "]]"
			}
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = RestoreLinks(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = RestoreLinks(v[k])
		}
		return out
	}
	return v
}

// TextsOf returns all texts in a value, however nested.
func TextsOf(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, TextsOf(item)...)
		}
	case map[string]any:
		for _, k := range SortedKeys(v) {
			all = append(all, k)
			all = append(all, TextsOf(v[k])...)
		}
	default:
		if text := TextOf(v); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// ObjectsOf returns the items of a list that are objects.
func ObjectsOf(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// ParseObject decodes a JSON object and keeps its numbers as written. It returns nil for any other
// text.
func ParseObject(text string) map[string]any {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// EncodeFields encodes a map as JSON. It returns nil for an empty map or values that JSON cannot
// encode.
func EncodeFields(m map[string]any) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// NonEmpty returns the parts that are not blank.
func NonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			out = append(out, p)
		}
	}
	return out
}
