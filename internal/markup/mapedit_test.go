package markup

import (
	"errors"
	"strings"
	"testing"
)

// TestMapEdit edits the HTML of Markdown, and the Markdown of HTML. Only the words that differ change in
// the source; what cannot be mapped exactly is refused.
func TestMapEdit(t *testing.T) {
	const note = "# The  Mill ##\n\n> [!note] Kept\n> as *it* was\n\nThe _old_ mill of [[x/Oda|Oda]] &amp; co.\nSecond line\n\n" +
		"*  one\n*  two\n\n```dataview\nlist\n```\n\n%%kept%%\n\n| a | b |\n|:--|---|\n| 1 | 2 |\n"
	const page = "<h2 class=\"x\">The Mill</h2>\n<p>The <b>old</b> mill</p><p>of&nbsp;Oda</p>\n\n<ul><li>one<li>two</ul>"
	for _, tc := range []struct {
		name          string
		view          View
		source        string
		old, new      string // replaced in the view, once
		want, instead string // replaced in the source; "" if the edit is refused
	}{
		{"a word", HTMLView, note, "mill of", "wheel of", "mill of", "wheel of"},
		{"a word in emphasis", HTMLView, note, "<em>old</em>", "<em>new</em>", "_old_", "_new_"},
		{"emphasis that goes", HTMLView, note, "<em>it</em>", "it", "*it*", "it"},
		{"emphasis that comes", HTMLView, note, "Second line", "<strong>Second</strong> line", "Second line", "**Second** line"},
		{"a word put in", HTMLView, note, "Second line", "Second long line", "Second line", "Second long line"},
		{"a list item", HTMLView, note, "<li>two</li>", "<li>three</li>", "*  two", "*  three"},
		{"a table cell", HTMLView, note, ">2<", ">3<", "| 2 |", "| 3 |"},
		{"a heading", HTMLView, note, "<h1>The  Mill</h1>", "<h1>A Mill</h1>", "The  Mill", "A Mill"},
		{"a new paragraph", HTMLView, note, "<ul>", "<p>Put in.</p>\n<ul>", "Second line\n\n", "Second line\n\nPut in.\n\n"},
		{"a block that goes", HTMLView, note, "<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n", "", "*  one\n*  two\n\n", ""},
		{"a new item where signs are not ours", HTMLView, note, "<li>two</li>", "<li>two</li>\n<li>three</li>", "", ""},
		{"a word of HTML", MarkdownView, page, "**old** mill", "**old** wheel", "mill</p><p>", "wheel</p><p>"},
		{"a new paragraph of HTML", MarkdownView, page, "- one", "Put in.\n\n- one", "Oda</p>", "Oda</p>\n<p>Put in.</p>"},
		{"a heading with a class", MarkdownView, page, "## The Mill", "## A Mill", ">The Mill", ">A Mill"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			view, err := tc.view.Render(t.Context(), tc.source)
			if err != nil || strings.Count(view, tc.old) != 1 {
				t.Fatalf("%q is not once in %q; %v", tc.old, view, err)
			}
			got, err := tc.view.MapEdit(t.Context(), tc.source, strings.Replace(view, tc.old, tc.new, 1))
			if tc.want == "" {
				if !errors.Is(err, ErrNotExact) {
					t.Errorf("got %q, %v; want ErrNotExact", got, err)
				}
				return
			}
			if want := strings.Replace(tc.source, tc.want, tc.instead, 1); err != nil || got != want {
				t.Errorf("got  %q, %v\nwant %q\nview %q", got, err, want, view)
			}
			if same, err := tc.view.MapEdit(t.Context(), tc.source, view); err != nil || same != tc.source {
				t.Errorf("no edit gives %q, %v", same, err)
			}
		})
	}
}

// FuzzMapEdit proves the promise: the view of the result is the edited view.
func FuzzMapEdit(f *testing.F) {
	f.Add("# a\n\n- b\n- *c*\n\n> d", uint(5), "x")
	f.Add("a <b>b</b> &amp; `c`\n\n---\n\nd", uint(9), "<i>y</i>")
	f.Fuzz(func(t *testing.T, source string, at uint, insert string) {
		view, err := HTMLView.Render(t.Context(), source)
		if err != nil {
			return
		}
		i := int(at % uint(len(view)+1))
		for i > 0 && i < len(view) && !isRuneStart(view[i]) {
			i--
		}
		edited := view[:i] + Clean(insert) + view[i:]
		got, err := HTMLView.MapEdit(t.Context(), source, edited)
		if err != nil {
			return
		}
		shown, err := HTMLView.Render(t.Context(), got)
		bare := strings.NewReplacer("<p>", "", "</p>", "", "\n", "", " ", "")
		if err != nil || bare.Replace(shown) != bare.Replace(edited) {
			t.Fatalf("%q shows %q, %v; want %q", got, shown, err, edited)
		}
	})
}
