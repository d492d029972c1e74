package storetest

import (
	"errors"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// testDiscard discards a world a few rows at a time. Everything else must remain.
func testDiscard(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	gone, stays := canon.WorldStream(WorldID(1)), canon.WorldStream(WorldID(2))
	fill := func() {
		fillAllLabels(t, s)
		write(t, s, func(tx Writer) {
			other := Card(1, "Elsewhere", Open)
			other.World = WorldID(2)
			tx.PutWorld(World(1))
			tx.PutWorld(World(2))
			tx.Card(other, "text")
			for w, stream := range map[access.WorldID]canon.StreamID{WorldID(1): gone, WorldID(2): stays} {
				tx.ok("PutMember", tx.Tx.PutMember(t.Context(), canon.Member{World: w, Subject: "ann", Role: access.RoleGM}))
				tx.ok("PutBody", tx.Tx.PutBody(t.Context(), w, HashOf("b"), []byte("b")))
				tx.ok("PutRepeat", tx.Tx.PutRepeat(t.Context(),
					canon.Repeat{Account: "k", Key: string(stream), Stream: stream, Seq: 1}))
				tx.Append(stream)
				tx.Append(stream)
			}
		})
	}
	empty := dumpTables(t, s, WorldID(1))
	fill()
	full, elsewhere := dumpTables(t, s, WorldID(1)), dumpTables(t, s, WorldID(2))
	kept := errors.New("not kept")
	err := s.Write(t.Context(), func(tx canon.Tx) error {
		_, err := tx.Discard(t.Context(), WorldID(1), 1000)
		return errors.Join(err, kept)
	})
	if !errors.Is(err, kept) || dumpTables(t, s, WorldID(1)) != full {
		t.Errorf("a Discard that failed has taken something away: %v", err)
	}
	for steps, left := 1, true; left; steps++ {
		write(t, s, func(tx Writer) {
			tx.Index(Card(60, "Between", Open), nil)
			tx.ok("Discard", func() (err error) { left, err = tx.Tx.Discard(t.Context(), WorldID(1), 3); return err }())
		})
		readAs(t, s, AsAll, func(e viewReader) {
			_, found, err := canon.First(e.r.Worlds(e.ctx(), canon.WorldQuery{ID: WorldID(1)}))
			e.ok("Worlds by ID", err)
			head, err := e.r.Head(e.ctx(), gone)
			e.ok("Head", err)
			if found != left || (head.Seq == 2) != left {
				t.Errorf("after %d steps, of which more follow %t: the world is there %t, its stream at %d", steps, left, found,
					head.Seq)
			}
		})
		if steps > 1000 {
			t.Fatal("it does not end")
		}
	}
	if got := dumpTables(t, s, WorldID(1)); got != empty {
		t.Errorf("after Discard there is\n%s", got)
	}
	if got := dumpTables(t, s, WorldID(2)); got != elsewhere {
		t.Errorf("Discard has changed another world:\n%s\nwas\n%s", got, elsewhere)
	}
	readAs(t, s, AsAll, func(e viewReader) {
		streams, err := e.r.Streams(e.ctx(), "")
		e.ok("Streams", err)
		if len(streams) != 1 || streams[0].Stream != stays {
			t.Errorf("streams %v", streams)
		}
		for stream, w := range map[canon.StreamID]access.WorldID{gone: WorldID(1), stays: WorldID(2)} {
			_, body, err := e.r.Body(e.ctx(), w, HashOf("b"))
			e.ok("Body", err)
			_, used, err := e.r.Repeat(e.ctx(), "k", string(stream))
			e.ok("Repeat", err)
			if want := stream == stays; body != want || used != want {
				t.Errorf("%s: a body %t, a used key %t", stream, body, used)
			}
		}
	})
	fill() // the world can be created again
	if got := dumpTables(t, s, WorldID(1)); got != full {
		t.Errorf("made again it is\n%s\nwas\n%s", got, full)
	}
}
