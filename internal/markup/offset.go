package markup

import "slices"

// MapOffsets returns the places in b of sorted offsets in a. An offset in lines that the texts share
// moves with them. Of a changed run of lines, the same beginning and the same end count too; an
// offset between these comes to the start of the new text in between. An offset beyond a is its end.
func MapOffsets(a, b string, offsets []int) []int {
	offsets = slices.Clone(offsets)
	for i := range offsets {
		offsets[i] = min(offsets[i], len(a))
	}
	if a == b {
		return offsets
	}
	out := make([]int, 0, len(offsets))
	left, right := splitLines(a), splitLines(b)
	a, b = a+"\n", b+"\n"         // as splitLines does
	line, fromA, fromB := 0, 0, 0 // the first line after the last edit, and its offset in both texts
	for _, e := range append(lineEdits(left, right), edit{len(left), len(left), len(right), len(right)}) {
		toA, toB := fromA+lengthOf(left[line:e.a1]), fromB+lengthOf(left[line:e.a1])
		for len(offsets) > 0 && offsets[0] < toA {
			out = append(out, offsets[0]+fromB-fromA)
			offsets = offsets[1:]
		}
		line, fromA, fromB = e.a2, toA+lengthOf(left[e.a1:e.a2]), toB+lengthOf(right[e.b1:e.b2])
		was, is := a[min(toA, len(a)):min(fromA, len(a))], b[min(toB, len(b)):min(fromB, len(b))]
		head, tail := sharedBytes(was, is)
		for len(offsets) > 0 && offsets[0] < fromA {
			switch at := offsets[0] - toA; {
			case at <= head:
				out = append(out, toB+at)
			case at >= len(was)-tail:
				out = append(out, toB+len(is)-(len(was)-at))
			default:
				out = append(out, toB+head)
			}
			offsets = offsets[1:]
		}
	}
	for i := range out {
		out[i] = min(out[i], len(b)-1)
	}
	return out
}

func lengthOf(lines []string) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// sharedBytes counts the equal bytes at the beginning and at the end, without cutting a character.
func sharedBytes(a, b string) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for head > 0 && (head < len(a) && !isRuneStart(a[head]) || head < len(b) && !isRuneStart(b[head])) {
		head--
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !isRuneStart(a[len(a)-tail]) {
		tail--
	}
	return head, tail
}
