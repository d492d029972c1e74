package exchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// metaText returns a front matter value as text, or "" if it is a list or object.
func (n *note) metaText(key string) string { return textOf(n.meta[key]) }

func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case bool, json.Number:
		return fmt.Sprint(v)
	}
	return ""
}

// metaList returns a front matter value as a list. Text is split at commas. YAML reads unquoted
// [[links]] as nested lists; these become links again.
func (n *note) metaList(key string) []string {
	if s, ok := n.meta[key].(string); ok {
		return trimAll(strings.Split(s, ","))
	}
	return listOf(n.meta[key])
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

// extraFields returns the front matter without the known keys as a JSON object, or nil if nothing
// is left. Invalid front matter is kept as text.
func (n *note) extraFields(known ...string) (json.RawMessage, error) {
	rest := map[string]any{}
	for k, v := range n.meta {
		switch {
		case v == nil || slices.Contains(known, k):
		case strings.HasPrefix(k, "*") || strings.HasPrefix(k, "+"):
			n.addReport(0, "%q would name a card below this one; left out", k)
		default:
			rest[k] = restoreLinks(v)
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

// metaTags returns the tags in front matter, without '#'. Tags written with '#' are separated by
// spaces or commas, others by commas.
func (n *note) metaTags() []string {
	var out []string
	for _, key := range sortedKeys(n.meta) {
		if low := strings.ToLower(key); low != "tags" && low != "tag" {
			continue
		}
		list := n.metaList(key)
		if s, ok := n.meta[key].(string); ok && strings.Contains(s, "#") {
			list = strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
		}
		for _, tag := range list {
			out = append(out, tagName(tag))
		}
	}
	return trimAll(out)
}

// tagName turns a tag into a card name. A tag such as Status/Blank stays one name.
func tagName(tag string) string {
	return strings.Trim(strings.TrimLeft(strings.TrimSpace(tag), "#"), "[]| \t")
}

// allTags returns the tags in front matter and text.
func (n *note) allTags() []string {
	tags := n.metaTags()
	if !strings.Contains(n.body, "#") {
		return tags
	}
	for _, m := range inlineTagForm.FindAllStringSubmatch(withoutCode(n.body), -1) {
		tags = append(tags, m[1])
	}
	return tags
}
