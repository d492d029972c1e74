package markup

import "unicode"

// isJoiner tells of the two characters that are unseen and yet needed: zero-width
// joiner and non-joiner shape letters in some scripts and bind emoji.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// isUnseen tells of characters that have no glyph of their own and can hide words
// or turn their order: format, bidirectional and tag characters, variation
// selectors, fillers, joiners. The line separators are not among them.
func isUnseen(r rune) bool {
	if r < 0xad {
		return false
	}
	switch {
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // signs over Arabic numbers
		return false
	case unicode.In(r, unicode.Cf, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point):
		return true
	}
	return 0xe0000 <= r && r <= 0xe0fff // tags and all that is reserved beside them
}

// needed tells whether the unseen character at i does something between its
// neighbours: a joiner between letters of a script that uses joiners or between
// emoji, or a choice of presentation after a symbol.
func needed(s []rune, i int) bool {
	switch {
	case i == 0:
		return false
	case isJoiner(s[i]):
		return i+1 < len(s) && joinable(s[i-1]) && joinable(s[i+1])
	case s[i] == '\ufe0e' || s[i] == '\ufe0f':
		return unicode.In(s[i-1], unicode.S, unicode.Po, unicode.Nd) || s[i-1] == '〰'
	}
	return false
}

// joinable leaves out the scripts in which a joiner changes nothing that is seen,
// where it could only hide a word from a search.
func joinable(r rune) bool {
	switch {
	case unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han,
		unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return false
	case r == '\ufe0f', 0x1f3fb <= r && r <= 0x1f3ff: // emoji presentation, skin tones
		return true
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.So) || r == '♂' || r == '♀'
}
