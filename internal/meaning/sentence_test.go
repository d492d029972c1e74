package meaning

import (
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"One. Two! Three?":             "One.|Two!|Three?",
		"Dr. Watson has it. So it is.": "Dr. Watson has it.|So it is.",
		"It cost 3.50 marks. Dear!":    "It cost 3.50 marks.|Dear!",
		"“Come in.” She sat.":          "“Come in.”|She sat.",
		"A list\nof lines":             "A list|of lines",
		"Wait... what?!":               "Wait...|what?!",
		"\xff.\xfe. x":                 "\xff.\xfe.|x",
		"J. R. came.":                  "J. R. came.",
	} {
		if got := strings.Join(slices.Collect(Sentences(text)), "|"); got != want {
			t.Errorf("%q has the sentences %q, want %q", text, got, want)
		}
	}
}
