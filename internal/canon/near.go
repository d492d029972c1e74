package canon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"loregate/internal/markup"
)

const (
	// NearFloor is the least Likeness that Reader.NearCards takes for near.
	NearFloor = 0.3
	// maxAliases and maxAlias bound what a card is found by beside its name.
	maxAliases     = 50
	maxAliasLength = 255
)

// Likeness compares names with one text.
type Likeness struct{ trigrams []trigram }

// LikenessTo is a Likeness to a text.
func LikenessTo(text string) Likeness { return Likeness{trigramsOf(text)} }

// Runs gives the runs of three characters of a name by which Likeness compares it, sorted.
func Runs(name string) []string {
	runs := trigramsOf(name)
	list := make([]string, len(runs))
	for i, r := range runs {
		list[i] = string([]rune{rune(r >> (2 * runeBits)), rune(r >> runeBits & runeMask), rune(r & runeMask)})
	}
	return list
}

// Of says how alike a name is to the text, from 0 to 1: how many of the runs of three
// characters that either has, case and accents folded and the ends marked, both have.
func (l Likeness) Of(name string) float64 {
	mine, other := l.trigrams, trigramsOf(name)
	either, both := len(mine)+len(other), 0
	for len(mine) > 0 && len(other) > 0 {
		switch {
		case mine[0] < other[0]:
			mine = mine[1:]
		case mine[0] > other[0]:
			other = other[1:]
		default:
			both++
			mine, other = mine[1:], other[1:]
		}
	}
	return float64(both) / float64(max(1, either-both))
}

// OfCard says how alike the text is to the name of a card, its last part or an alias.
func (l Likeness) OfCard(c Card) (most float64) {
	for _, name := range c.Names() {
		most = max(most, l.Of(name))
	}
	return most
}

// trigram is three characters after one another, as one number: those of many names are
// compared. Numbers are in the order of the characters.
type trigram uint64

const (
	runeBits = 21 // of a code point
	runeMask = 1<<runeBits - 1
)

// trigramsOf gives the runs of a name whose ends are marked, rising.
func trigramsOf(name string) []trigram {
	r := []rune("\x02" + markup.Fold(name) + "\x01\x01")
	list := make([]trigram, len(r)-2)
	for i := range list {
		list[i] = trigram(r[i])<<(2*runeBits) | trigram(r[i+1])<<runeBits | trigram(r[i+2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Names are those by which a card is found: its own, its last part and its aliases.
func (c Card) Names() []string {
	names := []string{strings.ReplaceAll(c.Name, "\n", " ")}
	if last := markup.Tag(c.Name); last != c.Name {
		names = append(names, last)
	}
	return append(names, c.Aliases()...)
}

// Aliases are the names that a card is found by beside its own: the texts in the list
// field "aliases", each once by its key. What is no name is passed over.
func (c Card) Aliases() (list []string) {
	if !bytes.Contains(c.Fields, []byte(`"aliases"`)) {
		return nil
	}
	var own struct {
		Aliases []any `json:"aliases"`
	}
	if json.Unmarshal(c.Fields, &own) != nil {
		return nil
	}
	seen := map[markup.Key]bool{"": true}
	for _, v := range own.Aliases {
		text, _ := v.(string)
		text = markup.OneLine(text)
		if key := markup.KeyOf(text); !seen[key] && utf8.RuneCountInString(text) <= maxAliasLength && len(list) < maxAliases {
			seen[key] = true
			list = append(list, text)
		}
	}
	return list
}

// FieldSort is the name of the integer field that SortField goes by.
const FieldSort = "sort"

// Unsorted is the SortValue of a card without one: it comes after all others.
const Unsorted = int64(1<<63 - 1)

// SortValue is a card's integer field "sort", or Unsorted.
func (c Card) SortValue() int64 {
	if n, ok := integerField(c.Fields, FieldSort); ok {
		return n
	}
	return Unsorted
}

// The attribute of links in which presences keep world time: see Reader.LinkMax.
const (
	ClockKind = "at"
	ClockAttr = "clock"
)

// Integer is an attribute of a link that is an integer.
func (l Link) Integer(attr string) (int64, bool) { return integerField(l.Attrs, attr) }

// integerField reads an integer that is written as one: 5, but not 5.0 or 5e0.
func integerField(object json.RawMessage, name string) (int64, bool) {
	if !bytes.Contains(object, []byte(`"`+name+`"`)) {
		return 0, false
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(object, &all) != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(all[name])), 10, 64)
	return n, err == nil
}
