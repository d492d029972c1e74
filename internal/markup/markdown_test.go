package markup

import (
	"strings"
	"testing"
)

func TestMarkdownText(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"emphasis", "the **old** _mill_ and ~~no~~ ==yes==", "the old mill and no yes"},
		{"an underscore in a word", "a snake_case_word", "a snake_case_word"},
		{"a paragraph of two lines", "the old\nmill\n\nnext", "the old mill\nnext"},
		{"a heading", "# Title #1\ntext", "Title #1\ntext"},
		{"an underlined heading", "Title\n=====\ntext", "Title\ntext"},
		{"lists and tasks", "- one\n* [x] two\n1. three\n  - four", "one\ntwo\nthree\nfour"},
		{"a quote", "> said\n> so", "said so"},
		{"a callout", "> [!note]- Its title\n> its text", "Its title\nits text"},
		{"a table", "| a | b |\n|---|:-:|\n| [[c\\|d]] | e |", "a\tb\nd\te"},
		{"links", "[text](http://x.example \"t\") ![pic](a.png) <http://y.example> [r][id]", "text pic http://y.example r"},
		{"wiki links", "[[A]] [[f/B.md|b]] [[C#Part]] ![[D]] {{E}}", "A b C > Part"},
		{"brackets that link nothing", "a [b] (c) [[", "a [b] (c) [["},
		{"code", "`a  *b*` and\n```go\nx := [[y]]  *z*\n```\nend", "a *b* and\nx := [[y]]  *z*\nend"},
		{"a fence in a quote", "> ```\n> a\n> ```\n> b", "> a\nb"},
		{"HTML", "a<br>b <b class=\"x\">c</b> <script>d</script>e", "a\nb c e"},
		{"a comment over lines", "a <!-- b\n\nc --> d", "a\nd"},
		{"hidden notes stay words", "a %%b%% c", "a b c"},
		{"entities and escapes", `&amp; \* \[x] 1 < 2`, "& * [x] 1 < 2"},
		{"block ids and footnotes", "text[^1] ^block-1\n\n[^1]: note", "text\nnote"},
		{"rules", "a\n\n---\n\n***\nb", "a\nb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := MarkdownText(tc.in); got != tc.want {
				t.Errorf("MarkdownText(%q)\n got %q\nwant %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestMarkdownPlainKnowsThePlaces(t *testing.T) {
	const in = "# Of *mills*\n\n- the **old** mill &amp; [[x/The Weir.md|its weir]]"
	p := MarkdownPlain(in)
	for _, word := range []string{"Of", "mills", "old", "mill", "the"} {
		at := strings.Index(p.Text, word)
		if from := p.SourceOffset(at); at < 0 || !strings.HasPrefix(in[from:], word) {
			t.Errorf("%q of %q is found at %d", word, p.Text, from)
		}
		if end := p.SourceEnd(at + len(word)); !strings.HasSuffix(in[:end], word) {
			t.Errorf("%q ends at %d", word, end)
		}
	}
}

func TestMarkdownRefs(t *testing.T) {
	const in = "[[A]] [[f/B.md#h|b]] ![[C.png|300]] [d](g/D%20E.md#x) [w](https://x.example) ![p](h/p.png)\n" +
		"{{N|titled}} \\[[no]] `[[code]]` [[#own]] [f](file.pdf)\n```\n[[code]]\n```\n[[T\\|t]]"
	var got []string
	for _, r := range MarkdownRefs(in) {
		kind := map[RefKind]string{LinkRef: "link", NestRef: "nest"}[r.Kind]
		if r.External {
			kind = "address"
		}
		got = append(got, kind+" "+r.Target)
	}
	want := "link A, link B, nest C.png, link D E, address https://x.example, nest p.png, nest N, link T"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the refs are\n%s, want\n%s", s, want)
	}
	turned := RewriteMarkdownRefs(in, func(r Ref) (string, bool) { return "New " + r.Target, !r.External })
	for _, part := range []string{"[[New A]]", "[[f/New B.md#h|b]]", "![[New C.png|300]]", "[d](g/New%20D%20E.md#x)",
		"{{New N|titled}}", "`[[code]]`", `[[New T\|t]]`, "https://x.example"} {
		if !strings.Contains(turned, part) {
			t.Errorf("%q is missing in %q", part, turned)
		}
	}
	wiki := MarkdownToWiki(in)
	for _, part := range []string{"[[A]] [[B|b]] {{C.png}} [[D E|d]] [w](https://x.example)", "`\\[[code]]`", "```\n\\[[code]]\n```",
		"[[T|t]]"} {
		if !strings.Contains(wiki, part) {
			t.Errorf("%q is missing in %q", part, wiki)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{"> [!a] b\n> ```\n[[x|y]]", "[a](b) ![[c#d]] {{e}}", "<!-- \n--> `` ` ``", "a\n===\n| b |"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := MarkdownPlain(s)
		for at := range p.Text {
			if from := p.SourceOffset(at); from < 0 || from > len(s) {
				t.Fatalf("byte %d of %q is at %d of %q", at, p.Text, from, s)
			}
		}
		end := 0
		for _, r := range MarkdownRefs(s) {
			if r.Start < end || r.End <= r.Start || r.End > len(s) || !r.External && (r.targetStart < r.Start || r.targetEnd > r.End) {
				t.Fatalf("ref %+v in %q", r, s)
			}
			end = r.End
		}
		MarkdownToWiki(s)
		if same := RewriteMarkdownRefs(s, func(r Ref) (string, bool) { return "", false }); same != s {
			t.Fatalf("%q became %q", s, same)
		}
	})
}

func TestMarkdownIsLinear(t *testing.T) {
	for _, piece := range []string{"[", "![", "[[", "`", "a`b``", "<a", "<!--", "[a](", "{{", "[a]", "*_", "> ", "- "} {
		MarkdownText(strings.Repeat(piece, (1<<17)/len(piece)))
		MarkdownRefs(strings.Repeat(piece, (1<<17)/len(piece)))
	}
}
