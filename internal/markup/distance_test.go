package markup

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 2},
		{"é", "e", 1},
	} {
		if got := Distance([]rune(tc.a), []rune(tc.b)); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestSlips(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"lamp", "lamp", 0}, {"lamp", "lmap", 1}, {"lamp", "lap", 1}, {"lamp", "clamp", 1}, {"lamp", "limp", 1},
		{"lamp", "lipm", 2}, {"", "abc", 3}, {"größe", "grosse", 3}} {
		if got := Slips([]rune(tc.a), []rune(tc.b), 4); got != tc.want {
			t.Errorf("%q to %q takes %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := Slips([]rune(tc.b), []rune(tc.a), 4); got != tc.want {
			t.Errorf("%q to %q takes %d, want %d", tc.b, tc.a, got, tc.want)
		}
	}
	if got := Slips([]rune("lamplighter"), []rune("ferry"), 2); got <= 2 {
		t.Errorf("two different words are %d letters apart, want more than 2", got)
	}
}
