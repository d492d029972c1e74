package markup

import (
	"fmt"
	"slices"
	"testing"
)

func TestMapOffsets(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		at   []int
		want []int
	}{
		{"one\ntwo\n", "one\ntwo\n", []int{0, 4, 8}, []int{0, 4, 8}},
		{"one", "one", []int{2, 9}, []int{2, 3}},
		{"one", "two\none", []int{9}, []int{7}},
		{"one\ntwo\n", "zero\none\ntwo\n", []int{0, 4, 8}, []int{5, 9, 13}},
		{"one\ntwo\nthree", "one\nthree", []int{4, 6, 8, 13}, []int{4, 4, 4, 9}},
		{"a lamp burns\n", "a red lamp burns\n", []int{2, 6, 12}, []int{2, 10, 16}},
		{"a\nb\nc\n", "x\nb\ny\n", []int{2, 4, 6}, []int{2, 4, 6}},
		{"", "new", []int{0}, []int{0}},
		{"all of it", "", []int{0, 4, 9}, []int{0, 0, 0}},
	} {
		if got := MapOffsets(tc.a, tc.b, tc.at); !slices.Equal(got, tc.want) {
			t.Errorf("%q to %q: %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func FuzzMapOffsets(f *testing.F) {
	f.Add("one\ntwo\n", "one\nthree\ntwo", 5)
	f.Add("é\n", "è\n", 1)
	f.Fuzz(func(t *testing.T, a, b string, at int) {
		at = min(max(at, 0), len(a))
		got := MapOffsets(a, b, []int{0, at, len(a)})
		if fmt.Sprint(len(got)) != "3" || !slices.IsSorted(got) || got[0] < 0 || got[2] > len(b) {
			t.Errorf("%q to %q: %d gives %v", a, b, at, got)
		}
	})
}
