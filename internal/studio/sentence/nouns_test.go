package sentence

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"loregate/internal/studio/build"
)

// Each of 500 nouns, drawn at random from all single nouns of WordNet, is built or refused, and the
// answer says so: alone it is refused with its name, beside a barrel it is built or listed.
func TestNoNounIsSilent(t *testing.T) {
	text, err := os.ReadFile("testdata/nouns.txt")
	if err != nil {
		t.Fatal(err)
	}
	built, refused := 0, 0
	for _, noun := range strings.Fields(string(text)) {
		names := func(words string) bool { return strings.Contains(" "+words+" ", " "+noun+" ") }
		r, err := Read(Brief{Words: "a " + noun})
		switch {
		case errors.Is(err, ErrNothing):
			refused++
			if !slices.ContainsFunc(r.Unknown, names) {
				t.Errorf("%s is refused and not named: %v", noun, r.Unknown)
			}
		case err != nil:
			t.Errorf("%s: %v", noun, err)
			continue
		case !slices.ContainsFunc(r.Phrases, func(p Phrase) bool { return names(p.Words) }):
			t.Errorf("%s is silent: %+v", noun, r.Phrases)
		default:
			built++
			if _, err := build.Build(r.Scene, nil); err != nil {
				t.Errorf("%s: %v", noun, err)
			}
		}
		if r, err = Read(Brief{Words: "a barrel and two of the " + noun}); err != nil {
			t.Errorf("%s: %v", noun, err)
		} else if !slices.ContainsFunc(r.Unknown, names) &&
			!slices.ContainsFunc(r.Phrases, func(p Phrase) bool { return names(p.Words) }) {
			t.Errorf("%s is silent beside a barrel: %+v", noun, r)
		}
	}
	t.Logf("of 500 nouns, %d are built and %d refused by name", built, refused)
}
