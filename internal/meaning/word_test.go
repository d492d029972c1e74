package meaning

import (
	"slices"
	"testing"
)

func TestLemma(t *testing.T) {
	for _, tt := range []struct {
		word string
		part Part
		want string
	}{
		{"went", Verb, "go"}, {"hopped", Verb, "hop"}, {"pulling", Verb, "pull"}, {"carries", Verb, "carry"},
		{"wolves", Noun, "wolf"}, {"foxes", Noun, "fox"}, {"mice", Noun, "mouse"}, {"better", Adjective, "good"},
		{"look up", Verb, "look up"}, {"xyzzy", Verb, ""}, {"", Noun, ""}, {"s", Noun, "s"}, {"go\n", Verb, ""},
	} {
		if got := Lemma(tt.word, tt.part); got != tt.want {
			t.Errorf("Lemma(%q, %d) = %q, want %q", tt.word, tt.part, got, tt.want)
		}
	}
}

func TestRelations(t *testing.T) {
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{Synonyms("shut", Verb), "close"}, {Synonyms("autumns", Noun), "fall"}, {Broader("stroll", Verb), "walk"},
		{Derived("destroy"), "destruction"}, {Opposites("open"), "shut"}, {Opposites("north"), "south"},
	} {
		if !slices.Contains(tt.words, tt.want) {
			t.Errorf("%q is missing in %q", tt.want, tt.words)
		}
	}
	if got := slices.Concat(Synonyms("xyzzy", Noun), Broader("xyzzy", Noun), Derived("xyzzy"), Opposites("xyzzy")); got != nil {
		t.Errorf("an unknown word has relations: %q", got)
	}
}

func TestRelatives(t *testing.T) {
	weights := map[string]float64{}
	for _, r := range Relatives("gorillas") {
		weights[r.Word] = r.Weight
	}
	if weights["great ape"] <= weights["anthropoid ape"] || weights["chimpanzee"] == 0 || weights["gorilla"] != 0 {
		t.Errorf("relatives of gorillas: %v", weights)
	}
	if got := Relatives("xyzzy"); got != nil {
		t.Errorf("an unknown word has relatives: %v", got)
	}
}

// Ancestor finds the nearest known word in the most frequent sense, at any distance.
func TestAncestor(t *testing.T) {
	for word, want := range map[string]string{"cups": "container", "fern": "plant", "chair": "artifact",
		"peace": "", "zzyzx": ""} {
		got, ok := Ancestor(word, Noun, 0, func(w string) bool {
			return slices.Contains([]string{"plant", "artifact", "container"}, w)
		})
		if got != want || ok != (want != "") {
			t.Errorf("Ancestor(%q) = %q, %t, want %q", word, got, ok, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	known := []string{"take", "go", "give", "examine", "close", "throw", "kill", "eat"}
	for word, want := range map[string]string{"grab": "take", "taking": "take", "march": "go", "scrutinize": "examine",
		"shut": "close", "hurled": "throw", "murder": "kill", "hand": "give", "xyzzy": "", "snore": ""} {
		got, ok := Canonical(word, Verb, nearSenses, func(w string) bool { return slices.Contains(known, w) })
		if got != want || ok != (want != "") {
			t.Errorf("Canonical(%q) = %q, %t, want %q", word, got, ok, want)
		}
	}
}

func BenchmarkLoadNetwork(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		readNetwork()
	}
}

func BenchmarkSynonyms(b *testing.B) {
	loadNetwork()
	b.ReportAllocs()
	for b.Loop() {
		Synonyms("scrutinized", Verb)
	}
}
