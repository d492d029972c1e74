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
	// NearFloor is the lowest Likeness of a result of Reader.NearCards.
	NearFloor = 0.3
	// maxAliases bounds the aliases of a card, maxAliasLength the characters of one.
	maxAliases     = 50
	maxAliasLength = 255
)

// Likeness compares names with a text by their trigrams: runs of three characters.
type Likeness struct{ trigrams []trigram }

// LikenessTo returns a Likeness to a text.
func LikenessTo(text string) Likeness { return Likeness{trigramsOf(text)} }

// Trigrams returns the trigrams of a name that Likeness compares, sorted.
func Trigrams(name string) []string {
	runs := trigramsOf(name)
	list := make([]string, len(runs))
	for i, r := range runs {
		list[i] = string([]rune{rune(r >> (2 * runeBits)), rune(r >> runeBits & runeMask), rune(r & runeMask)})
	}
	return list
}

// Of returns the similarity of a name to the text, from 0 to 1: the number of trigrams that both
// have, divided by the number that either has. Case and accents are folded, and the ends of a name
// are marked.
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

// OfCard returns the greatest similarity of the text to the name of a card, the last part of its
// name or an alias.
func (l Likeness) OfCard(c Card) (most float64) {
	for _, name := range c.Names() {
		most = max(most, l.Of(name))
	}
	return most
}

// trigram is three consecutive characters, packed into a number for fast comparison. The order of
// the numbers is the order of the characters.
type trigram uint64

const (
	runeBits = 21 // of a code point
	runeMask = 1<<runeBits - 1
)

// trigramsOf returns the trigrams of a name with marked ends, in ascending order and each once.
func trigramsOf(name string) []trigram {
	r := []rune("\x02" + markup.Fold(name) + "\x01\x01")
	list := make([]trigram, len(r)-2)
	for i := range list {
		list[i] = trigram(r[i])<<(2*runeBits) | trigram(r[i+1])<<runeBits | trigram(r[i+2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Names returns the names by which a card is found: its own, the last part of it, and its aliases.
func (c Card) Names() []string {
	names := []string{strings.ReplaceAll(c.Name, "\n", " ")}
	if last := markup.Tag(c.Name); last != c.Name {
		names = append(names, last)
	}
	return append(names, c.Aliases()...)
}

// Aliases returns the additional names by which a card is found: the texts in its list field
// "aliases". Names with the same key appear once. Values that are no valid name are skipped.
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

// FieldSort is the name of the integer field that SortField orders by.
const FieldSort = "sort"

// Unsorted is the SortValue of a card without a sort field; it sorts after all others.
const Unsorted = int64(1<<63 - 1)

// SortValue returns a card's integer field "sort", or Unsorted.
func (c Card) SortValue() int64 {
	if n, ok := integerField(c.Fields, FieldSort); ok {
		return n
	}
	return Unsorted
}

// Presences store world time in the attribute ClockAttr of links of kind ClockKind; see
// Reader.LinkMax.
const (
	ClockKind = "at"
	ClockAttr = "clock"
)

// Integer returns an integer attribute of a link.
func (l Link) Integer(attr string) (int64, bool) { return integerField(l.Attrs, attr) }

// integerField reads a member that is written as an integer: 5, but not 5.0 or 5e0.
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
