package exchange

import (
	"strings"
	"testing"
)

func TestWhatReadersDoNotSeeIsTakenOut(t *testing.T) {
	for _, tc := range []struct{ name, in, open, secret string }{
		{"nothing hidden", "a\n\n> quote\n", "a\n\n> quote\n", ""},
		{"a callout", "a\n> [!secret] The heir\n> is the *baker*\n\nb", "a\n\nb", "**The heir**\n\nis the *baker*"},
		{"a folded one, in capitals", "> [!SECRET]- \n> x", "", "x"},
		{"a lazy continuation", "> [!secret]\n> one\ntwo\n\nb", "\nb", "one\ntwo"},
		{"inside a quote", "> seen\n> > [!secret]\n> > hidden\n> seen again", "> seen\n> seen again", "hidden"},
		{"another callout", "> [!note] n\n> x", "> [!note] n\n> x", ""},
		{"a comment", "a %%b%% c", "a  c", "b"},
		{"a comment over paragraphs", "a %%b\n\nc%% d", "a  d", "b\n\nc"},
		{"an odd one", "a %%b\n\nc", "a ", "b\n\nc"},
		{"an HTML comment", "a <!-- b --> c", "a  c", "b"},
		{"code is seen", "a `%%b%%` c", "a `%%b%%` c", ""},
		{"fenced code is seen", "```\n%%b%%\n> [!secret]\n> x\n```\nc", "```\n%%b%%\n> [!secret]\n> x\n```\nc", ""},
		{"code inside a comment is not", "a %%\n```\nb\n```\n%% c", "a  c", "```\nb\n```"},
		{"inline code inside a comment is not", "a %% `b` c %% d", "a  d", "`b` c"},
		{"a fence that does not end hides nothing", "```\n%%b%%", "```\n", "b"},
		{"a secret section", `a <section class="block secret" id="x">b</section> c`, "a  c", `<section class="block secret" id="x">b</section>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open, secret, _ := split(tc.in)
			if open != tc.open || secret != tc.secret {
				t.Errorf("split(%q)\n open   %q, want %q\n secret %q, want %q", tc.in, open, tc.open, secret, tc.secret)
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("a %%SECRET%% `b` ```\n> [!secret]\n> x")
	f.Fuzz(func(t *testing.T, s string) {
		open, secret, _ := split("%%MARK%%" + s)
		if strings.Contains(open, "MARK") && !strings.Contains(s, "MARK") {
			t.Errorf("a comment stays open: %q / %q", open, secret)
		}
	})
}
