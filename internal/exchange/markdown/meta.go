package markdown

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/exchange"
)

// Stem returns a note's path without its extension.
func (n *Note) Stem() string { return strings.TrimSuffix(n.Path, path.Ext(n.Path)) }

// Text returns a front matter value as text, or "" if it is a list or object.
func (n *Note) Text(key string) string { return exchange.TextOf(n.Meta[key]) }

// List returns a front matter value as a list. Text is split at commas. YAML reads unquoted
// [[links]] as nested lists; these become links again.
func (n *Note) List(key string) []string {
	if s, ok := n.Meta[key].(string); ok {
		return exchange.TrimAll(strings.Split(s, ","))
	}
	return exchange.ListOf(n.Meta[key])
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
			rest[k] = exchange.RestoreLinks(v)
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

// Tags returns the tags in front matter, without '#'. Tags written with '#' are separated by
// spaces or commas, others by commas.
func (n *Note) Tags() []string {
	var out []string
	for _, key := range exchange.SortedKeys(n.Meta) {
		if low := strings.ToLower(key); low != "tags" && low != "tag" {
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
	return exchange.TrimAll(out)
}

// AllTags returns the tags in front matter and text.
func (n *Note) AllTags() []string {
	tags := n.Tags()
	if !strings.Contains(n.Body, "#") {
		return tags
	}
	return append(tags, InlineTags(WithoutCode(n.Body))...)
}

// InlineTags returns the tags in a text that contains no code, without '#'. A tag begins at the start of
// the text, or after a blank or one of "(,;>*_", with a letter.
func InlineTags(text string) (tags []string) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '#')
		if i < 0 {
			return tags
		}
		begins := at+i == 0 || i > 0 && strings.IndexByte(" \t\n\f\r(,;>*_", text[at+i-1]) >= 0
		if at += i + 1; !begins {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(text[at:]); !unicode.IsLetter(r) {
			continue
		}
		end := strings.IndexFunc(text[at:], func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_' && r != '/' && r != '-'
		})
		if end < 0 {
			end = len(text) - at
		}
		tags = append(tags, text[at:at+end])
		at += end
	}
}
