package safety

import (
	"fmt"
	"strings"
)

// gap is how many words a "..." may stand for at most.
const gap = 4

// slot is one place of a term: the words it may be, or a gap.
type slot struct {
	gap   bool
	words []string // exact
	heads []string // beginnings
}

func (s slot) takes(word string) bool {
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

// index finds terms in words. Terms are kept by the first letters of their first word.
type index struct{ by map[string][]term }

type term struct {
	slots    []slot
	category int
}

func newIndex() index { return index{by: map[string][]term{}} }

// keyLen is how many letters of a first word a term is found by; shorter words by all.
const keyLen = 2

func key(word string) string { return word[:min(keyLen, len(word))] }

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
		if keys[key(w)] = true; len(w) < keyLen && len(t.slots[0].heads) > 0 {
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

// find marks the categories whose terms stand in the words.
func (x index) find(words []string, met []bool) {
	for i, w := range words {
		for _, t := range x.by[key(w)] {
			if !met[t.category] && matches(t.slots, words[i:]) {
				met[t.category] = true
			}
		}
	}
}

// matches reports whether the slots stand at the beginning of the words.
func matches(slots []slot, words []string) bool {
	for i, s := range slots {
		if s.gap {
			for skip := 0; skip <= gap && skip < len(words); skip++ {
				if matches(slots[i+1:], words[skip:]) {
					return true
				}
			}
			return false
		}
		if len(words) == 0 || !s.takes(words[0]) {
			return false
		}
		words = words[1:]
	}
	return true
}
