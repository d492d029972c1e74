package markup

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Plain is the visible text of a source, with the place in the source of each of its bytes.
type Plain struct {
	Text   string
	pieces []plainPiece
}

// plainPiece is a part of a plain text that begins at an offset of the text and of the source.
type plainPiece struct{ at, source, end int }

// SourceOffset returns the offset in the source of the byte at an offset of the text. For the offset
// after the last byte of a range, use SourceEnd.
func (p Plain) SourceOffset(offset int) int {
	i := sort.Search(len(p.pieces), func(i int) bool { return p.pieces[i].at > offset }) - 1
	if i < 0 {
		return 0
	}
	return min(p.pieces[i].source+offset-p.pieces[i].at, p.pieces[i].end)
}

// SourceEnd returns the offset in the source after the byte before an offset of the text.
func (p Plain) SourceEnd(offset int) int {
	if offset == 0 {
		return 0
	}
	return p.SourceOffset(offset-1) + 1
}

// plainBuilder joins visible text into lines, as textBuilder does, and notes where it is from.
type plainBuilder struct {
	textBuilder
	pieces []plainPiece
}

// add adds visible text that stands at source in the content, and ends at end there.
func (b *plainBuilder) add(text string, source, end int) {
	for text != "" {
		n := wordsEnd(text)
		if n == 0 {
			skip := len(text) - len(strings.TrimLeft(text, " \t\r\n\v\f"))
			if skip == 0 {
				_, skip = utf8.DecodeRuneInString(text)
			}
			b.addText(text[:skip])
			text, source = text[skip:], min(source+skip, end)
			continue
		}
		before := b.Len()
		if b.gap != 0 && before > 0 {
			before++
		}
		b.pieces = append(b.pieces, plainPiece{before, source, end})
		b.addText(text[:n])
		text, source = text[n:], min(source+n, end)
	}
}

func (b *plainBuilder) plain() Plain {
	return Plain{strings.TrimRight(b.String(), "\n\t "), b.pieces}
}
