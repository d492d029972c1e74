package safety_test

import (
	"slices"
	"strings"
	"testing"

	"loregate/internal/safety"
)

// scaled is a policy with one category that is weighed and doubts its terms, and one that is doubted by it.
const scaled = `{"version": "policy/test", "format": 3, "profiles": ["teen"], "sets": {"tool": ["gun", "kitchen knife"]},
	"categories": [{"name": "harm", "action": {"teen": "block"}, "terms": ["burn"]},
		{"name": "rude", "action": {"teen": "flag"}, "terms": ["oaf"]}],
	"scales": {"forms": {"make": "make makes making", "a": "a", "goblin": "goblin goblins", "i": "i"}, "bias": {"harm": -2},
		"doubt": {"harm": {"by": "harm", "below": -5}, "rude": {"by": "harm", "below": -5}},
		"weight": {"harm": {"make": 4, "a @tool": 5, "goblin": -12}}}}`

func TestScales(t *testing.T) {
	p, err := safety.Load([]byte(scaled))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"I make a kitchen knife":                          "harm",
		"I make a! Kitchen knife":                         "", // a pair is in one sentence
		"I make it. He saw a kitchen knife.":              "harm",
		"I make it. Yes. No. He saw a kitchen knife.":     "",
		"I m4ke a gun":                                    "harm",
		"I make a gun" + strings.Repeat(" and so on", 20): "",
		"I make, I make, I make, I make":                  "",
		"They burn":                                       "harm",
		"The goblins burn":                                "",
		"The goblin is an oaf":                            "",
		"You oaf":                                         "rude",
		`The old smith smiles and says: "I make a kitchen knife"`: "", // speech in a narration
		"": "",
	} {
		if got := strings.Join(p.Judge("teen", text).Categories, ","); got != want {
			t.Errorf("%q is judged %q, want %q", text, got, want)
		}
	}
	features, words := p.Features("Make a gun")
	if want := []string{"@tool", "a", "a @tool", "make", "make a"}; !slices.Equal(features, want) || words != 3 {
		t.Errorf("got %q and %d words, want %q", features, words, want)
	}
}

func TestBadScales(t *testing.T) {
	for _, change := range [][2]string{
		{`"goblin": -12`, `"goblins": -12`}, {`"a @tool"`, `"a @tools"`}, {`"i": "i"`, `"i": ""`},
		{`"by": "harm"`, `"by": "none"`}, {`"format": 3`, `"format": 4`},
	} {
		if _, err := safety.Load([]byte(strings.Replace(scaled, change[0], change[1], 1))); err == nil {
			t.Errorf("%s is accepted", change[1])
		}
	}
}
