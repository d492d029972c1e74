package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/wait"
)

// benchSizes returns the numbers of cards to run benchmarks with. LOREGATE_BENCH_CARDS adds one,
// such as 1000000.
func benchSizes(b *testing.B) []int {
	list := []int{1_000, 100_000}
	if v := os.Getenv("LOREGATE_BENCH_CARDS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}

// openLoaded opens a store of n cards. It is created once for all benchmarks, in the folder named
// by LOREGATE_BENCH_DIR if that is set.
func openLoaded(b *testing.B, n int) (*Store, *prose) {
	b.Helper()
	dir := os.Getenv("LOREGATE_BENCH_DIR")
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "loregate-bench")
	}
	path := filepath.Join(dir, fmt.Sprintf("v%d-%d.db", schemaVersion, n))
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		s := openTest(b, path+".new")
		fillStore(b, s, n)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			b.Fatal(err)
		}
	}
	s := openTest(b, path)
	for {
		err := s.Read(b.Context(), func(r canon.Reader) error {
			_, err := r.Search(b.Context(), visibilityOf(access.LevelGM), canon.SearchQuery{Q: "x"}, canon.Page{Limit: 1})
			return err
		})
		if err == nil {
			return s, newProse(1, 40_000)
		}
		if !errors.Is(err, fault.Unavailable) { // the index is being built
			b.Fatal(err)
		}
		wait.For(b.Context(), 100*time.Millisecond)
	}
}

func runEachSize(b *testing.B, f func(b *testing.B, s *Store, n int, p *prose)) {
	for _, n := range benchSizes(b) {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, p := openLoaded(b, n)
			f(b, s, n, p)
		})
	}
}

// reportPercentiles reports the median and the 99th percentile of the duration of f.
func reportPercentiles(b *testing.B, f func()) {
	took := make([]time.Duration, 0, 1024)
	for b.Loop() {
		start := time.Now()
		f()
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
}

func BenchmarkPointRead(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		i := 0
		reportPercentiles(b, func() {
			i = (i + 7919) % n
			mustRead(b, s, func(r canon.Reader) error {
				_, ok, err := canon.First(r.FindCards(ctx, visibilityOf(access.LevelGM), canon.CardQuery{ID: idOf(i + 1)}))
				if !ok {
					b.Fatal("a card is missing")
				}
				return err
			})
		})
	})
}

func BenchmarkByKey(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		c := canon.Card{}
		mustRead(b, s, func(r canon.Reader) (err error) {
			c, _, err = canon.First(r.FindCards(b.Context(), visibilityOf(access.LevelGM), canon.CardQuery{ID: idOf(n / 2)}))
			return err
		})
		reportPercentiles(b, func() {
			mustRead(b, s, func(r canon.Reader) error {
				list, err := r.FindCards(b.Context(), visibilityOf(access.LevelGM), canon.CardQuery{Key: c.Key})
				if len(list) != 1 {
					b.Fatal("a card is missing")
				}
				return err
			})
		})
	})
}

func BenchmarkListing(b *testing.B) {
	for name, f := range map[string]canon.Filter{
		"name":     {},
		"updated":  {Sort: canon.SortUpdated},
		"type":     {Type: "RichText"},
		"prefix":   {Prefix: "bake"},
		"contains": {NameContains: "quin"},
		"not_name": {NotName: "*+GM*"},
	} {
		b.Run(name, func(b *testing.B) {
			runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
				reportPercentiles(b, func() {
					mustRead(b, s, func(r canon.Reader) error {
						_, _, err := r.Cards(b.Context(), visibilityOf(access.LevelGM), f, canon.Page{Limit: 20})
						return err
					})
				})
			})
		})
	}
}

func BenchmarkFeed(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		reportPercentiles(b, func() {
			mustRead(b, s, func(r canon.Reader) error {
				_, _, err := r.Feed(b.Context(), visibilityOf(access.LevelGM), canon.FeedQuery{Page: canon.Page{Limit: 20}})
				return err
			})
		})
	})
}

func BenchmarkSearch(b *testing.B) {
	for _, mode := range []canon.MatchMode{canon.MatchSubstring, canon.MatchWord} {
		for _, words := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", mode, words), func(b *testing.B) {
				runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
					reportPercentiles(b, func() {
						q := p.word()
						for range words - 1 {
							q += " " + p.word()
						}
						searchFor(b, s, canon.SearchQuery{Q: q, Mode: mode})
					})
				})
			})
		}
	}
}

