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
			things = append(things, t)
		}
	}
	return encodeGlosses(things)
}

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
func encodeGlosses(things []thing) ([]byte, error) {
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
	var texts, postings, names []byte
	var textStarts, postingStarts, nameStarts []int
	for _, s := range terms {
		textStarts, postingStarts = append(textStarts, len(texts)), append(postingStarts, len(postings))
		texts = append(texts, s...)
		last := -1
		for _, i := range lists[s] {
			postings = binary.AppendUvarint(postings, uint64(i-last))
			last = i
		}
	}
	lengths := make([]byte, 0, len(things))
	for _, t := range things {
		nameStarts = append(nameStarts, len(names))
		names = append(names, strings.Join(t.names, "\n")...)
		lengths = append(lengths, byte(len(t.stems)))
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(terms)))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(things)))
	out = appendTable(out, textStarts, texts)
	out = appendTable(out, postingStarts, postings)
	out = appendTable(out, nameStarts, names)
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
