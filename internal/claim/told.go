package claim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// Bounds of Told.
const (
	maxTold       = 40 // lines
	toldEntities  = 12
	toldSentences = 4 // of an entity
	toldFields    = 6 // of an entity
)

// Told returns the sentences of a world about the entities that a text names, about its speaker and
// its place, one a line, at most maxTold. A reader of these lines alone can find out whether the canon denies the text.
func Told(text string, w *World) []string {
	said := tokensOf(text)
	about := factsAbout(said, w)
	about = append(mentioned(Claim{Text: text}, w), about[:min(len(about), toldSentences)]...)
	for _, e := range []int{w.Place, w.Listener} {
		if e != None {
			about = append(about, e)
		}
	}
	seen := map[int]bool{}
	about = slices.DeleteFunc(about, func(e int) bool {
		known := seen[e]
		seen[e] = true
		return known
	})
	t := teller{world: w, words: contentOf(said)}
	for _, e := range about[:min(len(about), toldEntities)] {
		t.tellLinks(e)
		t.tellFields(w.Entities[e])
		t.tellText(w.Entities[e])
	}
	if w.Place != None && w.Weather != "" {
		t.tell("The weather at %s: %s", w.name(w.Place), w.Weather)
	}
	return t.lines[:min(len(t.lines), maxTold)]
}

// teller collects lines, each once.
type teller struct {
	world *World
	words []string // the content words of the text
	lines []string
}

func (t *teller) tell(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(t.lines, line) {
		t.lines = append(t.lines, line)
	}
}

// tellLinks tells where an entity is, what it holds and who holds it, its kin, and the exits of a place.
func (t *teller) tellLinks(e int) {
	w := t.world
	if at, ok := w.At[e]; ok {
		t.tell("%s is at %s.", w.name(e), w.name(at))
	}
	if around, ok := w.Within[e]; ok {
		t.tell("%s is within %s.", w.name(e), w.name(around))
	}
	for _, thing := range slices.Sorted(maps.Keys(w.Holder)) {
		if holder := w.Holder[thing]; thing == e || holder == e {
			t.tell("%s has %s.", w.name(holder), w.name(thing))
		}
	}
	for _, x := range w.Exits {
		if x.From == e {
			t.tell("From %s, %s leads to %s%s.", w.name(x.From), x.Direction, w.name(x.To), inBrackets(x.Lock))
		}
	}
	for _, r := range w.Relations {
		if r.From == e || r.To == e {
			t.tell("%s is %s %s.", w.name(r.From), r.Type, w.name(r.To))
		}
	}
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// tellFields tells the short values of an entity's fields.
func (t *teller) tellFields(e Entity) {
	told := 0
	for _, k := range sortedKeys(e.Fields) {
		switch v := e.Fields[k].(type) {
		case string, bool, float64:
			if told++; told <= toldFields {
				t.tell("%s: %s: %v", e.Name, k, v)
			}
		}
	}
}

// tellText tells the sentences of an entity's text that share most words with the text.
func (t *teller) tellText(e Entity) {
	type sentence struct {
		text  string
		score int
	}
	var list []sentence
	for s := range meaning.Sentences(e.Text) {
		list = append(list, sentence{strings.Join(strings.Fields(s), " "), len(shared(t.words, contentOf(tokensOf(s))))})
	}
	slices.SortStableFunc(list, func(a, b sentence) int { return b.score - a.score })
	for _, s := range list[:min(len(list), toldSentences)] {
		t.tell("%s: %s", e.Name, s.text)
	}
}
