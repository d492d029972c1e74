package markup

import (
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	item := func(text string) Line { return Line{Text: text, Item: true} }
	plain := func(text string) Line { return Line{Text: text} }
	for _, tc := range []struct {
		in   string
		want []Line
	}{
		{"", nil},
		{"a\nb\r\n\n c ", []Line{plain("a"), plain("b"), plain("c")}},
		{"<p>a</p><p>b<br/>c</p>", []Line{plain("a"), plain("b"), plain("c")}},
		{"<p>a\nb</p>", []Line{plain("a"), plain("b")}},
		{"<div>x <b>y</b> z</div>", []Line{plain("x y z")}},
		{"<p>in</p><ul><li>a</li><li><p>b</p></li></ul>out", []Line{plain("in"), item("a"), item("b"), plain("out")}},
		{"<ul><li>a<ul><li>b</ul>c</ul>d", []Line{item("a"), item("b"), item("c"), plain("d")}},
		{"<li>a</li>b", []Line{item("a"), plain("b")}},
		{"<h2>T</h2>a", []Line{{Text: "T", Heading: true}, plain("a")}},
		{"<table><tr><th>a</th><td>b</td></tr></table>", []Line{plain("a"), plain("b")}},
		{"a &amp; [[b|c]]<script>x\ny</script>", []Line{plain("a & [[b|c]]")}},
	} {
		if got := Lines(tc.in); !slices.Equal(got, tc.want) {
			t.Errorf("Lines(%q) = %+v, want %+v", tc.in, got, tc.want)
		}
	}
}
