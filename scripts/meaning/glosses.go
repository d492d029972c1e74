package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/meaning"
	"loregate/internal/stem"
)

// thing is a synset with its names and the stems of the words that define it.
type thing struct {
	names []string
	stems []string
}

// glossParts are the parts of speech whose definitions are kept.
var glossParts = []string{"noun", "verb"}

// makeGlosses returns the file of definitions: those of things and acts, and of beings and things of myths and
// stories, but not of real people, places and groups, or of the Latin names of animals and plants.
func makeGlosses(folder string) ([]byte, error) {
	broader := map[string][]string{} // keys of synsets
	words := map[string][]string{}
	glosses := map[string]string{}
	var order []string
	for part, name := range glossParts {
		err := readLines(filepath.Join(folder, "data."+name), func(line string) error {
			data, gloss, _ := strings.Cut(line, " | ")
			f := strings.Fields(data)
			key := keyOf(part, f[0])
			count, err := strconv.ParseInt(f[3], 16, 32)
			if err != nil {
				return err
			}
			for i := range int(count) {
				words[key] = append(words[key], f[4+2*i])
			}
			pointers := f[4+2*count+1:]
			instance := false
			for i := 0; i+3 < len(pointers) && !isNumber(pointers[i]); i += 4 {
				if p := pointers[i]; p == "@" || p == "@i" {
					broader[key] = append(broader[key], keyOf(partOf[pointers[i+2]], pointers[i+1]))
					instance = instance || p == "@i"
				}
			}
			file, err := strconv.Atoi(f[1])
			if err != nil {
				return err
			}
			if instance && realFiles[file] || latinFiles[file] && !hasLower(words[key]) {
				return nil
			}
			glosses[key] = gloss
			order = append(order, key)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var things []thing
	numbers := map[string]int{}
	for _, key := range order {
		t := thing{stems: stemsOf(cutGloss(glosses[key]))}
		for _, w := range words[key] {
			if w = strings.ToLower(w); isLemma(w) {
				t.names = append(t.names, strings.ReplaceAll(w, "_", " "))
			}
			t.stems = append(t.stems, stemsOf(w)...)
		}
		for _, b := range broader[key] {
			t.stems = append(t.stems, stemsOf(strings.Join(words[b], " "))...)
		}
		slices.Sort(t.stems)
		if t.stems = slices.Compact(t.stems); len(t.names) > 0 {
			numbers[key] = len(things)
			things = append(things, t)
		}
	}
	senses, err := readSenses(folder, numbers)
	if err != nil {
		return nil, err
	}
	return encodeGlosses(things, senses)
}

// readSenses returns the numbers of the things that each name has, nouns first, the most frequent senses first.
func readSenses(folder string, numbers map[string]int) (map[string][]int, error) {
	senses := map[string][]int{}
	for part, name := range glossParts {
		err := readLines(filepath.Join(folder, "index."+name), func(line string) error {
			f := strings.Fields(line)
			count, err := strconv.Atoi(f[2])
			if err != nil || !isLemma(f[0]) {
				return err
			}
			name, kept := strings.ReplaceAll(f[0], "_", " "), 0
			for _, offset := range f[len(f)-count:] {
				if i, ok := numbers[keyOf(part, offset)]; ok && kept < glossSenses {
					senses[name] = append(senses[name], i)
					kept++
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return senses, nil
}

// glossSenses is the number of senses of a name that are found by it, for each part of speech.
const glossSenses = 2

// Numbers of WordNet's lexicographer files (lexnames): instances in realFiles are places, people and groups of the real
// world, and names in upper case in latinFiles are those of animals and plants.
var (
	realFiles  = map[int]bool{4: true, 10: true, 14: true, 15: true, 17: true}
	latinFiles = map[int]bool{5: true, 20: true}
)

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func hasLower(words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w[0] >= 'a' && w[0] <= 'z' })
}

// cutGloss removes the examples from a gloss.
func cutGloss(gloss string) string {
	gloss, _, _ = strings.Cut(gloss, `; "`)
	return gloss
}

// stemsOf returns the stems of the words of a text that carry meaning.
func stemsOf(text string) (list []string) {
	for w := range meaning.Words(strings.ReplaceAll(text, "_", " ")) {
		if !meaning.IsFunctionWord(w) {
			list = append(list, stem.Of("en", w))
		}
	}
	return list
}

// encodeGlosses returns the file that package meaning describes.
func encodeGlosses(things []thing, senses map[string][]int) ([]byte, error) {
	lists := map[string][]int{}
	for i, t := range things {
		for _, s := range t.stems {
			lists[s] = append(lists[s], i)
		}
		if len(t.stems) > 255 {
			return nil, fmt.Errorf("the definition of %v is too long", t.names)
		}
	}
	terms := slices.Sorted(maps.Keys(lists))
	numbers := map[string]int{}
	var texts, postings []byte
	var textStarts, postingStarts []int
	for n, s := range terms {
		numbers[s] = n
		textStarts, postingStarts = append(textStarts, len(texts)), append(postingStarts, len(postings))
		texts = append(texts, s...)
		last := -1
		for _, i := range lists[s] {
			postings = binary.AppendUvarint(postings, uint64(i-last))
			last = i
		}
	}
	var known, meant, names, definitions []byte
	var knownStarts, meantStarts, nameStarts, definitionStarts []int
	all := maps.Clone(senses) // and names that only senses beyond glossSenses have
	for _, t := range things {
		for _, name := range t.names {
			all[name] = senses[name]
		}
	}
	nameNumbers := map[string]int{}
	for n, name := range slices.Sorted(maps.Keys(all)) {
		nameNumbers[name] = n
		knownStarts, meantStarts = append(knownStarts, len(known)), append(meantStarts, len(meant))
		known = append(known, name...)
		for _, i := range all[name] {
			meant = binary.AppendUvarint(meant, uint64(i))
		}
	}
	lengths := make([]byte, 0, len(things))
	for _, t := range things {
		nameStarts, definitionStarts = append(nameStarts, len(names)), append(definitionStarts, len(definitions))
		for _, name := range t.names {
			names = binary.AppendUvarint(names, uint64(nameNumbers[name]))
		}
		last := 0
		for _, s := range t.stems { // in the order of their numbers
			definitions = binary.AppendUvarint(definitions, uint64(numbers[s]-last))
			last = numbers[s]
		}
		lengths = append(lengths, byte(len(t.stems)))
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(terms)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(things)))
	out = appendTable(out, textStarts, texts)
	out = appendTable(out, postingStarts, postings)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(all)))
	out = appendTable(out, knownStarts, known)
	out = appendTable(out, meantStarts, meant)
	out = appendTable(out, nameStarts, names)
	out = appendTable(out, definitionStarts, definitions)
	return append(out, lengths...), nil
}

// appendTable appends where each of some texts begins, the end, and the texts.
func appendTable(out []byte, starts []int, texts []byte) []byte {
	for _, at := range starts {
		out = binary.LittleEndian.AppendUint32(out, uint32(at))
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(len(texts)))
	return append(out, texts...)
}
