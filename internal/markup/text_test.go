package markup_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"<p>One</p><p>Two &amp; <b>th</b>ree</p>":                         "One\nTwo & three",
		"a<br>b<script>alert(1)</script><style>p{}</style><!-- no --> c":  "a\nb c",
		"see [[A+B|the text]] in [[C]]{{X|y}}{{# no}} \\[[D]]":            "see the text in C [[D]]",
		"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>": "a\tb\nc",
		"<ul><li>x</li>\n<li>y</li></ul>":                                 "x\ny",
		"  many \n\n spaces&nbsp;here ":                                   "many spaces here",
		"<pre>a\n  b</pre>c":                                              "a\n  b\nc",
		"&lt;script&gt;":                                                  "<script>",
		"a&#x202e;b\u200bc":                                               "abc",
		"<p title='x>y'>z":                                                "z",
		"<template><p>no</p><template>no</template>no</template>yes":      "yes",
		"": "",
	} {
		if got := markup.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext":            "plain\n\ttext",
		"a\x00b\x1bc\x7fd\u0085e":  "abcde",
		"a\u202eb\u2066c\u200ed":   "abcd",
		"x\U000e0041\U000e0042y":   "xy",
		"ig\u200bn\u00ado\u2060re": "ignore",
		"ig\u200dnore":             "ignore",
		"می\u200cخواهم":            "می\u200cخواهم",
		"क्\u200dष":                "क्\u200dष",
		"👩\u200d🚀":                 "👩\u200d🚀",
		"❤\ufe0f\ufe0f x\ufe0f":    "❤\ufe0f x",
		"a\ufe01\U000e0101b":       "ab",
		"a\xffb":                   "a\ufffdb",
		"a\r\nb\rc\u2028d":         "a\nb\nc\nd",
		"\u3164\u115f\u2800":       "\u2800",
	} {
		if got := markup.Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for in, want := range map[string]string{
		"ÉTÉ": "ete", "E\u0301": "e", "Straße": "strasse", "ＧＭ": "gm", "ﬁn": "fin", "Ørsted": "orsted",
		"İstanbul": "istanbul", "한글": "한글", "Ναός": "ναοσ", "s\u200be": "se", "हिन्दी": "हिन्दी",
	} {
		if got := markup.Fold(in); got != want {
			t.Errorf("Fold(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 5, "short"}, {"short", 4, "shor"}, {"héllo", 2, "hé"}, {"héllo", 5, "héllo"},
		{"ab<b>c</b>", 4, "ab"}, {"a&amp;b", 3, "a"}, {"x [[A|b]] y", 6, "x "}, {"x {{A}} y", 7, "x {{A}}"},
		{"e\u0301e\u0301", 3, "e\u0301"}, {"a < b and c", 4, "a < "}, {"<p>[[A]]", 2, "<p"},
		{"<a title='[[B]]'>x", 12, "<a title='[["}, {"abc", 0, ""}, {"abc", -1, ""},
	} {
		got, cut := markup.Truncate(c.in, c.max)
		if got != c.want || cut != (got != c.in) {
			t.Errorf("Truncate(%q, %d) = %q, %v, want %q", c.in, c.max, got, cut, c.want)
		}
	}
	cputest.CheckLinear(t, "combining characters", 1<<17,
		func(n int) { markup.Truncate(strings.Repeat("\u0301", n), n/2) })
	cputest.CheckLinear(t, "tags in a tag", 1<<17, func(n int) { markup.Truncate(strings.Repeat("<a", n)+">", n) })
}

func TestOutline(t *testing.T) {
	in := "é<h1>One <i>two</i></h1><p>x</p><!-- <h2>no</h2> --><h2 class='a'>[[A|b]] &amp; c</h2><script><h3>no</h3></script><h3>open<h4>last"
	want := []markup.Heading{{1, "One two", 1}, {2, "b & c", 0}, {3, "open", 0}, {4, "last", 0}}
	got := markup.Outline(in)
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for i, h := range got {
		if h.Level != want[i].Level || h.Text != want[i].Text {
			t.Errorf("heading %d is %v, want %v", i, h, want[i])
		}
		if at := string([]rune(in)[h.Offset:]); !strings.HasPrefix(at, "<h"+string(rune('0'+h.Level))) {
			t.Errorf("offset of %v points at %.10q", h, at)
		}
	}
}

func TestFindAll(t *testing.T) {
	word, phrase := markup.FindOptions{Mode: markup.WholeWord}, markup.FindOptions{Mode: markup.Phrase}
	exact, loose := markup.FindOptions{CaseSensitive: true}, markup.FindOptions{Mode: markup.WholeWord, FoldAccents: true}
	for _, c := range []struct {
		text, query string
		o           markup.FindOptions
		want        string
	}{
		{"The king, the KING's kingdom", "king", markup.FindOptions{}, "king KING king"},
		{"The king, the KING's kingdom", "king", exact, "king king"},
		{"The king, the KING's kingdom", "king", word, "king KING"},
		{"red  dragon; red, dragon red dragons", "red dragon", phrase, "red  dragon|red, dragon"},
		{"un été, E\u0301te\u0301 étés", "ete", loose, "été E\u0301te\u0301"},
		{"un été", "ete", word, ""},
		{"Straße STRASSE", "strasse", loose, "Straße STRASSE"},
		{"Straße", "s", markup.FindOptions{FoldAccents: true, Limit: 2}, "S ß"},
		{"C++ and C", "c++", word, "C++"},
		{"x", " ", word, ""}, {"", "x", word, ""},
		{"!? !?", "!?", phrase, "!? !?"},
	} {
		var got []string
		for _, m := range markup.FindAll(c.text, c.query, c.o) {
			got = append(got, c.text[m.Start:m.End])
		}
		if strings.Join(got, " ") != strings.ReplaceAll(c.want, "|", " ") {
			t.Errorf("FindAll(%q, %q, %v) = %q, want %q", c.text, c.query, c.o, got, c.want)
		}
	}
}

func TestSnippet(t *testing.T) {
	far := strings.Repeat("filler words ", 100)
	o := markup.SnippetOptions{Max: 40, Mark: true}
	for _, c := range []struct {
		text  string
		terms []string
		o     markup.SnippetOptions
		want  string
	}{
		{"a <b> dragon & king", []string{"dragon"}, o, "a &lt;b&gt; <mark>dragon</mark> &amp; king"},
		{"a <b> dragon", []string{"dragon"}, markup.SnippetOptions{}, "a <b> dragon"},
		{"no hit here", []string{"x"}, o, "no hit here"},
		{"king " + far + "the dragon king slept", []string{"king", "dragon"}, o,
			"…filler words the <mark>dragon</mark> <mark>king</mark> slept"},
		{"", []string{"x"}, o, ""},
		{"one\n\ntwo", nil, o, "one two"},
	} {
		if got := markup.Snippet(c.text, c.terms, c.o); got != c.want {
			t.Errorf("Snippet(%.20q, %q) = %q, want %q", c.text, c.terms, got, c.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("<p>a [[B|c]] &amp; d</p>", "c", 3)
	f.Add("Straße \u202e İ e\u0301 👩\u200d🚀 ﷺ", "ss", 9)
	f.Add("<a<b<[[c{{d", "é", 2)
	f.Fuzz(func(t *testing.T, s, query string, n int) {
		if text := markup.Text(s); markup.Clean(text) != text || !utf8.ValidString(text) {
			t.Fatalf("text %q is not clean", text)
		}
		if c := markup.Clean(s); markup.Clean(c) != c {
			t.Fatalf("cleaning %q again changes it", c)
		}
		if c := markup.Fold(s); markup.Fold(c) != c {
			t.Fatalf("folding %q gives %q, and again %q", s, c, markup.Fold(c))
		}
		cut, more := markup.Truncate(s, n)
		if !strings.HasPrefix(s, cut) || more != (cut != s) || utf8.RuneCountInString(cut) > max(n, 0) || n > 0 && s != "" &&
			cut == "" {
			t.Fatalf("Truncate(%q, %d) = %q, %v", s, n, cut, more)
		}
		for _, o := range []markup.FindOptions{{}, {FoldAccents: true}, {Mode: markup.WholeWord, FoldAccents: true},
			{Mode: markup.Phrase}, {CaseSensitive: true}} {
			end := 0
			for _, m := range markup.FindAll(s, query, o) {
				if m.Start < end && !o.FoldAccents || m.End <= m.Start || m.End > len(s) {
					t.Fatalf("FindAll(%q, %q) = %v", s, query, m)
				}
				end = m.End
			}
			if got := markup.Snippet(s, []string{query}, markup.SnippetOptions{Mark: true,
				Find: o}); strings.Contains(strings.NewReplacer("<mark>", "", "</mark>", "").Replace(got), "<") {
				t.Fatalf("snippet %q of %q", got, s)
			}
		}
		markup.Outline(s)
	})
}

func BenchmarkText(b *testing.B) {
	page := strings.Repeat("<p>Some <b>words</b> about [[A+B|the thing]] &amp; {{C|titled}} and more words.</p>\n", 200)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		markup.Text(page)
	}
}

// TestTextOfPlainInput checks that Text gives the same result with and without an invisible comment
// at the end: input without markup takes a shorter path.
func TestTextOfPlainInput(t *testing.T) {
	pieces := []string{"a", "Zoë", " ", "  ", "\n", "\r\n", "\t", "\x00", "\u2028", "\xff", "\u200b", "[[A|b]]", "[[",
		"{{C}}", "\\[[x]]", ">", "港"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		if got, want := markup.Text(b.String()), markup.Text(b.String()+"<!---->"); got != want {
			t.Fatalf("%q: %q, with a comment %q", b.String(), got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""}, {"käs", 3, "käs"}, {"käse", 3, "käs…"}, {"käse", 0, "…"}, {"a\xffb", 2, "a\xff…"},
	} {
		if got := markup.Shorten(c.s, c.n); got != c.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}