func BenchmarkSearchCommon(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		reportPercentiles(b, func() { searchFor(b, s, canon.SearchQuery{Q: p.words[0]}) })
	})
}

func BenchmarkNames(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		b.Run("near", func(b *testing.B) {
			reportPercentiles(b, func() {
				mustRead(b, s, func(r canon.Reader) error {
					_, err := r.NearNames(b.Context(), visibilityOf(access.LevelGM), p.word()+" "+p.word(), 5)
					return err
				})
			})
		})
		b.Run("complete", func(b *testing.B) {
			reportPercentiles(b, func() {
				mustRead(b, s, func(r canon.Reader) error {
					_, err := r.CompleteNames(b.Context(), visibilityOf(access.LevelGM), p.word()[:2], 10)
					return err
				})
			})
		})
	})
}

func searchFor(b *testing.B, s *Store, q canon.SearchQuery) {
	mustRead(b, s, func(r canon.Reader) error {
		_, err := r.Search(b.Context(), visibilityOf(access.LevelGM), q, canon.Page{Limit: 20})
		return err
	})
}

func BenchmarkWrite(b *testing.B) {
	for _, writers := range []int{1, 32} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			s := openNew(b)
			p := newProse(1, 40_000)
			text := make([]string, 256)
			for i := range text {
				text[i] = p.text(1000)
			}
			var n atomic.Int64
			b.SetParallelism(max(1, writers/2))
			write := func() {
				i := int(n.Add(1))
				mustWrite(b, s, func(tx canon.Tx) {
					t := text[i%len(text)]
					putDoc(b, tx, cardOf(i, fmt.Sprintf("Card %d", i), access.NewLabel(access.LevelUser), t), t)
				})
			}
			start := time.Now()
			b.ResetTimer()
			if writers == 1 {
				for range b.N {
					write()
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						write()
					}
				})
			}
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "writes/s")
		})
	}
}

func BenchmarkBulk(b *testing.B) {
	for b.Loop() {
		s := openNew(b)
		start := time.Now()
		fillStore(b, s, 10_000)
		b.ReportMetric(10_000/time.Since(start).Seconds(), "cards/s")
	}
}

func BenchmarkOpen(b *testing.B) {
	runEachSize(b, func(b *testing.B, s *Store, n int, p *prose) {
		path := s.cfg.Path
		for b.Loop() {
			o, err := Open(b.Context(), Config{Path: path})
			if err != nil {
				b.Fatal(err)
			}
			if err := o.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkWanted queries a world of 100,000 cards. Each links to an existing card, to one of a few
// thousand missing cards that many want, and to a missing card that only it wants.
func BenchmarkWanted(b *testing.B) {
	s := openTest(b, filepath.Join(b.TempDir(), "canon.db"))
	const cards = 100_000
	if err := s.Write(b.Context(), func(tx canon.Tx) error {
		if err := tx.PutWorld(b.Context(), canon.World{ID: testWorld, Slug: "w", Title: "W",
			CreatedAt: testTime}); err != nil {
			return err
		}
		for i := range cards {
			c := cardOf(i+1, fmt.Sprintf("Place %d", i+1), access.NewLabel(access.Level(1+i%5/4)), "")
			if err := tx.PutCard(b.Context(), c); err != nil {
				return err
			}
			refs := []canon.Ref{{From: c.ID, Kind: canon.RefLink, Target: markup.KeyOf(fmt.Sprintf("Place %d", 1+i*7%cards))},
				{From: c.ID, Kind: canon.RefLink, Target: markup.KeyOf(fmt.Sprintf("Missing %d", i*i%3001)), Order: 1},
				{From: c.ID, Kind: canon.RefLink, Target: markup.KeyOf(fmt.Sprintf("Alone %d", i)), Order: 2}}
			for j := range refs {
				refs[j].Name = string(refs[j].Target)
			}
			if err := tx.PutRefs(b.Context(), testWorld, c.ID, refs); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for _, view := range []access.View{{Level: access.LevelUser}, {Level: access.LevelUser, Subject: "alice"},
		{Level: access.LevelGM}} {
		b.Run(fmt.Sprint(view.Level, view.Subject), func(b *testing.B) {
			for b.Loop() {
				if err := s.Read(b.Context(), func(r canon.Reader) error {
					list, _, err := r.Wanted(b.Context(), canon.Visibility{World: testWorld, View: view}, canon.Page{Limit: 50})
					if err == nil && (len(list) != 50 || list[0].Count < 20) {
						b.Fatalf("%+v", list)
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
