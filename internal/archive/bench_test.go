package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlite/sqlitetest"
)

// aLibrary is a wiki on disk with n cards of about 1 KB; every tenth card is hidden.
func aLibrary(b *testing.B, n int) *scene {
	s := newSceneOn(b, sqlitetest.Open(b))
	gm := access.NewLabel(access.LevelGM)
	for from := 0; from < n; from += 500 {
		var cards []canon.NewCard
		for i := from; i < min(from+500, n); i++ {
			c := canon.NewCard{Name: fmt.Sprintf("Book %d", i),
				Content: fmt.Sprintf("<p>Volume %d stands beside [[Book %d]] on shelf s%dx.</p>%s", i, i+1, i%97,
					strings.Repeat("<p>Dust and salt on every page.</p>", 28))}
			if i%10 == 9 {
				c.Label = &gm
			}
			cards = append(cards, c)
		}
		s.made(cards...)
	}
	b.ResetTimer()
	return s
}

func benchmark(b *testing.B, name, format string) {
	s := aLibrary(b, 2000)
	user := s.As("user")
	for i := 0; b.Loop(); i++ {
		if _, err := user.invoke(name, fmt.Sprintf(format, i%200*10)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func BenchmarkGetCard(b *testing.B) { benchmark(b, "get_card", `{"name": "Book %d"}`) }
func BenchmarkSearchNames(b *testing.B) {
	benchmark(b, "search_cards", `{"q": "book 1%d", "limit": 20}`)
}
func BenchmarkSearchContent(b *testing.B) {
	benchmark(b, "search_cards", `{"q": "volume %d", "search_in": "content", "limit": 20}`)
}
