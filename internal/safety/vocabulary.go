package safety

import (
	"slices"
	"strings"
)

// A classID names the words and phrases that one slot of a term accepts.
type classID int32

// A vocabulary finds the classes of a word. It has the words of all terms.
type vocabulary struct {
	ids     map[string]classID // by the slot's text
	words   map[string][]classID
	heads   map[string][]classID // words that begin so
	swapped map[string][]classID // words and heads in which two neighbours have changed places
	masked  map[int][]string     // by length, for words with hidden letters
	phrases *index               // its terms are phrases, and their categories are classes
}

func newVocabulary() *vocabulary {
	v := &vocabulary{map[string]classID{}, map[string][]classID{}, map[string][]classID{}, map[string][]classID{},
		map[int][]string{}, nil}
	v.phrases = newIndex(v, nil)
	return v
}

// class returns the class of a slot's alternatives. An alternative is a word, a head with a star, or a
// phrase, which is written like a term.
func (v *vocabulary) class(alternatives []string) (classID, error) {
	key := strings.Join(alternatives, "|")
	if id, ok := v.ids[key]; ok {
		return id, nil
	}
	id := classID(len(v.ids))
	v.ids[key] = id
	for _, a := range alternatives {
		if strings.Contains(a, " ") {
			if err := v.phrases.add(a, int(id)); err != nil {
				return 0, err
			}
			continue
		}
		for w := range strings.SplitSeq(a, "|") {
			v.addWord(w, id)
		}
	}
	return id, nil
}

// minSwapped is the least length of a word that is found with two letters swapped, and minMasked of one with
// hidden letters.
const (
	minSwapped = 5
	minMasked  = 4
)

func (v *vocabulary) addWord(text string, id classID) {
	word, isHead := strings.CutSuffix(text, "*")
	into := v.words
	if isHead {
		into = v.heads
	}
	if len(into[word]) == 0 && len(word) >= minMasked {
		v.masked[len(word)] = append(v.masked[len(word)], word)
	}
	into[word] = append(into[word], id)
	if len(word) < minSwapped {
		return
	}
	for i := range len(word) - 1 {
		if b := []byte(word); b[i] != b[i+1] {
			b[i], b[i+1] = b[i+1], b[i]
			v.swapped[string(b)] = append(v.swapped[string(b)], id)
		}
	}
}

func (v *vocabulary) has(word string) bool { return len(v.appendClasses(nil, word)) > 0 }

// appendClasses appends the classes of a word.
func (v *vocabulary) appendClasses(list []classID, word string) []classID {
	list = append(list, v.words[word]...)
	for n := 1; n <= min(len(word), maxHead); n++ {
		list = append(list, v.heads[word[:n]]...)
	}
	return list
}

// maxHead is the most bytes of a head.
const maxHead = 24

// appendSwapped appends the classes of a word with two letters swapped.
func (v *vocabulary) appendSwapped(list []classID, word string) []classID {
	for n := minSwapped; n <= min(len(word), maxHead); n++ {
		if n == len(word) || n > minSwapped && n+2 >= len(word) {
			list = append(list, v.swapped[word[:n]]...)
		}
	}
	return list
}

// unmask returns the words that a word with hidden letters can be: s*cret. At least half of its letters show.
func (v *vocabulary) unmask(word string) []string {
	hidden := strings.Count(word, "*") + strings.Count(word, "#")
	if hidden == 0 || hidden*2 > len(word) || len(word) < minMasked {
		return nil
	}
	var list []string
	for n := max(minMasked, len(word)-3); n <= len(word); n++ {
		if strings.ContainsAny(word[n:], "*#") {
			continue
		}
		for _, w := range v.masked[n] {
			if hidesWord(word, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

func hidesWord(masked, word string) bool {
	for i := range len(word) {
		if masked[i] != word[i] && masked[i] != '*' && masked[i] != '#' {
			return false
		}
	}
	return true
}

// maxDivided is the most bytes of a run that divide reads.
const maxDivided = 80

// divide divides letters that were written apart into known words. It returns nil if they are not all known.
func (v *vocabulary) divide(run string) []string {
	if len(run) > maxDivided {
		return nil
	}
	best := make([][]string, len(run)+1)
	best[0] = []string{}
	for end := 1; end <= len(run); end++ {
		for start := range end {
			if best[start] == nil || best[end] != nil && len(best[start])+1 >= len(best[end]) {
				continue
			}
			if w := run[start:end]; len(v.words[w]) > 0 || len(v.heads[w]) > 0 || len(w) > 6 && v.has(w) {
				best[end] = append(slices.Clone(best[start]), w)
			}
		}
	}
	return best[len(run)]
}
