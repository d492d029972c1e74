package safety

import (
	"slices"
	"strings"
	"unicode"
)

// A token is a word of a text, or the end of a sentence.
type token struct {
	end      bool
	readings []reading
	quoted   bool // between quotation marks
}

// A reading is a word that begins at a token and covers span tokens. A masked word has several readings.
type reading struct {
	word string
	span int
}

// shortForms are contracted words and words of chats, with the words that they stand for.
var shortForms = map[string]string{
	"im": "i am", "ive": "i have", "youre": "you are", "youve": "you have", "ur": "your", "u": "you", "r": "are", "ya": "you",
	"dont": "do not", "cant": "can not", "cannot": "can not", "wont": "will not", "isnt": "is not", "arent": "are not",
	"shouldnt": "should not", "doesnt": "does not", "didnt": "did not", "wouldnt": "would not", "gonna": "going to",
	"wanna": "want to", "gotta": "have to", "lemme": "let me", "gimme": "give me", "thats": "that is", "whats": "what is",
	"theyre": "they are", "ill": "i will", "hows": "how", "2": "to", "tryna": "trying to", "plz": "please", "pls": "please",
	"ppl": "people", "thru": "through", "wots": "what is", "ain": "is", "ima": "i will", "imma": "i will",
}

// contractions are the endings after an apostrophe, with their words. Others are dropped.
var contractions = map[string]string{"m": "am", "re": "are", "ll": "will", "ve": "have", "d": "would"}

// readTokens splits a visible text into tokens. known are the words by which letters that are written
// apart without gaps between words are divided.
func readTokens(seen string, known *vocabulary) []token {
	var list []token
	quoted := false
	fields := strings.Fields(joinApartRuns(seen))
	for at, field := range fields {
		opens := strings.ContainsAny(field[:1], "\"") || strings.HasPrefix(field, "“") || strings.HasPrefix(field, "«")
		quoted = quoted || opens
		first := len(list)
		list = appendField(list, foldLetters(field), known)
		if at+1 < len(fields) && goesOn(field, fields[at+1]) && len(list) > 0 && list[len(list)-1].end {
			list = list[:len(list)-1]
		}
		for i := first; i < len(list); i++ {
			list[i].quoted = quoted
		}
		if rest := strings.TrimRight(field, ".,;:!?)"); len(rest) > 1 && strings.HasSuffix(rest, "\"") ||
			strings.ContainsAny(field, "”»") {
			quoted = false
		}
	}
	joinHalves(list, known)
	return list
}

// minHalves is the least length of a word that is found in two halves.
const minHalves = 6

// joinHalves adds the readings of words that a space divides: ig nore.
func joinHalves(list []token, known *vocabulary) {
	for i := range len(list) - 1 {
		if list[i].end || list[i+1].end {
			continue
		}
		a, b := list[i].readings[0].word, list[i+1].readings[0].word
		whole := a + b
		if len(whole) < minHalves || len(a) < 2 || len(b) < 2 || known.has(a) && known.has(b) {
			continue
		}
		if len(known.words[whole]) > 0 || slices.ContainsFunc([]int{0, 1, 2, 3}, func(n int) bool {
			return len(whole)-n >= minHalves && len(known.heads[whole[:len(whole)-n]]) > 0
		}) {
			list[i].readings = append(list[i].readings, reading{whole, 2})
		}
	}
}

// appendField appends the words of a field, which is a part of a text without spaces.
func appendField(list []token, field string, known *vocabulary) []token {
	apart := strings.ContainsRune(field, runMark)
	field = strings.ReplaceAll(field, string(runMark), "")
	core := strings.Trim(field, ".,;:?!\"'()[]{}“”«»‘’…*_~`<>-")
	var words []string
	for _, part := range strings.FieldsFunc(field, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\'' && r != '’'
	}) {
		words = append(words, expandShort(strings.Trim(part, "'’"))...)
	}
	if apart && len(words) == 1 && len(known.words[words[0]]) == 0 {
		if parts := known.divide(words[0]); len(parts) > 1 {
			words = parts
		}
	}
	first := len(list)
	for _, w := range words {
		list = append(list, token{readings: []reading{{w, 1}}})
	}
	if len(words) > 0 {
		for _, w := range append(readMasked(field, core), known.unmask(core)...) {
			if w != words[0] {
				list[first].readings = append(list[first].readings, reading{w, len(words)})
			}
		}
	}
	if endsSentence(field, words) {
		list = append(list, token{end: true})
	}
	return list
}

