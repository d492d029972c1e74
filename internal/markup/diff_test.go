package markup_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

// linesOf returns n random lines with the given number of different texts.
func linesOf(n, different int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		fmt.Fprintln(&b, r.IntN(different))
	}
	return b.String()
}

// alternateLines returns n lines of which every second one is unique, so that no two equal runs are
// longer than one line.
func alternateLines(side string, n, different int) string {
	var b strings.Builder
	for i := range n / 2 {
		fmt.Fprintf(&b, "%s%d\n%d\n", side, i, i%different)
	}
	return b.String()
}

// TestDiffIsQuick compares lines with the most expensive numbers of repetitions.
func TestDiffIsQuick(t *testing.T) {
	for _, different := range []int{1, 2, 10, 100, 150, 400, 2000} {
		together := cputest.Of(func() { markup.Diff(linesOf(2000, different, 1), linesOf(2000, different, 2)) })
		apart := cputest.Of(func() {
			markup.Diff(alternateLines("a", 2000, different), alternateLines("b", 2000, different))
		})
		t.Logf("%d different lines: %v of processor time, %v if they are parted", different, together, apart)
		if max(together, apart) > 2*time.Second {
			t.Errorf("%d different lines used the processor for %v, parted for %v", different, together, apart)
		}
	}
}

// TestDiffApplies checks that applying the diff of two texts to the first gives the second.
func TestDiffApplies(t *testing.T) {
	for i := range uint64(300) {
		a, b := linesOf(int(i%23), 1+int(i%7), i), linesOf(int(i%19), 1+int(i%5), i+1000)
		diff := markup.Diff(a, b)
		if got := applyDiff(t, a, diff); got != b {
			t.Fatalf("%q by\n%s became %q, not %q", a, diff, got, b)
		}
	}
}

// applyDiff applies a unified diff to a text and checks every line of context.
func applyDiff(t *testing.T, text, diff string) string {
	t.Helper()
	lines := append(strings.SplitAfter(text, "\n"), "")
	lines[len(lines)-2] += "\n" // as in splitLines
	var out strings.Builder
	at := 0
	for line := range strings.Lines(diff) {
		switch sign, rest := line[0], line[1:]; {
		case strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
		case sign == '@':
			start, count := 0, 1
			if n, _ := fmt.Sscanf(rest, "@ -%d,%d ", &start, &count); n == 0 {
				t.Fatalf("a head without a range: %s", line)
			}
			for at < start-1 || count == 0 && at < start {
				out.WriteString(lines[at])
				at++
			}
		case sign == '+':
			out.WriteString(rest)
		case lines[at] != rest:
			t.Fatalf("line %d is %q, and the diff says %q:\n%s", at+1, lines[at], rest, diff)
		default:
			if at++; sign == ' ' {
				out.WriteString(rest)
			}
		}
	}
	return strings.TrimSuffix(out.String()+strings.Join(lines[at:], ""), "\n")
}
