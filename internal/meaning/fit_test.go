package meaning

import (
	"bufio"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// pair is a judged pair of texts: see judgetest, and scripts/meaning/pairs.py for Set and Same.
type pair struct {
	ID, A, B, Kind, Set string
	Same                bool
}

// author returns the beginning of the ids of an author's pairs.
func (p pair) author() string { return p.ID[:2] }

var others = flag.String("others", "", "file of scripts/meaning/pairs.py, for the weights of closeness")

// shareOfOthers is the number of pairs for which all pairs of others count. Of 0, 5, 10, 20 and 40, it ranks the pairs
// of an author who is left out best.
const shareOfOthers = 10

// TestWeightsOfCloseness fits the logistic model of Closeness on the development pairs, and on those of others if there
// are any, and logs its weights. Each author's pairs, ranked with weights fitted without them, must have nearly
// the area under the curve that they have with the weights in use.
func TestWeightsOfCloseness(t *testing.T) {
	var examples []example
	var authors []string
	for _, p := range readPairs(t, filepath.Join("..", "app", "judgetest", "cases", "development", "paraphrases.jsonl")) {
		p.Same = p.Kind == "paraphrase"
		examples = append(examples, newExample(p, 1))
		authors = append(authors, p.author())
	}
	foreign := examplesOfOthers(t)
	var left []example // scored with weights that are fitted without their author
	for _, author := range slices.Compact(slices.Sorted(slices.Values(authors))) {
		var fitted, checked []example
		for i, e := range examples {
			if authors[i] == author {
				checked = append(checked, e)
			} else {
				fitted = append(fitted, e)
			}
		}
		weights := fitWeights(append(fitted, foreign...))
		for i := range checked {
			checked[i].score = checked[i].scoreBy(weights)
		}
		left = append(left, checked...)
	}
	used := []float64{ofNothing, ofCosine, ofDiffering, ofOrdered, ofBegun, ofAligned}
	for i := range examples {
		examples[i].score = examples[i].scoreBy(used)
	}
	fresh, present := areaUnder(left), areaUnder(examples)
	t.Logf("fitted weights %.1f; area under the curve %.3f of authors left out, %.3f with the weights in use",
		fitWeights(append(examples, foreign...)), fresh, present)
	if fresh < 0.95 || present < fresh {
		t.Errorf("an area of %.3f of authors left out, and %.3f with the weights in use: fit them again", fresh, present)
	}
}

func readPairs(t *testing.T, path string) (list []pair) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// examplesOfOthers returns the pairs of others. Each set has the same weight.
func examplesOfOthers(t *testing.T) (list []example) {
	t.Helper()
	if *others == "" {
		return nil
	}
	bySet := map[string][]pair{}
	for _, p := range readPairs(t, *others) {
		bySet[p.Set] = append(bySet[p.Set], p)
	}
	for _, set := range slices.Sorted(maps.Keys(bySet)) {
		for _, p := range bySet[set] {
			if Closeness(p.A, p.B) == 0 { // a sentence has no known word
				continue
			}
			list = append(list, newExample(p, shareOfOthers/float64(len(bySet)*len(bySet[set]))))
		}
	}
	return list
}

func newExample(p pair, weight float64) example {
	m := Prepare(p.A).compare(Prepare(p.B))
	return example{features: []float64{1, m.cosine, m.differing, m.ordered, m.begun, m.aligned},
		factor: m.factor, weight: weight, same: p.Same}
}

// example is a pair with its features, of which the first is 1.
type example struct {
	features []float64
	factor   float64
	weight   float64 // in the fit
	score    float64
	same     bool
}

// isDecided reports whether the weights do not matter: no word differs.
func (e example) isDecided() bool { return e.features[2] == 0 }

func (e example) scoreBy(weights []float64) float64 {
	if e.isDecided() {
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
			if e.factor < 1 || e.isDecided() {
				continue
			}
			p := e.scoreBy(weights)
			want := 0.0
			if e.same {
				want = 1
			}
			for i, x := range e.features {
				gradient[i] += e.weight * (want - p) * x
				for j, y := range e.features {
					curve[i][j] += e.weight * p * (1 - p) * x * y
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
func areaUnder(list []example) float64 {
	won, all := 0.0, 0.0
	for _, a := range list {
		for _, b := range list {
			if !a.same || b.same {
				continue
			}
			all++
			switch x, y := a.score, b.score; {
			case x > y:
				won++
			case x == y:
				won += 0.5
			}
		}
	}
	return won / all
}
