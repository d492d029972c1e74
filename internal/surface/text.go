package surface

import (
	"strings"
	"unicode/utf8"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Overhead is about the number of bytes of an answer's small members and its next call.
const Overhead = 512

// TextPart returns the part of a text that begins at offset and has at most limit characters, and
// its end; both offsets count characters. If the text ends there, more is false and end is 0.
func TextPart(text string, offset, limit int) (part string, end int, more bool) {
	if offset > 0 {
		text = text[len(markup.Clip(text, offset)):]
	}
	part, more = markup.Truncate(text, limit)
	if !more {
		return part, 0, false
	}
	return part, offset + utf8.RuneCountInString(part), true
}

// CutText returns the longest beginning of a text that fits, as JSON, in an answer of budget bytes
// with Overhead, but at least 256 characters. The text begins at offset; end is the offset of its
// rest. Both count characters. cut is false if the whole text fits. It cuts where TextPart would.
func CutText(text string, offset, budget int) (part string, end int, cut bool) {
	budget -= Overhead
	n := 0
	for _, r := range text {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
			budget -= 2
		case r < ' ':
			budget -= 6
		default:
			budget -= utf8.RuneLen(r)
		}
		if budget < 0 && n >= 256 {
			break
		}
		n++
	}
	part, cut = markup.Truncate(text, n)
	return part, offset + utf8.RuneCountInString(part), cut
}

// Quote returns a text as a Markdown quotation of at most limit characters.
func Quote(text string, limit int) string {
	part, cut := markup.Truncate(text, limit)
	if cut {
		part += "\n… (cut)"
	}
	return "> " + strings.ReplaceAll(part, "\n", "\n> ")
}

// NextCall is the exact call that continues an answer that was cut.
type NextCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// CallOn returns a NextCall. It names the world if the caller's key opens several worlds.
func CallOn(l *canon.Snapshot, tool string, args map[string]any) *NextCall {
	c := l.Grant().Caller()
	if c.Home.IsZero() && c.SeveralWorlds() {
		args["world"] = l.World().Slug
	}
	return &NextCall{tool, args}
}
