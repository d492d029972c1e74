package command

import (
	"slices"
	"testing"

	"loregate/internal/slicesx"
)

func TestCutInterjections(t *testing.T) {
	for text, want := range map[string]string{
		"well, go north": "go north", "excuse me, sir, where is the inn?": "where is the inn?",
		"hey you, walker, have you work?": "walker, have you work?", "oh, hello": "hello", "excuse me": "excuse me",
		"well": "well", "look, a bell!": "a bell!", "my friend, do you sing?": "do you sing?",
		"Oda, hello": "Oda, hello", "look at the well, please": "look at the well, please",
	} {
		if got := CutInterjections(text); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}

func TestIsRemark(t *testing.T) {
	for _, text := range []string{"nice puppets", "what a lovely bell!", "what a day", "how strange this place is",
		"such bad weather today", "lovely weather", "the poor crab", "no luck today", "beautiful nets!"} {
		if !IsRemark(text) {
			t.Errorf("%q is no remark", text)
		}
	}
	for _, text := range []string{"go north", "frobnicate the moon", "frobnicate", "take the nice puppet", "what is this?",
		"north", "open the door", "tickle the ghost", "what bell is that?", "about the old well", "what she counts twice", "how do I get to the inn?"} {
		if IsRemark(text) {
			t.Errorf("%q is a remark", text)
		}
	}
}

// A command is split where a sentence of it is a question, words to somebody or a remark.
func TestReadSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"nice puppets. When is the next show?":     {"nice puppets", "When is the next show?"},
		"feel the nets, are they wet?":             {"feel the nets", "are they wet?"},
		"open the box, what is in it?":             {"open the box", "what is in it?"},
		"hello. go north. who is here?":            {"hello", "go north", "who is here?"},
		"look at the nets. Then go north":          nil,
		"go north. take the coin.":                 nil,
		"I'll take it on, Oda. Out to the stone":   nil,
		"\"Good day. What news?\"":                 nil,
		"ask Oda, what is it?":                     nil,
		"what is this?":                            nil,
		"who is Master J. Blott?":                  nil,
		"go north! Is there a well? I wonder. bye": {"go north!", "Is there a well?", "I wonder", "bye"},
	} {
		got := slicesx.Map(ReadSentences(text), func(s Sentence) string { return s.Text })
		if !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
}
