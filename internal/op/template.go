package op

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// template is a URI with variables. Each variable is one path segment or a part of one. A variable
// never includes "/", "?" or "#": values have them percent-encoded; "+" stays "+".
type template struct {
	text []string // the literal parts; one more than variables
	vars []string
}

func parseTemplate(s string) (template, error) {
	var t template
	for {
		before, after, found := strings.Cut(s, "{")
		t.text = append(t.text, before)
		if !found {
			break
		}
		name, rest, closed := strings.Cut(after, "}")
		if !closed || name == "" || slices.Contains(t.vars, name) {
			return t, fmt.Errorf("template %q is malformed", s)
		}
		t.vars, s = append(t.vars, name), rest
	}
	for i, text := range t.text[1:max(len(t.text)-1, 1)] {
		if text == "" {
			return t, fmt.Errorf("variables %s and %s need text between them", t.vars[i], t.vars[i+1])
		}
	}
	return t, nil
}

// match extracts the variables from a URI. No variable is empty.
func (t template) match(uri string) (map[string]string, bool) {
	rest, ok := strings.CutPrefix(uri, t.text[0])
	if !ok {
		return nil, false
	}
	vars := make(map[string]string, len(t.vars))
	for i, name := range t.vars {
		end := strings.IndexAny(rest, "/?#")
		if end < 0 {
			end = len(rest)
		}
		if next := t.text[i+1]; next != "" {
			if i == len(t.vars)-1 && strings.HasSuffix(rest, next) && len(rest)-len(next) <= end {
				end = len(rest) - len(next)
			} else if end = strings.Index(rest, next); end < 0 || strings.ContainsAny(rest[:end], "/?#") {
				return nil, false
			}
		}
		value, err := url.PathUnescape(rest[:end])
		if err != nil || value == "" {
			return nil, false
		}
		vars[name] = value
		if rest, ok = strings.CutPrefix(rest[end:], t.text[i+1]); !ok {
			return nil, false
		}
	}
	return vars, rest == ""
}
