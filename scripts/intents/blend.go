package main

import (
	"fmt"
	"maps"
	"slices"

	"loregate/internal/world/intent"
)

// scored is a case that both readings have read without knowing its author.
type scored struct {
	*example
	learned intent.Scores
	rules   reading
}

// crossValidate scores the cases of each author by a model without that author, and without equal texts of others.
func crossValidate(t *trainer, list []*example, readings map[string]reading) (out []scored) {
	authors := map[string]bool{}
	for _, e := range list {
		if _, ok := readings[e.id]; ok {
			authors[e.author] = true
		}
	}
	for _, author := range slices.Sorted(maps.Keys(authors)) {
		texts := map[string]bool{}
		for _, e := range list {
			texts[e.text] = texts[e.text] || e.author == author
		}
		t.fit(slices.DeleteFunc(slices.Clone(list), func(e *example) bool { return texts[e.text] }))
		for _, e := range list {
			if r, ok := readings[e.id]; ok && e.author == author && e.isIntent {
				out = append(out, scored{e, t.score(e), r})
			}
		}
	}
	return out
}

func authorsOf(list []scored) (authors []string) {
	for _, s := range list {
		if !slices.Contains(authors, s.author) {
			authors = append(authors, s.author)
		}
	}
	return authors
}

func only(list []scored, author string) []scored {
	return slices.DeleteFunc(slices.Clone(list), func(s scored) bool { return s.author != author })
}

func leaveOut(list []scored, author string) []scored {
	return slices.DeleteFunc(slices.Clone(list), func(s scored) bool { return s.author == author })
}

// Constants of the fit of factors.
const (
	factorRounds = 400
	factorRate   = 1.0
	factorDecay  = 0.3
)

// fitFactors fits the factors of the blend by gradient descent on the logarithm of the probability of right answers.
func fitFactors(list []scored) (f intent.Factors) {
	f.Learned = 1
	for range factorRounds {
		g := intent.Factors{Learned: factorDecay * f.Learned, None: factorDecay * f.None}
		for i := range g.Rules {
			g.Rules[i] = factorDecay * f.Rules[i]
		}
		for _, s := range list {
			slope := slopeOf(f.Blend(s.learned, s.rules.verb, s.rules.confidence), s.example)
			terms := intent.Terms(s.learned)
			for class := range slope {
				g.Learned += slope[class] * terms[class]
			}
			g.None += slope[intent.None]
			g.Rules[intent.StepOf(s.rules.verb, s.rules.confidence)] += slope[intent.ClassOf(s.rules.verb)]
		}
		step := factorRate / float32(len(list))
		f.Learned -= step * g.Learned
		f.None -= step * g.None
		for i := range f.Rules {
			f.Rules[i] -= step * g.Rules[i]
		}
	}
	return f
}

// report prints how often the readings of an author's cases are right, and for some probabilities below which another
// reader is asked how often that is, and how often the result is right if that reader always is.
func report(author string, f intent.Factors, list []scored) {
	rules, learned, both := 0, 0, 0
	leasts := []float32{0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.92}
	asked, best := make([]int, len(leasts)), make([]int, len(leasts))
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, s := range list {
		p := f.Blend(s.learned, s.rules.verb, s.rules.confidence)
		right := s.want[p.Best()]
		count(&rules, s.want[intent.ClassOf(s.rules.verb)])
		count(&learned, s.want[s.learned.Best()])
		count(&both, right)
		for i, least := range leasts {
			count(&asked[i], p[p.Best()] < least)
			count(&best[i], right || p[p.Best()] < least)
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(len(list)) }
	fmt.Printf("%s: %d cases; right by rules %.1f%%, learned %.1f%%, both %.1f%%\n", author, len(list), share(rules),
		share(learned), share(both))
	for i, least := range leasts {
		fmt.Printf("  sure from %.2f: asked %.1f%%, then right %.1f%%\n", least, share(asked[i]), share(best[i]))
	}
	fmt.Printf("  factors %.2f\n", f)
}
