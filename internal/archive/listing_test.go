package archive

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// A text that is taken to have no list has none when its lines are read.
func TestEveryListMayBeOne(t *testing.T) {
	pieces := []string{"- ", "* ", "+", "• ", "– ", "1. ", "[ ] ", "\n", "\r\n", " ", "\u00a0", "\u200b", "\t", "<ul>", "<OL>", "<Li>",
		"</li>", "</ul>", "<br>", "<p>", "<p class=\"a>b\">", "<", ">", "&nbsp;", "&#45; ", "&bull; ", "| ", "**", "> ", "[[Mill]]", "{{Mill}}",
		"Mill", "é", "мель", "<!-- -->", "<td>", "<h2>", "#", "\\", "`", "\u3164", "\u115f"}
	listed := 0
	for range 50_000 {
		var b strings.Builder
		for range 1 + rand.IntN(6) {
			b.WriteString(pieces[rand.IntN(len(pieces))])
		}
		for _, kind := range []canon.TextKind{canon.TextMarkdown, canon.TextHTML, canon.TextPlain} {
			lines, _ := termLines(kind, b.String())
			for _, line := range lines {
				if line.Item {
					listed++
					if !mayList(b.String()) {
						t.Fatalf("%q has the item %q", b.String(), line.Text)
					}
				}
			}
		}
	}
	if listed < 1000 {
		t.Errorf("only %d items were read", listed)
	}
	for _, text := range []string{"The mill stands.", "<p>The mill, and - so they say - a well.</p>\n<p>Élan</p>", "One\nTwo <b>three</b> four"} {
		if mayList(text) {
			t.Errorf("%q is read for lists", text)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.IsLetter(r) && markup.Clean(string(r)) == "" && !mayList(string(r)+"- a") {
			t.Fatalf("%U hides the sign of an item", r)
		}
	}
}
