package exchange

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// pathStem returns a note's path without its extension.
func (n *mdNote) pathStem() string { return strings.TrimSuffix(n.path, path.Ext(n.path)) }

// metaText returns a front matter value as text, or "" if it is a list or object.
func (n *mdNote) metaText(key string) string { return textOf(n.meta[key]) }

// metaList returns a front matter value as a list. Text is split at commas. YAML reads unquoted
// [[links]] as nested lists; these become links again.
func (n *mdNote) metaList(key string) []string {
	if s, ok := n.meta[key].(string); ok {
		return trimAll(strings.Split(s, ","))
	}
	return listOf(n.meta[key])
}

// extraFields returns the front matter without the known keys as a JSON object, or nil if nothing
// is left. Invalid front matter is kept as text.
func (n *mdNote) extraFields(known ...string) (json.RawMessage, error) {
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
func (n *mdNote) metaTags() []string {
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

// allTags returns the tags in front matter and text.
func (n *mdNote) allTags() []string {
	tags := n.metaTags()
	if !strings.Contains(n.body, "#") {
		return tags
	}
	return append(tags, inlineTags(withoutCode(n.body))...)
}

var inlineTagForm = regexp.MustCompile(`(?:^|[\s(,;>*_])#([\pL][\pL\pN_/-]*)`)

// inlineTags returns the tags in a text that contains no code, without '#'.
func inlineTags(text string) (tags []string) {
	for _, m := range inlineTagForm.FindAllStringSubmatch(text, -1) {
		tags = append(tags, m[1])
	}
	return tags
}
