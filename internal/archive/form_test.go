package archive

import (
	"strings"
	"testing"
)

// theNote is a note in the ways of people: its own signs of emphasis and lists, a callout, code.
const theNote = "# The Weir\n\n> [!note] Kept\n> as *it* was\n\nThe _old_ mill of [[people/Oda Tarn#Youth|Oda]].\n\n" +
	"*  one\n*  two\n\n```dataview\nlist from [[Nothing]]\n```\n\n## After\nWater.\n"

func TestANoteIsKeptAsWritten(t *testing.T) {
	s := newDesk(t)
	s.Do("user", "create_card", asJSON(map[string]any{"name": "The Weir", "text_format": "markdown", "content": theNote}))
	s.wrote("Oda Tarn", "<p>x</p>")
	got := s.As("user").Call("get_card", `{"name": "The Weir"}`)
	got.Want("content", theNote).Want("text_format", "markdown").WantNo("format")
	html := s.As("user").Call("get_card", `{"name": "The Weir"}`, overREST)
	html.Want("text_format", "markdown").Want("format", "html")
	for _, part := range []string{"<h1>The Weir</h1>", "<em>old</em>", "[[Oda Tarn|Oda]]", "<li>two</li>"} {
		if !strings.Contains(html.Text("content"), part) {
			t.Errorf("%q is missing in %s", part, html.Text("content"))
		}
	}
	s.As("user").Call("get_card", `{"name": "The Weir", "format": "markdown"}`, overREST).Want("content", theNote)
	s.As("user").Call("get_card", `{"name": "Oda Tarn", "format": "markdown"}`).Want("content", "x").Want("text_format",
		"html").Want("format", "markdown")
	s.As("user").Call("get_relationships", `{"name": "Oda Tarn", "kind": "linked_by"}`).Has("The Weir")
	s.As("user").Call("wanted_cards", `{}`).Lacks("Nothing")
	s.As(
		"user",
	).Call(
		"search_cards",
		`{"q": "the old mill", "match_mode": "phrase", "search_in": "content"}`,
	).Want(
		"total",
		1,
	)
	found := s.As("user").Call("find_in_card", `{"name": "The Weir", "q": "old mill of oda"}`)
	found.Want("total", 1).Want("matches.0.offset", strings.Index(theNote, "old_"))
	s.As("user").Call("get_card_outline", `{"name": "The Weir"}`).WantEach("headings", "text", "The Weir, After")
	s.wantRebuilt()
}

func TestOnlyThePatchedPartOfANoteChanges(t *testing.T) {
	for _, tc := range []struct {
		name, patch string
		rest        bool
		old, new    string // in the source
		fault       string
	}{
		{"its own form", `{"mode": "find_replace", "find": "_old_ mill", "replace": "_new_ mill"}`, false, "_old_", "_new_",
			""},
		{"a section", `{"mode": "section", "heading": "After", "content": "Fire.\n"}`, false, "Water.", "Fire.", ""},
		{"HTML over REST", `{"mode": "find_replace", "find": "<em>old</em>", "replace": "<em>new</em>"}`, true, "_old_",
			"_new_", ""},
		{"words over REST", `{"mode": "find_replace", "find": "Kept", "replace": "Held"}`, true, "Kept", "Held", ""},
		{"a section over REST", `{"mode": "section", "heading": "After", "content": "<p>Fire.</p>"}`, true, "Water.",
			"Fire.", ""},
		{"an appended paragraph over REST", `{"mode": "append", "content": "<p>End.</p>"}`, true, "Water.",
			"Water.\n\nEnd.", ""},
		{"what cannot be mapped", `{"mode": "find_replace", "find": "<li>two</li>", "replace": "<li>two</li>\n<li>three</li>"}`, true, "", "", "conflict"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newDesk(t)
			s.Do("user", "create_card",
				asJSON(map[string]any{"name": "The Weir", "text_format": "markdown", "content": theNote}))
			via := overREST
			if !tc.rest {
				via = atMost(0)
			}
			input := `{"name": "The Weir", "patch": ` + tc.patch + `}`
			if tc.fault != "" {
				shown := s.As("user").WantFault(tc.fault, "update_card", input, via)
				if !strings.Contains(shown, "format markdown") {
					t.Errorf("the fault names no remedy: %s", shown)
				}
				s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("content", theNote).Want("version", 1)
				return
			}
			s.Do("user", "update_card", input, via)
			want := strings.Replace(theNote, tc.old, tc.new, 1)
			s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("content", want).Want("text_format", "markdown")
			s.wantRebuilt()
		})
	}
}

