package markup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// protected is text whose wiki syntax gave way to placeholders, words of letters
// and digits that every converter passes on as they are. A placeholder begins with
// a digest of the whole input, so that no input can hold its own placeholders, not
// even in an encoding that a converter would undo; and the same input always gives
// the same ones.
type protected struct {
	text   string
	mark   string   // what every placeholder begins with
	pieces []string // the wiki syntax behind each placeholder
}

// protect cuts wiki syntax out of text. Pieces with '<' stay: what they hold is
// markup and must be converted and sanitised like all other.
func protect(text string) protected {
	sum := sha256.Sum256([]byte(text))
	p := protected{text: text, mark: "w" + hex.EncodeToString(sum[:12]) + "n"}
	var b strings.Builder
	done := 0
	for s := range scan(text) {
		piece := text[s.start:s.end]
		if strings.Contains(piece, "<") {
			continue
		}
		b.WriteString(text[done:s.start])
		b.WriteString(p.mark)
		b.WriteString(strconv.Itoa(len(p.pieces)))
		b.WriteByte('e')
		p.pieces = append(p.pieces, piece)
		done = s.end
	}
	if done > 0 {
		b.WriteString(text[done:])
		p.text = b.String()
	}
	return p
}

// restore puts the pieces back, each passed through as.
func (p protected) restore(s string, as func(string) string) string {
	if len(p.pieces) == 0 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, p.mark)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i+len(p.mark):]
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		n, err := strconv.Atoi(s[:digits])
		if err != nil || n >= len(p.pieces) || !strings.HasPrefix(s[digits:], "e") {
			continue
		}
		b.WriteString(as(p.pieces[n]))
		s = s[digits+1:]
	}
}

// restoreHTML puts the pieces back into HTML: into text byte for byte, which is
// safe since no piece has a '<', and inside tags as attribute values, in which a
// quote must be escaped. tag has the last word on each tag that held a placeholder:
// it is given the tag as restored and the tag with nothing in their place.
// Once ctx has ended it gives up.
func (p protected) restoreHTML(ctx context.Context, s string, tag func(restored, bare string) string) string {
	if len(p.pieces) == 0 {
		return s
	}
	var b strings.Builder
	for t := range tokens(s) {
		raw := s[t.start:t.end]
		switch {
		case ctx.Err() != nil:
			return ""
		case t.kind == html.TextToken:
			b.WriteString(p.restore(raw, asIs))
		case strings.Contains(raw, p.mark):
			b.WriteString(tag(p.restore(raw, asAttribute), p.restore(raw, nothing)))
		default:
			b.WriteString(raw)
		}
	}
	return b.String()
}

func asAttribute(s string) string { return html.EscapeString(html.UnescapeString(s)) }

func nothing(string) string { return "" }

func asRestored(restored, _ string) string { return restored }

func asIs(s string) string { return s }
