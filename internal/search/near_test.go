package search

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// distance returns the optimal string alignment distance, computed by its definition.
func distance(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	}
	change := 1
	if a[len(a)-1] == b[len(b)-1] {
		change = 0
	}
	n := min(distance(a[:len(a)-1], b[:len(b)-1])+change, distance(a[:len(a)-1], b)+1, distance(a, b[:len(b)-1])+1)
	if len(a) > 1 && len(b) > 1 && a[len(a)-1] == b[len(b)-2] && a[len(a)-2] == b[len(b)-1] {
		n = min(n, distance(a[:len(a)-2], b[:len(b)-2])+1)
	}
	return n
}

// TestNearWordsMatchDefinition compares NearWords with the distances of all words.
func TestNearWordsMatchDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := New()
	var all []string
	for n := range 200 {
		letters := []rune("abé黒")
		word := ""
		for range 1 + r.IntN(5) {
			word += string(letters[r.IntN(len(letters))])
		}
		d := Doc{Level: 1, Text: word}
		d.ID[0] = byte(n)
		if err := x.Apply([]Doc{d}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range x.levels[1].parts {
		for i := range p.dicts[ofAll].size() {
			all = append(all, string(p.dicts[ofAll].termText(i)))
		}
	}
	for _, asked := range []string{"a", "ab", "ba黒", "eéa", "黒黒a", "aabba", ""} {
		for slips := range 3 {
			got, err := x.NearWords(t.Context(), asked, slips, 1, false)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]int{}
			for _, word := range all {
				if n := distance([]rune(asked), []rune(word)); n <= slips {
					want[word] = n
				}
			}
			if len(got) != len(want) {
				t.Errorf("%q, %d slips: %v, want %v", asked, slips, got, want)
			}
			for _, w := range got {
				if n, ok := want[w.Word]; !ok || n != w.Distance {
					t.Errorf("%q, %d slips: %s", asked, slips, fmt.Sprint(w))
				}
			}
		}
	}
}
