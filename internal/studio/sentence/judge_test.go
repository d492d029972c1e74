package sentence

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// expected is a thing that a sentence says is there.
type expected struct {
	Kind     string `json:"kind"`
	Count    int    `json:"count"`
	Material string `json:"material"`
	Relation string `json:"relation"`
	To       string `json:"to"`
}

// labelled is a sentence of others with its things; internal/app/judgetest/cases/labels.md tells how they are labelled.
type labelled struct {
	ID           string     `json:"id"`
	Text         string     `json:"text"`
	Expect       []expected `json:"expect"`
	NotBuildable []string   `json:"not_buildable"`
	Absent       []string   `json:"absent"`
}

// score counts the aspects of expected things.
type score struct {
	things, built, said, silent           int
	counts, materials, relations          int // of them
	rightCount, rightMaterial, rightPlace int
	wrongly                               int // built although absent, or a word that is not named as not understood
}

// add adds the aspects of another score.
func (s *score) add(o score) {
	s.things, s.built, s.said, s.silent = s.things+o.things, s.built+o.built, s.said+o.said, s.silent+o.silent
	s.counts, s.materials, s.relations = s.counts+o.counts, s.materials+o.materials, s.relations+o.relations
	s.rightCount, s.rightMaterial = s.rightCount+o.rightCount, s.rightMaterial+o.rightMaterial
	s.rightPlace, s.wrongly = s.rightPlace+o.rightPlace, s.wrongly+o.wrongly
}

// share is the share of all aspects that are right. A thing that is not built has all of them wrong.
func (s score) share() float64 {
	right := s.built + s.rightCount + s.rightMaterial + s.rightPlace
	return float64(right) / float64(max(s.things+s.counts+s.materials+s.relations, 1))
}

func (s score) String() string {
	return fmt.Sprintf(
		"%.3f of all aspects: %d of %d things built, %d named as not understood, %d silent; %d of %d counts, "+
			"%d of %d materials, %d of %d relations; %d words wrongly built or silent",
		s.share(),
		s.built,
		s.things,
		s.said,
		s.silent,
		s.rightCount,
		s.counts,
		s.rightMaterial,
		s.materials,
		s.rightPlace,
		s.relations,
		s.wrongly,
	)
}

// judge adds the aspects of one sentence, and returns the faults.
func (s *score) judge(v *vocabulary, c labelled) (faults []string) {
	r, err := Read(Brief{Words: c.Text})
	if err != nil && !errors.Is(err, ErrNothing) {
		return []string{err.Error()}
	}
	used := map[int]bool{}
	for _, e := range c.Expect {
		s.things++
		s.counts += boolInt(e.Count > 0)
		s.materials += boolInt(e.Material != "")
		s.relations += boolInt(e.Relation != "")
		at := findPhrase(r, e, used)
		if at < 0 {
			if saysWord(r, e.Kind) || !endsWith(c.Text, e.Kind) { // a misspelt word is named as it is spelt
				s.said++
				faults = append(faults, e.Kind+" is not understood")
			} else {
				s.silent++
				faults = append(faults, e.Kind+" is SILENT")
			}
			continue
		}
		used[at] = true
		s.built++
		p := r.Phrases[at]
		switch {
		case e.Count == 0:
		case e.Count == p.Count:
			s.rightCount++
		default:
			faults = append(faults, fmt.Sprintf("%s: %d instead of %d", e.Kind, p.Count, e.Count))
		}
		switch {
		case e.Material == "":
		case v.isSameMaterial(e.Material, p.Material):
			s.rightMaterial++
		default:
			faults = append(faults, fmt.Sprintf("%s: of %q instead of %s", e.Kind, p.Material, e.Material))
		}
		switch {
		case e.Relation == "":
		case isSameRelation(e, p):
			s.rightPlace++
		default:
			faults = append(faults, fmt.Sprintf("%s: %q instead of %s %s", e.Kind, p.Relation, e.Relation, e.To))
		}
	}
	for _, word := range c.NotBuildable {
		if !saysWord(r, word) {
			s.wrongly++
			faults = append(faults, word+" is not named as not understood")
		}
	}
	for _, word := range c.Absent {
		if slices.ContainsFunc(r.Phrases, func(p Phrase) bool {
			return p.Path != "" && !isImplied(p) &&
				endsWith(p.Words, word)
		}) {
			s.wrongly++
			faults = append(faults, word+" is built")
		}
	}
	return faults
}

