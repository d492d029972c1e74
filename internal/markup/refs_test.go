package markup_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"loregate/internal/cputest"
	"loregate/internal/markup"
)

func TestRefs(t *testing.T) {
	for content, want := range map[string][]string{
		"see [[A+B|the text]] and [[ C ]]":         {"link A+B|the text", "link C|"},
		"{{Name|view;k:v|item}}":                   {"nest Name|view;k:v|item"},
		"{{+GM}} [[_left]]":                        {"nest +GM|", "link _left|"},
		`\[[A]] \{{B}} [[C]]`:                      {"link C|"},
		"{{# note}} {{## hidden}} {{#}}":           nil,
		"[[a [[b]]":                                {"link b|"},
		"[[ {{A}} [[B]]":                           {"nest A|", "link B|"},
		"[[[A]]] {{{B}}}":                          {"link A|", "nest B|"},
		"[[A|{{B}}]]":                              {"link A|{{B}}"},
		"[[]] [[|x]] {{}} {{ |x}} [[ ]]":           nil,
		"[[A]":                                     nil,
		"[[http://x.org|x]] [[/a]] [[mailto:a@b]]": {"out http://x.org|x", "out /a|", "out mailto:a@b|"},
		"[[javascript:alert(1)]]":                  {"link javascript:alert(1)|"},
		"[[A &amp; B|\"q\"]]":                      {"link A &amp; B|\"q\""},
		"[[A|two\nlines]]":                         {"link A|two\nlines"},
	} {
		var got []string
		for _, r := range markup.Refs(content) {
			kind := map[bool]string{true: "nest", false: "link"}[r.Kind == markup.NestRef]
			if r.External {
				kind = "out"
			}
			got = append(got, fmt.Sprintf("%s %s|%s", kind, r.Target, r.Text))
			if s := content[r.Start:r.End]; !strings.HasPrefix(s, "[[") && !strings.HasPrefix(s, "{{") {
				t.Errorf("range of %v is %q", r, s)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Refs(%q) = %q, want %q", content, got, want)
		}
	}
}

func TestRewriteRefs(t *testing.T) {
	rename := func(to string) func(markup.Ref) (string, bool) {
		return func(r markup.Ref) (string, bool) { return to, markup.KeyOf(r.Target) == "old" }
	}
	for _, c := range []struct{ content, to, want string }{
		{"[[Old]] [[ old |Old]] {{Olds|view:Old}} [[Other]] Old", "New",
			"[[New]] [[ New |Old]] {{New|view:Old}} [[Other]] Old"},
		{`\[[Old]] {{# Old}}`, "New", `\[[Old]] {{# Old}}`},
		{"[[Old]]", "A|B", "[[Old]]"},
		{"[[Old]]", "A]] [[B", "[[Old]]"},
		{"[[Old]]", "A]", "[[Old]]"},
		{"{{Old}}", "#A", "{{Old}}"},
		{"{{Old}}", "A}", "{{Old}}"},
		{"[[Old]]", " ", "[[Old]]"},
	} {
		if got := markup.RewriteRefs(c.content, rename(c.to)); got != c.want {
			t.Errorf("RewriteRefs(%q → %q) = %q, want %q", c.content, c.to, got, c.want)
		}
	}
}

func TestParseNest(t *testing.T) {
	n := markup.ParseNest(" A+B | titled; Title: My: B ;;hide:menu | name;x:y|")
	want := markup.Nest{Name: "A+B", NestLevel: markup.NestLevel{View: "titled",
		Options: []markup.Option{{"title", "My: B"}, {"hide", "menu"}}},
		Items: []markup.NestLevel{{View: "name", Options: []markup.Option{{"x", "y"}}}, {}}}
	if !reflect.DeepEqual(n, want) {
		t.Errorf("got %+v\nwant %+v", n, want)
	}
	for inner, want := range map[string]markup.Nest{
		"# seen|x":  {Name: "seen|x", Comment: true},
		"## unseen": {Name: "unseen", Comment: true, Hidden: true},
		"":          {},
	} {
		if got := markup.ParseNest(inner); !reflect.DeepEqual(got, want) {
			t.Errorf("ParseNest(%q) = %+v", inner, got)
		}
	}
	if v, ok := n.Get("title"); v != "My: B" || !ok {
		t.Errorf("title %q", v)
	}
}

// The cost of hostile input is proportional to its length.
func TestRefsLinear(t *testing.T) {
	for _, piece := range []string{"[[", "{{", "[[ {{", "[[|", "{{#", "]]", "[[a]", "{{a[[b", `\[[`, "[[|]]{{|",
		"{{ [[ }} "} {
		cputest.CheckLinear(t, fmt.Sprintf("%q", piece), 1<<18/len(piece),
			func(n int) { markup.Refs(strings.Repeat(piece, n)) })
	}
}

func FuzzRefs(f *testing.F) {
	for _, s := range []string{"[[A|b]] {{C|d}}", `\[[x]] [[[y]]]`, "{{# c}}[[a[[b]]]]", "[[|]]{{}}"} {
		f.Add(s, "New")
	}
	f.Fuzz(func(t *testing.T, content, target string) {
		refs := markup.Refs(content)
		end := 0
		for _, r := range refs {
			if r.Start < end || r.End > len(content) || r.Target == "" || strings.TrimSpace(r.Target) != r.Target {
				t.Fatalf("%+v in %q", r, content)
			}
			end = r.End
		}
		same := func(r markup.Ref) (string, bool) { return r.Target, true }
		if got := markup.RewriteRefs(content, same); got != content {
			t.Fatalf("rewriting nothing changed %q to %q", content, got)
		}
		again := markup.Refs(markup.RewriteRefs(content, func(markup.Ref) (string, bool) { return target, true }))
		if len(again) != len(refs) {
			t.Fatalf("%d refs in %q, %d after rewriting to %q", len(refs), content, len(again), target)
		}
		for i := range refs {
			if again[i].Kind != refs[i].Kind || again[i].Text != refs[i].Text {
				t.Fatalf("%+v became %+v", refs[i], again[i])
			}
		}
	})
}

func BenchmarkRefs(b *testing.B) {
	page := strings.Repeat("<p>Some words about [[A+B|the thing]] and {{C|titled}} and more words.</p>\n", 200)
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		markup.Refs(page)
	}
}
