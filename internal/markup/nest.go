package markup

import "strings"

// Nest is the parsed text between the braces of {{name|view;key:value|item view}}.
type Nest struct {
	Name string // card to show, as written and trimmed; the text of a comment
	NestLevel
	Items   []NestLevel // how the items of the card are shown, then the items of those, and so on
	Comment bool        // {{# text}}: shows nothing but remains in the page as a comment
	Hidden  bool        // {{## text}}: does not remain in the page; Comment is set too
}

// NestLevel configures how one level of cards is shown.
type NestLevel struct {
	View    string   // the option without a key, such as titled or name; the last one counts
	Options []Option // the options key:value in order, except view
}

// Option is one option of a nest.
type Option struct{ Key, Value string }

// maxNestLevels is the maximum number of item levels that ParseNest keeps. Pages nest at most five
// levels.
const maxNestLevels = 8

// Get returns the value of the last option with the key.
func (l NestLevel) Get(key string) (value string, ok bool) {
	for _, o := range l.Options {
		if o.Key == key {
			value, ok = o.Value, true
		}
	}
	return value, ok
}

// ParseNest parses the text between the braces of a nest, or Target+"|"+Text of a Ref. Keys are
// trimmed and lower-cased, values trimmed, and empty options dropped. "view:x" and plain "x" both
// set the view. Item levels beyond eight are ignored.
func ParseNest(inner string) Nest {
	name, rest, more := strings.Cut(inner, "|")
	name = strings.TrimSpace(name)
	if strings.HasPrefix(name, "#") {
		text := strings.TrimPrefix(strings.TrimSpace(inner), "#")
		hidden := strings.HasPrefix(text, "#")
		return Nest{Name: strings.TrimSpace(strings.TrimPrefix(text, "#")), Comment: true, Hidden: hidden}
	}
	n := Nest{Name: name}
	if !more {
		return n
	}
	levels := strings.SplitN(rest, "|", maxNestLevels+2)
	n.NestLevel = parseLevel(levels[0])
	for _, l := range levels[1:min(len(levels), maxNestLevels+1)] {
		n.Items = append(n.Items, parseLevel(l))
	}
	return n
}

func parseLevel(s string) NestLevel {
	var l NestLevel
	for option := range strings.SplitSeq(s, ";") {
		key, value, keyed := strings.Cut(option, ":")
		key = strings.TrimSpace(key)
		switch {
		case key == "":
		case !keyed:
			l.View = key
		case strings.EqualFold(key, "view"):
			l.View = strings.TrimSpace(value)
		default:
			l.Options = append(l.Options, Option{strings.ToLower(key), strings.TrimSpace(value)})
		}
	}
	return l
}
