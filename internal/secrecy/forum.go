package secrecy

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"loregate/internal/markup"
)

// forumTag is a tag in brackets, such as [secret], [secret:12], [spoiler=x] and [/secret].
type forumTag struct {
	from, to int
	name     string // in lower case
	end      bool
	numbered bool // it has a colon: [secret:12] stands for a secret kept elsewhere
}

// maxForumTag is the maximum length of a tag in brackets, in bytes.
const maxForumTag = 400

// nextForumTag returns the first tag in brackets at or after an offset. Its brackets and letters may be written as
// entities or wide characters, with tags of HTML and unseen characters among them. ok is false if there is none
// before the offset end.
func nextForumTag(s string, at, end int) (t forumTag, ok bool) {
	for ; at < end; at++ {
		if at = nextSign(s, at, end, &forumSigns); at < end {
			if t, ok = forumTagAt(s, at); ok {
				return t, true
			}
		}
	}
	return t, false
}

// charAt returns the character that a reader sees at an offset, and its length as written. It is 0 if
// nothing is seen.
func charAt(s string, at int) (c rune, n int) {
	if s[at] != '&' {
		if s[at] < utf8.RuneSelf {
			return rune(s[at]), 1
		}
		c, n = utf8.DecodeRuneInString(s[at:])
		return seen(c), n
	}
	near := s[at:min(len(s), at+12)]
	if end := strings.IndexByte(near, ';'); end > 0 {
		if plain := []rune(html.UnescapeString(near[:end+1])); len(plain) == 1 {
			return seen(plain[0]), end + 1
		}
	}
	return '&', 1
}

// seen returns a character without its width, and 0 for one that is not seen.
func seen(c rune) rune {
	switch {
	case c >= '！' && c <= '～':
		return c - '！' + '!'
	case unicode.IsSpace(c) && c != '\n':
		return ' '
	case c >= utf8.RuneSelf && markup.Fold(string(c)) == "":
		return 0
	}
	return c
}

// forumTagAt reads the tag that begins at an offset.
func forumTagAt(s string, from int) (t forumTag, ok bool) {
	c, n := charAt(s, from)
	if c != '[' || from > 0 && s[from-1] == '\\' && strings.HasPrefix(s[from+n:], "/") {
		return t, false
	}
	t.from = from
	var name []rune
	inName := true
	for at, end := from+n, min(len(s), from+maxForumTag); at < end; {
		c, n := charAt(s, at)
		at += n
		switch {
		case c == ']':
			t.to, t.name = at, nameOfForumTag(string(name))
			return t, t.name != ""
		case c == '<':
			i := strings.IndexByte(s[at:end], '>')
			if i < 0 || s[at] == ' ' {
				return t, false
			}
			at += i + 1
		case c == '\n' || c == '[':
			return t, false
		case c == ':' && inName && at < len(s) && s[at] == ':': // a field
			return t, false
		case !inName || c == 0:
		case c == '/' && strings.TrimSpace(string(name)) == "" && !t.end:
			t.end = true
		case c == ':' || c == '=' || c == '|':
			t.numbered, inName = c == ':', false
			if i := strings.LastIndexByte(strings.TrimSpace(string(name)), ' '); c == '=' && i > 0 {
				// The last word is the name of an attribute, as in [secret id=12].
				name = []rune(strings.TrimSpace(string(name))[:i])
			}
		case c < utf8.RuneSelf && isLetter(byte(c)) || c == ' ' || c == '-' || c == '_' || c >= utf8.RuneSelf:
			name = append(name, c)
		default:
			return t, false
		}
	}
	return t, false
}

func nameOfForumTag(name string) string {
	if len(name) > 60 {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(name))
}

// forumScanner finds the parts of a text in tags in brackets.
type forumScanner struct {
	text  string
	form  Form
	judge *judge
	ends  map[string]int // by name, the offset of the last end tag; nil: not yet searched
}

// opens reports whether a tag begins a secret part. Names such as [gm] begin one only if it has an end: "[GM] Bring
// maps." is no tag, nor is the text of a link. toEnd reports that it has no end: a part goes to the end of the
// text.
func (f *forumScanner) opens(t forumTag) (opens, toEnd bool) {
	known := slices.Contains(marks().Forum, t.name)
	if t.end || !known && !f.judge.isExact(t.name) {
		return false, false
	}
	if f.ends == nil {
		f.ends = map[string]int{}
		for at := 0; ; {
			end, ok := nextForumTag(f.text, at, len(f.text))
			if !ok {
				break
			}
			if at = end.to; end.end {
				f.ends[end.name] = end.from
			}
		}
	}
	if f.ends[t.name] > t.from {
		return true, false
	}
	isLink := f.isLink(t)
	return known && !isLink, !isLink
}

// isLink reports whether a tag is the text of a link: [[Secret]], and in Markdown [Secret](x) and [Secret]: x.
func (f *forumScanner) isLink(t forumTag) bool {
	if t.from > 0 && f.text[t.from-1] == '[' && strings.HasPrefix(f.text[t.to:], "]") {
		return true
	}
	return f.form == Markdown && t.to < len(f.text) && strings.IndexByte("([:", f.text[t.to]) >= 0
}

// isWhole reports whether an opening tag such as [secret:12] stands alone: the next tag of its name is no end.
func (f *forumScanner) isWhole(t forumTag) bool {
	if !t.numbered || t.name != "secret" {
		return false
	}
	for at := t.to; ; {
		next, ok := nextForumTag(f.text, at, len(f.text))
		if !ok {
			return true
		}
		if at = next.to; next.name == t.name {
			return !next.end
		}
	}
}