func TestAFormatChangesOnlyByName(t *testing.T) {
	s := newDesk(t)
	s.Do("user", "create_card", asJSON(map[string]any{"name": "The Weir", "text_format": "markdown", "content": theNote}))
	// A REST client reads and writes the whole text as HTML: only what it changed becomes other text.
	whole := s.As("user").Call("get_card", `{"name": "The Weir"}`, overREST).Text("content")
	s.Do("user", "update_card", asJSON(map[string]any{"name": "The Weir",
		"content": strings.Replace(whole, "Water.", "Fire &amp; water.", 1)}), overREST)
	s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("content",
		strings.Replace(theNote, "Water.", "Fire & water.", 1)).Want("text_format", "markdown")
	s.Do("user", "update_card", `{"name": "The Weir", "type": "Location"}`)
	s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("text_format", "markdown").Want("type", "Location")
	s.Do("user", "update_card", `{"name": "The Weir", "text_format": "html"}`)
	html := s.As("user").Call("get_card", `{"name": "The Weir"}`)
	html.Want("text_format", "html")
	if !strings.Contains(html.Text("content"), "<h1>The Weir</h1>") {
		t.Errorf("the text was not converted: %s", html.Text("content"))
	}
	s.As("user").Call("diff_card", `{"name": "The Weir"}`).Has(`"text_format"`, "+<h1>The Weir</h1>", "-# The Weir")
	s.Do("admin", "restore_card", `{"name": "The Weir", "to_version": 1}`)
	s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("text_format", "markdown").Want("content", theNote)
	s.As("user").WantFault("validation_error", "create_card",
		`{"name": "List", "type": "Pointer", "text_format": "markdown"}`)
	s.As("user").WantFault("validation_error", "update_card",
		`{"name": "The Weir", "text_format": "html", "patch": {"mode": "append", "content": "x"}}`)
	s.wantRebuilt()
}

func TestARenameFollowsTheLinksOfNotes(t *testing.T) {
	s := newDesk(t)
	s.wrote("Oda Tarn", "x")
	s.Do("user", "create_card", asJSON(map[string]any{"name": "The Weir", "text_format": "markdown", "content": theNote}))
	s.Do("admin", "rename_card", `{"name": "Oda Tarn", "new_name": "Oda Weir"}`)
	s.As("user").Call("get_card", `{"name": "The Weir"}`).Want("content",
		strings.Replace(theNote, "people/Oda Tarn#", "people/Oda Weir#", 1))
}

// TestMarkdownMarksInHTMLAreAsked writes a comment of Markdown into a card that keeps HTML, in the ways that take a
// text in the card's form: it would hide nothing, so the game master is asked. The text of a player is text.
func TestMarkdownMarksInHTMLAreAsked(t *testing.T) {
	s := newDesk(t)
	const text = "<p>The quay %%SPY%% is wet.</p>"
	s.Do("gm", "create_card", `{"name": "Quay", "content": "<p>The quay is wet.</p>"}`)
	for way, input := range map[string]string{
		"create_card":        `{"name": "Weir", "content": "` + text + `"}`,
		"update_card":        `{"name": "Quay", "content": "` + text + `"}`,
		"update_card ":       `{"name": "Quay", "patch": {"mode": "find_replace", "find": "quay", "replace": "quay %%SPY%%"}}`,
		"replace_everywhere": `{"find": "quay", "replace": "quay %%SPY%%", "dry_run": false}`,
	} {
		said := s.As("gm").WantFault("validation_error", strings.TrimSpace(way), input)
		if !strings.Contains(said, "class=") {
			t.Errorf("%s names no remedy: %s", way, said)
		}
	}
	s.Do("user", "update_card", `{"name": "Quay", "content": "`+text+`"}`)
	s.Do("gm", "update_card", `{"name": "Quay", "content": "`+strings.Replace(text, "wet", "dry", 1)+`"}`)
}
