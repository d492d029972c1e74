package archive

import (
	"testing"

	"loregate/internal/fault"
)

func TestPatchesOfEveryMode(t *testing.T) {
	s := newDesk(t)
	const page = "<h2>One</h2><p>[[A & B|\"q\"]] a</p><h2>Two</h2><p>{{+x|y:z}} a</p>"
	for i, c := range []struct{ typ, before, patch, after string }{
		{"RichText", page,
			`{"mode": "replace_between", "start_marker": "<h2>One</h2>", "end_marker": "<h2>", "replacement_html": "<h2>New</h2>"}`,
			"<h2>New</h2><h2>Two</h2><p>{{+x|y:z}} a</p>"},
		{"RichText", page,
			`{"mode": "replace_between", "start_marker": "<h2>One", "end_marker": "</h2>", "replacement_html": "", "end_inclusive": true}`,
			"<p>[[A & B|\"q\"]] a</p><h2>Two</h2><p>{{+x|y:z}} a</p>"},
		{"RichText", page, `{"mode": "section", "heading": "two", "content": "<p>new</p>"}`,
			"<h2>One</h2><p>[[A & B|\"q\"]] a</p><h2>Two</h2><p>new</p>"},
		{"RichText", page, `{"mode": "find_replace", "find": " a<", "replace": " \\1$1<", "occurrence": 2}`,
			"<h2>One</h2><p>[[A & B|\"q\"]] a</p><h2>Two</h2><p>{{+x|y:z}} \\1$1</p>"},
		{"RichText", "a", `{"mode": "append", "content": "b"}`, "a\nb"},
		{"RichText", "a", `{"mode": "prepend", "content": "b"}`, "b\na"},
		{"Pointer", "[[a]]\n[[b]]", `{"mode": "items", "add": ["c", "B"], "remove": ["A"]}`, "[[b]]\n[[c]]"},
		{"RichText", "a1 a2", `{"mode": "regex", "pattern": "a(\\d)", "replacement": "${1}b"}`, "1b 2b"},
		{"Markdown", "# A\n\none\n\n## B\ntwo\n\n## C\nthree", `{"mode": "section", "heading": "b", "content": "new"}`,
			"# A\n\none\n\n## B\nnew\n\n## C\nthree"},
		{"Markdown", "# A\n\none\n\n## B\ntwo",
			`{"mode": "section", "heading": "A", "content": "new", "include_nested": true}`, "# A\nnew"},
		{"Markdown", "# A\none\n## B", `{"mode": "section", "heading": "B", "content": "## b\nnew"}`, "# A\none\n## b\nnew"},
		{"Markdown", "# A\n\none\n\n## B\ntwo", `{"mode": "section", "heading": "A", "content": "new"}`,
			"# A\nnew\n\n## B\ntwo"},
		{"Markdown", "# A\none\n## B", `{"mode": "section", "heading": "B", "content": "new"}`, "# A\none\n## B\nnew"},
	} {
		name := "Card " + itoa(i)
		s.typed(c.typ, name, c.before)
		s.Do("user", "update_card", `{"name": "`+name+`", "patch": `+c.patch+`}`).Want("version", 2)
		s.As("user").reads(name, c.after)
	}
	s.wrote("X+tags", "[[a]]")
	s.Do("user", "update_card", `{"name": "X+tags", "patch": {"mode": "items", "add": ["b"]}}`)
	s.As("user").reads("X+tags", "[[a]]\n[[b]]")
}

func TestAPreviewChangesNothing(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "colour\ncolour\n")
	before := s.commits()
	s.Do("user", "update_card",
		`{"name": "Well", "patch": {"mode": "regex", "pattern": "colour", "replacement": "color", "dry_run": true}}`).
		Want("dry_run", true).Want("matches", 2).Has(`+color`, `-colour`).WantNo("change_id")
	s.As("user").reads("Well", "colour\ncolour\n")
	if s.commits() != before {
		t.Error("a preview was committed")
	}
	s.Do("user", "update_card",
		`{"name": "Well", "patch": {"mode": "regex", "pattern": "colour", "replacement": "color"}}`).Want("version",
		2).WantNo("dry_run")
	s.As("user").reads("Well", "color\ncolor\n")
}

func TestPatchesThatDoNotMatchAreRefused(t *testing.T) {
	s := newDesk(t)
	s.wrote("Well", "<h2>A</h2>x x")
	s.typed("Markdown", "Note", "# A\n# A\n")
	s.Do("user", "upload_attachment", `{"name": "Map", "data": "YWJj"}`)
	for _, c := range []struct{ card, patch, field string }{
		{"Well", `{"mode": "replace_between", "start_marker": "<h3>", "end_marker": "x"}`, "patch.start_marker"},
		{"Well", `{"mode": "replace_between", "start_marker": "<h2>", "end_marker": "y"}`, "patch.end_marker"},
		{"Well", `{"mode": "section", "heading": "B", "content": "x"}`, "patch.heading"},
		{"Well", `{"mode": "find_replace", "find": "x", "replace": "y"}`, "patch.find"},
		{"Well", `{"mode": "regex", "pattern": "("}`, "patch.pattern"},
		{"Note", `{"mode": "section", "heading": "A", "content": "x"}`, "patch.heading"},
		{"Note", `{"mode": "section", "heading": "B", "content": "x"}`, "patch.heading"},
		{"Note", `{"mode": "section", "content": "x"}`, "patch.heading"},
		{"Note", `{"mode": "section", "heading": "A", "find": "x"}`, "patch.find"},
	} {
		s.As("user").wantFields(fault.Invalid, "update_card", `{"name": "`+c.card+`", "patch": `+c.patch+`}`, c.field)
	}
	s.As("user").wantFields(fault.Rule, "update_card", `{"name": "Map", "patch": {"mode": "append", "content": "x"}}`,
		"patch")
	s.As("user").wantFields(fault.Rule, "update_card", `{"name": "Map", "content": "x"}`, "content")
	s.As("user").wantFields(fault.Rule, "update_card", `{"name": "Map", "type": "RichText"}`, "type")
}
