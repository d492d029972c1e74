package archive

import (
	"strings"
	"testing"
)

// Markdown that would take too long to read is the caller's to mend, and no fault of ours.
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
