package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// benchCards is the number of cards that BenchmarkStore reads from; BENCH_CARDS overrides it.
var benchCards = func() int {
	if n, err := strconv.Atoi(os.Getenv("BENCH_CARDS")); err == nil && n > 100 {
		return n
	}
	return 5000
}()

// BenchmarkStore measures the most frequent queries, on a world of benchCards cards. Each card has
// 60 words of a vocabulary in which few words are common. open returns an empty store.
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
	see := visibleTo(AsUser)
	page := canon.Page{Limit: 20}
	ask("point-read", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := canon.First(r.FindCards(ctx, see, canon.CardQuery{ID: CardID(1 + i%benchCards)}))
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
	ask("cards-by-id", func(ctx context.Context, r canon.Reader, i int) error {
		ids := make([]canon.CardID, 20)
		for j := range ids {
			ids[j] = CardID(1 + (i*31+j*97)%benchCards)
		}
		_, err := r.FindCards(ctx, see, canon.CardQuery{IDs: ids})
		return err
	})
	ask("reach", func(ctx context.Context, r canon.Reader, i int) error {
		_, err := r.Reach(ctx, see, canon.ReachQuery{From: CardID(1 + i%benchCards), Both: true, Depth: 3, Limit: 50})
		return err
	})
	ask("world-clock", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.LinkMax(ctx, see, canon.ClockKind, canon.ClockAttr)
		return err
	})
	ask("wanted", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.Wanted(ctx, see, page)
		return err
	})
	ask("events", func(ctx context.Context, r canon.Reader, i int) error {
		_, _, err := r.Events(ctx, see, canon.EventQuery{Scopes: []string{fmt.Sprintf("place:%d", i%50)}, Page: page})
		return err
	})
	ask("near-cards", func(ctx context.Context, r canon.Reader, i int) error {
		_, err := r.NearCards(ctx, see, fmt.Sprintf("Palce %d", 1+i%500), canon.Filter{}, 5)
		return err
	})
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
			tx.Refs(c, refTo(link, fmt.Sprintf("Place %d", 1+(i*7)%benchCards)),
				refTo(link, fmt.Sprintf("Missing %d", zipf.Uint64())), refTo(link, fmt.Sprintf("Missing alone %d", i)))
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(i + 1), Kind: []string{"exit", "at"}[i%2], From: c.ID,
				To:    CardID(1 + (i*7)%(i+1)),
				Label: Open, Attrs: fmt.Appendf(nil, `{"clock":%d}`, i), Since: canon.Seq(i + 1), At: Time(i)})
			tx.Event(Event(i+1, []string{"moved", "said"}[i%2], fmt.Sprintf("place:%d", i%50), []access.Label{Open, GM}[i%5/4]))
		}
	})
}
