package markup

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxNameLength is the maximum length of a card name, in characters.
const MaxNameLength = 255

// Key is the normalised identity of a whole compound name: two names are the same if and only if
// their keys are equal. Part keys are joined by '+': "Games + Butterfly_Galaxii+Players" has the
// key "game+butterfly_galaxii+player". The zero value is the key of the empty name.
type Key string

// KeyOf returns the key of a name. For each part it decodes HTML entities that end in ';', drops
// unseen characters, composes accents, turns CamelCase and every run of characters other than
// letters (with their marks), numbers and '*' into one '_', lower-cases, makes each word singular
// and joins the words with '_'. A run of capitals with a plural s is one word: GMs is gm.
//
// It is idempotent, KeyOf(string(KeyOf(n))) == KeyOf(n), safe for concurrent use and linear in the
// length of the name. A part without letters, numbers or '*' has the empty key; CheckName refuses
// such names.
func KeyOf(name string) Key {
	buf := make([]byte, 0, len(name)+8)
	for {
		part, rest, more := strings.Cut(name, "+")
		buf = appendPartKey(buf, part)
		if !more {
			return Key(buf)
		}
		buf = append(buf, '+')
		name = rest
	}
}

// PartKey returns the key of one part of a name. A '+' in it does not separate parts but counts as
// any other sign: "A+B" gives "a_b".
func PartKey(part string) string {
	return string(appendPartKey(make([]byte, 0, len(part)+8), part))
}

// HasPart reports whether one of the words has the given key of a part.
func HasPart(words []string, key string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return PartKey(w) == key })
}

// Parts splits a name at '+' and trims the parts; otherwise they stay as written, including
// entities. A simple name is its own only part. A leading or trailing '+' gives an empty part. The
// blank name has no parts.
func Parts(name string) []string {
	if strings.TrimSpace(name) == "" {
		return nil
	}
	parts := strings.Split(name, "+")
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return parts
}

// Join makes a compound name of parts, each trimmed. A part after the first may have the leading
// '+' with which children are written: Join("X", "+tags") is "X+tags".
func Join(parts ...string) string {
	var b strings.Builder
	for i, p := range parts {
		p = strings.TrimSpace(p)
		if i > 0 {
			b.WriteByte('+')
			p = strings.TrimSpace(strings.TrimPrefix(p, "+"))
		}
		b.WriteString(p)
	}
	return b.String()
}

// Left returns all parts of a name except the last, as written, without trailing spaces. It returns
// "" for a simple name.
func Left(name string) string {
	i := strings.LastIndexByte(name, '+')
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(name[:i])
}

// Right returns the last part of a compound name; "" for a simple name.
func Right(name string) string {
	i := strings.LastIndexByte(name, '+')
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(name[i+1:])
}

// Tag returns the last part of a compound name, or the whole of a simple name.
func Tag(name string) string {
	return strings.TrimSpace(name[strings.LastIndexByte(name, '+')+1:])
}

// Parts returns the keys of the parts; none for the empty key.
func (k Key) Parts() []string {
	if k == "" {
		return nil
	}
	return strings.Split(string(k), "+")
}

// Left returns the key without its last part, or "" if it has only one part.
func (k Key) Left() Key {
	return k[:max(strings.LastIndexByte(string(k), '+'), 0)]
}

// Tag returns the key of the last part.
func (k Key) Tag() string {
	return string(k[strings.LastIndexByte(string(k), '+')+1:])
}

// HasPrefix reports whether the first parts of k are those of p. Only whole parts count: game+hero
// has the prefixes game and game+hero, but not gam. The empty key is a prefix of every key.
func (k Key) HasPrefix(p Key) bool {
	if p == "" {
		return true
	}
	if !strings.HasPrefix(string(k), string(p)) {
		return false
	}
	return len(k) == len(p) || k[len(p)] == '+'
}

// NameError is the reason why a card cannot have a name.
type NameError struct {
	Name    string // the refused name as given
	Message string // a plain sentence for a person, without the name
}

func (e *NameError) Error() string { return e.Message }

// CheckName returns nil if a card may be created with or renamed to the name, and otherwise a
// *NameError. It refuses blank names, names over MaxNameLength characters or with invalid UTF-8,
// empty parts, parts with the empty key, '/', and control, bidirectional, zero-width, tag and other
// unseen characters, literal or as entities. Lookups do not call it, because any name has a key.
func CheckName(name string) error {
	if msg := nameFault(name); msg != "" {
		return &NameError{Name: name, Message: msg}
	}
	return nil
}

func nameFault(name string) string {
	if strings.TrimSpace(name) == "" {
		return "The name is blank."
	}
	if !utf8.ValidString(name) {
		return "The name is not valid UTF-8 text."
	}
	if n := utf8.RuneCountInString(name); n > MaxNameLength {
		return fmt.Sprintf("The name has %d characters; at most %d are allowed.", n, MaxNameLength)
	}
	if msg := characterFault(decodeEntities(name)); msg != "" {
		return msg
	}
	for _, part := range Parts(name) {
		if part == "" {
			return "The name has an empty part: write something on both sides of each '+'."
		}
		if PartKey(part) == "" {
			return fmt.Sprintf("The part %q needs at least one letter or digit.", part)
		}
	}
	return ""
}

