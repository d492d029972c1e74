package safety

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode"
)

// Every text that matches a pattern of the policy passes the look for its literals.
func TestLiteralsMissNoMatch(t *testing.T) {
	p, err := Published(Current)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	made, filtered := 0, 0
	for _, c := range p.categories {
		for _, re := range c.patterns {
			tree, err := syntax.Parse(re.String(), syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			if re.literals != nil {
				filtered++
			}
			for range 200 {
				text := "At noon " + makeMatch(random, tree) + " he left."
				if !re.MatchString(text) {
					continue // a boundary does not fit
				}
				made++
				if lower := strings.ToLower(text); !re.mayMatch(lower, strings.ContainsFunc(text, isMark)) {
					t.Errorf("%q is not found by %q of %s", text, re.literals, re)
				}
			}
		}
	}
	if made < 5000 || filtered < 50 {
		t.Errorf("%d matches were made, %d patterns have literals", made, filtered)
	}
}

// makeMatch makes a text that matches a pattern but for its boundaries.
func makeMatch(r *rand.Rand, t *syntax.Regexp) string {
	var b strings.Builder
	again := func(least, most int) {
		for range least + r.IntN(max(most, least)-least+1) {
			b.WriteString(makeMatch(r, t.Sub[0]))
		}
	}
	switch t.Op {
	case syntax.OpLiteral:
		for _, c := range t.Rune {
			if t.Flags&syntax.FoldCase != 0 {
				for range r.IntN(3) {
					c = unicode.SimpleFold(c)
				}
			}
			b.WriteRune(c)
		}
	case syntax.OpCharClass:
		i := 2 * r.IntN(len(t.Rune)/2)
		b.WriteRune(t.Rune[i] + r.Int32N(min(t.Rune[i+1]-t.Rune[i], 100)+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpCapture:
		again(1, 1)
	case syntax.OpStar:
		again(0, 3)
	case syntax.OpPlus:
		again(1, 3)
	case syntax.OpQuest:
		again(0, 1)
	case syntax.OpRepeat:
		again(t.Min, max(t.Max, t.Min))
	case syntax.OpConcat:
		for _, s := range t.Sub {
			b.WriteString(makeMatch(r, s))
		}
	case syntax.OpAlternate:
		b.WriteString(makeMatch(r, t.Sub[r.IntN(len(t.Sub))]))
	}
	return b.String()
}