// findPhrase returns the phrase of an expected thing: one that no other took and that ends with the noun, if there is
// one.
func findPhrase(r *Reading, e expected, used map[int]bool) (at int) {
	at, best := -1, 0
	for k, p := range r.Phrases {
		if p.Kind == "" || p.Count == 0 || isImplied(p) || !endsWith(p.Words, e.Kind) {
			continue
		}
		value := 1 + 4*boolInt(!used[k]) + 2*boolInt(p.Path != "") + boolInt(e.Count == p.Count)
		if value > best {
			at, best = k, value
		}
	}
	return at
}

func isImplied(p Phrase) bool { return strings.Contains(p.Assumed, "belong to the place") }

func isSeparator(c rune) bool { return strings.ContainsRune(" ,.;:!?\"'-", c) }

// isSameNoun reports whether two words are forms of one noun.
func isSameNoun(a, b string) bool {
	forms := func(w string) []string { return append(singularsOf(w), w) }
	return slices.ContainsFunc(forms(a), func(w string) bool { return slices.Contains(forms(b), w) })
}

// endsWith reports whether a phrase has a noun.
func endsWith(phrase, noun string) bool {
	words, want := strings.FieldsFunc(strings.ToLower(phrase), isSeparator), strings.Fields(strings.ToLower(noun))
	for i := range words {
		if i+len(want) <= len(words) && slices.EqualFunc(words[i:i+len(want)], want, isSameNoun) {
			return true
		}
	}
	return false
}

// saysWord reports whether a reading names a word as not understood, left out or only a qualifier.
func saysWord(r *Reading, word string) bool {
	for _, w := range r.Unknown {
		if endsWith(w, word) || endsWith(word, w) {
			return true
		}
	}
	return slices.ContainsFunc(r.Phrases, func(p Phrase) bool {
		return endsWith(strings.ReplaceAll(p.Assumed, `"`, " "), word) || p.Path == "" && p.Kind == "" &&
			(endsWith(p.Words, word) || endsWith(word, p.Words))
	})
}

func (v *vocabulary) isSameMaterial(label, material string) bool {
	if label == material {
		return true
	}
	for _, s := range v.senses[label] {
		if s.class == isMaterial && s.name == material {
			return true
		}
	}
	return v.isMaterial(label) == material && material != ""
}

// isSameRelation compares the relation and, if the label has one, the landmark.
func isSameRelation(e expected, p Phrase) bool {
	if !strings.HasPrefix(p.Relation, e.Relation) {
		return false
	}
	return e.To == "" || endsWith(p.Relation, e.To) || strings.TrimSpace(p.Relation) == e.Relation
}

func judgeFile(t *testing.T, file string, show bool) score {
	v, err := loadVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s score
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c labelled
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if faults := s.judge(v, c); show && len(faults) > 0 {
			t.Logf("%s %q: %s", c.ID, c.Text, strings.Join(faults, "; "))
		}
	}
	return s
}

const cases = "../../app/judgetest/cases/"

// Sentences of others are built as they say, as far as the bars: the contract wants 0.85. No thing of them is silent.
// The development half is four files. Of the check halves only the figures are printed: nobody who writes words or
// grammar reads them.
func TestSentencesOfOthers(t *testing.T) {
	var development score
	for _, half := range []struct {
		file   string
		show   bool
		least  float64
		silent int
	}{
		{"development/scenes.jsonl", testing.Verbose(), 0.94, 0},
		{"development/scenes-more.jsonl", testing.Verbose(), 0.94, 0},
		{"development/scenes-third.jsonl", testing.Verbose(), 0.94, 0},
		{"development/scenes-fourth.jsonl", testing.Verbose(), 0.88, 0},
		{"scenes-check.jsonl", false, 0.85, 0},
		{"scenes-check-2.jsonl", false, 0.86, 1},
	} {
		t.Run(half.file, func(t *testing.T) {
			s := judgeFile(t, cases+half.file, half.show)
			t.Logf("%s: %v", half.file, s)
			if s.share() < half.least || s.silent > half.silent {
				t.Errorf("%s: %v", half.file, s)
			}
			if strings.HasPrefix(half.file, "development/") {
				development.add(s)
			}
		})
	}
	t.Logf("development: %v", development)
}
