package command

import (
	"strings"
	"testing"
)

func TestNamings(t *testing.T) {
	for phrase, want := range map[string]string{
		"Mr Brack":                       "Mr Brack|Brack",
		"the second clerk":               "second clerk|clerk",
		"Tamsin's boots":                 "Tamsin's boots|boots",
		"one of the boats":               "one of the boats|boats",
		"the man with the turbot":        "man with the turbot|man",
		"the boat called So He Left":     "boat called So He Left|So He Left|boat",
		"another pot of eel please":      "another pot of eel|pot of eel|pot|eel",
		"the last hat":                   "last hat|hat",
		"last":                           "last",
		"both":                           "",
		"":                               "",
		"to the stone":                   "to the stone|stone",
		"the keeper of the broken lamps": "keeper of the broken lamps|keeper",
	} {
		var got []string
		for _, n := range Namings(phrase) {
			got = append(got, n.Name)
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", phrase, s, want)
		}
	}
}

func FuzzNamings(f *testing.F) {
	for _, s := range []string{"the last hat", "one of the boats", "of", "'s", "all of", "the boat called", "Tamsin's", "last last", "…’s of"} {
		f.Add(s, "So He Left")
	}
	f.Fuzz(func(t *testing.T, phrase, name string) {
		if len(phrase) > MaxLength || len(name) > MaxLength {
			return
		}
		for _, n := range Namings(phrase) {
			if n.Name == "" {
				t.Errorf("%q has an empty name", phrase)
			}
		}
		HeadOf(phrase)
		IsPlural(phrase)
		prose := ReadProse(name + ". " + phrase)
		prose.Find(phrase, Misspelled)
		prose.Find(phrase, Synonyms)
		prose.ProperNames()
		ParseIn(phrase, []string{name, phrase})
	})
}
