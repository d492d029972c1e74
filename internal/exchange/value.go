package exchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// textOf returns a text, number or truth value as text, or "" for a list, an object or nil.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// listOf returns a value as a list. Unlike metaList it does not split text at commas, because card
// names may contain them.
func listOf(v any) []string {
	list, ok := restoreLinks(v).([]any)
	if !ok {
		list = []any{restoreLinks(v)}
	}
	var out []string
	for _, item := range list {
		out = append(out, flattenList(item))
	}
	return trimAll(out)
}

func trimAll(list []string) []string {
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
		return textOf(v)
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, flattenList(item))
	}
	return strings.Join(parts, ", ")
}

// restoreLinks turns lists in lists back into the text [[X]], which YAML reads as such when it is
// not quoted.
func restoreLinks(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 1 {
			if inner, ok := v[0].([]any); ok && len(inner) == 1 && textOf(inner[0]) != "" {
				return "[[" + textOf(inner[0]) + "]]"
			}
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = restoreLinks(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = restoreLinks(v[k])
		}
		return out
	}
	return v
}

// textsOf returns all texts in a value, however nested.
func textsOf(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, textsOf(item)...)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			all = append(all, k)
			all = append(all, textsOf(v[k])...)
		}
	default:
		if text := textOf(v); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// objectsOf returns the items of a list that are objects.
func objectsOf(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func objectOf(text string) map[string]any {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// fieldsOf encodes a map as JSON. It returns nil for an empty map or values that JSON cannot
// encode.
func fieldsOf(m map[string]any) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
func nonEmpty(parts ...string) []string {
	var out []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			out = append(out, p)
		}
	}
	return out
}
