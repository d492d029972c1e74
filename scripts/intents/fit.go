package main

import (
	"math"
	"math/rand/v2"

	"loregate/internal/world/intent"
)

// Constants of the fit, chosen by the readings of authors who were left out: other lengths from 2 to 4, decays from
// 0.0001 to 0.002 and 25 rounds give the same result within about a point.
const (
	length    = 3.0    // of all traits of an example together
	rate      = 0.15   // of learning
	decay     = 0.0005 // L2
	rounds    = 12     // over all examples
	minTexts  = 2      // that have a trait
	minWeight = 0.1    // of weights that are kept
)

// trait is a trait with the place of its weights.
type trait struct {
	at       int32
	strength float32
}

// trainer fits a multinomial logistic model by stochastic gradient descent with a rate for each weight (AdaGrad).
type trainer struct {
	places           map[uint32]int32
	weights, squares []intent.Scores // squares are sums of squared gradients
}

// prepare gives each trait of several examples a place.
func (t *trainer) prepare(list []*example) {
	texts := map[uint32]int{}
	for _, e := range list {
		seen := map[uint32]bool{}
		for _, tr := range intent.TraitsOf(e.text) {
			if !seen[tr.Slot] {
				seen[tr.Slot] = true
				texts[tr.Slot]++
			}
		}
	}
	t.places = map[uint32]int32{}
	for _, e := range list {
		for _, tr := range intent.TraitsOf(e.text) {
			if texts[tr.Slot] < minTexts {
				continue
			}
			at, ok := t.places[tr.Slot]
			if !ok {
				at = int32(len(t.places))
				t.places[tr.Slot] = at
			}
			e.traits = append(e.traits, trait{at, tr.Strength * length})
		}
	}
}

// score returns the scores of an example.
func (t *trainer) score(e *example) (s intent.Scores) {
	for _, tr := range e.traits {
		w := &t.weights[tr.at]
		for class := range s {
			s[class] += tr.strength * w[class]
		}
	}
	return s
}

// fit fits the model to examples. Where several classes are accepted, they share what they have.
func (t *trainer) fit(list []*example) {
	t.weights, t.squares = make([]intent.Scores, len(t.places)), make([]intent.Scores, len(t.places))
	random := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		for _, i := range random.Perm(len(list)) {
			e := list[i]
			slope := slopeOf(t.score(e).Probabilities(), e)
			for _, tr := range e.traits {
				w, squares := &t.weights[tr.at], &t.squares[tr.at]
				for class := range w {
					g := e.weight * (slope[class]*tr.strength + decay*w[class])
					squares[class] += g * g
					w[class] -= rate * g / float32(math.Sqrt(float64(squares[class])+1e-4))
				}
			}
		}
	}
}

// slopeOf returns the derivative of an example's loss by the scores.
func slopeOf(p intent.Scores, e *example) intent.Scores {
	right := float32(1e-9)
	for class, wanted := range e.want {
		if wanted {
			right += p[class]
		}
	}
	for class, wanted := range e.want {
		if wanted {
			p[class] -= p[class] / right
		}
	}
	return p
}

// pruned returns the weights by slot, without slots that hardly matter.
func (t *trainer) pruned() map[uint32]intent.Scores {
	out := map[uint32]intent.Scores{}
	for slot, at := range t.places {
		w, kept := t.weights[at], false
		for class := range w {
			w[class] *= length
			kept = kept || w[class] > minWeight || w[class] < -minWeight
		}
		if kept {
			out[slot] = w
		}
	}
	return out
}
