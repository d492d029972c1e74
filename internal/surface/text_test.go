package surface_test

import (
	"encoding/json"
	"strings"
	"testing"

	"loregate/internal/surface"
)

func TestTextPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		offset, limit int
		part          string
		end           int
		more          bool
	}{
		{0, 3, "käs", 3, true},
		{3, 3, "ebr", 6, true},
		{6, 30, "ot", 0, false},
		{99, 3, "", 0, false},
	} {
		part, end, more := surface.TextPart("käsebrot", c.offset, c.limit)
		if part != c.part || end != c.end || more != c.more {
			t.Errorf("from %d: %q, %d, %t", c.offset, part, end, more)
		}
	}
}

// TestCutTextFits cuts a text with characters that JSON escapes.
func TestCutTextFits(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a\"\n\x01ä", 300)
	for _, budget := range []int{0, surface.Overhead + 1000, surface.Overhead + 2000, surface.Overhead + 1<<20} {
		part, end, cut := surface.CutText(text, 7, budget)
		if !strings.HasPrefix(text, part) || end != 7+len([]rune(part)) || cut != (part != text) {
			t.Errorf("budget %d: %d bytes to %d, cut %t", budget, len(part), end, cut)
		}
		if b, _ := json.Marshal(part); len(b)-2 > max(budget-surface.Overhead, 256*6) {
			t.Errorf("budget %d: %d bytes of JSON", budget, len(b))
		}
		if cut && len([]rune(part)) < 255 {
			t.Errorf("budget %d: only %d characters", budget, len([]rune(part)))
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got, want := surface.Quote("one\ntwo", 100), "> one\n> two"; got != want {
		t.Errorf("%q", got)
	}
	if got, want := surface.Quote("one two three", 7), "> one two\n> … (cut)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
