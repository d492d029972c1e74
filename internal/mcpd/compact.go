package mcpd

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/lazyregexp"
	"loregate/internal/slicesx"

	"github.com/go-json-experiment/json/jsontext"
)

// compactText returns the text of a JSON output for a model: a line for each member, a table for
// each list of flat objects. Empty values are left out, times are given to the second, numbers to
// three digits after the point. truncated and next are left out, since the notice of a cut answer
// holds them.
func compactText(output []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(output))
	root, err := readValue(d)
	if err != nil {
		return output
	}
	root.kids = slices.DeleteFunc(root.kids, func(k value) bool { return k.name == "truncated" || k.name == "next" })
	var b strings.Builder
	switch {
	case root.isEmpty(), root.isEmptyList():
		return []byte("nothing")
	case root.kind == '{' && len(root.kids) == 1 && root.kids[0].isScalar():
		b.WriteString(root.kids[0].text)
	case root.kind == '{':
		writeMembers(&b, root.kids, "")
	default:
		root.name = "items"
		writeMember(&b, root, "")
	}
	return []byte(strings.TrimSpace(b.String()))
}

// value is a JSON value without its empty parts.
type value struct {
	name string // of a member
	kind jsontext.Kind
	text string // of a scalar
	kids []value
	bare bool // had an empty list
}

func (v value) isScalar() bool { return v.kind != '{' && v.kind != '[' }

func (v value) isEmpty() bool {
	return v.kind == 'n' || v.isScalar() && v.text == "" || !v.isScalar() && len(v.kids) == 0
}

// isEmptyList reports whether an object is a list without entries and their number.
func (v value) isEmptyList() bool { return v.bare && len(v.kids) == 1 && v.kids[0].text == "0" }

// isFlat reports whether an object has nothing but scalars of one line.
func (v value) isFlat() bool {
	return v.kind == '{' && !slices.ContainsFunc(v.kids, func(k value) bool { return !k.isScalar() || k.isLong() })
}

func (v value) isLong() bool { return strings.Contains(v.text, "\n") }

func readValue(d *jsontext.Decoder) (v value, err error) {
	t, err := d.ReadToken()
	if err != nil {
		return v, err
	}
	v.kind = t.Kind()
	switch v.kind {
	case '"':
		v.text = shortenTime(t.String())
		return v, nil
	case '0':
		v.text = shortenNumber(t.String())
		return v, nil
	case 't', 'f':
		v.text = t.String()
		return v, nil
	case 'n':
		return v, nil
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if v.kind == '{' {
			n, err := d.ReadToken()
			if err != nil {
				return v, err
			}
			name = n.String()
		}
		kid, err := readValue(d)
		if err != nil {
			return v, err
		}
		if kid.name = name; !kid.isEmpty() {
			v.kids = append(v.kids, kid)
		}
		v.bare = v.bare || kid.kind == '[' && len(kid.kids) == 0
	}
	_, err = d.ReadToken()
	return v, err
}

var fractionOfTime = lazyregexp.New(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|[+-]\d\d:\d\d)$`)

// shortenTime removes the fraction of a second from a time; other texts stay.
func shortenTime(text string) string {
	if len(text) > 40 || len(text) < 22 {
		return text
	}
	return fractionOfTime.ReplaceAllString(text, "$1$2")
}

// shortenNumber rounds a number to three digits after the point.
func shortenNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= 1<<53 {
		return text
	}
	return strconv.FormatFloat(math.Round(f*1000)/1000, 'f', -1, 64)
}

func writeMembers(b *strings.Builder, kids []value, indent string) {
	for _, k := range kids {
		writeMember(b, k, indent)
	}
}

// writeMember writes one member of an object, in one line if it fits there.
func writeMember(b *strings.Builder, v value, indent string) {
	b.WriteString(indent + v.name)
	inner := indent + "  "
	switch {
	case v.isScalar() && v.isLong():
		b.WriteString(":\n" + v.text + "\n")
	case v.isScalar():
		b.WriteString(": " + v.text + "\n")
	case v.kind == '{':
		b.WriteString(":\n")
		writeMembers(b, v.kids, inner)
	case !slices.ContainsFunc(v.kids, func(k value) bool { return !k.isFlat() }):
		writeTable(b, v.kids, inner)
	case !slices.ContainsFunc(v.kids, func(k value) bool { return !k.isScalar() || strings.ContainsAny(k.text, ",\n") }):
		b.WriteString(": " + joinTexts(v.kids, ", ") + "\n")
	default:
		b.WriteString(":\n")
		for _, k := range v.kids {
			writeItem(b, k, inner)
		}
	}
}

// writeItem writes an item of a list whose items differ in form.
func writeItem(b *strings.Builder, v value, indent string) {
	if v.isScalar() {
		b.WriteString(indent + "- " + v.text + "\n")
		return
	}
	b.WriteString(indent + "-\n")
	if v.kind == '[' {
		v = value{kind: '{', kids: []value{{name: "items", kind: '[', kids: v.kids}}}
	}
	writeMembers(b, v.kids, indent+"  ")
}

// writeTable writes a list of flat objects: the names of their members once, and a line for each.
func writeTable(b *strings.Builder, rows []value, indent string) {
	var names []string
	for _, row := range rows {
		for _, k := range row.kids {
			if !slices.Contains(names, k.name) {
				names = append(names, k.name)
			}
		}
	}
	b.WriteString(" (" + strings.Join(names, " | ") + "):\n")
	for _, row := range rows {
		cells := make([]string, len(names))
		for i, name := range names {
			if at := slices.IndexFunc(row.kids, func(k value) bool { return k.name == name }); at >= 0 {
				cells[i] = row.kids[at].text
			}
		}
		b.WriteString(indent + strings.TrimRight(strings.Join(cells, " | "), " |") + "\n")
	}
}

func joinTexts(list []value, by string) string {
	texts := slicesx.Map(list, func(v value) string { return v.text })
	return strings.Join(texts, by)
}
