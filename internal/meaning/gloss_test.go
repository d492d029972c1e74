package meaning

import (
	"slices"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"bull headed man": "minotaur", "flying horse": "pegasus", "half man half horse": "centaur", "burial mound": "barrow",
		"woman snakes hair": "gorgon", "maker arrows": "arrowsmith",
	} {
		list := Describe(strings.Fields(text), 20)
		if !slices.ContainsFunc(list, func(d Described) bool { return d.Name == want }) {
			t.Errorf("%q is missing among the things that %q describes: %v", want, text, list)
		}
		for i, d := range list {
			if d.Score <= 0 || d.Score > 1 || i > 0 && d.Score > list[i-1].Score {
				t.Errorf("%q describes %q with a score of %v at rank %d", text, d.Name, d.Score, i)
			}
		}
		if again := Describe(strings.Fields(text), 20); !slices.Equal(again, list) {
			t.Errorf("%q describes %v at first and then %v", text, list, again)
		}
	}
	for _, text := range []string{"", "xyzzy plugh", "\xff\x00"} {
		if got := Describe(strings.Fields(text), 20); got != nil {
			t.Errorf("%q describes %v", text, got)
		}
	}
}

func TestDefine(t *testing.T) {
	for name, want := range map[string]string{
		"submarine": "warship", "telescopes": "magnifi", "molotov cocktail": "flammabl", "medusa": "gorgon",
	} {
		got := Define(name)
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing among the words that define %q: %v", want, name, got)
		}
		if again := Define(name); !slices.Equal(again, got) {
			t.Errorf("%q is defined by %v at first and then by %v", name, got, again)
		}
	}
	for _, name := range []string{"", "xyzzy", "\xff", "zzzz"} {
		if got := Define(name); len(got) > 0 {
			t.Errorf("%q is defined by %v", name, got)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	words := strings.Fields("sea monster with many arms")
	b.ReportAllocs()
	for b.Loop() {
		Describe(words, 100)
	}
}
