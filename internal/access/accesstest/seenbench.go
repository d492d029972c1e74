package accesstest

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"loregate/internal/access"
)

// The records of BenchmarkSeenBy: 90 days of 50 readers, who read some of 5,000 cards far more often than the others.
const (
	benchRecords = 1_000_000
	benchReaders = 50
	benchCards   = 5_000
	benchDays    = 90
)

// BenchmarkSeenBy writes a million records of calls that showed one to fifty cards, and asks who has seen a card: the
// one that is read most, one that is seldom read, and 200 cards at once. It reports the processor time of this process.
func BenchmarkSeenBy(b *testing.B, s access.SegmentStore, index access.SeenStore) {
	world := access.WorldID{1}
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l, err := access.NewLog(access.LogConfig{Store: s, Seen: index, Process: "bench", Now: func() time.Time { return clock },
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close(context.Background())
	chance := rand.New(rand.NewPCG(1, 2))
	often := rand.NewZipf(chance, 1.1, 8, benchCards-1)
	operations := []string{"get_card", "search_cards", "recent_changes", "list_children", "get-location-context", "look"}
	began := access.ProcessTime()
	for i := range benchRecords {
		if i%1000 == 0 {
			clock = clock.Add(benchDays * 24 * time.Hour / (benchRecords / 1000))
			if err := l.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		operation := chance.IntN(len(operations))
		shown := 1 + chance.IntN(3)
		if operation > 0 && operation < 4 {
			shown = 5 + chance.IntN(45)
		}
		g := access.NewGuard(access.Config{Recorder: l, Now: func() time.Time { return clock }})
		a, err := g.Admit(b.Context(), access.Caller{Subject: access.Subject([]byte{'r', byte('0' + chance.IntN(benchReaders))}),
			EveryRole: access.RoleUser}, access.Request{Operation: operations[operation], World: world})
		if err != nil {
			b.Fatal(err)
		}
		for range shown {
			a.Grant.NoteShown(benchCard(often.Uint64()))
		}
		a.Done(b.Context(), 100, nil)
	}
	if _, err := l.SeenBy(b.Context(), world, nil, time.Time{}); err != nil {
		b.Fatal(err)
	}
	b.Logf("a record took %v of processor time, with its place in the index", (access.ProcessTime()-began)/benchRecords)
	many := make([][16]byte, 200)
	for i := range many {
		many[i] = benchCard(uint64(i * 25))
	}
	for _, ask := range []struct {
		name  string
		cards [][16]byte
	}{{"most read", many[:1]}, {"seldom read", [][16]byte{benchCard(4000)}}, {"200 cards", many}} {
		b.Run(ask.name, func(b *testing.B) {
			began, found := access.ProcessTime(), 0
			for b.Loop() {
				list, err := l.SeenBy(b.Context(), world, ask.cards, time.Time{})
				if found = len(list); err != nil || found == 0 {
					b.Fatal(err, found)
				}
			}
			b.ReportMetric(float64((access.ProcessTime()-began).Microseconds())/float64(b.N)/1000, "cpu-ms/op")
			b.ReportMetric(float64(found), "readers")
		})
	}
}

func benchCard(n uint64) (id [16]byte) {
	binary.BigEndian.PutUint64(id[8:], n|0x80<<56)
	id[6] = 0x70
	return id
}
