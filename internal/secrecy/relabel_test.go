package secrecy

import (
	"testing"

	"loregate/internal/access"
)

// TestRevealedTextsReadPlainly reveals hidden parts to everybody: the mark goes, the text around it and the signs of
// its line stay, and nothing hides when the text is read again.
func TestRevealedTextsReadPlainly(t *testing.T) {
	for _, row := range []struct {
		form        Form
		whole, open string
	}{
		{Markdown, "- one\n- %%two%%\n- three\n", "- one\n- two\n- three\n"},
		{Markdown, "A.\n\n- %%two%%\n", "A.\n\n- two\n"},
		{Markdown, "* one\n* <!-- two -->\n", "* one\n* two\n"},
		{Markdown, "1. <div class=\"secret\">two</div>\n2. x\n", "1. two\n2. x\n"},
		{Markdown, "1. x\n2. <span class=\"secret red\">two</span>\n", "1. x\n2. <span class=\"red\">two</span>\n"},
		{Markdown, "- [ ] %%two%%\n- [x] %%three%%\n", "- [ ] two\n- [x] three\n"},
		{Markdown, "- one\n  - %%two%%\n  - three\n", "- one\n  - two\n  - three\n"},
		{Markdown, "> - %%two%%\n> - three\n", "> - two\n> - three\n"},
		{Markdown, "A.\n\n> %%two%%\n> three\n", "A.\n\n> two\n> three\n"},
		{Markdown, "- [gm:: two]\n- [gm]three[/gm]\n- >!four!<\n", "- two\n- three\n- four\n"},
		{Markdown, "- one %%two%%\n- <secret>three</secret>\n", "- one two\n- three\n"},
		{Markdown, "- %%two\n  more%%\n- three\n", "- two\n  more\n- three\n"},
		{Markdown, "- > [!secret] Title\n  > two\n- three\n", "- > [!note] Title\n  > two\n- three\n"},
		{Markdown, "A.\n\n> [!secret]- Title\n> two\n\nB.\n", "A.\n\n> [!note]- Title\n> two\n\nB.\n"},
		{Markdown, "A.\n\n> [!secret]\n> two\n", "A.\n\n> [!note]\n> two\n"},
		{Markdown, "A.\n\n> [!quote] GM only\n> two\n", "A.\n\n> [!quote]\n> two\n"},
		{Markdown, "A.\n\n> [!quote|secret] Title\n> two\n", "A.\n\n> [!quote] Title\n> two\n"},
		{Markdown, "> [!note] Title\n> two\n> > [!secret] In\n> > three\n",
			"> [!note] Title\n> two\n> > [!note] In\n> > three\n"},
		{Markdown, "A.\n\n<div class=\"secret\">\n\ntwo\n\n</div>\n\nB.\n", "A.\n\ntwo\n\nB.\n"},
		{Markdown, "| a | b |\n|---|---|\n| x | %%two%% |\n", "| a | b |\n|---|---|\n| x | two |\n"},
		{HTML, "<p>A.</p><p><secret>two</secret></p>", "<p>A.</p><p>two</p>"},
		{HTML, "<ul><li>one</li><li><!-- two --></li></ul>", "<ul><li>one</li><li>two</li></ul>"},
		{HTML, "<ul><li>one</li><li class=\"gm-only\">two</li></ul>", "<ul><li>one</li><li>two</li></ul>"},
		{HTML, "<p data-visibility=\"gm\">two</p><p>B.</p>", "<p>two</p><p>B.</p>"},
		{HTML, "<p>A.</p><div class=\"secret\"><blockquote><p>[!gm] Title<br>two</p></blockquote></div>",
			"<p>A.</p><blockquote><p>[!note] Title<br>two</p></blockquote>"},
		{Plain, "A. [gm]two[/gm] B.", "A. two B."},
	} {
		w := master(row.form)
		text, _ := w.Divide(Text{}, row.whole)
		all := func(Passage) bool { return true }
		for _, p := range text.Parts {
			if told, signs := Unwrap(p.Text); signs.Wrap(told) != p.Text && signs != (Signs{}) {
				t.Errorf("%q is told as %q, and written back as %q", p.Text, told, signs.Wrap(told))
			}
		}
		got := text.Relabel(row.form, access.NewLabel(access.LevelUser), all, w.NewID)
		if got.Whole() != row.open || len(got.Parts) > 0 {
			t.Errorf("%q reads %q, want %q", row.whole, got.Whole(), row.open)
		}
		if again, _ := w.Divide(Text{}, got.Open); len(again.Parts) > 0 {
			t.Errorf("%q hides %q again", row.whole, again.Parts[0].Text)
		}
	}
}

// TestRevealedWordsStay reveals parts whose mark is words of the text, and parts with marks inside.
func TestRevealedWordsStay(t *testing.T) {
	for whole, open := range map[string]string{
		"## GM notes\n\ntwo\n":                      "## GM notes\n\ntwo\n",
		"::: secret\ntwo\n:::\n":                    "::: secret\ntwo\n:::\n",
		"- %%two <!-- three --> four%%\n":           "- two four\n",
		"> [!secret] A\n> two %%three%%\n":          "> [!note] A\n> two\n",
		"- <span class=\"secret\">a %%b%%</span>\n": "- a\n",
	} {
		w := master(Markdown)
		text, _ := w.Divide(Text{}, whole)
		got := text.Relabel(Markdown, access.NewLabel(access.LevelUser), func(Passage) bool { return true }, w.NewID)
		if got.Open != open {
			t.Errorf("%q reads %q, want %q", whole, got.Open, open)
		}
	}
}

// TestToldItemsStayHidden edits a part as somebody whom it was told to: it stays marked, and its line a list item.
func TestToldItemsStayHidden(t *testing.T) {
	for part, row := range map[string]struct{ read, edit, now string }{
		"- %%two%%\n":            {"- two\n", "- two and more\n", "- %%two and more%%\n"},
		"> - [ ] <!-- two -->\n": {"> - [ ] two\n", "> - [x] two\n", "> - [x] <!-- two -->\n"},
		"%%- two%%\n":            {"- two\n", "- three\n", "%%- three%%\n"},
		"<li><!-- two --></li>":  {"<li>two</li>", "<li>three</li>", "<li><!-- three --></li>"},
		"- %%two%%":              {"- two", "two", "%%two%%"},
	} {
		read, signs := Unwrap(part)
		if now := signs.Wrap(row.edit); read != row.read || now != row.now {
			t.Errorf("%q reads %q, want %q, and is %q after an edit, want %q", part, read, row.read, now, row.now)
		}
	}
}
