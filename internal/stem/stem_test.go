package stem

import "testing"

// TestForms checks words and stems from the vocabularies of the Snowball project.
func TestForms(t *testing.T) {
	for _, tc := range []struct{ language, word, want string }{
		{"en", "consigned", "consign"}, {"en", "consignment", "consign"}, {"en", "knightly", "knight"}, {"en", "skis", "ski"},
		{"en", "dying", "die"},
		{"de", "aufeinander", "aufeinand"}, {"de", "kategorischer", "kategor"}, {"fr", "continuellement", "continuel"},
		{"es", "chicharrones", "chicharron"},
		{"ru", "важнейшими", "важн"}, {"sv", "jaktkarlarne", "jaktkarl"}, {"it", "abbandonata", "abbandon"},
		{"nl", "lichamelijkheden", "licham"},
		{"en", "x1s", "x1s"}, {"xx", "lamps", "lamps"}, {"", "lamps", "lamps"}, {"en", "", ""}, {"en", "s", "s"},
		{"ru", "s", "s"},
	} {
		if got := Of(tc.language, tc.word); got != tc.want {
			t.Errorf("%s %q has %q, want %q", tc.language, tc.word, got, tc.want)
		}
	}
}

// FuzzOf stems hostile words in every language: a stem is at most twice as long as the word plus 8
// bytes.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"", "a", "ing", "'s", "yyyyyyyy", "\xff\xfe", "ß", "日本", "eed", "ied"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		for _, language := range append(Languages(), "xx") {
			if got := Of(language, word); len(got) > 2*len(word)+8 {
				t.Errorf("%s %q has %q", language, word, got)
			}
		}
	})
}
