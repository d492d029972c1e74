package meaning

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// pair is a judged pair of texts: see judgetest.
type pair struct{ ID, A, B, Kind string }

// TestWeightsOfCloseness fits the logistic model of Closeness on half of the development pairs, chosen by a hash of
// their ids, and logs its weights. On the other half, the weights in use must order pairs almost as well as those.
func TestWeightsOfCloseness(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "app", "judgetest", "cases", "development", "paraphrases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fitted, checked []example
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		m := Prepare(p.A).compare(Prepare(p.B))
		e := example{[]float64{1, m.explained, m.cosine, m.differing, m.ordered, m.begun, m.aligned}, m.factor, p.Kind == "paraphrase"}
		h := fnv.New32a()
		h.Write([]byte(p.ID))
		if h.Sum32()%2 == 0 {
			fitted = append(fitted, e)
		} else {
			checked = append(checked, e)
		}
	}
	used := []float64{ofNothing, ofExplained, ofCosine, ofDiffering, ofOrdered, ofBegun, ofAligned}
	got := fitWeights(fitted)
	fresh, present := areaUnder(checked, got), areaUnder(checked, used)
	t.Logf("fitted weights %.1f: AUC %.3f of %d pairs; those in use %.1f: %.3f", got, fresh, len(checked), used, present)
	if present < fresh-0.01 || present < 0.93 {
		t.Errorf("the weights in use have an AUC of %.3f, fitted ones %.3f: fit them again", present, fresh)
	}
}

// example is a pair with its features, of which the first is 1.
type example struct {
	features []float64
	factor   float64
	same     bool
}

func (e example) score(weights []float64) float64 {
	if e.features[1] == 1 {
		return e.factor
	}
	sum := 0.0
	for i, w := range weights {
		sum += w * e.features[i]
	}
	return e.factor / (1 + math.Exp(-sum))
}

// fitWeights fits a logistic model by Newton's method, with a little weight decay. Pairs in which a contrast was found
// are left out.
func fitWeights(list []example) []float64 {
	const decay, steps = 0.01, 15
	weights := make([]float64, len(list[0].features))
	for range steps {
		gradient, curve := make([]float64, len(weights)), make([][]float64, len(weights))
		for i := range curve {
			curve[i] = make([]float64, len(weights))
			curve[i][i] = decay
			gradient[i] = -decay * weights[i]
		}
		for _, e := range list {
			if e.factor < 1 || e.features[1] == 1 {
				continue
			}
			p := e.score(weights)
			want := 0.0
			if e.same {
				want = 1
			}
			for i, x := range e.features {
				gradient[i] += (want - p) * x
				for j, y := range e.features {
					curve[i][j] += p * (1 - p) * x * y
				}
			}
		}
		for i, step := range solve(curve, gradient) {
			weights[i] += step
		}
	}
	return weights
}

// solve returns the solution of linear equations with a positive definite matrix, which it overwrites.
func solve(m [][]float64, right []float64) []float64 {
	for i := range m {
		for j := i + 1; j < len(m); j++ {
			share := m[j][i] / m[i][i]
			for k := range m {
				m[j][k] -= share * m[i][k]
			}
			right[j] -= share * right[i]
		}
	}
	out := make([]float64, len(m))
	for i := len(m) - 1; i >= 0; i-- {
		out[i] = right[i]
		for k := i + 1; k < len(m); k++ {
			out[i] -= m[i][k] * out[k]
		}
		out[i] /= m[i][i]
	}
	return out
}

// areaUnder returns the probability that a pair which says the same scores above one that does not.
func areaUnder(list []example, weights []float64) float64 {
	won, all := 0.0, 0.0
	for _, a := range list {
		for _, b := range list {
			if !a.same || b.same {
				continue
			}
			all++
			switch x, y := a.score(weights), b.score(weights); {
			case x > y:
				won++
			case x == y:
				won += 0.5
			}
		}
	}
	return won / all
}
