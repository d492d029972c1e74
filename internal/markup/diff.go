package markup

import (
	"fmt"
	"strings"
)

const (
	// maxDiffLines is the maximum length of each side that is compared line by line.
	maxDiffLines = 2000
	// maxDiffEdits is the maximum number of inserted and deleted lines. A comparison takes lines ×
	// edits steps, and memory quadratic in the edits: 4 MB.
	maxDiffEdits = 1000
	// maxDiffSize is the maximum size of the diff, in bytes.
	maxDiffSize = 256 << 10
	// diffContext is the number of equal lines shown around each change.
	diffContext = 3
)

// Diff returns the unified line diff from a to b, with three lines of context, or "" if they are
// equal. If more than 2,000 lines lie between the first and the last difference, or more than 1,000
// of them differ, they are shown as one change. A diff over 256 KiB is cut and ends with a line
// that says so. It takes a few milliseconds at most.
func Diff(a, b string) string {
	if a == b {
		return ""
	}
	left, right := splitLines(a), splitLines(b)
	return cutDiff(formatHunks(left, right, lineEdits(left, right)))
}

// lineEdits returns the edits between two lists of lines, in order.
func lineEdits(left, right []string) []edit {
	head, tail := sharedEnds(left, right)
	x, y := left[head:len(left)-tail], right[head:len(right)-tail]
	edits := []edit{{0, len(x), 0, len(y)}}
	if len(x) <= maxDiffLines && len(y) <= maxDiffLines {
		if found, ok := editsOf(numberLines(x, y)); ok {
			edits = found
		}
	}
	for i := range edits {
		e := &edits[i]
		e.a1, e.a2, e.b1, e.b2 = e.a1+head, e.a2+head, e.b1+head, e.b2+head
	}
	return edits
}

// splitLines returns the lines of a text with their newlines. The last line gets one too.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	lines[len(lines)-1] += "\n"
	return lines
}

// sharedEnds counts the equal lines at the beginning and at the end.
func sharedEnds(a, b []string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// numberLines assigns equal lines the same number, so that comparing two lines is one step.
func numberLines(a, b []string) (x, y []int) {
	numbers := map[string]int{}
	number := func(lines []string) []int {
		out := make([]int, len(lines))
		for i, line := range lines {
			n, ok := numbers[line]
			if !ok {
				n = len(numbers)
				numbers[line] = n
			}
			out[i] = n
		}
		return out
	}
	return number(a), number(b)
}

// edit replaces the lines a1 to a2 of a by the lines b1 to b2 of b. a2 and b2 are exclusive.
type edit struct{ a1, a2, b1, b2 int }

// editsOf finds the minimal edits with Myers' algorithm. On diagonal k, where k more lines of a
// than of b were read, reach[k] is the number of lines of a that can be read with the current
// number of edits. ok is false if more than maxDiffEdits are needed.
func editsOf(a, b []int) ([]edit, bool) {
	most := min(len(a)+len(b), maxDiffEdits)
	reach := make([]int32, 2*most+3)
	mid := most + 1
	var steps [][]int32 // reach before each step d, for the diagonals -d to d
	for d := 0; d <= most; d++ {
		steps = append(steps, append([]int32(nil), reach[mid-d:mid+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := int(reach[mid+k-1]) + 1
			if k == -d || k != d && reach[mid+k-1] < reach[mid+k+1] {
				x = int(reach[mid+k+1])
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			if reach[mid+k] = int32(x); x >= len(a) && x-k >= len(b) {
				return walkBack(steps, len(a), len(b)), true
			}
		}
	}
	return nil, false
}

// walkBack derives the edits from the recorded steps, starting at the ends of both sides, and
// merges adjacent ones.
func walkBack(steps [][]int32, x, y int) []edit {
	var out []edit
	for d := len(steps) - 1; d > 0; d-- {
		before := func(k int) int { return int(steps[d][k+d]) }
		k := x - y
		e := edit{}
		if k == -d || k != d && before(k-1) < before(k+1) {
			x = before(k + 1)
			y = x - k - 1
			e = edit{x, x, y, y + 1}
		} else {
			x = before(k - 1)
			y = x - k + 1
			e = edit{x, x + 1, y, y}
		}
		if n := len(out); n > 0 && out[n-1].a1 == e.a2 && out[n-1].b1 == e.b2 {
			out[n-1].a1, out[n-1].b1 = e.a1, e.b1
			continue
		}
		out = append(out, e)
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// formatHunks formats edits as hunks. It stops once the output is larger than the part that is
// shown.
func formatHunks(a, b []string, edits []edit) string {
	var out strings.Builder
	out.WriteString("--- before\n+++ after\n")
	put := func(sign string, lines []string) {
		for _, line := range lines {
			if out.Len() <= 2*maxDiffSize {
				out.WriteString(sign + line)
			}
		}
	}
	for len(edits) > 0 {
		n := 1
		for n < len(edits) && edits[n].a1-edits[n-1].a2 <= 2*diffContext {
			n++
		}
		first, last := edits[0], edits[n-1]
		from, to := max(first.a1-diffContext, 0), min(last.a2+diffContext, len(a))
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", lineRange(from, to), lineRange(first.b1-first.a1+from, last.b2-last.a2+to))
		for _, e := range edits[:n] {
			put(" ", a[from:e.a1])
			put("-", a[e.a1:e.a2])
			put("+", b[e.b1:e.b2])
			from = e.a2
		}
		put(" ", a[from:to])
		edits = edits[n:]
	}
	return out.String()
}

// lineRange formats a range of lines for the header of a hunk.
func lineRange(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func cutDiff(diff string) string {
	if len(diff) <= maxDiffSize {
		return diff
	}
	cut := strings.LastIndexByte(diff[:maxDiffSize], '\n') + 1
	if cut == 0 {
		cut = maxDiffSize
		for cut > 0 && diff[cut]&0xc0 == 0x80 {
			cut--
		}
		return diff[:cut] + "\n\\ The rest of the diff is left out.\n"
	}
	return diff[:cut] + "\\ The rest of the diff is left out.\n"
}
