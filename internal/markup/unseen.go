package markup

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// isJoiner reports whether r is the zero-width joiner or non-joiner. Both are unseen but may be
// needed: they shape letters in some scripts and bind emoji.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// isUnseen reports whether r has no glyph of its own and can hide words or change their order:
// format, bidirectional and tag characters, variation selectors, fillers, joiners. Line separators
// do not count.
func isUnseen(r rune) bool {
	if r < 0xad {
		return false
	}
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // signs over Arabic numbers are visible
		return false
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point):
		return true
	}
	return 0xe0000 <= r && r <= 0xe0fff // tags and the reserved range around them
}

// isNeeded reports whether the unseen character at i has an effect between its neighbours: a joiner
// between letters of a script that uses joiners or between emoji, or a presentation selector after
// a symbol.
func isNeeded(s []rune, i int) bool {
	switch {
	case i == 0:
		return false
	case isJoiner(s[i]):
		return i+1 < len(s) && isJoinable(s[i-1]) && isJoinable(s[i+1])
	case s[i] == '\ufe0e' || s[i] == '\ufe0f':
		return unicode.In(s[i-1], unicode.S, unicode.Po, unicode.Nd) || s[i-1] == '〰'
	}
	return false
}

// isJoinable reports whether a joiner next to r can have a visible effect. In other scripts it
// could only hide a word from a search.
func isJoinable(r rune) bool {
	switch {
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han,
		unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return false
	case r == '\ufe0f', 0x1f3fb <= r && r <= 0x1f3ff: // emoji presentation, skin tones
		return true
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.So) || r == '♂' || r == '♀'
}

// Unshown returns the text in a card's content that Text leaves out, one piece per line: targets of
// links with another text, nests, comments, attribute values, and the text of scripts and titles.
// The cost is linear.
func Unshown(content string) string {
	var b strings.Builder
	add := func(text string) {
		if text = strings.TrimSpace(Clean(html.UnescapeString(text))); text != "" {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	for s := range scanSyntax(content) {
		switch s.kind {
		case linkSpan:
			if r := s.toRef(content); strings.TrimSpace(r.Text) != "" {
				add(r.Target)
			}
		case nestSpan, commentSpan:
			add(content[s.start+2 : s.end-2])
		}
	}
	if !strings.Contains(content, "<") {
		return b.String()
	}
	z := html.NewTokenizer(strings.NewReader(content))
	var skip hiddenElements
	for {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return b.String()
		case html.CommentToken:
			add(string(z.Text()))
		case html.TextToken:
			if skip.isOpen() {
				add(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			name, more := z.TagName()
			skip.addTag(string(name), kind)
			for more {
				var value []byte
				_, value, more = z.TagAttr()
				add(string(value))
			}
		}
	}
}