func expandShort(word string) []string {
	if word == "" {
		return nil
	}
	at := strings.IndexAny(word, "'’")
	if at < 0 {
		if long, ok := shortForms[word]; ok {
			return strings.Fields(long)
		}
		return []string{word}
	}
	head, tail := word[:at], strings.TrimLeft(word[at:], "'’")
	switch {
	case tail == "t" && strings.HasSuffix(head, "n"):
		head = strings.TrimSuffix(head, "n")
		switch head {
		case "ca":
			head = "can"
		case "wo":
			head = "will"
		case "ai":
			head = "is"
		}
		return []string{head, "not"}
	case contractions[tail] != "":
		return append(expandShort(head), contractions[tail])
	case tail == "s" || tail == "":
		return expandShort(head)
	}
	return []string{head + tail}
}

// endsSentence reports whether a field ends with a stop. The stop after an initial is none.
func endsSentence(field string, words []string) bool {
	rest := strings.TrimRight(field, "\"'”»’)]}")
	stop := strings.TrimRight(rest, ".!?;…")
	if stop == rest {
		return false
	}
	if len(words) == 1 && rest[len(stop):] == "." {
		w := words[0]
		return len(w) > 1 && w != "mr" && w != "mrs" && w != "ms" && w != "dr" && w != "st"
	}
	return true
}

// runMark stands before joined letters. A visible text has no control characters.
const runMark = '\x00'

// goesOn reports whether a sentence goes on after an exclamation or question, as in: "Stop! cries the guard."
func goesOn(field, next string) bool {
	return strings.ContainsAny(field[len(field)-1:], "!?\"") && unicode.IsLower([]rune(next)[0])
}

// maxWide is the most spaces between two words whose letters are written apart.
const maxWide = 8

// joinApartRuns joins three or more single letters that are written apart by the same sign or space, and
// puts runMark before them.
func joinApartRuns(s string) string {
	runes := []rune(s)
	var b strings.Builder
	joined := -maxWide // where the last run ended
	next := 0          // where a run may begin
	for i := 0; i < len(runes); {
		if i < next || i > 0 && isLetterSign(runes[i-1]) || !isLetterSign(runes[i]) {
			b.WriteRune(runes[i])
			i++
			continue
		}
		run, end := apartRun(runes[i:])
		if len(run) < 3 && (len(run) < 2 || i-joined > maxWide || i-joined < 2) {
			next = i + end
			b.WriteRune(runes[i])
			i++
			continue
		}
		b.WriteRune(runMark)
		b.WriteString(string(run))
		i += end
		joined = i
	}
	return b.String()
}

// apartRun returns the letters at the beginning of runes that are written apart, and their length with
// separators. If signs and digits outnumber the letters there is no run, and end is where the next one may begin:
// the rest of such a row is not read again from each of its places.
func apartRun(runes []rune) (run []rune, end int) {
	var sep []rune
	var starts []int // in runes, of the runes of the run
	letters := 0
	for at := 0; at < len(runes) && isLetterSign(runes[at]); {
		gap := at + 1
		for gap < len(runes) && gap-at <= maxWide && isApart(runes[gap]) {
			gap++
		}
		next := runes[at+1 : gap]
		if gap < len(runes) && gap == at+1 && isLetterSign(runes[gap]) {
			if len(run) > 0 { // a longer word follows: its first letter is no part of the run
				break
			}
			return nil, 0
		}
		run, starts, end = append(run, runes[at]), append(starts, at), at+1
		if unicode.IsLetter(runes[at]) {
			letters++
		}
		if len(sep) == 0 {
			sep = next
		}
		if slices.Contains(next, '_') && string(sep) == " " { // a letter of a key, not a separator
			run, starts, next = append(run, '_'), append(starts, at), sep
		}
		if !slices.Equal(next, sep) || len(next) == 0 || len(sep) > 1 && !isBlank(sep) {
			break
		}
		at = gap
	}
	if hasLetters(letters, len(run), sep) {
		return run, end
	}
	for i, r := range run {
		if hasLetters(letters, len(run)-i, sep) {
			return nil, starts[i]
		}
		if unicode.IsLetter(r) {
			letters--
		}
	}
	return nil, end
}

// hasLetters reports whether a run of letters and signs has enough letters. Digits alone may be apart by spaces.
func hasLetters(letters, length int, sep []rune) bool {
	return letters > 0 && letters*2 >= length || letters == 0 && isBlank(sep)
}

func isBlank(runes []rune) bool {
	return !slices.ContainsFunc(runes, func(r rune) bool { return !unicode.IsSpace(r) })
}

func isLetterSign(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("@$!+|€", r)
}

func isApart(r rune) bool { return strings.ContainsRune(" .*_-·•/~", r) }
