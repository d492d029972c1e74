package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxSenses is the number of senses of a word that are kept for each part of speech, the most frequent first.
// Verbs have more, since the words of commands are verbs of many senses.
var maxSenses = [4]int{3, 24, 3, 2}

var parts = []string{"noun", "verb", "adj", "adv"}

// synset is a set of words that share a sense, as WordNet's data files have it (wndb, section 5).
type synset struct {
	words    []string
	broader  []string   // keys of synsets
	derived  []relation // of single words
	opposite []relation
	instance bool
	number   int // in the written file; -1 before it has one
}

// relation leads from a word of a synset to a word of another.
type relation struct {
	from, to int
	key      string
}

type wordNet struct {
	synsets map[string]*synset     // by part and offset
	senses  map[string][4][]string // keys of synsets by word and part, the most frequent first
	forms   [4]map[string]string   // irregular forms
}

// makeWordNet returns the file of relations, not yet compressed.
func makeWordNet(folder string) ([]byte, error) {
	n := &wordNet{synsets: map[string]*synset{}, senses: map[string][4][]string{}}
	for part, name := range parts {
		if err := readLines(filepath.Join(folder, "data."+name), func(l string) error { return n.readSynset(part, l) }); err != nil {
			return nil, err
		}
	}
	for part, name := range parts {
		if err := readLines(filepath.Join(folder, "index."+name), func(l string) error { return n.readSenses(part, l) }); err != nil {
			return nil, err
		}
		n.forms[part] = map[string]string{}
		if err := readLines(filepath.Join(folder, name+".exc"), func(l string) error {
			if f := strings.Fields(l); len(f) > 1 && isLemma(f[0]) && isLemma(f[1]) && f[0] != f[1] {
				n.forms[part][f[0]] = f[1]
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return n.encode(), nil
}

func readLines(path string, read func(line string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), " ") {
			continue // the licence
		}
		if err := read(s.Text()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return s.Err()
}

// isLemma reports whether a word is kept: lower case, at most three parts, no digits.
func isLemma(w string) bool {
	for _, r := range w {
		if (r < 'a' || r > 'z') && r != '_' && r != '-' && r != '\'' {
			return false
		}
	}
	return w != "" && len(w) <= 40 && strings.Count(w, "_") <= 2
}

func keyOf(part int, offset string) string { return strconv.Itoa(part) + offset }

var partOf = map[string]int{"n": 0, "v": 1, "a": 2, "s": 2, "r": 3}

func (n *wordNet) readSynset(part int, line string) error {
	f := strings.Fields(line)
	s := &synset{number: -1}
	count, err := strconv.ParseInt(f[3], 16, 32)
	if err != nil {
		return err
	}
	at := 4
	for range count {
		word, _, _ := strings.Cut(f[at], "(") // the syntactic marker of an adjective
		s.words = append(s.words, word)
		at += 2
	}
	pointers, err := strconv.Atoi(f[at])
	if err != nil {
		return err
	}
	for at++; pointers > 0; pointers, at = pointers-1, at+4 {
		key := keyOf(partOf[f[at+2]], f[at+1])
		ends, err := strconv.ParseUint(f[at+3], 16, 16)
		if err != nil {
			return err
		}
		r := relation{int(ends >> 8), int(ends & 255), key}
		switch f[at] {
		case "@":
			s.broader = append(s.broader, key)
		case "&": // a satellite adjective, whose head is the nearest thing to a broader word
			s.broader = append(s.broader, key)
		case "@i":
			s.instance = true
		case "+", "\\", "<":
			s.derived = append(s.derived, r)
		case "!":
			s.opposite = append(s.opposite, r)
		}
	}
	n.synsets[keyOf(part, f[0])] = s
	return nil
}

func (n *wordNet) readSenses(part int, line string) error {
	f := strings.Fields(line)
	if !isLemma(f[0]) {
		return nil
	}
	count, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	all := n.senses[f[0]]
	for _, offset := range f[len(f)-count:] {
		key := keyOf(part, offset)
		s := n.synsets[key]
		// A name in upper case is not a word of the language.
		if !s.instance && slices.Contains(s.words, f[0]) && len(all[part]) < maxSenses[part] {
			all[part] = append(all[part], key)
		}
	}
	if len(all[0])+len(all[1])+len(all[2])+len(all[3]) > 0 {
		n.senses[f[0]] = all
	}
	return nil
}

// encode returns the file that package meaning describes.
func (n *wordNet) encode() []byte {
	lemmas := slices.Sorted(maps.Keys(n.senses))
	numbers := map[string]int{}
	for i, w := range lemmas {
		numbers[w] = i
	}
	out := []byte(strings.Join(lemmas, "\n") + "\n\n")
	var order []*synset
	for _, w := range lemmas {
		for _, keys := range n.senses[w] {
			out = binary.AppendUvarint(out, uint64(len(keys)))
			for _, key := range keys {
				s := n.synsets[key]
				if s.number < 0 {
					s.number = len(order)
					order = append(order, s)
					out = append(out, 0)
				} else {
					out = binary.AppendUvarint(out, uint64(len(order)-s.number))
				}
			}
		}
	}
	out = n.appendRelations(out, lemmas, numbers, func(s *synset) []relation { return s.derived })
	out = n.appendRelations(out, lemmas, numbers, func(s *synset) []relation { return s.opposite })
	out = binary.AppendUvarint(out, uint64(len(order)))
	for _, s := range order {
		var broader []int
		for _, key := range s.broader {
			if b := n.synsets[key].number; b >= 0 {
				broader = append(broader, b)
			}
		}
		out = appendFrom(out, s.number, broader)
	}
	return n.appendForms(out, numbers)
}

// appendRelations appends for each word the words that its relations lead to.
func (n *wordNet) appendRelations(out []byte, lemmas []string, numbers map[string]int,
	of func(*synset) []relation) []byte {
	for i, w := range lemmas {
		var ends []int
		for _, keys := range n.senses[w] {
			for _, key := range keys {
				s := n.synsets[key]
				for _, r := range of(s) {
					to := n.synsets[r.key]
					if r.from == 0 || r.to == 0 || s.words[r.from-1] != w {
						continue
					}
					if b, ok := numbers[to.words[r.to-1]]; ok && b != i && !slices.Contains(ends, b) {
						ends = append(ends, b)
					}
				}
			}
		}
		out = appendFrom(out, i, ends)
	}
	return out
}

// appendFrom appends the number of members of a list, then each as its distance from a number.
func appendFrom(out []byte, from int, list []int) []byte {
	out = binary.AppendUvarint(out, uint64(len(list)))
	for _, v := range list {
		out = binary.AppendVarint(out, int64(v-from))
	}
	return out
}

// appendForms appends the irregular forms of each part of speech whose word is known.
func (n *wordNet) appendForms(out []byte, numbers map[string]int) []byte {
	for part := range parts {
		var lines []string
		for form, of := range n.forms[part] {
			if _, ok := numbers[of]; ok {
				lines = append(lines, form+" "+of)
			}
		}
		slices.SortFunc(lines, compare)
		out = append(out, strings.Join(lines, "\n")+"\n\n"...)
	}
	return out
}

func compare(a, b string) int { return cmp.Compare(a, b) }
