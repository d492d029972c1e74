package prooftest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/op"
)

// hostileTexts write, within a number of bytes, texts that cost more than they weigh.
var hostileTexts = map[string]func(size int) string{
	"wide table": func(size int) string {
		n := size / 6
		return strings.Repeat("|a", n/2) + "\n" + strings.Repeat("|-", n/2) + "\n" + fill("|x|\n", size-2*n-2)
	},
	"many tables":     func(size int) string { return fill("|a|b|c|\n|-|-|-|\n|x|\n\n", size) },
	"colspan":         func(size int) string { return fill(`<table><tr><td colspan="1000000000">x</td></tr></table>`, size) },
	"nests that end":  func(size int) string { return fill("{{Annals}}", size) },
	"braces":          func(size int) string { return fill("{{", size) },
	"brackets":        func(size int) string { return fill("[[", size) },
	"images":          func(size int) string { return fill("![](", size) },
	"parentheses":     func(size int) string { return fill("[a](b", size) },
	"stars":           func(size int) string { return fill("*a_ ", size) },
	"ticks and bars":  func(size int) string { return "|a|\n|-|\n|" + fill("`\\|", size-9) },
	"quotes":          func(size int) string { return fill("> ", size/2) + "\n" + fill("- ", size/2) },
	"deep list":       func(size int) string { return fill("<ul><li>", size) },
	"deep blocks":     func(size int) string { return fill("<div>", size) },
	"deep emphasis":   func(size int) string { return fill("<b><i>", size) },
	"headings":        func(size int) string { return fill("<h1>a", size) },
	"comments":        func(size int) string { return fill("<!--", size) },
	"attributes":      func(size int) string { return "<p " + fill(`a="[[b]]" `, size-4) + ">" },
	"links":           func(size int) string { return numbered("[[N%d]] ", size) },
	"relative links":  func(size int) string { return fill("[["+strings.Repeat("_+", 60)+"_]]", size) },
	"items":           func(size int) string { return numbered("N%d\n", size) },
	"equal lines":     func(size int) string { return fill("a\nb\n", size) },
	"short words":     func(size int) string { return fill("the quay lantern ", size) },
	"spaces":          func(size int) string { return "a" + fill(" ", size-2) + "a" },
	"long word":       func(size int) string { return fill("a", size) },
	"joints":          func(size int) string { return fill("+", size) },
	"accents":         func(size int) string { return "e" + fill("\u0301", size-1) },
	"wide letters":    func(size int) string { return fill("\ufdfa", size) },
	"controls":        func(size int) string { return fill("\u202e", size) },
	"repeats":         func(size int) string { return fill("((a*)*b?){0,20}", size) },
	"choices":         func(size int) string { return fill("(a|aa)+", size) },
	"deep JSON":       func(size int) string { return fill("[", size) },
	"stars of search": func(size int) string { return fill("a* ", size) },
	"steps":           func(size int) string { return fill("go north then take the key, ", size) },
	"front matter":    func(size int) string { return "---\n" + numbered("k%d: [a, {b: c}]\n", size-8) + "---\n" },
}

// fill repeats a text as often as it fits into a number of bytes.
func fill(text string, size int) string { return strings.Repeat(text, max(size/len(text), 1)) }

// numbered repeats a text with a number in it.
func numbered(format string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size-len(format)-8; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// place is a value somewhere within an input.
type place struct {
	path   []any // names of members, 0 for the first of a list
	schema *jsonschema.Schema
}

// placesIn are all places of an input of a schema.
func placesIn(root *jsonschema.Schema) (all []place) {
	var walk func(s *jsonschema.Schema, path []any)
	walk = func(s *jsonschema.Schema, path []any) {
		if at, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
			s = root.Defs[at]
		}
		if len(path) > 0 {
			all = append(all, place{slices.Clone(path), s})
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

// with is a value with another put at a path; what is not there on the way is made.
func with(v any, path []any, x any) any {
	if len(path) == 0 {
		return x
	}
	if name, ok := path[0].(string); ok {
		m, _ := v.(map[string]any)
		if m = maps.Clone(m); m == nil {
			m = map[string]any{}
		}
		m[name] = with(m[name], path[1:], x)
		return m
	}
	old, _ := v.([]any)
	if len(old) == 0 {
		return []any{with(nil, path[1:], x)}
	}
	old = slices.Clone(old)
	old[0] = with(old[0], path[1:], x)
	return old
}

// attack is an input with something hostile in one place.
type attack struct {
	what  string
	input map[string]any
}

// hostileSize is the longest text of an attack: what a body may hold, with its escapes.
const hostileSize = 1_000_000

// attacks are the hostile inputs that are made of a good one.
func attacks(o *op.Operation, base map[string]any) (all []attack) {
	for _, p := range placesIn(o.InputSchema()) {
		for what, v := range hostileValues(p, base) {
			in, _ := with(base, p.path, v).(map[string]any) // it stays one
			all = append(all, attack{fmt.Sprintf("%v: %s", p.path, what), in})
		}
	}
	slices.SortFunc(all, func(a, b attack) int { return strings.Compare(a.what, b.what) })
	return all
}

func hostileValues(p place, base map[string]any) map[string]any {
	out := map[string]any{}
	kind := append([]string{p.schema.Type}, p.schema.Types...)
	is := func(name string) bool { return slices.Contains(kind, name) }
	if len(p.schema.Enum) > 0 || is("boolean") {
		return nil
	}
	if is("integer") || is("number") {
		for what, n := range map[string]float64{"huge": 1e15, "beyond": 1e300, "below": -1, "zero": 0} {
			out[what] = n
		}
		if p.schema.Maximum != nil {
			out["most"] = *p.schema.Maximum
		}
		if p.schema.Minimum != nil {
			out["least"] = *p.schema.Minimum
		}
	}
	if is("array") {
		for _, n := range []int{itemsOf(p.schema), 20_000} {
			out[fmt.Sprint(n, " items")] = manyOf(p, base, n)
		}
	}
	if is("object") && len(p.schema.Properties) == 0 {
		maps.Copy(out, hostileFields())
	}
	if is("string") {
		size := hostileSize
		if m := p.schema.MaxLength; m != nil {
			size = min(size, *m)
		}
		for what, text := range hostileTexts {
			v := clip(text(size), size)
			if v = strings.ToValidUTF8(v, ""); p.schema.ContentEncoding != "" {
				v = base64.StdEncoding.EncodeToString([]byte(v[:len(v)/2]))
			}
			out[what] = v
		}
	}
	return out
}

func itemsOf(s *jsonschema.Schema) int {
	if s.MaxItems != nil {
		return *s.MaxItems
	}
	return 5000
}

// manyOf is a list of as many as asked for of what a good input has first, else of texts.
func manyOf(p place, base map[string]any, n int) []any {
	var v any = base
	for _, step := range p.path {
		switch at := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = at[name]
		case []any:
			v = at[0]
		}
	}
	var first any = "[[_+_+_]]"
	if old, ok := v.([]any); ok && len(old) > 0 {
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

// hostileFields are objects of free members.
func hostileFields() map[string]any {
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
		"long member": map[string]any{"a": fill("{{", 200_000)}, "long part": map[string]any{"+a": fill("|a", 500_000)}}
}
