package archive

import (
	"strings"
	"testing"
)

// Markdown that would take too long to parse is refused as a fault of the caller, not an internal
// error.
func TestDenseMarkdownIsRefused(t *testing.T) {
	s := newScene(t)
	dense := strings.Repeat("*a **a ", 20_000)
	for _, call := range [][2]string{
		{"render_markdown", `{"markdown": "` + dense + `"}`},
		{"create_card", `{"name": "Dense", "markdown_content": "` + dense + `"}`},
	} {
		if shown := s.As("user").WantFault("validation_error", call[0], call[1]); !contains(shown, "blank lines") {
			t.Errorf("%s: %.300s", call[0], shown)
		}
	}
}

// Input that once brought the server down is refused with the name of the exceeded limit. Stored
// content of this kind can still be read.
func TestHostileTablesAreRefusedAndStoredOnesRead(t *testing.T) {
	s := newScene(t)
	wide := strings.Repeat("|a", 4000) + "\\n" + strings.Repeat("|-", 4000) + "\\n" + strings.Repeat("|x|\\n", 2000)
	for _, call := range [][2]string{
		{"render_markdown", `{"markdown": "` + wide + `"}`},
		{"create_card", `{"name": "Wide", "markdown_content": "` + wide + `"}`},
		{"render_snippet", `{"html": "<table><tr><td colspan=1000000000>x</td></tr></table>"}`},
	} {
		if shown := s.As("user").WantFault("validation_error", call[0], call[1]); !contains(shown, "250 columns") {
			t.Errorf("%s: %.300s", call[0], shown)
		}
	}
	s.As("user").Call("create_card",
		`{"name": "Span", "content": "<table><tr><td colspan=1000000000>the lamp</td></tr></table>"}`)
	s.As("user").Call("create_card", `{"name": "Braces", "content": "`+strings.Repeat("{{", 200_000)+`"}`)
	s.As("user").Call("create_card", `{"name": "Wide", "type": "Markdown", "content": "`+wide+`"}`)
	for _, name := range []string{"Span", "Braces", "Wide"} {
		s.As("user").Call("render_snippet", `{"name": "`+name+`"}`)
		s.As("user").Call("get_card", `{"name": "`+name+`", "rendered": true}`)
	}
}
