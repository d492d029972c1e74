package markup

import (
	"strings"
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
	head, tail := sharedLines(a, b)
	add(SharedPiece{0, 0, head})
	x, y := splitLines(a[head:len(a)-tail]), splitLines(b[head:len(b)-tail])
	if tail > 0 { // the last lines have their ends
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	matchPieces(x, y, head, head, func(was, is []string, atA, atB int) {
		matchWords(joinPieces(was), joinPieces(is), atA, atB, add)
	}, add)
	add(SharedPiece{len(a) - tail, len(b) - tail, tail})
	if n := len(all); n > 0 { // splitLines adds a line end to both
		last := &all[n-1]
		last.Len -= max(last.A+last.Len-len(a), last.B+last.Len-len(b), 0)
		if last.Len <= 0 {
			all = all[:n-1]
		}
	}
	return all
}

// matchWords calls same with the words and signs that two texts share.
func matchWords(a, b string, atA, atB int, same func(SharedPiece)) {
	head, tail := sharedWords(a, b)
	same(SharedPiece{atA, atB, head})
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	matchPieces(splitWords(x), splitWords(y), atA+head, atB+head, func(was, is []string, atA, atB int) {
		x, y := joinPieces(was), joinPieces(is)
		head, tail := sharedBytes(x, y)
		same(SharedPiece{atA, atB, head})
		same(SharedPiece{atA + len(x) - tail, atB + len(y) - tail, tail})
	}, same)
	same(SharedPiece{atA + len(a) - tail, atB + len(b) - tail, tail})
}

// sharedLines returns the numbers of bytes of the same lines with which two texts begin and end.
func sharedLines(a, b string) (head, tail int) {
	head, tail = sharedBytes(a, b)
	head = strings.LastIndexByte(a[:head], '\n') + 1
	if i := strings.IndexByte(a[len(a)-tail:], '\n'); i >= 0 {
		return head, tail - i - 1
	}
	return head, 0
}

// sharedWords returns the numbers of bytes of the same words and signs with which two texts begin and end.
func sharedWords(a, b string) (head, tail int) {
	head, tail = sharedBytes(a, b)
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	begins := func(text string) bool { r, _ := utf8.DecodeRuneInString(text); return isWord(r) }
	ends := func(text string) (int, bool) { r, n := utf8.DecodeLastRuneInString(text); return n, isWord(r) }
	if begins(a[head:]) || begins(b[head:]) {
		for n, in := ends(a[:head]); head > 0 && in; n, in = ends(a[:head]) {
			head -= n
		}
	}
	_, inA := ends(a[:len(a)-tail])
	_, inB := ends(b[:len(b)-tail])
	if inA || inB {
		for tail > 0 && begins(a[len(a)-tail:]) {
			_, n := utf8.DecodeRuneInString(a[len(a)-tail:])
			tail -= n
		}
	}
	return head, tail
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

// splitWords returns the words of a text and the signs between them.
func splitWords(text string) []string {
	const wordBytes = 3 // mean length of a word or sign
	all := make([]string, 0, len(text)/wordBytes)
	for len(text) > 0 {
		n := 0
		for n < len(text) {
			r, size := utf8.DecodeRuneInString(text[n:])
			if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
				if n == 0 {
					n = size
				}
				break
			}
			n += size
		}
		all, text = append(all, text[:n]), text[n:]
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
