package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lookBehind is how far before a cut Truncate looks for the beginning of what it
// would cut, in bytes; longer constructs are cut.
const lookBehind = 4096

// maxSteps is how many constructs one inside another Truncate steps out of.
const maxSteps = 32

// Truncate returns at most the first max characters of s and whether there was
// more. It moves the cut back so as not to fall inside a character with its marks,
// an entity, a tag, a link or a nest, unless that would leave nothing. cut is
// always a prefix of s, not empty unless max < 1, so that reading can go on behind
// it. The cost does not depend on the length of s beyond max.
func Truncate(s string, max int) (cut string, truncated bool) {
	if len(s) <= max {
		return s, false
	}
	end := forth(s, 0, max)
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

// wholeBefore returns the start of the construct that a cut at end would break, or
// end.
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

// isOpenTag tells whether head is the beginning of a tag or comment that tail ends.
func isOpenTag(head, tail string) bool {
	if strings.IndexByte(head, '>') >= 0 || strings.IndexByte(tail, '>') < 0 {
		return false
	}
	next := (head + tail)[1]
	return next == '/' || next == '!' || 'a' <= next|0x20 && next|0x20 <= 'z'
}

// openRef returns where in head the link or nest begins that reaches into tail.
func openRef(head, tail string) int {
	near := head + tail
	for s := range scan(near) {
		if s.start >= len(head) {
			break
		}
		if s.end > len(head) {
			return s.start
		}
	}
	return -1
}

// beforeMarks moves a cut before marks and joiners to the character they belong
// to.
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
