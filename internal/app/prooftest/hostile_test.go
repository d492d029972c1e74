package prooftest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/op"
)

// hostileTexts make texts of at most size bytes that are expensive for their length.
var hostileTexts = map[string]func(size int) string{
	"wide table": func(size int) string {
		n := size / 6
		return strings.Repeat("|a", n/2) + "\n" + strings.Repeat("|-", n/2) + "\n" + repeat("|x|\n", size-2*n-2)
	},
	"many tables":     func(size int) string { return repeat("|a|b|c|\n|-|-|-|\n|x|\n\n", size) },
	"colspan":         func(size int) string { return repeat(`<table><tr><td colspan="1000000000">x</td></tr></table>`, size) },
	"nests that end":  func(size int) string { return repeat("{{Annals}}", size) },
	"braces":          func(size int) string { return repeat("{{", size) },
	"brackets":        func(size int) string { return repeat("[[", size) },
	"images":          func(size int) string { return repeat("![](", size) },
	"parentheses":     func(size int) string { return repeat("[a](b", size) },
	"stars":           func(size int) string { return repeat("*a_ ", size) },
	"ticks and bars":  func(size int) string { return "|a|\n|-|\n|" + repeat("`\\|", size-9) },
	"quotes":          func(size int) string { return repeat("> ", size/2) + "\n" + repeat("- ", size/2) },
	"deep list":       func(size int) string { return repeat("<ul><li>", size) },
	"deep blocks":     func(size int) string { return repeat("<div>", size) },
	"deep emphasis":   func(size int) string { return repeat("<b><i>", size) },
	"headings":        func(size int) string { return repeat("<h1>a", size) },
	"comments":        func(size int) string { return repeat("<!--", size) },
	"attributes":      func(size int) string { return "<p " + repeat(`a="[[b]]" `, size-4) + ">" },
	"links":           func(size int) string { return repeatNumbered("[[N%d]] ", size) },
	"relative links":  func(size int) string { return repeat("[["+strings.Repeat("_+", 60)+"_]]", size) },
	"items":           func(size int) string { return repeatNumbered("N%d\n", size) },
	"equal lines":     func(size int) string { return repeat("a\nb\n", size) },
	"short words":     func(size int) string { return repeat("the quay lantern ", size) },
	"spaces":          func(size int) string { return "a" + repeat(" ", size-2) + "a" },
	"long word":       func(size int) string { return repeat("a", size) },
	"joints":          func(size int) string { return repeat("+", size) },
	"accents":         func(size int) string { return "e" + repeat("\u0301", size-1) },
	"wide letters":    func(size int) string { return repeat("\ufdfa", size) },
	"controls":        func(size int) string { return repeat("\u202e", size) },
	"repeats":         func(size int) string { return repeat("((a*)*b?){0,20}", size) },
	"choices":         func(size int) string { return repeat("(a|aa)+", size) },
	"deep JSON":       func(size int) string { return repeat("[", size) },
	"stars of search": func(size int) string { return repeat("a* ", size) },
	"steps":           func(size int) string { return repeat("go north then take the key, ", size) },
	"front matter":    func(size int) string { return "---\n" + repeatNumbered("k%d: [a, {b: c}]\n", size-8) + "---\n" },
	"bars":            func(size int) string { return repeat("|a", size) },
	"brackets of all": func(size int) string {
		return repeat("((a", size/3) + repeat("{{a", size/3) + repeat("[[a",
			size/3)
	},
	"nests in nests": func(size int) string { return repeat("{{a|", size/2) + repeat("}}", size/2) },
	"links in links": func(size int) string { return repeat("[[a|", size/2) + repeat("]]", size/2) },
	"marks":          func(size int) string { return repeat("*_~", size) },
	"paired marks":   func(size int) string { return repeat("**a_~~b", size/2) + repeat("~~_**", size/2) },
	"tags":           func(size int) string { return repeat("<b>", size) },
	"mixed tags":     func(size int) string { return repeat("<b><i><p><a href=x>", size) },
	"table tags":     func(size int) string { return repeat("<table><tr><td>", size) },
	"less than":      func(size int) string { return repeat("<a", size) },
	"entities":       func(size int) string { return repeat("&amp;&#", size) },
	"backticks":      func(size int) string { return repeatGrowing("`", size) },
	"percents":       func(size int) string { return repeat("%%a", size) },
	"nested quotes":  func(size int) string { return repeatGrowing("> ", size/2) + repeatGrowing("  - a\n", size/2) },
	"open links":     func(size int) string { return repeat("[a](", size) },
	"references": func(size int) string {
		return repeatNumbered("[r%d]: /x\n", size/2) + repeatNumbered("[r%d]\n", size/2)
	},
	"footnotes": func(size int) string {
		return repeatNumbered("[^%d]: x\n",
			size/2) + repeatNumbered("a[^%d] ", size/2)
	},
	"one link":           func(size int) string { return repeat("[[Annals]] ", size) },
	"like names":         func(size int) string { return repeatNumbered("Annal%d and ", size) },
	"same headings":      func(size int) string { return repeat("## Annals\n\ntext\n\n", size) },
	"near lines":         func(size int) string { return repeatNumbered("The lantern of the quay %d burns.\n", size) },
	"capitals":           func(size int) string { return repeat("Lord Oda Tarn of Lendwater ", size) },
	"numbers":            func(size int) string { return repeatNumbered("%d years after 1204-03-07, 3,000 men; ", size) },
	"line ends":          func(size int) string { return repeat("a\r\n\r\n", size) },
	"commas":             func(size int) string { return repeat("take lamp, and drop rope and ", size) },
	"invisible":          func(size int) string { return repeat("a\u200b\u200d\u202e", size) },
	"quotations":         func(size int) string { return repeat(`"a `, size) },
	"sentences":          func(size int) string { return repeat("Oda is not dead. ", size) },
	"dots":               func(size int) string { return repeat(".", size) },
	"dice":               func(size int) string { return repeat("1d6+", size) + "1" },
	"slashes":            func(size int) string { return repeat(`\`, size) },
	"addresses":          func(size int) string { return repeat("http://a.b/(c", size) },
	"objects":            func(size int) string { return repeat(`{"a":`, size) },
	"lines of links":     func(size int) string { return repeat("[a](b)\n", size) },
	"lines of wikilinks": func(size int) string { return repeatNumbered("[[N%d|a]]\n", size) },
	"lines of marks":     func(size int) string { return repeat("*a* `b` <b>c\n", size) },
	"lines of addresses": func(size int) string { return repeat("http://a.b/c <http://d.e>\n", size) },
	"regex of all":       func(size int) string { return repeat("(?:a?){9}", size/2) + repeat(".*", size/2) },
}

// repeatGrowing returns lines, or words, that begin with more and more of a text.
func repeatGrowing(text string, size int) string {
	var b strings.Builder
	for n := 1; b.Len()+n*len(text)+2 <= size; n++ {
		b.WriteString(strings.Repeat(text, n) + "a\n")
	}
	return b.String()
}

// repeat repeats a text as often as it fits into a number of bytes, and at least once.
func repeat(text string, size int) string { return strings.Repeat(text, max(size/len(text), 1)) }

// repeatNumbered repeats a format with increasing numbers.
func repeatNumbered(format string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-len(format)-8; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// inputPlace is the place of a value within an input.
type inputPlace struct {
	path   []any // names of members, 0 for the first item of a list
	schema *jsonschema.Schema
}

// inputPlaces returns all places of an input of a schema, to a depth of five.
func inputPlaces(root *jsonschema.Schema) (all []inputPlace) {
	var walk func(s *jsonschema.Schema, path []any)
	walk = func(s *jsonschema.Schema, path []any) {
		if at, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = root.Defs[at]
		}
		if len(path) > 0 {
			all = append(all, inputPlace{slices.Clone(path), s})
		}
		if len(path) > 4 {
			return
		}
		if s.Items != nil {
			walk(s.Items, append(path, 0))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			walk(s.Properties[name], append(path, name))
		}
	}
	walk(root, nil)
	return all
}

// withValueAt returns a copy of v with x at a path, and creates missing parents.
func withValueAt(v any, path []any, x any) any {
	if len(path) == 0 {
		return x
	}
	if name, ok := path[0].(string); ok {
		m, _ := v.(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		m[name] = withValueAt(m[name], path[1:], x)
		return m
	}
	old, _ := v.([]any)
	if len(old) == 0 {
		return []any{withValueAt(nil, path[1:], x)}
	}
	old = slices.Clone(old)
	old[0] = withValueAt(old[0], path[1:], x)
	return old
}

// attack is an input with something hostile in one place. A run makes few of the inputs, and most are
// long.
type attack struct {
	what  string
	input func() map[string]any
}

// hostileSize is the longest text of an attack: a request body can hold it, with its escapes.
const hostileSize = 1_000_000

// attacksOn returns the hostile inputs that are made from a good one.
func attacksOn(o *op.Operation, base map[string]any) (all []attack) {
	for _, p := range inputPlaces(o.InputSchema()) {
		for what, value := range hostileValues(p, base) {
			all = append(all, attack{fmt.Sprintf("%v: %s", p.path, what), func() map[string]any {
				in, _ := withValueAt(base, p.path, value()).(map[string]any) // the input stays an object
				return in
			}})
		}
	}
	slices.SortFunc(all, func(a, b attack) int { return strings.Compare(a.what, b.what) })
	return all
}

// hostileValues returns functions that make the hostile values of a place, by their names.
func hostileValues(p inputPlace, base map[string]any) map[string]func() any {
	out := map[string]func() any{}
	add := func(what string, value any) { out[what] = func() any { return value } }
	kind := append([]string{p.schema.Type}, p.schema.Types...)
	is := func(name string) bool { return slices.Contains(kind, name) }
	if len(p.schema.Enum) > 0 || is("boolean") {
		return nil
	}
	if is("integer") || is("number") {
		for what, n := range map[string]float64{"huge": 1e15, "beyond": 1e300, "below": -1, "zero": 0} {
			add(what, n)
		}
		if p.schema.Maximum != nil {
			add("most", *p.schema.Maximum)
		}
		if p.schema.Minimum != nil {
			add("least", *p.schema.Minimum)
		}
	}
	if is("array") {
		for _, n := range []int{maxItemsOf(p.schema), 20_000} {
			out[fmt.Sprint(n, " items")] = func() any { return repeatFirst(p, base, n) }
		}
	}
	if is("object") && len(p.schema.Properties) == 0 {
		for what, value := range hostileFields() {
			add(what, value)
		}
	}
	if is("string") {
		size := hostileSize
		if m := p.schema.MaxLength; m != nil {
			size = min(size, *m)
		}
		for what, text := range hostileTexts {
			out[what] = func() any {
				v := clip(text(size), size)
				if v = strings.ToValidUTF8(v, ""); p.schema.ContentEncoding != "" {
					v = base64.StdEncoding.EncodeToString([]byte(v[:len(v)/2]))
				}
				return v
			}
		}
	}
	return out
}

func maxItemsOf(s *jsonschema.Schema) int {
	if s.MaxItems != nil {
		return *s.MaxItems
	}
	return 5000
}

// repeatFirst returns a list of n copies of the first item of a good input's list, or else of
// texts.
func repeatFirst(p inputPlace, base map[string]any, n int) []any {
	var first any = "[[_+_+_]]"
	if old, ok := valueAt(base, p.path).([]any); ok && len(old) > 0 {
		first = old[0]
	}
	out := make([]any, n)
	for i := range out {
		out[i] = first
		if s, ok := first.(string); ok {
			out[i] = s + " " + fmt.Sprint(i)
		}
	}
	return out
}

// hostileFields returns hostile objects for places with free members.
var hostileFields = sync.OnceValue(func() map[string]any {
	many, cards := map[string]any{}, map[string]any{}
	for i := range 5000 {
		many[fmt.Sprint("k", i)] = i
		cards[fmt.Sprint("+k", i)] = "[[a]]"
	}
	var deep any = "x"
	for range 60 {
		deep = map[string]any{"a": []any{deep}}
	}
	return map[string]any{"many members": many, "many parts": cards, "deep": map[string]any{"a": deep},
		"long member": map[string]any{"a": repeat("{{", 200_000)}, "long part": map[string]any{"+a": repeat("|a", 500_000)}}
})
