package markup

import (
	"context"
	"net/url"
	"strings"
	"testing"
)

// The cost of escaping many single brackets does not depend on the length of the placeholder: half
// a megabyte of brackets once took seconds.
func TestManyBracketsStayCheap(t *testing.T) {
	for name, text := range map[string]string{
		"plain":             strings.Repeat("[ ", 100_000),
		"with a stranger":   strings.Repeat("[ ", 100_000) + "\U000f0000 &#xF0001; &#983042;",
		"among paragraphs":  strings.Repeat("<p>[[x</p>", 20_000),
		"links among them":  "[[Oda Tarn]] " + strings.Repeat("[ ", 100_000),
		"in an address":     strings.Repeat("[ ", 100_000) + `<a href="/x[y">l</a>`,
		"an end of its own": strings.Repeat("[", 100_000) + "]",
	} {
		p := protectSyntax(text)
		stand := unusedRune(p.text)
		if stand == "" || len(stand) > 4 {
			t.Fatalf("%s: %q stands for a bracket", name, stand)
		}
		out, err := ToMarkdown(context.Background(), text)
		if err != nil {
			t.Fatal(name, err)
		}
		if strings.Contains(out, stand) || strings.Contains(out, url.PathEscape(stand)) {
			t.Errorf("%s: what stood for a bracket is left", name)
		}
		want := strings.Count(text, "[") - 2*strings.Count(text, "[[Oda Tarn]]")
		if got := strings.Count(out, `\[`); got != want {
			t.Errorf("%s: %d brackets became %d", name, want, got)
		}
		if name == "with a stranger" && !strings.HasSuffix(out, "\U000f0000 \U000f0001 \U000f0002") {
			t.Errorf("%s: private characters became something else: …%q", name, out[len(out)-20:])
		}
	}
	if got := unusedRune("a \U000f0000 and &#xF0001;"); got != "\U000f0002" {
		t.Errorf("%q stands for a bracket in a text that holds others", got)
	}
	if got := unusedRune(`<a href="/%F3%B0%80%80">`); got != "\U000f0001" {
		t.Errorf("%q stands for a bracket in a text whose address holds another", got)
	}
}
