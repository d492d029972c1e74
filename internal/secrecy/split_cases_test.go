package secrecy

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestSplitCases splits texts by authors who did not know the rules but for their table: HID stands where a text must be
// hidden, SEEN where players must read it.
func TestSplitCases(t *testing.T) {
	f, err := os.Open("testdata/split.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	forms := map[string]Form{"markdown": Markdown, "html": HTML}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct{ Form, Kind, Text string }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		got := Split(c.Text, forms[c.Form], everyMark)
		if strings.Contains(got.Open, "HID") || strings.Count(got.Open, "SEEN") < strings.Count(c.Text, "SEEN") {
			t.Errorf("%s, %s: %q\n players read %q", c.Form, c.Kind, c.Text, got.Open)
		}
		if joinParts(got) != c.Text {
			t.Errorf("%s, %s: %q does not come back", c.Form, c.Kind, c.Text)
		}
	}
}

// TestHiddenAsInABrowser builds texts by lot and reads them as browsers do: a text in a hidden element there is
// hidden.
func TestHiddenAsInABrowser(t *testing.T) {
	names := []string{"div", "p", "span", "b", "i", "a", "ul", "li", "table", "tbody", "tr", "td", "th", "caption", "select",
		"option", "button", "form", "textarea", "title", "template", "svg", "math", "mi", "desc", "foreignObject", "h1", "h2",
		"dl", "dt", "dd", "pre", "br", "object", "marquee", "section", "details", "summary", "nobr", "font", "center", "hr",
		"noscript", "iframe", "xmp", "annotation-xml", "style", "script"}
	rounds := 20_000
	if testing.Short() {
		rounds = 4000
	}
	r := rand.New(rand.NewPCG(1, 5))
	for range rounds {
		var b strings.Builder
		for range 2 + r.IntN(12) {
			name := names[r.IntN(len(names))]
			switch r.IntN(8) {
			case 0, 1, 2:
				b.WriteString("<" + name + ">")
			case 3:
				b.WriteString("<" + name + " hidden>")
			case 4, 5:
				b.WriteString("</" + name + ">")
			case 6:
				b.WriteString([]string{"<![CDATA[", "]]>", "<!--", "-->", "<!x>", "</ >", "<?x>"}[r.IntN(7)])
			default:
				b.WriteString("MARK")
			}
		}
		text := b.String()
		root, err := html.Parse(strings.NewReader("<body>" + text))
		if err != nil {
			continue
		}
		shown, hidden := marksIn(root, false)
		if open := strings.Count(Split(text, HTML, everyMark).Open, "MARK"); hidden > 0 && open > shown {
			t.Fatalf("%q: a browser shows %d, players read %d: %q", text, shown, open, Split(text, HTML, everyMark).Open)
		}
	}
}

// marksIn returns how often a browser shows the word MARK, and how often it hides it.
func marksIn(n *html.Node, isHidden bool) (shown, hidden int) {
	isHidden = isHidden || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "hidden" }) ||
		n.Type == html.CommentNode
	if count := strings.Count(n.Data, "MARK"); n.Type != html.ElementNode && isHidden {
		hidden += count
	} else {
		shown += count
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s, h := marksIn(c, isHidden)
		shown, hidden = shown+s, hidden+h
	}
	return shown, hidden
}
