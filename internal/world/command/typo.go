package command

import (
	"slices"
	"sync"
	"unicode/utf8"
)

// slips finds the known words that are one letter away from a typed one: one letter added, missing
// or replaced, or two neighbours swapped. It stores every known word under itself and under each of
// its forms with one letter left out.
type slips struct {
	forms    map[string][]string
	anagrams map[string][]string // known words by their first letter and their letters in order
	longest  int                 // length of the longest known word, in bytes
}

func newSlips(known []string) slips {
	s := slips{forms: map[string][]string{}, anagrams: map[string][]string{}}
	for _, k := range known {
		s.anagrams[sortLetters(k)] = append(s.anagrams[sortLetters(k)], k)
		s.longest = max(s.longest, len(k))
		eachForm(k, func(form []byte) {
			if !slices.Contains(s.forms[string(form)], k) {
				s.forms[string(form)] = append(s.forms[string(form)], k)
			}
		})
	}
	return s
}

// nearWords returns the known words that a word may be a typo of, in byte order.
func (s slips) nearWords(typed string) []string {
	var out []string
	if len(typed) > s.longest+utf8.UTFMax {
		return nil
	}
	eachForm(typed, func(form []byte) {
		for _, k := range s.forms[string(form)] {
			if !slices.Contains(out, k) && oneSlip(typed, k) {
				out = append(out, k)
			}
		}
	})
	if len(out) == 0 && len(typed) > 4 {
		out = slices.Clone(s.anagrams[sortLetters(typed)])
	}
	slices.Sort(out)
	return out
}

// sortLetters returns a word with the letters after the first one in order.
func sortLetters(w string) string {
	b := []byte(w)
	slices.Sort(b[min(1, len(b)):])
	return string(b)
}

// slipCost returns how unlikely a typo is: letters that are swapped or doubled are the likeliest, then
// those that are missing or added.
func slipCost(typed, known string) int {
	switch {
	case len(typed) == len(known):
		for i := range len(typed) - 1 {
			if typed[i] != known[i] {
				if typed[i] == known[i+1] && typed[i+1] == known[i] {
					return 0
				}
				break
			}
		}
		return 2
	case len(typed) == len(known)+1:
		for i := 1; i < len(typed); i++ {
			if typed[i] == typed[i-1] && typed[:i]+typed[i+1:] == known {
				return 0
			}
		}
	}
	return 1
}

// eachForm calls f with a word, then with each of its forms with one letter left out. A form is
// valid only until the next call.
func eachForm(w string, f func(form []byte)) {
	form := append(make([]byte, 0, 32), w...)
	f(form)
	for i := range w {
		_, n := utf8.DecodeRuneInString(w[i:])
		form = append(append(form[:0], w[:i]...), w[i+n:]...)
		f(form)
	}
}

// oneSlip reports whether two words are equal or differ by one letter or by a swap of neighbours.
func oneSlip(a, b string) bool {
	x, y := []rune(a), []rune(b)
	i := 0
	for i < len(x) && i < len(y) && x[i] == y[i] {
		i++
	}
	x, y = x[i:], y[i:]
	switch len(x) - len(y) {
	case 0:
		return len(x) == 0 || slices.Equal(x[1:], y[1:]) ||
			len(x) > 1 && x[0] == y[1] && x[1] == y[0] && slices.Equal(x[2:], y[2:])
	case 1:
		return slices.Equal(x[1:], y)
	case -1:
		return slices.Equal(x, y[1:])
	}
	return false
}

// verbSlips contains the single-word verbs of wordList of four letters or more, and "use".
var verbSlips = sync.OnceValue(func() slips {
	return newSlips(wordsWhere(func(w string, e *entry) bool {
		return e.verb != nil && e.verb.core && (len(w) > 3 || len(w) == 3 && e.verb.sure == 1)
	}))
})

// directionSlips contains the directions of four letters or more.
var directionSlips = sync.OnceValue(func() slips {
	return newSlips(wordsWhere(func(w string, e *entry) bool {
		return e.toward != "" && !e.adjacent && len(w) > 3
	}))
})

// wordsWhere returns the words that fit, sorted.
func wordsWhere(fits func(string, *entry) bool) (known []string) {
	for w, e := range lexicon() {
		if fits(w, e) {
			known = append(known, w)
		}
	}
	slices.Sort(known)
	return known
}

// isSpelt reports whether a word is no typo.
func isSpelt(w string) bool { return lookUp(lexicon(), w).class&speltClass != 0 }

// typoDirection returns the direction that a word is a typo of, if one is nearest. options are all
// directions that it may be.
func typoDirection(w string) (found Direction, options []string) {
	if utf8.RuneCountInString(w) < 3 || isSpelt(w) {
		return "", nil
	}
	best := 9
	for _, k := range directionSlips().nearWords(w) {
		d := lexicon()[k].toward
		switch cost := slipCost(w, k); {
		case cost < best:
			best, found, options = cost, d, []string{string(d)}
		case cost == best && !slices.Contains(options, string(d)):
			found, options = "", append(options, string(d))
		}
	}
	return found, options
}

// mendParticles mends the second words of verbs that are misspelt in front of an article: pick upp the coin.
func mendParticles(words []word) {
	for i := 0; i+2 < len(words); i++ {
		verb, next := words[i], &words[i+1]
		if next.kind != plainWord || next.known != unknown || !words[i+2].is(articleClass) {
			continue
		}
		e, _ := readVerbForm(verb.fold, verb.known)
		if e == nil || verb.is(grammarClasses) {
			continue
		}
		for particle := range e.phrases {
			if known := lexicon()[particle]; known != nil && known.class&particleClass != 0 && oneSlip(next.fold, particle) {
				next.fold, next.known = particle, known
				break
			}
		}
	}
}

// typoVerb returns the verb that the first word is a typo of, with its number of words, if there is
// only one. options are all verbs that it may be. A verb that makes a phrase with the next word goes
// first: "lok at" is "look at".
func typoVerb(words []word) (u *usage, n int, options []string) {
	typed := words[0].fold
	n = utf8.RuneCountInString(typed)
	if n < 2 || n < 3 && !startsArgument(words[1:]) || isSpelt(typed) && !startsArgument(words[1:]) {
		return nil, 0, nil
	}
	best := 9
	for _, k := range verbSlips().nearWords(typed) {
		e := lexicon()[k]
		cost := 2 * slipCost(typed, k)
		if phrase, m := findPhrase(e, words); m > 1 && phrase.core {
			mended := *phrase
			mended.sure, mended.typo = mendedConfidence, k
			return &mended, m, []string{string(phrase.acts[withObject])}
		}
		if e.verb == nil || !e.verb.core {
			continue
		}
		if e.verb.sure < 1 {
			cost += 3 // the names of the fourteen acts go first
		}
		if cost < best {
			best, options, u = cost, nil, nil
		}
		if v := string(e.verb.acts[withObject]); cost == best && !slices.Contains(options, v) {
			options = append(options, v)
			mended := *e.verb
			mended.sure, mended.typo = mendedConfidence, k
			u, n = &mended, 1
		}
	}
	if len(options) != 1 {
		return nil, 0, options
	}
	return u, n, options
}
