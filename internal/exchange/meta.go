package exchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// text gives a front matter value as text; "" where it is not text.
func (n *note) text(key string) string { return textOf(n.meta[key]) }

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// list gives a front matter value as a list: of a list its items, of text its parts
// between commas. Nested lists are what unquoted [[links]] become in YAML; they are read
// as the links they were.
func (n *note) list(key string) []string {
	if s, ok := n.meta[key].(string); ok {
		return trimmed(strings.Split(s, ","))
	}
	return listOf(n.meta[key])
}

// listOf is list for text that holds commas of its own, such as names of cards.
func listOf(v any) []string {
	list, ok := relink(v).([]any)
	if !ok {
		list = []any{relink(v)}
	}
	var out []string
	for _, item := range list {
		out = append(out, flatten(item))
	}
	return trimmed(out)
}

func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func flatten(v any) string {
	list, ok := v.([]any)
	if !ok {
		return textOf(v)
	}
	var parts []string
	for _, item := range list {
		parts = append(parts, flatten(item))
	}
	return strings.Join(parts, ", ")
}

// relink turns what YAML makes of an unquoted [[X]], a list in a list, back into text.
func relink(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) == 1 {
			if inner, ok := v[0].([]any); ok && len(inner) == 1 && textOf(inner[0]) != "" {
				return "[[" + textOf(inner[0]) + "]]"
			}
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = relink(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = relink(v[k])
		}
		return out
	}
	return v
}

// fields gives as a JSON object what front matter is left when known keys are taken out;
// nil when none is. A broken one is kept as the text that it was.
func (n *note) fields(known ...string) (json.RawMessage, error) {
	rest := map[string]any{}
	for k, v := range n.meta {
		switch {
		case v == nil || slices.Contains(known, k):
		case strings.HasPrefix(k, "*") || strings.HasPrefix(k, "+"):
			n.report(0, "%q would name a card below this one; left out", k)
		default:
			rest[k] = relink(v)
		}
	}
	if n.raw != "" {
		rest["front_matter"] = n.raw
	}
	if len(rest) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("front matter of %s: %w", n.path, err)
	}
	return b, nil
}

// tags are the tags that front matter gives, without '#'. Spaces part tags that are
// written with it; otherwise commas do.
func (n *note) tags() []string {
	var out []string
	for _, key := range sorted(n.meta) {
		if low := strings.ToLower(key); low != "tags" && low != "tag" {
			continue
		}
		list := n.list(key)
		if s, ok := n.meta[key].(string); ok && strings.Contains(s, "#") {
			list = strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
		}
		for _, tag := range list {
			out = append(out, tagName(tag))
		}
	}
	return trimmed(out)
}

// tagName makes a tag the name of a card: a tag such as Status/Blank is one name.
func tagName(tag string) string {
	return strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "[]| \t")
}

// allTags are the tags of front matter and text.
func (n *note) allTags() []string {
	tags := n.tags()
	if !strings.Contains(n.body, "#") {
		return tags
	}
	for _, m := range inlineTagForm.FindAllStringSubmatch(withoutCode(n.body), -1) {
		tags = append(tags, m[1])
	}
	return tags
}
