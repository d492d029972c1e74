package markup

import (
	"unicode"
	"unicode/utf8"
)

// SharedPiece is a piece of text that two texts share: Len bytes from offset A of the first and from offset B of
// the second.
type SharedPiece struct{ A, B, Len int }

// Shared returns the pieces that two texts share, in order and as long as possible: whole lines, and in the lines
// that differ words and single signs. It is bounded as Diff is: where too many of them differ, only the same
// beginning and the same end match.
func Shared(a, b string) (all []SharedPiece) {
	if a == "" || b == "" {
		return nil
	}
	add := func(m SharedPiece) {
		switch n := len(all); {
		case m.Len == 0:
		case n > 0 && all[n-1].A+all[n-1].Len == m.A && all[n-1].B+all[n-1].Len == m.B:
			all[n-1].Len += m.Len
		default:
			all = append(all, m)
		}
	}
	matchPieces(splitLines(a), splitLines(b), 0, 0, func(was, is []string, atA, atB int) {
		matchPieces(splitWords(was), splitWords(is), atA, atB, func(was, is []string, atA, atB int) {
			x, y := joinPieces(was), joinPieces(is)
			head, tail := sharedBytes(x, y)
			add(SharedPiece{atA, atB, head})
			add(SharedPiece{atA + len(x) - tail, atB + len(y) - tail, tail})
		}, add)
	}, add)
	if n := len(all); n > 0 { // splitLines adds a line end to both
		last := &all[n-1]
		last.Len -= max(last.A+last.Len-len(a), last.B+last.Len-len(b), 0)
		if last.Len <= 0 {
			all = all[:n-1]
		}
	}
	return all
}

// matchPieces calls same with the pieces that two lists share, and differ with each run of others.
func matchPieces(a, b []string, atA, atB int, differ func(was, is []string, atA, atB int), same func(SharedPiece)) {
	i := 0
	for _, e := range append(lineEdits(a, b), edit{len(a), len(a), len(b), len(b)}) {
		n := lengthOf(a[i:e.a1])
		same(SharedPiece{atA, atB, n})
		atA, atB = atA+n, atB+n
		if e.a1 < e.a2 && e.b1 < e.b2 {
			differ(a[e.a1:e.a2], b[e.b1:e.b2], atA, atB)
		}
		atA, atB, i = atA+lengthOf(a[e.a1:e.a2]), atB+lengthOf(b[e.b1:e.b2]), e.a2
	}
}

// splitWords returns the words of some lines and the signs between them.
func splitWords(lines []string) []string {
	const wordBytes = 3 // mean length of a word or sign
	all := make([]string, 0, lengthOf(lines)/wordBytes)
	for _, line := range lines {
		for len(line) > 0 {
			n := 0
			for n < len(line) {
				r, size := utf8.DecodeRuneInString(line[n:])
				if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
					if n == 0 {
						n = size
					}
					break
				}
				n += size
			}
			all, line = append(all, line[:n]), line[n:]
		}
	}
	return all
}

func joinPieces(pieces []string) string {
	b := make([]byte, 0, lengthOf(pieces))
	for _, p := range pieces {
		b = append(b, p...)
	}
	return string(b)
}
