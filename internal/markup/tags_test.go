package markup

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
)

// TestInlineTags compares InlineTags with the pattern of a tag, on random texts.
func TestInlineTags(t *testing.T) {
	form := regexp.MustCompile(`(?:^|[\s(,;>*_])#([\pL][\pL\pN_/-]*)`)
	r := rand.New(rand.NewPCG(1, 2))
	signs := []string{"#", "#", "#", "a", "é", "7", "_", "/", "-", " ", "\n", "(", ",", "*", ".", "\xff"}
	for range 20_000 {
		text := ""
		for range r.IntN(12) {
			text += signs[r.IntN(len(signs))]
		}
		var want []string
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			want = append(want, m[1])
		}
		if got := InlineTags(text); !slices.Equal(got, want) {
			t.Fatalf("%q has the tags %q, want %q", text, got, want)
		}
	}
}
