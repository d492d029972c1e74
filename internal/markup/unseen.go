package markup

import "unicode"

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
