package safety

import (
	"fmt"
	"strconv"
	"strings"
)

// gap is the most words that "..." matches.
const gap = 4

// A term is a sequence of steps in a category.
type term struct {
	category int
	text     string
}

// A step is one word of a term. After it, up to skip words may come before the next step.
type step struct {
	class    classID
	optional bool
	skip     int
	last     bool
	term     *term
}

// An index finds terms in a lattice. The steps of a term follow each other.
type index struct {
	words *vocabulary
	sets  map[string][]string
	steps []step
	first map[classID][]int // the first steps by class
}

func newIndex(words *vocabulary, sets map[string][]string) *index {
	return &index{words: words, sets: sets, first: map[classID][]int{}}
}

// add adds a term of a category.
func (x *index) add(text string, category int) error {
	t := &term{category, text}
	from, open := len(x.steps), false
	for _, field := range strings.Fields(text) {
		if n, ok := strings.CutPrefix(field, "..."); ok {
			if len(x.steps) == from || open {
				return fmt.Errorf("term %q must begin with a word and have single gaps", text)
			}
			words, err := gapSize(n)
			if err != nil {
				return fmt.Errorf("term %q: %w", text, err)
			}
			x.steps[len(x.steps)-1].skip, open = words, true
			continue
		}
		field, optional := strings.CutPrefix(field, "?")
		list, err := x.alternatives(field)
		if err != nil {
			return fmt.Errorf("term %q: %w", text, err)
		}
		class, err := x.words.class(list)
		if err != nil {
			return err
		}
		x.steps = append(x.steps, step{class: class, optional: optional, term: t})
		open = false
	}
	last := len(x.steps) - 1
	if last < from || open || x.steps[last].optional || x.steps[from].optional {
		return fmt.Errorf("term %q must begin and end with a word", text)
	}
	x.steps[last].last = true
	for i := from; i < last; i++ { // a gap before an absent step is also a gap before the next one
		if x.steps[i+1].optional {
			x.steps[i+1].skip = max(x.steps[i+1].skip, x.steps[i].skip)
		}
	}
	x.first[x.steps[from].class] = append(x.first[x.steps[from].class], from)
	return nil
}

func (x *index) addAll(terms []string, category int) error {
	for _, t := range terms {
		if err := x.add(t, category); err != nil {
			return err
		}
	}
	return nil
}

func gapSize(digits string) (int, error) {
	if digits == "" {
		return gap, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > 20 {
		return 0, fmt.Errorf("a gap has 1 to 20 words, not %q", digits)
	}
	return n, nil
}

// alternatives returns the words of a slot, with those of the sets that it names.
func (x *index) alternatives(field string) ([]string, error) {
	var list []string
	for w := range strings.SplitSeq(field, "|") {
		name, isSet := strings.CutPrefix(w, "@")
		switch {
		case w == "" || w == "*":
			return nil, fmt.Errorf("there is an empty word")
		case !isSet:
			list = append(list, strings.ReplaceAll(w, "+", " "))
		case len(x.sets[name]) == 0:
			return nil, fmt.Errorf("there is no set %q", name)
		default:
			list = append(list, x.sets[name]...)
		}
	}
	return list, nil
}
