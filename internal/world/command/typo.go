package command

import (
	"slices"
	"unicode/utf8"
)

// slips finds the known words that are one letter away from a typed one: one letter added, missing
// or replaced, or two neighbours swapped. It stores every known word under itself and under each of
// its forms with one letter left out.
type slips struct {
	forms   map[string][]string
	longest int // length of the longest known word, in bytes
}

func newSlips(known []string) slips {
	s := slips{forms: map[string][]string{}}
	for _, k := range known {
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
	slices.Sort(out)
	return out
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

// verbSlips contains the single-word verbs of four letters or more.
var verbSlips = newSlips(func() (known []string) {
	for first, list := range phrasesByHead {
		if utf8.RuneCountInString(first) >= 4 && slices.ContainsFunc(list,
			func(h verbPhrase) bool { return len(h.words) == 1 }) {
			known = append(known, first)
		}
	}
	slices.Sort(known)
	return known
}())

// directionSlips contains the directions of four letters or more.
var directionSlips = newSlips(func() (known []string) {
	for name := range directionWords {
		if len(name) >= 4 {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	return known
}())

// typoDirection returns the direction that a word is a typo of, if there is only one.
func typoDirection(w string) (Direction, bool) {
	if utf8.RuneCountInString(w) < 4 || otherVerbs[w] {
		return "", false
	}
	var found Direction
	for _, k := range directionSlips.nearWords(w) {
		d := directionWords[k]
		if found != "" && d != found {
			return "", false
		}
		found = d
	}
	return found, found != ""
}

// typoVerb returns the verb that a word is a typo of, if there is only one. options are all verbs
// that it may be.
func typoVerb(w string) (m verbMatch, options []string, ok bool) {
	if utf8.RuneCountInString(w) < 3 || otherVerbs[w] {
		return verbMatch{}, nil, false
	}
	for _, k := range verbSlips.nearWords(w) {
		for _, h := range phrasesByHead[k] {
			if len(h.words) == 1 {
				m = verbMatch{h.match.verb, 0.75, 1}
				if !slices.Contains(options, string(m.verb)) {
					options = append(options, string(m.verb))
				}
			}
		}
	}
	return m, options, len(options) == 1
}
