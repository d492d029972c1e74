package safety

import (
	"fmt"
	"strings"
)

// gap is the most words that "..." matches.
const gap = 4

// slot is one position of a term: its possible words, or a gap.
type slot struct {
	gap   bool
	words []string // exact
	heads []string // prefixes
}

func (s slot) matchesWord(word string) bool {
	for _, w := range s.words {
		if w == word {
			return true
		}
	}
	for _, h := range s.heads {
		if strings.HasPrefix(word, h) {
			return true
		}
	}
	return false
}

// index finds terms in words. Terms are stored by the first letters of their first word.
type index struct{ by map[string][]term }

type term struct {
	slots    []slot
	category int
}

func newIndex() index { return index{by: map[string][]term{}} }

// keyLen is the number of leading bytes of a first word in its key; shorter words are used whole.
const keyLen = 2

func termKey(word string) string { return word[:min(keyLen, len(word))] }

func (x index) add(text string, category int) error {
	t := term{category: category}
	for _, field := range strings.Fields(text) {
		t.slots = append(t.slots, parseSlot(field))
	}
	if len(t.slots) == 0 || t.slots[0].gap || t.slots[len(t.slots)-1].gap {
		return fmt.Errorf("term %q must begin and end with a word", text)
	}
	keys := map[string]bool{}
	for _, w := range append(append([]string(nil), t.slots[0].words...), t.slots[0].heads...) {
		if w == "" {
			return fmt.Errorf("term %q has an empty word", text)
		}
		if keys[termKey(w)] = true; len(w) < keyLen && len(t.slots[0].heads) > 0 {
			return fmt.Errorf("term %q begins with too little", text)
		}
	}
	for k := range keys {
		x.by[k] = append(x.by[k], t)
	}
	return nil
}

func parseSlot(field string) slot {
	if field == "..." {
		return slot{gap: true}
	}
	var s slot
	for w := range strings.SplitSeq(field, "|") {
		if head, ok := strings.CutSuffix(w, "*"); ok {
			s.heads = append(s.heads, head)
		} else {
			s.words = append(s.words, w)
		}
	}
	return s
}

// markMatches marks the categories whose terms occur in the words.
func (x index) markMatches(words []string, met []bool) {
	for i, w := range words {
		for _, t := range x.by[termKey(w)] {
			if !met[t.category] && matchesSlots(t.slots, words[i:]) {
				met[t.category] = true
			}
		}
	}
}

// matchesSlots reports whether the slots match the beginning of the words.
func matchesSlots(slots []slot, words []string) bool {
	for i, s := range slots {
		if s.gap {
			for skip := 0; skip <= gap && skip < len(words); skip++ {
				if matchesSlots(slots[i+1:], words[skip:]) {
					return true
				}
			}
			return false
		}
		if len(words) == 0 || !s.matchesWord(words[0]) {
			return false
		}
		words = words[1:]
	}
	return true
}
