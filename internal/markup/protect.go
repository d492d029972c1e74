package markup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// protectedText is text whose wiki syntax is replaced by placeholders: words of letters and digits
// that no converter changes. A placeholder begins with a digest of the whole input. So no input can
// contain its own placeholders, not even in an encoding that a converter would decode, and the same
// input always gives the same placeholders.
type protectedText struct {
	text   string
	mark   string   // the prefix of every placeholder
	pieces []string // the wiki syntax of each placeholder
}

// protectSyntax replaces the wiki syntax of text by placeholders, except pieces with '<': these
// contain markup, which must be converted and sanitised like any other.
func protectSyntax(text string) protectedText {
	sum := sha256.Sum256([]byte(text))
	p := protectedText{text: text, mark: "w" + hex.EncodeToString(sum[:12]) + "n"}
	var b strings.Builder
	done := 0
	for s := range scanSyntax(text) {
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

// restorePieces replaces each placeholder by as(piece).
func (p protectedText) restorePieces(s string, as func(string) string) string {
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

// restoreHTML replaces the placeholders in HTML. In text it inserts the pieces byte for byte, which
// is safe because no piece contains '<'. In tags it escapes them as attribute values. For each tag
// with a placeholder, tag returns the text to write, given the restored tag and the tag with empty
// pieces. It returns "" once ctx has ended.
func (p protectedText) restoreHTML(ctx context.Context, s string, tag func(restored, bare string) string) string {
	if len(p.pieces) == 0 {
		return s
	}
	var b strings.Builder
	for t := range tokensOf(s) {
		raw := s[t.start:t.end]
		switch {
		case ctx.Err() != nil:
			return ""
		case t.kind == html.TextToken:
			b.WriteString(p.restorePieces(raw, keepPiece))
		case strings.Contains(raw, p.mark):
			b.WriteString(tag(p.restorePieces(raw, escapePiece), p.restorePieces(raw, dropPiece)))
		default:
			b.WriteString(raw)
		}
	}
	return b.String()
}

func escapePiece(s string) string { return html.EscapeString(html.UnescapeString(s)) }

func dropPiece(string) string { return "" }

func keepTag(restored, _ string) string { return restored }

func keepPiece(s string) string { return s }
