package event_test

import (
	"context"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/event"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// BenchmarkRound measures a round of the dispatcher with four handlers and 200 worlds: with no
// change in any of them, and with a new card in one of them.
func BenchmarkRound(b *testing.B) {
	const worlds = 200
	store := sqlitetest.Open(b)
	s := worldtest.Empty(b, store)
	for i := range worlds - 1 {
		if _, err := s.Canon.CreateWorld(b.Context(), s.Operator(),
			canon.NewWorld{Slug: fmt.Sprint("quiet-", i)}); err != nil {
			b.Fatal(err)
		}
	}
	var handlers []event.Handler
	for i := range 4 {
		handlers = append(handlers, event.Handler{Name: fmt.Sprint("note-", i), Types: []event.Type{world.PlayerMove},
			Handle: func(context.Context, access.Grant, canon.StoredEvent) error { return nil }})
	}
	d := s.Dispatcher(store, handlers...)
	s.Round(d)
	s.Round(d)
	b.Run("quiet", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Round(d)
		}
	})
	b.Run("one moved", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			s.Card(canon.NewCard{Name: fmt.Sprint("Note ", n)})
			b.StartTimer()
			s.Round(d)
		}
	})
}
