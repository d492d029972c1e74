package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"loregate/internal/canon"
)

// benchCards is how many cards BenchmarkStore reads among.
const benchCards = 5000

// BenchmarkStore measures what a store is asked most, on a world of 5,000 cards of 60
// words from a vocabulary in which few are common. open gives an empty store.
func BenchmarkStore(b *testing.B, open func(b *testing.B) canon.Store) {
	s := open(b)
	fillBench(b, s)
	ask := func(name string, f func(context.Context, canon.Reader, int) error) {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				err := s.Read(b.Context(), func(r canon.Reader) error { return f(b.Context(), r, i) })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	see := sight(AsUser)
	page := canon.Page{Limit: 20}
	ask("point-read", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.CardByID(ctx, see, CardID(1+i%benchCards))
		return err
	})
	ask("list-prefix", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.Cards(ctx, see, canon.Filter{Prefix: "place_7"}, page)
		return err
	})
	ask("children", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.Descendants(ctx, see, CardID(1+i%(benchCards/10)), 1, page)
		return err
	})
	for name, q := range map[string]string{"search-common": "w0", "search-rare": "w900", "search-two-words": "w3 w200"} {
		ask(name, func(ctx context.Context, r canon.Reader, i int) error {
			_, err := r.Search(ctx, see, canon.SearchQuery{Q: q, InName: true, InContent: true, Mode: canon.MatchWord}, page)
			return err
		})
	}
	b.Run("commit", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			write(b, s, func(tx Writer) {
				c := Card(benchCards+1+i%1000, fmt.Sprintf("New %d", i%1000), Open)
				tx.Card(c, "some new words")
				tx.Append(canon.WorldStream(WorldID(1)))
			})
		}
	})
}

func fillBench(b *testing.B, s canon.Store) {
	rng := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(rng, 1.1, 4, 5000)
	write(b, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for i := range benchCards {
			c := Card(i+1, fmt.Sprintf("Place %d", i+1), Open)
			if n := benchCards / 10; i >= n {
				parent := Card(1+i%n, fmt.Sprintf("Place %d", 1+i%n), Open)
				c = Under(parent, Card(i+1, fmt.Sprintf("%s+Part %d", parent.Name, i), Open))
			}
			var text strings.Builder
			for range 60 {
				fmt.Fprintf(&text, "w%d ", zipf.Uint64())
			}
			tx.Card(c, text.String())
		}
	})
}
