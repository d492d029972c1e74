package kind

import (
	"strings"
	"testing"

	"loregate/internal/safety"
)

var compass = []string{"north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest", "up",
	"down", "in", "out"}

// Each row is a sentence and its expected claim at a place that has exits north and up.
func TestClaims(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		{"A passage leads west.", "way"},
		{"The stair leads up.", ""},
		{"A new door opens behind the bar.", "way"},
		{"The door opens.", ""},
		{"No passage leads west.", ""},
		{"They say a passage leads west.", ""},
		{"Does a passage lead west?", ""},
		{"A tunnel may run south.", ""},
		{"You find a silver ring.", "thing"},
		{"You find the silence heavy.", "thing"}, // a wrong refusal is better than a missed claim
		{"A coin lies there for the taking.", "thing"},
		{"Somebody found a ring here.", ""},
		{"The king is dead.", "death"},
		{"The corpse of a gull rolls in the surf.", "death"},
		{"The wind is dead.", ""},
		{"A dead calm lies on the water.", ""},
		{"The duke arrives.", "arrival"},
		{"The tide arrives.", ""},
		{"Rain has come.", ""},
		{"It arrives.", ""},
		{"", ""},
	} {
		words := safety.Fold(tc.text)
		got := ""
		switch {
		case isHedged(words) || strings.HasSuffix(tc.text, "?"):
		case claimsWay(words, compass, []string{"north", "up"}):
			got = "way"
		case claimsThing(words):
			got = "thing"
		case claimsDeath(words):
			got = "death"
		case claimsArrival(words):
			got = "arrival"
		}
		if got != tc.want {
			t.Errorf("%q claims %q, want %q", tc.text, got, tc.want)
		}
	}
}

func TestNames(t *testing.T) {
	if got := strings.Join(properNames("Here lies Oda Tarn's lamp, and Hob weeps."),
		"|"); got != "Here|Oda Tarn|Oda|Tarn|Hob" {
		t.Errorf("names are %s", got)
	}
	if n := len(properNames(strings.Repeat("Aa ", 50))); n != maxNames {
		t.Errorf("%d names", n)
	}
}

func TestCircular(t *testing.T) {
	list := map[string]objective{"a": {Requires: []string{"b"}}, "b": {Requires: []string{"c"}},
		"c": {Requires: []string{"b"}}}
	for id, want := range map[string]bool{"a": false, "b": true, "c": true} {
		if isCircular(list, id) != want {
			t.Errorf("%s leads back to itself: %t", id, !want)
		}
	}
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{"", "A. B! c?", "é.́", strings.Repeat("you find a ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := strings.Join(splitSentences(s), ""); got != s {
			t.Errorf("%q is split into %q", s, got)
		}
		for _, one := range splitSentences(s) {
			words := safety.Fold(one)
			_, _, _, _ = claimsWay(words, compass, nil), claimsThing(words), claimsDeath(words), claimsArrival(words)
			_ = properNames(one)
		}
	})
}
