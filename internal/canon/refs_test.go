package canon

import (
	"strings"
	"testing"

	"loregate/internal/fault"
)

// TestRefsOfACardAreBounded: a text of 1 MiB held 92,000 links, and the only writer took ten
// seconds to store them.
func TestRefsOfACardAreBounded(t *testing.T) {
	for _, c := range []struct {
		card    Card
		content string
		fits    bool
	}{
		{Card{Type: TypeRichText}, strings.Repeat("[[a]]", MaxRefs), true},
		{Card{Type: TypeRichText}, strings.Repeat("[[a]]", MaxRefs+1), false},
		{Card{Type: TypeRichText}, strings.Repeat("{{a}}", MaxRefs+1), false},
		{Card{Type: TypeRichText}, strings.Repeat("[[https://a.example]]", MaxRefs+1), true},
		{Card{Type: TypeRichText}, strings.Repeat("a\n", MaxRefs+1), true},
		{Card{Type: TypeRichText, Key: "a+tag"}, strings.Repeat("a\n", MaxRefs+1), false},
		{Card{Type: TypeRichText}, strings.Repeat("[[", MaxContent/2), true},
	} {
		if err := checkRefs(c.card, c.content); (err == nil) != c.fits || err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s %.20q × %d: %v", c.card.Key, c.content, len(c.content), err)
		}
	}
}
