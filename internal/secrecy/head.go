package secrecy

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/decoded"
	"loregate/internal/lazyregexp"
)

// headForm matches front matter at the beginning of a text.
var headForm = lazyregexp.New(`\A---[ \t]*\n((?:[^\n]*\n){1,200}?)---[ \t]*(?:\n|\z)`)

// headMarks returns the marks in front matter that stands in a card's text, such as publish: false in a note that was
// pasted. They hide nothing there, so that all are asked about.
func headMarks(text string) (all []Mark) {
	if !strings.HasPrefix(text, "---") {
		return nil
	}
	m := headForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	var meta map[string]any
	if yaml.Unmarshal([]byte(m[1]), &meta) != nil || len(meta) == 0 {
		return nil
	}
	marks := MetaMarks(meta)
	for _, key := range []string{"tags", "tag"} {
		for _, tag := range decoded.TextsOf(meta[key]) {
			marks = append(marks, tagMarks(tag)...)
		}
	}
	for _, mark := range marks {
		mark.Doubt, mark.What = true, mark.What+" in front matter"
		all = append(all, mark)
	}
	for k, v := range meta {
		if _, ok := NestedMark(k, nil, v); ok || IsReaderKey(k) {
			all = append(all, Mark{Rule: RuleFrontMatter, What: k + " in front matter", Doubt: true})
		}
	}
	return all
}
