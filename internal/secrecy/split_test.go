package secrecy

import (
	"strings"
	"testing"
)

func TestSplitSecrets(t *testing.T) {
	for _, tc := range []struct{ name, in, open, secret string }{
		{"nothing hidden", "a\n\n> quote\n", "a\n\n> quote\n", ""},
		{"a callout", "a\n> [!secret] The heir\n> is the *baker*\n\nb", "a\n\nb", "> [!secret] The heir\n> is the *baker*\n"},
		{"a folded one, in capitals", "> [!SECRET]- \n> x", "", "> [!SECRET]- \n> x"},
		{"a lazy continuation", "> [!secret]\n> one\ntwo\n\nb", "\nb", "> [!secret]\n> one\ntwo\n"},
		{"inside a quote", "> seen\n> > [!secret]\n> > hidden\n>\n> seen again", "> seen\n>\n> seen again",
			"> > [!secret]\n> > hidden\n"},
		{"what goes on with its paragraph, one quote less", "> > [!secret]\n> > hidden\n> too\n\nb", "\nb",
			"> > [!secret]\n> > hidden\n> too\n"},
		{"inside a list", "- a\n- > [!gm] x\n  > y\n\nb", "- a\n\nb", "- > [!gm] x\n  > y\n"},
		{"inside a list in a quote", "> - > [!dm-only]\n>   > y\n\nb", "\nb", "> - > [!dm-only]\n>   > y\n"},
		{"one with an option", "> [!secret|right] t\n> y", "", "> [!secret|right] t\n> y"},
		{"after a fence that does not end", "```\na\n> [!secret]\n> x", "```\na\n", "> [!secret]\n> x"},
		{"another callout", "> [!note] n\n> x", "> [!note] n\n> x", ""},
		{"a comment", "a %%b%% c", "a  c", "%%b%%"},
		{"a comment over paragraphs", "a %%b\n\nc%% d", "a  d", "%%b\n\nc%%"},
		{"an odd one", "a %%b\n\nc", "a ", "%%b\n\nc"},
		{"an HTML comment", "a <!-- b --> c", "a  c", "<!-- b -->"},
		{"code is seen", "a `%%b%%` c", "a `%%b%%` c", ""},
		{"fenced code is seen", "```\n%%b%%\n> [!secret]\n> x\n```\nc", "```\n%%b%%\n> [!secret]\n> x\n```\nc", ""},
		{"code inside a comment is not", "a %%\n```\nb\n```\n%% c", "a  c", "%%\n```\nb\n```\n%%"},
		{"inline code inside a comment is not", "a %% `b` c %% d", "a  d", "%% `b` c %%"},
		{"a fence that does not end hides nothing", "```\n%%b%%", "```\n", "%%b%%"},
		{"a section in it", `<section class='Secret'>b<section>c</section>d</section>e`, "e",
			`<section class='Secret'>b<section>c</section>d</section>`},
		{"an attribute that looks like an end", `<div title="a>b" class="gm-only">b</div>e`, "e",
			`<div title="a>b" class="gm-only">b</div>`},
		{"one that does not end", `a<section class=secret>b`, "a", `<section class=secret>b`},
		{"another section", `<section class="secretary">b</section>`, `<section class="secretary">b</section>`, ""},
		{"a secret section", `a <section class="block secret" id="x">b</section> c`, "a  c",
			`<section class="block secret" id="x">b</section>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Split(tc.in, Markdown, everyMark)
			if got.Open != tc.open || got.Secret() != tc.secret {
				t.Errorf("split(%q)\n open   %q, want %q\n secret %q, want %q", tc.in, got.Open, tc.open, got.Secret(), tc.secret)
			}
			if joined := joinParts(got); joined != tc.in {
				t.Errorf("split(%q) gives %q again", tc.in, joined)
			}
		})
	}
}

// joinParts puts the parts back into the open text.
func joinParts(h Result) string {
	var b strings.Builder
	at := 0
	for _, p := range h.Parts {
		b.WriteString(h.Open[at:p.At] + p.Text)
		at = p.At
	}
	return b.String() + h.Open[at:]
}

// everyMark hides all marked and suspected parts.
func FuzzSplit(f *testing.F) {
	f.Add("a %%SECRET%% `b` ```\n> [!secret]\n> x")
	f.Fuzz(func(t *testing.T, s string) {
		if h := Split(s, Markdown, everyMark); joinParts(h) != s {
			t.Errorf("%q does not come back: %+v", s, h)
		}
		if got := Split("%%MARK%%"+s, Markdown, everyMark); strings.Contains(got.Open, "MARK") && !strings.Contains(s,
			"MARK") {
			t.Errorf("a comment stays open: %+v", got)
		}
		if got := Split("> [!secret]\n> MARK\n\n"+s, Markdown, everyMark); strings.Contains(got.Open, "MARK") &&
			!strings.Contains(s, "MARK") {
			t.Errorf("a callout stays open: %+v", got)
		}
		if got := Split(`<section class="secret">MARK</section>`+s, Markdown, everyMark); strings.Contains(got.Open, "MARK") &&
			!strings.Contains(s, "MARK") {
			t.Errorf("a section stays open: %+v", got)
		}
	})
}
