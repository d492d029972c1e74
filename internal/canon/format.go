package canon

import (
	"fmt"

	"loregate/internal/markup"
)

// TextFormat is the format in which the content of a card is written. It applies to the types whose
// content is running text, TextHTML; the content of other types has the format of its type. The zero
// value is HTML, which all content was before formats were stored.
type TextFormat uint8

// The formats.
const (
	FormatHTML TextFormat = iota
	FormatMarkdown
)

// String returns the name of the format: "html" or "markdown".
func (f TextFormat) String() string {
	if f == FormatMarkdown {
		return "markdown"
	}
	return "html"
}

// ParseFormat returns the format with a name; ok is false if there is none.
func ParseFormat(name string) (f TextFormat, ok bool) {
	for _, f := range []TextFormat{FormatHTML, FormatMarkdown} {
		if f.String() == name {
			return f, true
		}
	}
	return FormatHTML, false
}

// MarshalText encodes the format as its name.
func (f TextFormat) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText decodes the name of a format.
func (f *TextFormat) UnmarshalText(b []byte) error {
	parsed, ok := ParseFormat(string(b))
	if !ok {
		return fmt.Errorf("canon: unknown text format %q", b)
	}
	*f = parsed
	return nil
}

// KindOf returns the kind of the content of a card of a type, written in a format.
func KindOf(typ string, f TextFormat) TextKind {
	if kind := TextOf(typ); kind != TextHTML || f != FormatMarkdown {
		return kind
	}
	return TextMarkdown
}

// TextKind returns the kind of the card's content, which follows from its type and format.
func (c Card) TextKind() TextKind { return KindOf(c.Type, c.Format) }

// TextKind returns the kind of the version's content.
func (v Version) TextKind() TextKind { return KindOf(v.Type, v.Format) }

// RefsIn returns the links and nests in content of a kind, in order.
func RefsIn(kind TextKind, content string) []markup.Ref {
	if kind == TextMarkdown {
		return markup.MarkdownRefs(content)
	}
	return markup.Refs(content)
}

// countRefs counts the links and nests to cards in content of a kind. It stops counting above most.
func countRefs(kind TextKind, content string, most int) (n int) {
	if kind != TextMarkdown {
		return markup.CountRefs(content, most)
	}
	for _, r := range markup.MarkdownRefs(content) {
		if r.External {
			continue
		}
		if n++; n > most {
			break
		}
	}
	return n
}
