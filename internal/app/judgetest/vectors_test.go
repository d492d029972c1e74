package judgetest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loregate/internal/app"
	"loregate/internal/wait"
)

// oracleLength is the number of components of an oracle's vectors. Those of two names are nearly at right angles.
const oracleLength = 256

// serveOracle serves an embedding model that knows the right answers: the vector of a query is the sum of those of the
// cards that answer it, weighted by their gains.
func serveOracle(t *testing.T, sets []searchSet) *httptest.Server {
	t.Helper()
	wanted := map[string]map[string]int{}
	for _, set := range sets {
		for _, c := range set.cases {
			wanted[c.Query] = c.Relevant
		}
	}
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
			v := make([]float32, oracleLength)
			names, _, _ := strings.Cut(text, "\n")
			name, _, _ := strings.Cut(names, "; ")
			if grades, ok := wanted[text]; ok {
				for name, grade := range grades {
					addOracleVector(v, name, float32(int(1)<<grade-1))
				}
			} else {
				addOracleVector(v, name, 1)
			}
			data = append(data, item{i, v})
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// addOracleVector adds the vector of a card to another.
func addOracleVector(v []float32, name string, weight float32) {
	h := fnv.New64a()
	h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 0))
	for i := range v {
		v[i] += weight * float32(r.NormFloat64())
	}
}

// judgeWithVectors judges the ranking of a product with an embedding model, after it has read all cards.
func judgeWithVectors(t *testing.T, half, row string, a *app.App, sets []searchSet) {
	t.Helper()
	defer a.FollowVectors(t.Context())()
	var moved []searchSet
	for _, set := range sets {
		s := &stage{app: a, slug: set.stage.slug, player: set.stage.player, cards: set.stage.cards}
		moved = append(moved, searchSet{s, set.cases})
		for started := time.Now(); wait.For(t.Context(), 200*time.Millisecond); {
			var answer struct{ Note string }
			s.mustCall(t, "search_cards", map[string]any{"q": "anything"}, &answer)
			if !strings.Contains(answer.Note, "by its meaning") {
				break
			}
			if time.Since(started) > 5*time.Minute {
				t.Fatalf("there are still no vectors: %s", answer.Note)
			}
		}
	}
	judgeSearch(t, half, row, moved)
}
