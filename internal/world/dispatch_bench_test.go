package world

import (
	"context"
	"fmt"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlite/sqlitetest"
)

// BenchmarkRound measures a round of the dispatcher with four handlers and 200 worlds: with no
// change in any of them, and with a new card in one of them.
func BenchmarkRound(b *testing.B) {
	const worlds = 200
	store := sqlitetest.Open(b)
	s := emptyScene(b, store)
	for i := range worlds - 1 {
		if _, err := s.canon.CreateWorld(b.Context(), s.operator(),
			canon.NewWorld{Slug: fmt.Sprint("quiet-", i)}); err != nil {
			b.Fatal(err)
		}
	}
	var handlers []Handler
	for i := range 4 {
		handlers = append(handlers, Handler{Name: fmt.Sprint("note-", i), Types: []EventType{PlayerMove},
			Handle: func(context.Context, access.Grant, canon.StoredEvent) error { return nil }})
	}
	d := s.dispatcher(store, handlers...)
	s.round(d)
	s.round(d)
	b.Run("quiet", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.round(d)
		}
	})
	b.Run("one moved", func(b *testing.B) {
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			s.card(canon.NewCard{Name: fmt.Sprint("Note ", n)})
			b.StartTimer()
			s.round(d)
		}
	})
}