func characterFault(decoded string) string {
	runes := []rune(decoded)
	for i, r := range runes {
		switch {
		case r == '/':
			return "The name cannot contain '/'."
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return fmt.Sprintf("The name cannot contain control characters (it has U+%04X).", r)
		case r == utf8.RuneError:
			return "The name contains a character that could not be read (U+FFFD)."
		case isUnseen(r) && !isNeeded(runes, i):
			return fmt.Sprintf("The name cannot contain invisible characters (it has U+%04X).", r)
		}
	}
	return ""
}

// appendPartKey appends the key of one part to dst.
func appendPartKey(dst []byte, part string) []byte {
	base := len(dst)
	if isPlain(part) {
		dst = appendWords(dst, part, singularOf)
	} else {
		dst = appendWords(dst, prepareName(part), singularOf)
	}
	if len(dst) > base && dst[len(dst)-1] == '_' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// isPlain reports whether s is ASCII without entities. prepareName would not change such a text.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] == '&' {
			return false
		}
	}
	return true
}

// prepareName decodes entities, drops unseen characters and composes accents, so that names that
// look the same have the same key.
func prepareName(part string) string {
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if isUnseen(r) {
			return -1
		}
		return r
	}, decodeEntities(part)))
}

// inflection returns a form of a word as word[:keep]+tail.
type inflection func(word string) (keep int, tail string)

// asWritten is the inflection that leaves a word unchanged.
func asWritten(word string) (keep int, tail string) { return len(word), "" }

// appendWords appends the words of s, lower-cased and inflected, each followed by '_'.
func appendWords(dst []byte, s string, inflect inflection) []byte {
	start := len(dst)  // start of the current word in dst
	prev := rune('\a') // the previous character as written
	for i, r := range s {
		if !isInWord(r, len(dst) > start) {
			dst = endWord(dst, start, inflect)
			start, prev = len(dst), r
			continue
		}
		if len(dst) > start && isUpper(r) && isWordStart(prev, s[i+utf8.RuneLen(r):]) {
			dst = endWord(dst, start, inflect)
			start = len(dst)
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
		prev = r
	}
	return endWord(dst, start, inflect)
}

// isInWord reports whether r is kept in a key. A mark is kept only inside a word.
func isInWord(r rune, inside bool) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '*'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || inside && unicode.IsMark(r)
}

// isUpper reports whether r is a capital with a lower-case form. Capitals without one stay in the
// key, so they must not begin a word when the key is normalised again.
func isUpper(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.IsUpper(r) && unicode.ToLower(r) != r
}

func isSmall(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return unicode.IsLower(r)
}

// isWordStart reports whether a capital begins a CamelCase word, given the character before it and
// the text after it. It does so after a lower-case letter or digit. The last of several capitals
// does so if a lower-case letter follows that is not the plural s of an abbreviation.
func isWordStart(prev rune, after string) bool {
	if isSmall(prev) || unicode.IsDigit(prev) {
		return true
	}
	if !isUpper(prev) {
		return false
	}
	next, size := utf8.DecodeRuneInString(after)
	if !isSmall(next) {
		return false
	}
	if next != 's' {
		return true
	}
	second, _ := utf8.DecodeRuneInString(after[size:])
	return isSmall(second)
}

// endWord inflects the word that begins at start and appends '_'.
func endWord(dst []byte, start int, inflect inflection) []byte {
	if len(dst) == start {
		return dst
	}
	word := string(dst[start:])
	if !isPlain(word) {
		word = norm.NFC.String(word)
	}
	keep, tail := inflect(word)
	dst = append(dst[:start], word[:keep]...)
	dst = append(dst, tail...)
	return append(dst, '_')
}

// decodeEntities decodes the HTML entities of s that end in ';', once. Unlike a browser it leaves
// "AT&T" and "Q&not" unchanged.
func decodeEntities(s string) string {
	amp := strings.IndexByte(s, '&')
	if amp < 0 {
		return s
	}
	var b strings.Builder
	for amp >= 0 {
		b.WriteString(s[:amp])
		s = s[amp:]
		n := entityLength(s)
		if n == 0 {
			n = 1
			b.WriteByte('&')
		} else {
			b.WriteString(html.UnescapeString(s[:n]))
		}
		s = s[n:]
		amp = strings.IndexByte(s, '&')
	}
	b.WriteString(s)
	return b.String()
}

// longestEntity is the length of &CounterClockwiseContourIntegral;, the longest entity name in
// HTML.
const longestEntity = 33

// entityLength returns the length of the entity at the start of s, or 0.
func entityLength(s string) int {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 2 {
		return 0
	}
	for i := 1; i < end; i++ {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '#' && i == 1) {
			return 0
		}
	}
	decoded := html.UnescapeString(s[:end+1])
	if strings.HasPrefix(decoded, "&") && len(decoded) > 1 || len(decoded) > 1 && strings.HasSuffix(decoded, ";") {
		return 0
	}
	return end + 1
}
