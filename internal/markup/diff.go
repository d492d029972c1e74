package markup

import (
	"fmt"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

const (
	// maxDiffLines bounds each side of what is compared line by line. Comparing
	// is quadratic at worst: 2,000 lines that all repeat take about 0.1 s.
	maxDiffLines = 2000
	// maxDiffSize bounds the diff returned, in bytes.
	maxDiffSize = 256 << 10
)

// Diff returns the unified line diff that leads from a to b, with three lines
// around each change, or "" when they are equal. Where more than 2,000 lines lie
// between the first and the last difference, these are shown as one change; a diff
// over 256 KiB is cut, and a last line says so.
func Diff(a, b string) string {
	if a == b {
		return ""
	}
	left, right := difflib.SplitLines(a), difflib.SplitLines(b)
	head, tail := sharedEnds(left, right)
	d := difflib.UnifiedDiff{A: left, B: right, FromFile: "before", ToFile: "after", Context: 3}
	if len(left)-head-tail > maxDiffLines || len(right)-head-tail > maxDiffLines {
		return cutDiff(oneChange(left, right, head, tail))
	}
	// Long equal ends cost time and show nothing.
	skip := max(head-d.Context, 0)
	drop := max(tail-d.Context, 0)
	d.A, d.B = left[skip:len(left)-drop], right[skip:len(right)-drop]
	text, err := difflib.GetUnifiedDiffString(d)
	if err != nil { // the writer is a buffer, which cannot fail
		return cutDiff(oneChange(left, right, head, tail))
	}
	return cutDiff(shifted(text, skip))
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

// oneChange shows all lines between the equal ends as replaced.
func oneChange(a, b []string, head, tail int) string {
	var out strings.Builder
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	fmt.Fprintf(&out, "--- before\n+++ after\n@@ -%d,%d +%d,%d @@\n", head+1, len(a), head+1, len(b))
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"-", a}, {"+", b}} {
		for _, line := range side.lines {
			if out.Len() > 2*maxDiffSize {
				break
			}
			out.WriteString(side.sign + line)
		}
	}
	return out.String()
}

// shifted adds to the line numbers of the hunks the lines left out before them.
func shifted(diff string, by int) string {
	if by == 0 {
		return diff
	}
	var out strings.Builder
	for line := range strings.Lines(diff) {
		var a, b string
		if n, _ := fmt.Sscanf(line, "@@ -%s +%s @@", &a, &b); n == 2 && strings.HasPrefix(line, "@@ ") {
			line = fmt.Sprintf("@@ -%s +%s @@\n", shiftRange(a, by), shiftRange(b, by))
		}
		out.WriteString(line)
	}
	return out.String()
}

// shiftRange adds to the start of "start,count" or "start".
func shiftRange(r string, by int) string {
	start, count := 0, -1
	if n, _ := fmt.Sscanf(r, "%d,%d", &start, &count); n == 2 {
		return fmt.Sprintf("%d,%d", start+by, count)
	}
	return fmt.Sprint(start + by)
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
		return diff[:cut] + "\n\\ The diff is longer than is shown.\n"
	}
	return diff[:cut] + "\\ The diff is longer than is shown.\n"
}
