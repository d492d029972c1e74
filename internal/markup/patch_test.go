package markup_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

func TestPatch(t *testing.T) {
	page := "<h2>Intro</h2><p>[[A & B|\"q\"]]</p><h2>Cultures</h2><p>old {{X|y}}</p><h3>Sub</h3><p>sub</p><h2>End</h2>"
	for _, c := range []struct {
		name, content string
		patch         markup.Patch
		want          string // the expected content, or '!' and the invalid field
	}{
		{"between keeps the end marker", page, markup.Patch{Mode: "replace_between", StartMarker: "<h2>Cultures</h2>",
			EndMarker: "<h2>", ReplacementHTML: "<h2>Cultures</h2><p>new</p>"},
			"<h2>Intro</h2><p>[[A & B|\"q\"]]</p><h2>Cultures</h2><p>new</p><h2>End</h2>"},
		{"between through the end marker", "a[b]c[d]", markup.Patch{Mode: "replace_between", StartMarker: "[", EndMarker: "]",
			ReplacementHTML: `\1$1`, EndInclusive: true}, `a\1$1c[d]`},
		{"between looks behind the start marker only", "xx-x",
			markup.Patch{Mode: "replace_between", StartMarker: "x", EndMarker: "x", ReplacementHTML: "y"}, "yx-x"},
		{"between, no start", "a", markup.Patch{Mode: "replace_between", StartMarker: "b", EndMarker: "c"}, "!start_marker"},
		{"between, no end", "c b", markup.Patch{Mode: "replace_between", StartMarker: "b", EndMarker: "c"}, "!end_marker"},
		{"between, empty start", "a", markup.Patch{Mode: "replace_between", EndMarker: "c"}, "!start_marker"},
		{"between, empty end", "a", markup.Patch{Mode: "replace_between", StartMarker: "a"}, "!end_marker"},

		{"section keeps nested ones", page, markup.Patch{Mode: "section", Heading: "cultures", Content: "<p>new</p>"},
			"<h2>Intro</h2><p>[[A & B|\"q\"]]</p><h2>Cultures</h2><p>new</p><h3>Sub</h3><p>sub</p><h2>End</h2>"},
		{"section with nested ones", page, markup.Patch{Mode: "section", Heading: " Cultures ", Content: "<p>new</p>",
			IncludeNested: true},
			"<h2>Intro</h2><p>[[A & B|\"q\"]]</p><h2>Cultures</h2><p>new</p><h2>End</h2>"},
		{"section content with its own heading", "<h2>A</h2>x<h2>B</h2>",
			markup.Patch{Mode: "section", Heading: "A", Content: "<h3>A</h3>y"}, "<h3>A</h3>y<h2>B</h2>"},
		{"section stays in its element", "<div><h2>A</h2><p>x</p><div>y</div></div><p>z</p>",
			markup.Patch{Mode: "section", Heading: "A", Content: "n"}, "<div><h2>A</h2>n</div><p>z</p>"},
		{"section emptied", "<h2>A</h2>x", markup.Patch{Mode: "section", Heading: "A"}, "<h2>A</h2>"},
		{"section not there", page, markup.Patch{Mode: "section", Heading: "No"}, "!heading"},
		{"section twice there", "<h2>A</h2><h3>A</h3>", markup.Patch{Mode: "section", Heading: "A"}, "!heading"},

		{"find once", "a.b [[C]]", markup.Patch{Mode: "find_replace", Find: ".", Replace: `\1$1${x}`}, `a\1$1${x}b [[C]]`},
		{"find twice", "a a", markup.Patch{Mode: "find_replace", Find: "a"}, "!find"},
		{"find second", "a a a", markup.Patch{Mode: "find_replace", Find: "a", Replace: "b", Occurrence: 2}, "a b a"},
		{"find beyond", "a a", markup.Patch{Mode: "find_replace", Find: "a", Occurrence: 3}, "!occurrence"},
		{"find before first", "a", markup.Patch{Mode: "find_replace", Find: "a", Occurrence: -3}, "!occurrence"},
		{"find nothing", "a", markup.Patch{Mode: "find_replace", Find: "b"}, "!find"},

		{"append", "<p>a</p>", markup.Patch{Mode: "append", Content: "<p>b</p>"}, "<p>a</p>\n<p>b</p>"},
		{"append to nothing", "", markup.Patch{Mode: "append", Content: "b"}, "b"},
		{"prepend", "a", markup.Patch{Mode: "prepend", Content: "b\n"}, "b\na"},
		{"append nothing", "a", markup.Patch{Mode: "append"}, "!content"},

		{"items", "[[A]]\n[[B]]", markup.Patch{Mode: "items", Add: []string{"b", "C"}, Remove: []string{"a"}},
			"[[B]]\n[[C]]"},
		{"items of nothing", "a", markup.Patch{Mode: "items"}, "!add"},

		{"regex", "a1 b22", markup.Patch{Mode: "regex", Pattern: `([a-z])(\d+)`, Replacement: "$2${1}$$"}, "1a$ 22b$"},
		{"regex with bounds", "cat scatter cat", markup.Patch{Mode: "regex", Pattern: `\bcat\b`, Replacement: "dog"},
			"dog scatter dog"},
		{"regex sees what it replaced before", "aab", markup.Patch{Mode: "regex", Pattern: `\ba|^a`,
			Replacement: "x"}, "xab"},
		{"regex too many", "aaa", markup.Patch{Mode: "regex", Pattern: "a", MaxMatches: 2}, "!max_matches"},
		{"regex limit too high", "a", markup.Patch{Mode: "regex", Pattern: "a", MaxMatches: 101}, "!max_matches"},
		{"regex no match", "a", markup.Patch{Mode: "regex", Pattern: "b"}, "!pattern"},
		{"regex too long", "a", markup.Patch{Mode: "regex", Pattern: strings.Repeat("é", 501)}, "!pattern"},
		{"regex broken", "a", markup.Patch{Mode: "regex", Pattern: "("}, "!pattern"},
		{"regex unbalanced", "a", markup.Patch{Mode: "regex", Pattern: "a)(b"}, "!pattern"},
		{"regex lookbehind", "a", markup.Patch{Mode: "regex", Pattern: "(?<=a)b"}, "!pattern"},
		{"regex repeats too much", strings.Repeat("a", 256<<10), markup.Patch{Mode: "regex", Pattern: "(a?){1000}"},
			"!pattern"},
		{"regex grows too much", strings.Repeat("a", 64<<10),
			markup.Patch{Mode: "regex", Pattern: "(?s)(.+)", Replacement: strings.Repeat("$1 ", 100)}, "!replacement"},

		{"no mode", "a", markup.Patch{}, "!mode"},
		{"unknown mode", "a", markup.Patch{Mode: "sed"}, "!mode"},
		{"field of another mode", "a", markup.Patch{Mode: "append", Content: "b", Pattern: "c"}, "!pattern"},
		{"two modes at once", "a", markup.Patch{Mode: "find_replace", Find: "a", Add: []string{"x"}}, "!add"},
		{"broken new text", "a", markup.Patch{Mode: "append", Content: "\xff"}, "!mode"},
	} {
		r, err := c.patch.Apply(context.Background(), c.content)
		got := r.Content
		if e := (*markup.PatchError)(nil); errors.As(err, &e) {
			got = "!" + e.Field
		}
		if got != c.want {
			t.Errorf("%s: got %.200q (%v), want %q", c.name, got, err, c.want)
		}
	}
}

