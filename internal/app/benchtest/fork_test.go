package benchtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/wait"
)

// forkCards is the number of cards in the world that BenchmarkFork forks.
const forkCards = 20_000

// BenchmarkFork forks a world while another writer makes small changes, and reports the longest
// time that one of these changes took.
func BenchmarkFork(b *testing.B) {
	requireBench(b)
	s := serve(b, b.TempDir())
	fill(b, s.app, s.world, newProse(1), forkCards)
	other, err := s.app.CreateWorld(b.Context(), canon.NewWorld{Slug: "other"})
	if err != nil {
		b.Fatal(err)
	}
	m := medians{}
	for n := 0; b.Loop(); n++ {
		w := startWriter(b, s, other.ID)
		<-w.warm.Done()
		begun := time.Now()
		if _, err := s.app.ForkWorld(b.Context(), worldName, canon.NewWorld{Slug: fmt.Sprint("fork-", n)}); err != nil {
			b.Fatal(err)
		}
		took := time.Since(begun)
		w.stop()
		m.add("fork-ms", ms(took))
		m.add("longest-wait-ms", ms(w.longest))
		m.add("writes-meanwhile", float64(w.writes))
	}
	m.report(b)
}

// warmWrites is the number of changes that a writer makes before a fork begins.
const warmWrites = 20

// writer makes changes until stop is called.
type writer struct {
	warm    context.Context // ends after warmWrites changes, or when the writer fails
	longest time.Duration
	writes  int
	stop    func()
}

func startWriter(b *testing.B, s *stage, world access.WorldID) *writer {
	w := &writer{}
	ctx, cancel := context.WithCancel(b.Context())
	warm, report := context.WithCancel(ctx)
	w.warm = warm
	var done sync.WaitGroup
	w.stop = func() { cancel(); done.Wait() }
	guard := access.NewGuard(access.Config{})
	done.Go(func() {
		defer report()
		for n := 0; ctx.Err() == nil; n++ {
			a, err := guard.Admit(context.WithoutCancel(ctx), access.Caller{Subject: "writer", EveryRole: access.RoleAdmin},
				access.Request{Operation: "write", Effect: access.Write, World: world})
			if err != nil {
				b.Error(err)
				return
			}
			begun := time.Now()
			if _, err := s.app.Canon.Update(context.WithoutCancel(ctx), a.Grant, func(p *canon.Plan) error {
				_, err := p.Create(canon.NewCard{Name: fmt.Sprintf("Note %p %d", w, n), Content: "short"})
				return err
			}); err != nil {
				b.Error(err)
				return
			}
			w.longest, w.writes = max(w.longest, time.Since(begun)), w.writes+1
			if w.writes == warmWrites {
				report()
			}
			wait.For(ctx, 5*time.Millisecond)
		}
	})
	return w
}
