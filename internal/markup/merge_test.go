package markup

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// mergeText writes a merge with its conflicts in brackets.
func mergeText(base, mine, theirs string) string {
	var b strings.Builder
	for _, p := range Merge(base, mine, theirs) {
		b.WriteString(p.Text)
		if p.Conflict {
			b.WriteString("[" + p.Mine + "|" + p.Theirs + "]")
		}
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\n", " "), " ")
}

func TestMerge(t *testing.T) {
	for _, row := range []struct{ name, base, mine, theirs, want string }{
		{"nothing changed", "a b c", "a b c", "a b c", "a b c"},
		{"one side", "a b c", "a B c", "a b c", "a B c"},
		{"both, apart", "a b c d", "A b c d", "a b c D E", "A b c D E"},
		{"both the same", "a b c", "a x c", "a x c", "a x c"},
		{"one line", "a b c", "a x c", "a y c", "a [x |y ]c"},
		{"adjacent lines", "a b c d", "a x c d", "a b y d", "a [x c |b y ]d"},
		{"removed and changed", "a b c", "a c", "a y c", "a [|y ]c"},
		{"insertions at one place", "a b", "a x b", "a y b", "a [x |y ]b"},
		{"one removes, one appends", "a b c", "b c", "a b c d", "b c d"},
		{"no base", "", "a", "b", "[a |b ]"},
		{"two conflicts", "a b c d e", "1 b c d 5", "x b c d y", "[1 |x ]b c d [5 |y ]"},
	} {
		lines := func(words string) string { return strings.ReplaceAll(words, " ", "\n") }
		if got := mergeText(lines(row.base), lines(row.mine), lines(row.theirs)); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestMergeKeepsBothSides merges random changes: taking one side in each conflict gives that side wherever the other
// side is the base.
func TestMergeKeepsBothSides(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	write := func() string {
		var lines []string
		for range random.IntN(12) {
			lines = append(lines, string(rune('a'+random.IntN(4))))
		}
		return strings.Join(lines, "\n")
	}
	for range 5000 {
		base, mine, theirs := write(), write(), write()
		if got := mergeText(base, mine, base); got != mergeText(mine, mine, mine) {
			t.Fatalf("from %q to %q: %q", base, mine, got)
		}
		if one, other := mergeText(base, mine, theirs), mergeText(base, theirs, mine); strings.Count(one, "[") !=
			strings.Count(other, "[") {
			t.Fatalf("%q, %q, %q: %q and %q", base, mine, theirs, one, other)
		}
	}
}
