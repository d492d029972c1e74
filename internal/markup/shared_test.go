package markup

import (
	"math/rand/v2"
	"testing"
)

func TestShared(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want []SharedPiece
	}{
		{"", "", nil},
		{"one", "one", []SharedPiece{{0, 0, 3}}},
		{"one\ntwo\n", "one\nnew\ntwo\n", []SharedPiece{{0, 0, 4}, {4, 8, 4}}},
		{"a lamp burns\n", "a red lamp burns\n", []SharedPiece{{0, 0, 2}, {2, 6, 11}}},
		{"Tom %%is old%% here", "Tom is very old here", []SharedPiece{{0, 0, 4}, {6, 4, 3}, {9, 12, 3}, {14, 15, 5}}},
		{"one", "two", nil},
	} {
		got := Shared(tc.a, tc.b)
		if len(got) != len(tc.want) {
			t.Errorf("%q and %q: %v, want %v", tc.a, tc.b, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%q and %q: %v, want %v", tc.a, tc.b, got, tc.want)
				break
			}
		}
	}
}

// TestSharedPieces checks on texts by lot that matches are equal pieces, in order and not adjacent in both texts.
func TestSharedPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "bc", " ", "\n", "\n", "é", "%%", "> ", "\r"}
	text := func() (s string) {
		for range r.IntN(30) {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	for range 20_000 {
		a, b := text(), text()
		endA, endB := 0, 0
		for i, m := range Shared(a, b) {
			if m.A < endA || m.B < endB || i > 0 && m.A == endA && m.B == endB || m.Len <= 0 ||
				m.A+m.Len > len(a) || m.B+m.Len > len(b) || a[m.A:m.A+m.Len] != b[m.B:m.B+m.Len] {
				t.Fatalf("%q and %q: %v", a, b, Shared(a, b))
			}
			endA, endB = m.A+m.Len, m.B+m.Len
		}
		if all := Shared(a, a); a != "" && (len(all) != 1 || all[0] != SharedPiece{0, 0, len(a)}) {
			t.Fatalf("%q: %v", a, all)
		}
	}
}
