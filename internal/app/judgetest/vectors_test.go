package judgetest

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// oracleLength is the number of components of an oracle's vectors. Those of two names are nearly at right angles.
const oracleLength = 256

// realNoise is the length of the noise in a query's vector, relative to the rest, with which an oracle alone ranks as
// well as a small sentence model alone: nDCG@10 of about 0.76 on the development half.
const realNoise = 3.75

// An oracle is an embedding model that knows the right answers: the vector of a query is the sum of those of the cards
// that answer it, weighted by their gains. Noise makes it worse: that of a query is the same in every run.
type oracle struct {
	noise  float64
	wanted map[string]map[string]int
	mu     sync.Mutex
	cards  map[string][]float32 // vectors of the cards whose texts it has read, by name
}

func newOracle(sets []searchSet, noise float64) *oracle {
	o := &oracle{noise: noise, wanted: map[string]map[string]int{}, cards: map[string][]float32{}}
	for _, set := range sets {
		for _, c := range set.cases {
			o.wanted[c.Query] = c.Relevant
		}
	}
	return o
}

// serve returns the address of an embedding endpoint.
func (o *oracle) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		type item struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []item
		for i, text := range in.Input {
			data = append(data, item{i, o.vectorOf(text)})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// vectorOf returns the vector of a query, or of the piece of a card's text, which begins with the card's name.
func (o *oracle) vectorOf(text string) []float32 {
	grades, ok := o.wanted[text]
	if !ok {
		names, _, _ := strings.Cut(text, "\n")
		name, _, _ := strings.Cut(names, "; ")
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.cards[name] == nil {
			o.cards[name] = make([]float32, oracleLength)
			addNoise(o.cards[name], name, 1)
		}
		return o.cards[name]
	}
	v, length := make([]float32, oracleLength), 0.0
	for name, grade := range grades {
		gain := math.Exp2(float64(grade)) - 1
		addNoise(v, name, gain)
		length = math.Hypot(length, gain)
	}
	addNoise(v, "noise "+text, o.noise*length)
	return v
}

// addNoise adds a vector that follows from a text, and is nearly at a right angle to those of others.
func addNoise(v []float32, text string, length float64) {
	h := fnv.New64a()
	h.Write([]byte(text))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	for i := range v {
		v[i] += float32(length * r.NormFloat64())
	}
}

// rank returns the names of the cards that are nearest to a query.
func (o *oracle) rank(query string) []string {
	asked := o.vectorOf(query)
	near := map[string]float64{}
	for name, card := range o.cards {
		for i, n := range card {
			near[name] += float64(n) * float64(asked[i])
		}
	}
	names := slices.SortedFunc(maps.Keys(near), func(a, b string) int { return cmp.Compare(near[b], near[a]) })
	return names[:min(len(names), depth)]
}

// judgeOracle judges the ranking of a product with an oracle for an embedding model.
func judgeOracle(t *testing.T, half, row string, c app.Config, o *oracle, sets []searchSet) {
	t.Helper()
	c.Embedding.URL, c.Embedding.Model = o.serve(t), row
	judgeWithVectors(t, half, row, c, sets)
}

// judgeWithVectors judges the ranking of a product with an embedding model, after it has read all cards.
func judgeWithVectors(t *testing.T, half, row string, c app.Config, sets []searchSet) {
	t.Helper()
	a, _ := apptest.Open(t, c, apptest.Quiet())
	defer a.Close(t.Context())
	defer a.FollowVectors(t.Context())()
	var moved []searchSet
	for _, set := range sets {
		s := &stage{app: a, slug: set.stage.slug, player: set.stage.player, cards: set.stage.cards}
		moved = append(moved, searchSet{s, set.cases})
		for ctx := waittest.Context(t); ; {
			var answer struct{ Note string }
			s.mustCall(t, "search_cards", map[string]any{"q": "anything"}, &answer)
			if !strings.Contains(answer.Note, "by its meaning") {
				break
			}
			if !wait.For(ctx, 200*time.Millisecond) {
				t.Fatalf("there are still no vectors: %s", answer.Note)
			}
		}
	}
	judgeSearch(t, half, row, moved)
}
