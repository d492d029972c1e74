package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookBehind is the maximum length of a construct that Truncate keeps whole, in bytes; longer ones
// are cut.
const lookBehind = 4096

// maxSteps is the maximum number of nested constructs that Truncate moves out of.
const maxSteps = 32

// Clip returns the first n characters of s.
func Clip(s string, n int) string { return s[:runesAfter(s, 0, n)] }

// Shorten returns s if it has at most n characters, else its first n characters and "…". It is for
// text from outside that a message quotes.
func Shorten(s string, n int) string {
	if end := runesAfter(s, 0, n); end < len(s) {
		return s[:end] + "…"
	}
	return s
}

// Truncate returns at most the first max characters of s and reports whether there are more. It
// moves the cut back so that it does not split a character with its marks, an entity, a tag, a link
// or a nest, unless that would leave nothing. cut is always a prefix of s and not empty unless max
// < 1, so reading can continue after it. The cost does not depend on the length of s beyond max.
func Truncate(s string, max int) (cut string, truncated bool) {
	if len(s) <= max {
		return s, false
	}
	end := runesAfter(s, 0, max)
	if end == len(s) {
		return s, false
	}
	whole := end
	for range maxSteps {
		before := wholeBefore(s, whole)
		if before == whole {
			return s[:whole], true
		}
		if before == 0 {
			break
		}
		whole = before
	}
	return s[:end], true
}

// wholeBefore returns the start of the construct that a cut at end would split, or end.
func wholeBefore(s string, end int) int {
	from := max(end-lookBehind, 0)
	head, tail := s[from:end], s[end:min(len(s), end+lookBehind)]
	if i := strings.LastIndexByte(head, '<'); i >= 0 && isOpenTag(head[i:], tail) {
		return from + i
	}
	if i := openRef(head, tail); i >= 0 {
		return from + i
	}
	if i := strings.LastIndexByte(head, '&'); i >= 0 && len(head)-i < longestEntity {
		if n := entityLength(s[from+i:]); n > len(head)-i {
			return from + i
		}
	}
	return beforeMarks(s, end)
}

// isOpenTag reports whether head begins a tag or comment that ends in tail.
func isOpenTag(head, tail string) bool {
	if strings.IndexByte(head, '>') >= 0 || strings.IndexByte(tail, '>') < 0 {
		return false
	}
	next := (head + tail)[1]
	return next == '/' || next == '!' || 'a' <= next|0x20 && next|0x20 <= 'z'
}

// openRef returns the offset in head of the link or nest that extends into tail, or -1.
func openRef(head, tail string) int {
	near := head + tail
	for s := range scanSyntax(near) {
		if s.start >= len(head) {
			break
		}
		if s.end > len(head) {
			return s.start
		}
	}
	return -1
}

// beforeMarks moves a cut before marks and joiners to the start of their base character.
func beforeMarks(s string, end int) int {
	for n := 0; n < 16 && end > 0; n++ {
		next, _ := utf8.DecodeRuneInString(s[end:])
		last, size := utf8.DecodeLastRuneInString(s[:end])
		if !unicode.IsMark(next) && next != '\u200d' && last != '\u200d' && !(last == '\r' && next == '\n') {
			break
		}
		end -= size
	}
	return end
}
