package proposal

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/meaning"
	"loregate/internal/slicesx"
)

// A repeat is a text that a waiting proposal may repeat in other words. It is a hint to the person who decides, and
// no gate uses it: by meaning alone, "was poisoned" is near to "was cured".
type repeat struct {
	Name      string  `json:"name" jsonschema:"Name of the card that has the text, or type of the event."`
	ID        string  `json:"id" jsonschema:"Id of the card or event."`
	Text      string  `json:"text" jsonschema:"The sentence that may be repeated."`
	Closeness float64 `json:"closeness" min:"0" max:"1" jsonschema:"How near its meaning is."`
	Model     string  `json:"model,omitempty" enum:"same,other" jsonschema:"What a language model says of it, if the words leave it open: the proposal says the same or something other. It makes the closeness 1 or 0."`

	relatedness float64
}

// Answers of a model to a doubtful hint.
const (
	saysSame  = "same"
	saysOther = "other"
)

// rank orders the texts of which a hint keeps the first ones.
func (r repeat) rank() float64 { return r.relatedness + closenessShare*r.Closeness }

// Bounds of the hints, chosen by the area under the curve of the development pairs, ranked among 227 facts with weights
// that are fitted without their author. Nine of ten facts are less related to a text than minRelatedness, and one of a
// hundred paraphrases: it keeps unrelated texts out, so that a low closeness suffices for paraphrases in quite other
// words. With both bounds the area is 0.965, with a closeness of 0.1 alone 0.963, and a third as many facts pass them.
// The most related texts are kept: of the facts, the closest ten lack the repeated one in one case of ten, the most
// related ten in one of fifty. A little closeness beside relatedness keeps two paraphrases more.
const (
	minCloseness   = 0.05
	minRelatedness = 0.3
	closenessShare = 0.2 // weight of closeness beside relatedness
	maxRepeats     = 10
	repeatWords    = 8   // words of a proposal that cards are searched for
	repeatHits     = 20  // cards for each word
	repeatFacts    = 500 // facts that are compared although they share no word with the proposal
	repeatEvents   = 50
	repeatTexts    = 8 // sentences of a proposal, or of a text, that are compared
	repeatSentence = 300
)

// findRepeats returns texts that a proposal may repeat, nearest first. It reads only data that the readers of the
// proposal's result see, so the hint is the same for everyone who may see the proposal.
func findRepeats(ctx context.Context, snap *canon.Snapshot, texts []Text, scope string) ([]repeat, error) {
	f := repeatFinder{seen: map[canon.CardID]bool{}, proposed: slicesx.Map(firstSentences(texts), meaning.Prepare)}
	if len(f.proposed) == 0 {
		return nil, nil
	}
	var words []string
	for _, t := range texts {
		words = append(words, contentWords(t.Text)...)
	}
	err := f.compareCards(ctx, snap, words[:min(len(words), repeatWords)])
	if err != nil {
		return nil, err
	}
	events, _, err := snap.Events(ctx, canon.EventQuery{Scopes: []string{scope}, Page: canon.Page{Limit: repeatEvents}})
	for _, e := range events {
		for _, t := range TextsOf("", e.Payload) {
			if uuid.Validate(t.Text) != nil { // an id has letters, but no meaning
				f.compare(e.Type, e.ID.String(), t.Text)
			}
		}
	}
	slices.SortStableFunc(f.found, func(a, b repeat) int { return cmp.Compare(b.rank(), a.rank()) })
	f.found = f.found[:min(len(f.found), maxRepeats)]
	sortByCloseness(f.found)
	return f.found, err
}

// repeatFinder collects texts that are near to the sentences of a proposal.
type repeatFinder struct {
	proposed []meaning.Sentence
	seen     map[canon.CardID]bool
	found    []repeat
}

// compareCards compares the cards that contain a word, and the first facts by name.
func (f *repeatFinder) compareCards(ctx context.Context, snap *canon.Snapshot, words []string) error {
	facts, _, err := snap.Cards(ctx, canon.Filter{Coded: true}, canon.Page{Limit: repeatFacts})
	if err != nil {
		return err
	}
	for _, w := range words {
		r, err := snap.Search(ctx, canon.SearchQuery{Q: w, Mode: canon.MatchStem}, canon.Page{Limit: repeatHits})
		if err != nil {
			return err
		}
		for _, h := range r.Hits {
			facts = append(facts, h.Card)
		}
	}
	for _, c := range facts {
		if f.seen[c.ID] {
			continue
		}
		f.seen[c.ID] = true
		text, err := snap.Content(ctx, c)
		if err != nil {
			return err
		}
		f.compare(c.Name, c.ID.String(), canon.PlainText(c.TextKind(), text))
	}
	return nil
}

// compare adds the sentence of a text that is nearest to the proposal, if it is near.
func (f *repeatFinder) compare(name, id, text string) {
	best := repeat{Name: name, ID: id}
	n := 0
	for s := range meaning.Sentences(text) {
		if n++; n > repeatTexts || len(s) > repeatSentence {
			break
		}
		known := meaning.Prepare(s)
		for _, p := range f.proposed {
			if c, related := p.Compare(known); c > best.Closeness {
				best.Text, best.Closeness, best.relatedness = s, math.Round(c*100)/100, related
			}
		}
	}
	if best.Closeness >= minCloseness && best.relatedness >= minRelatedness {
		f.found = append(f.found, best)
	}
}

// firstSentences returns the first sentences of texts, at most repeatTexts.
func firstSentences(texts []Text) (list []string) {
	for _, t := range texts {
		for s := range meaning.Sentences(t.Text) {
			if list = append(list, s); len(list) == repeatTexts {
				return list
			}
		}
	}
	return list
}

// contentWords returns the longest words of a text, which tell most about its subject.
func contentWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return strings.ContainsRune(" \t\n.,;:!?\"'“”’()-—", r) })
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return slices.Compact(words)
}
