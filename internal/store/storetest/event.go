package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func testEvents(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	full := Event(7, "said", "place:1", AdminBoth)
	full.Actor, full.Correlation, full.Causation, full.Key, full.Version = canon.EventActor{Kind: "npc", ID: "7"}, "c",
		"d", "again", 3
	full.Payload = []byte(`{"a":"<é>"}`)
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for n, e := range []canon.StoredEvent{
			Event(0, "", "", Open), Event(1, "moved", "place:1", Open), Event(2, "moved", "place:2", Open),
			Event(3, "said", "place:1", GM), Event(4, "said", "", Open), Event(5, "wept", "place:3", Open),
			Event(6, "moved", "place:1", GM),
		} {
			if n > 0 {
				tx.Event(e)
			}
		}
		replaced := Event(5, "kept", "place:3", Open)
		replaced.Key = "again"
		tx.Event(replaced)
		tx.Event(full)
		other := Event(1, "moved", "place:1", Open)
		other.World = WorldID(2)
		tx.Event(other)
	})
	for _, test := range []struct {
		name string
		view access.View
		q    canon.EventQuery
		want string
	}{
		{"latest first", AsUser, canon.EventQuery{}, "5 4 2 1"},
		{"oldest first", AsUser, canon.EventQuery{Oldest: true}, "1 2 4 5"},
		{"with the gm's in their place", AsGM, canon.EventQuery{}, "6 5 4 3 2 1"},
		{"by being named", AsAlice, canon.EventQuery{}, "7 5 4 2 1"},
		{"of a type", AsGM, canon.EventQuery{Types: []string{"moved"}}, "6 2 1"},
		{"of a type that was replaced", AsGM, canon.EventQuery{Types: []string{"wept"}}, ""},
		{"of any of the types", AsGM, canon.EventQuery{Types: []string{"said", "kept", "said"}}, "5 4 3"},
		{"of a scope", AsGM, canon.EventQuery{Scopes: []string{"place:1"}}, "6 3 1"},
		{"of no scope", AsGM, canon.EventQuery{Scopes: []string{""}}, "4"},
		{"of a scope and a type", AsGM, canon.EventQuery{Scopes: []string{"place:1", "place:2"}, Types: []string{"moved"},
			Oldest: true}, "1 2 6"},
		{"of somebody", AsAdmin, canon.EventQuery{Actor: "7"}, "7"},
		{"of somebody, by less", AsGM, canon.EventQuery{Actor: "7"}, ""},
		{"of a key", AsAdmin, canon.EventQuery{Key: "again"}, "7 5"},
		{"of a key, by less", AsGM, canon.EventQuery{Key: "again"}, "5"},
		{"of a commit", AsGM, canon.EventQuery{ID: UUID(3)}, "3"},
		{"of a commit out of sight", AsUser, canon.EventQuery{ID: UUID(3)}, ""},
		{"after, exclusive", AsGM, canon.EventQuery{After: 4}, "6 5"},
		{"after, oldest first", AsGM, canon.EventQuery{After: 3, Oldest: true}, "4 5 6"},
		{"as of, inclusive", AsGM, canon.EventQuery{AsOf: 4}, "4 3 2 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) { wantEvents(e, test.q, test.want) })
		})
	}
	readAs(t, s, AsAdmin, func(e viewReader) {
		rows, _, err := e.r.Events(e.ctx(), e.s, canon.EventQuery{ID: full.ID, Page: everything})
		if err != nil || len(rows) != 1 || !reflect.DeepEqual(rows[0], full) {
			t.Errorf("an event: %+v, %v; want %+v", rows, err, full)
		}
	})
}

func wantEvents(e viewReader, q canon.EventQuery, want string) {
	e.t.Helper()
	q.Page = everything
	all, total, err := e.r.Events(e.ctx(), e.s, q)
	e.ok("Events", err)
	e.checkTotal("Events", total, len(all))
	got := ""
	for i, row := range all {
		if i > 0 {
			got += " "
		}
		got += fmt.Sprint(row.Seq)
	}
	if got != want {
		e.t.Errorf("got %q, want %q", got, want)
	}
	for offset := range all {
		q.Page = canon.Page{Limit: 2, Offset: offset}
		page, total, err := e.r.Events(e.ctx(), e.s, q)
		e.ok("Events", err)
		if !reflect.DeepEqual(page, all[offset:min(offset+2, len(all))]) || total.Count != len(all) {
			e.t.Errorf("two from %d: %+v of %+v", offset, page, total)
		}
	}
}

