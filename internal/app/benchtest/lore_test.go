package benchtest

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/access"
)

// asked are questions as narrators put them, and one misspelt.
var asked = []string{"spell that turns you invisible", "gaze turns to stone", "owlbaer", "bring a dead creature back to life",
	"flying carpet", "sneak attack", "what happens when I fall to 0 hit points", "dragon that breathes lightning"}

// BenchmarkSearchLore asks about the 2,000 facts of the rules reference: one after
// another, and 200 a second whatever the answers take.
func BenchmarkSearchLore(b *testing.B) {
	wanted(b)
	rules := filepath.Join("..", "..", "..", "..", "shared", "data", "srd-2014")
	if _, err := os.Stat(rules); err != nil {
		b.Skip("no real data: ../shared/data/srd-2014 is not beside the repository")
	}
	s := serve(b, b.TempDir())
	if _, err := s.app.ImportSource("srd")(b.Context(), worldName, rules, access.LevelUser, false, nil); err != nil {
		b.Fatal(err)
	}
	t := s.rest(func(n int64) string { return "/api/lore/search?query=" + url.QueryEscape(asked[int(n)%len(asked)]) })
	b.Run("each", func(b *testing.B) { each(b, t) })
	b.Run("open200", func(b *testing.B) { steady(b, t, 200) })
}
