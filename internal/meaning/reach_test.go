package meaning

import (
	"archive/zip"
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loregate/internal/stem"
)

var reach = flag.Bool("reach", false, "measure how many judged searches the data of this package can answer at all")

// reachedCard is a card of the fifth edition's SRD.
type reachedCard struct {
	inName, inText map[string]bool // stems of words
	name           Vector
	pieces         []Vector
}

// library is the cards with the rarity of their words.
type library struct {
	cards  map[string]*reachedCard
	rarity map[string]float64
}

// TestReachOfSearches measures a bound of the search without a model, which docs/judgement.md cites: the share of the
// development queries whose right card is among the first ten by any one kind of likeness to the query. Cards that are
// as like stand before it.
func TestReachOfSearches(t *testing.T) {
	if !*reach {
		t.Skip("a measurement: -args -reach")
	}
	development := filepath.Join("..", "app", "judgetest", "cases", "development")
	cards := readSRD(t, filepath.Join(development, "srd.zip"))
	l := library{cards, rarityIn(cards)}
	f, err := os.Open(filepath.Join(development, "search.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reached, all := map[string]int{}, map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var query struct {
			Kind, Query string
			Relevant    map[string]int
		}
		if err := json.Unmarshal(lines.Bytes(), &query); err != nil {
			t.Fatal(err)
		}
		all[query.Kind]++
		all["all"]++
		if right := rightCards(cards, query.Relevant); l.isReached(right, query.Query) {
			reached[query.Kind]++
			reached["all"]++
		} else {
			t.Logf("%s not reached: %q", query.Kind, query.Query)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d queries are reached", kind, reached[kind], all[kind])
	}
}

// readSRD returns the cards by name, each with all texts of the entries that have the name.
func readSRD(t *testing.T, path string) map[string]*reachedCard {
	t.Helper()
	archive, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	cards := map[string]*reachedCard{}
	for _, file := range archive.File {
		var entries []map[string]any
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if json.Unmarshal(b, &entries) != nil {
			continue // a licence
		}
		for _, entry := range entries {
			if name, _ := entry["name"].(string); name != "" {
				if cards[name] == nil {
					cards[name] = &reachedCard{inName: stemsOf(name), inText: stemsOf(name), name: VectorOf(name, nil)}
				}
				cards[name].addTexts(name, entry)
			}
		}
	}
	return cards
}

func (c *reachedCard) addTexts(name string, value any) {
	switch value := value.(type) {
	case string:
		maps.Copy(c.inText, stemsOf(value))
		c.pieces = append(c.pieces, VectorOf(name+" "+value, nil))
	case []any:
		for _, v := range value {
			c.addTexts(name, v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains([]string{"url", "index", "image", "updated_at"}, key) {
				c.addTexts(name, value[key])
			}
		}
	}
}

func stemsOf(text string) map[string]bool {
	m := map[string]bool{}
	for word := range Words(text) {
		if !functionWords[word] {
			m[stem.Of("en", word)] = true
		}
	}
	return m
}

// rightCards returns the cards of the best grade. A name may have its type behind it: "Halfling (race)".
func rightCards(cards map[string]*reachedCard, grades map[string]int) (right []*reachedCard) {
	best := slices.Max(slices.Collect(maps.Values(grades)))
	for name, grade := range grades {
		plain, _, _ := strings.Cut(name, " (")
		if c := cmp.Or(cards[name], cards[plain]); c != nil && grade == best {
			right = append(right, c)
		}
	}
	return right
}

// isReached reports whether a right card is among the first ten by common words in its name or text, by names of
// related things, by names that the query describes, by words that define those of the query, or by vectors.
func (l library) isReached(right []*reachedCard, query string) bool {
	asked, defining := stemsOf(query), map[string]bool{}
	related, described := map[string]float64{}, map[string]float64{}
	note := func(weights map[string]float64, text string, weight float64) {
		for s := range stemsOf(text) {
			weights[s] = max(weights[s], weight)
		}
	}
	words := slices.Collect(Words(query))
	for _, word := range append(words, strings.ToLower(query)) {
		for _, r := range Relatives(word) {
			note(related, r.Word, r.Weight)
		}
		for part := range partCount {
			base := cmp.Or(Lemma(word, part), word)
			for _, w := range slices.Concat(Synonyms(base, part), Derived(base)) {
				note(related, w, ofSynonym)
			}
			for _, w := range Broader(base, part) {
				note(related, w, ofBroader)
			}
		}
		for _, s := range Define(word) {
			defining[s] = true
		}
	}
	for _, d := range Describe(words, 100) {
		note(described, d.Name, d.Score)
	}
	greatest := func(stems map[string]bool, weights map[string]float64) (weight float64) {
		for s := range stems {
			weight = max(weight, weights[s])
		}
		return weight
	}
	vector := VectorOf(query, nil)
	return slices.ContainsFunc([]func(*reachedCard) float64{
		func(c *reachedCard) float64 { return common(c.inName, asked, l.rarity) },
		func(c *reachedCard) float64 { return common(c.inText, asked, l.rarity) },
		func(c *reachedCard) float64 { return greatest(c.inName, related) },
		func(c *reachedCard) float64 { return greatest(c.inName, described) },
		func(c *reachedCard) float64 { return common(c.inText, defining, l.rarity) },
		func(c *reachedCard) float64 { return float64(vector.Dot(c.name)) },
		func(c *reachedCard) (nearest float64) {
			for _, piece := range c.pieces {
				nearest = max(nearest, float64(vector.Dot(piece)))
			}
			return nearest
		},
	}, func(score func(*reachedCard) float64) bool { return isAmongFirst(l.cards, right, score) })
}

// isAmongFirst reports whether fewer than ten other cards have the score of the best right one or a greater one.
func isAmongFirst(cards map[string]*reachedCard, right []*reachedCard, score func(*reachedCard) float64) bool {
	best, before := 0.0, 0
	for _, c := range right {
		best = max(best, score(c))
	}
	for _, c := range cards {
		if score(c) >= best && !slices.Contains(right, c) {
			before++
		}
	}
	return best > 0 && before < 10
}

// rarityIn returns the logarithm of how few cards have a stem, by stem.
func rarityIn(cards map[string]*reachedCard) map[string]float64 {
	rarity := map[string]float64{}
	for _, c := range cards {
		for s := range c.inText {
			rarity[s]++
		}
	}
	for s, count := range rarity {
		rarity[s] = math.Log(float64(len(cards)) / count)
	}
	return rarity
}

// common returns the sum of the weights of the stems that two sets have.
func common(a, b map[string]bool, weights map[string]float64) (sum float64) {
	for s := range b {
		if a[s] {
			sum += weights[s]
		}
	}
	return sum
}