func testPast(t *testing.T, open func(*testing.T) canon.Store) {
	t.Run("a card as it stood after a commit", func(t *testing.T) { testCardAt(t, open(t)) })
	t.Run("the commit that stood at a time", func(t *testing.T) { testSeqAt(t, open(t)) })
}

func testCardAt(t *testing.T, s canon.Store) {
	c := Card(1, "Card", Open)
	c.Seq = 3
	Put(t, s, c)
	for _, step := range []struct {
		at    int
		label access.Label
		gone  bool
	}{{5, Open, false}, {5, Open, false}, {8, GM, false}, {11, GM, true}, {14, Open, false}} {
		c.Label, c.Own = step.label, step.label
		c = Next(c, step.at)
		v := Version(c)
		v.Trashed = step.gone
		write(t, s, func(tx Writer) { tx.Row(c); tx.Version(v) })
	}
	gone := Card(2, "Gone", Open)
	Put(t, s, gone)
	Put(t, s, Trashed(Next(gone, 20), gone, 20))
	Put(t, s, Card(4, "Hidden now", GM))
	for _, test := range []struct {
		card int
		at   canon.Seq
		user uint32 // revision, 0 for none
		gm   uint32
	}{
		{1, 0, 0, 0}, {1, 2, 0, 0}, {1, 3, 1, 1}, {1, 4, 1, 1}, {1, 5, 3, 3}, {1, 7, 3, 3}, {1, 8, 0, 4}, {1, 10, 0, 4},
		{1, 11, 0, 0}, {1, 13, 0, 0},
		{1, 14, 6, 6}, {1, 99, 6, 6}, {2, 10, 0, 0}, {3, 10, 0, 0}, {4, 10, 0, 1},
	} {
		for view, want := range map[access.View]uint32{AsUser: test.user, AsGM: test.gm} {
			readAs(t, s, view, func(e viewReader) {
				v, ok, err := canon.First(e.r.CardsAt(e.ctx(), e.s, []canon.CardID{CardID(test.card)}, test.at))
				e.ok("CardsAt of one card", err)
				if ok != (want > 0) || v.Rev != want {
					t.Errorf("card %d at %d is revision %d, %v; want %d", test.card, test.at, v.Rev, ok, want)
				}
			})
		}
	}
	readAs(t, s, AsGM, func(e viewReader) {
		all, err := e.r.CardsAt(e.ctx(), e.s, []canon.CardID{CardID(4), CardID(2), CardID(1), CardID(4)}, 8)
		e.ok("CardsAt", err)
		if got := versionsText(all); got != "Hidden now1 Card4 Hidden now1" {
			t.Errorf("CardsAt: %q", got)
		}
	})
}

func testSeqAt(t *testing.T, s canon.Store) {
	stream := canon.WorldStream(WorldID(1))
	write(t, s, func(tx Writer) {
		head := canon.Head{}
		for _, at := range []int{10, 20, 20, 50, 30, 40} { // a clock went back once
			c := Commit(stream, head)
			c.At = Time(at)
			tx.ok("Append", tx.Tx.Append(t.Context(), c))
			head = canon.Head{Seq: c.Seq, Hash: c.Hash}
		}
		tx.Append("other")
	})
	readAs(t, s, AsNobody, func(e viewReader) {
		for at, want := range map[int]canon.Seq{9: 0, 10: 1, 19: 1, 20: 3, 29: 3, 30: 5, 45: 6, 50: 4, 99: 4} {
			if got, err := e.r.SeqAt(e.ctx(), WorldID(1), Time(at)); err != nil || got != want {
				t.Errorf("at %d: commit %d, %v; want %d", at, got, err, want)
			}
		}
		if got, err := e.r.SeqAt(e.ctx(), WorldID(2), Time(99)); err != nil || got != 0 {
			t.Errorf("of a world without commits: %d, %v", got, err)
		}
		if got, err := e.r.SeqAt(e.ctx(), WorldID(1), Time(20).Add(-1)); err != nil || got != 1 {
			t.Errorf("right before a commit: %d, %v", got, err)
		}
	})
}