func TestPatchDryRun(t *testing.T) {
	r, err := markup.Patch{Mode: "regex", Pattern: "b", Replacement: "c", DryRun: true}.Apply(context.Background(),
		"a\nb\n")
	if err != nil || !r.DryRun || r.Matches != 1 || !strings.Contains(r.Diff, "-b\n+c\n") {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A regex search ends soon after its context, and no goroutine outlives it for long.
func TestPatchRegexDeadline(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	slow := markup.Patch{Mode: "regex", Pattern: "(?:a.*b.*c|a)", Replacement: "x"}
	_, err := slow.Apply(ctx, strings.Repeat("a", 1<<18))
	if e := (*markup.PatchError)(nil); !errors.As(err, &e) || e.Field != "pattern" {
		t.Errorf("got %v", err)
	}
}

func FuzzPatch(f *testing.F) {
	f.Add("<h2>A</h2>x [[B|c]]<h2>D</h2>", "A", "n$1", `(\w)\b|^|x*`)
	f.Add("aé\xff b\n", "", "", `(?m)^|$|\B`)
	f.Fuzz(func(t *testing.T, content, find, text, pattern string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, p := range []markup.Patch{
			{Mode: "replace_between", StartMarker: find, EndMarker: text, ReplacementHTML: "new"},
			{Mode: "section", Heading: find, Content: text},
			{Mode: "find_replace", Find: find, Replace: text, Occurrence: 1},
			{Mode: "items", Add: []string{find}, Remove: []string{text}},
			{Mode: "append", Content: text}, {Mode: "prepend", Content: text},
		} {
			r, err := p.Apply(ctx, content)
			if e := (*markup.PatchError)(nil); err != nil && (!errors.As(err, &e) || e.Message == "") {
				t.Fatalf("%+v: %v", p, err)
			}
			if p.Mode == "find_replace" && err == nil && r.Content != strings.Replace(content, find, text, 1) {
				t.Fatalf("%+v on %q gave %q", p, content, r.Content)
			}
		}
		re, err := regexp.Compile(pattern)
		r, patchErr := markup.Patch{Mode: "regex", Pattern: pattern, Replacement: text}.Apply(ctx, content)
		if err != nil && patchErr == nil {
			t.Fatalf("pattern %q was taken", pattern)
		}
		// The standard library gives the expected result.
		if patchErr == nil && r.Content != re.ReplaceAllString(content, text) {
			t.Fatalf("%q by %q in %q gave %q, want %q", pattern, text, content, r.Content, re.ReplaceAllString(content, text))
		}
	})
}

func TestItems(t *testing.T) {
	for in, want := range map[string][]string{
		"[[A]]\n[[B|b]]\nC\n\n":                      {"A", "B", "C"},
		"- A\n* [[B]]\n*right":                       {"A", "B", "*right"},
		"<ul><li>[[A]]</li><li>B <i>c</i><li>D</ul>": {"A", "B c", "D"},
		"<p>[[A]]</p>\n<p>B</p>":                     {"A", "B"},
		"<p>[[A]] [[B]], [[C|c]]</p>":                {"A", "B", "C"},
		"see [[A]] and [[B]]":                        {"see [[A]] and [[B]]"},
		"":                                           nil,
	} {
		if got := markup.Items(in); !reflect.DeepEqual(got, want) {
			t.Errorf("Items(%q) = %q, want %q", in, got, want)
		}
	}
	if got := markup.SetItems([]string{"A", "a", " [[B|x]] ", "", "C\n[[D]]"}); got != "[[A]]\n[[B]]\n[[C D]]" {
		t.Errorf("SetItems gave %q", got)
	}
}

func TestAddItems(t *testing.T) {
	for _, c := range []struct {
		content     string
		add, remove []string
		want        string
	}{
		{"[[A]]\nB", []string{"C"}, nil, "[[A]]\nB\n[[C]]"},
		{"[[A]]\nB\n", []string{"Bs", "a"}, nil, "[[A]]\nB\n"},
		{"[[A]]\n[[B]]", nil, []string{"b"}, "[[A]]"},
		{"[[A]]\n[[B]]", nil, []string{"x"}, "[[A]]\n[[B]]"},
		{"[[A]]\n[[B]]", []string{"A"}, []string{"A"}, "[[B]]\n[[A]]"},
		{"", []string{"A", "a", "B"}, nil, "[[A]]\n[[B]]"},
		{"<ul>\n<li>[[A]]</li>\n</ul>tail", []string{"B"}, nil, "<ul>\n<li>[[A]]</li><li>[[B]]</li>\n</ul>tail"},
		{"<ul><li>A</li><li>B</li></ul>", []string{"C"}, []string{"B"}, "<ul><li>A</li><li>[[C]]</li></ul>"},
		{"<ul><li>A</li></ul>tail", []string{"C"}, []string{"A"}, "<ul><li>[[C]]</li></ul>tail"},
	} {
		if got := markup.AddItems(c.content, c.add, c.remove); got != c.want {
			t.Errorf("AddItems(%q, %q, %q) = %q, want %q", c.content, c.add, c.remove, got, c.want)
		}
	}
}

func TestDiff(t *testing.T) {
	if got := markup.Diff("a\nb\n", "a\nb\n"); got != "" {
		t.Errorf("equal texts gave %q", got)
	}
	before, after := "", ""
	for i := range 50 {
		before += fmt.Sprintln(i)
		if i == 30 {
			after += "new\n"
		}
		after += fmt.Sprintln(i)
	}
	want := "--- before\n+++ after\n@@ -28,6 +28,7 @@\n 27\n 28\n 29\n+new\n 30\n 31\n 32\n"
	if got := markup.Diff(before, after); got != want {
		t.Errorf("got %s", got)
	}
	big := ""
	cputest.CheckLinear(t, "texts of very many lines", 25_000,
		func(n int) { big = markup.Diff(strings.Repeat("a\nb\n", n), strings.Repeat("b\nc\n", n)) })
	if len(big) > 300<<10 || !strings.Contains(big, "rest of the diff is left out") {
		t.Errorf("the diff has %d bytes", len(big))
	}
	if used := cputest.Of(func() {
		markup.Diff(strings.Repeat("a\nb\n", 900)+"x\n", "y\n"+strings.Repeat("b\nc\n", 900))
	}); used > 5*time.Second {
		t.Errorf("repeated lines used the processor for %v", used)
	}
}
