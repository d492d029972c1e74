package markdown

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Stem returns a note's path without its extension.
func (n *Note) Stem() string { return strings.TrimSuffix(n.Path, path.Ext(n.Path)) }

// Text returns a front matter value as text, or "" if it is a list or object.
func (n *Note) Text(key string) string { return decoded.TextOf(n.Meta[key]) }

// List returns a front matter value as a list. Text is split at commas. YAML reads unquoted
// [[links]] as nested lists; these become links again.
func (n *Note) List(key string) []string {
	if s, ok := n.Meta[key].(string); ok {
		return decoded.TrimAll(strings.Split(s, ","))
	}
	return decoded.ListOf(n.Meta[key])
}

// ExtraFields returns the front matter without the known keys as a JSON object, or nil if nothing
// is left. Invalid front matter is kept as text.
func (n *Note) ExtraFields(known ...string) (json.RawMessage, error) {
	rest := map[string]any{}
	for k, v := range n.Meta {
		switch {
		case v == nil || slices.Contains(known, k):
		case strings.HasPrefix(k, "*") || strings.HasPrefix(k, "+"):
			n.AddReport(0, "%q would be the name of a card below this one; left out", k)
		default:
			rest[k] = decoded.RestoreLinks(v)
		}
	}
	if n.Raw != "" {
		rest["front_matter"] = n.Raw
	}
	if len(rest) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("front matter of %s: %w", n.Path, err)
	}
	return b, nil
}

// IsTagKey reports whether a key of front matter holds tags.
func IsTagKey(key string) bool {
	return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag")
}

// Tags returns the tags in front matter, without '#'. Tags written with '#' are separated by
// spaces or commas, others by commas.
func (n *Note) Tags() []string {
	var out []string
	for _, key := range decoded.SortedKeys(n.Meta) {
		if !IsTagKey(key) {
			continue
		}
		list := n.List(key)
		if s, ok := n.Meta[key].(string); ok && strings.Contains(s, "#") {
			list = strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
		}
		for _, tag := range list {
			out = append(out, exchange.TagName(tag))
		}
	}
	return decoded.TrimAll(out)
}

// Marks returns the note as package secrecy reads it.
func (n *Note) Marks() secrecy.Note {
	return secrecy.Note{Name: path.Base(n.Stem()), Meta: n.Meta, Body: n.Body, Tags: n.Tags(), Broken: n.Broken}
}

// AllTags returns the tags in front matter and text.
func (n *Note) AllTags() []string {
	tags := n.Tags()
	if !strings.Contains(n.Body, "#") {
		return tags
	}
	return append(tags, markup.InlineTags(WithoutCode(n.Body))...)
}
