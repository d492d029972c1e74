package storetest

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

func testCards(t *testing.T, open func(*testing.T) canon.Store) {
	t.Run("a card reads back as it was written", func(t *testing.T) { testRoundTrip(t, open(t)) })
	t.Run("a name is taken within its label", func(t *testing.T) { testTakenNames(t, open) })
	t.Run("a refused card changes nothing", func(t *testing.T) { testRefusedCard(t, open(t)) })
	t.Run("the cards of a key, most open first", func(t *testing.T) { testHomonyms(t, open(t)) })
	t.Run("what is read is the reader's own", func(t *testing.T) { testOwnBytes(t, open(t)) })
}

func testRoundTrip(t *testing.T, s canon.Store) {
	full := With(Card(1, "Straße “日本”+🐉 naïve", AdminBoth), "héllo")
	full.Codename, full.Type, full.Own = "fact:1", "Lore fact", GM
	full.Format = canon.FormatMarkdown
	full.Fields = json.RawMessage(`{"b":1,"a":"<&>\u2028","n":1.50,"nested":{"z":[],"y":null}}`)
	full.Rev, full.Counts, full.Seq = math.MaxUint32, canon.Counts{1, 2, 3}, 1<<40
	full.CreatedBy, full.UpdatedBy = "ann@example.org", "bob"
	trashed := Trashed(Under(full, Card(3, "A+B", Open)), full, 9)
	for name, c := range map[string]canon.Card{
		"with everything": full, "with nothing": Card(2, "x", Open), "in the trash": trashed,
	} {
		Put(t, s, c)
		readAs(t, s, AsAll, func(e viewReader) {
			got, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{ID: c.ID}))
			e.ok("FindCards by ID", err)
			if !ok || !reflect.DeepEqual(got, c) {
				t.Errorf("%s:\n got %+v\nwant %+v", name, got, c)
			}
		})
	}
}

// testTakenNames checks which second cards a world accepts besides "Hall" with label GM and
// codename "hall".
func testTakenNames(t *testing.T, open func(*testing.T) canon.Store) {
	first := Card(1, "Hall", GM)
	first.Codename = "hall"
	second := func(name string, label access.Label, codename string) canon.Card {
		c := Card(2, name, label)
		c.Codename = codename
		return c
	}
	elsewhere := second("Hall", GM, "hall")
	elsewhere.World = WorldID(2)
	for _, test := range []struct {
		name   string
		second canon.Card
		taken  bool
	}{
		{"the same key and label", second("Hall", GM, ""), true},
		{"another spelling of the key", second("halls", GM, ""), true},
		{"the same key under a lower level", second("Hall", Open, ""), false},
		{"the same key under a higher level", second("Hall", Admin, ""), false},
		{"the same key and level, open to somebody", second("Hall", GMAlice, ""), false},
		{"another key", second("House", GM, ""), false},
		{"the same codename under the same label", second("House", GM, "hall"), true},
		{"the same codename under another label", second("House", Admin, "hall"), false},
		{"the same codename under the same level, open to somebody", second("House", GMAlice, "hall"), false},
		{"another codename", second("House", GM, "house"), false},
		{"a codename that differs in case", second("House", GM, "Hall"), false},
		{"everything the same in another world", elsewhere, false},
		{"everything the same in the trash", Trashed(second("Hall", GM, "hall"), second("", GM, ""), 1), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			Put(t, s, first)
			err := s.Write(t.Context(), func(tx canon.Tx) error {
				if err := tx.PutWorld(t.Context(), World(2)); err != nil {
					return err
				}
				return tx.PutCard(t.Context(), test.second)
			})
			if errors.Is(err, canon.ErrTaken) != test.taken || !test.taken && err != nil {
				t.Errorf("PutCard: %v; want taken: %v", err, test.taken)
			}
		})
	}
	t.Run("a name and codename of the trash are free, and restoring finds them taken", func(t *testing.T) {
		testReuse(t, open(t), first)
	})
}

func testReuse(t *testing.T, s canon.Store, first canon.Card) {
	Put(t, s, Trashed(first, first, 2))
	next := Card(3, "Hall", GM)
	next.Codename = "hall"
	Put(t, s, next)
	for name, back := range map[string]func(*canon.Card){
		"both":         func(*canon.Card) {},
		"its name":     func(c *canon.Card) { c.Codename = "" },
		"its codename": func(c *canon.Card) { c.Name, c.Key = "House", "house" },
	} {
		again := first
		back(&again)
		err := s.Write(t.Context(), func(tx canon.Tx) error { return tx.PutCard(t.Context(), again) })
		if !errors.Is(err, canon.ErrTaken) {
			t.Errorf("restoring a card with %s in use: %v, want ErrTaken", name, err)
		}
	}
	readAs(t, s, AsGM, func(e viewReader) {
		if c, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Codename: "hall"})); err != nil || !ok ||
			c.ID != next.ID {
			t.Errorf("FindCards by Codename: %v, %v, %v; want the living one", c.ID, ok, err)
		}
	})
}

func testRefusedCard(t *testing.T, s canon.Store) {
	first, other := Card(1, "Hall", Open), Card(2, "House", Open)
	Put(t, s, first, other)
	write(t, s, func(tx Writer) {
		tx.Row(Card(3, "Before", Open))
		renamed := other
		renamed.Name, renamed.Key, renamed.Type = "Hall", "hall", "Changed"
		if err := tx.Tx.PutCard(t.Context(), renamed); !errors.Is(err, canon.ErrTaken) {
			t.Errorf("PutCard: %v, want ErrTaken", err)
		}
		tx.Row(Card(4, "After", Open))
	})
	readAs(t, s, AsUser, func(e viewReader) {
		if got, want := cardNames(e.listCards(canon.Filter{})),
			[]string{"After", "Before", "Hall", "House"}; !slices.Equal(got, want) {
			t.Errorf("after a refused card: %q, want %q", got, want)
		}
		if c, _ := e.findCard(2); !reflect.DeepEqual(c, other) {
			t.Errorf("the refused card is %+v", c)
		}
	})
}

func testHomonyms(t *testing.T, s canon.Store) {
	carol := access.NewLabel(access.LevelGM, "carol")
	three := access.NewLabel(access.LevelGM, "alice", "bob", "dan")
	Put(t, s, Card(1, "Echo", Admin), Card(2, "Echo", GM), Card(3, "Echo", carol), Card(4, "Echo", AdminBoth),
		Card(5, "Echo", three), Card(6, "Echo", Open), Card(7, "Echo", GMAlice), Card(8, "Echo+below", Open))
	readAs(t, s, AsAdmin, func(e viewReader) {
		cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Key: "echo"})
		e.ok("FindCards by Key", err)
		want := []canon.CardID{CardID(6), CardID(5), CardID(3), CardID(7), CardID(2), CardID(4), CardID(1)}
		if got := cardIDs(cards); !slices.Equal(got, want) {
			t.Errorf("FindCards by Key: %v, want %v: by level, then more subjects, then id", got, want)
		}
		for _, c := range []canon.Card{Card(30, "Coded a", Admin), Card(32, "Coded b", GMAlice), Card(31, "Coded c", GM)} {
			c.Codename = "code"
			Put(t, s, c)
			readAs(t, s, AsAll, func(e viewReader) {
				got, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Codename: "code"}))
				if err != nil || !ok || got.ID != c.ID {
					t.Errorf("FindCards by Codename: %v, %v, %v; want %v: the lowest level, then by id", got.ID, ok, err, c.ID)
				}
			})
		}
		for _, absent := range []markup.Key{"", "ech", "echo+", "Echo"} {
			if cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Key: absent}); err != nil || len(cards) > 0 {
				t.Errorf("FindCards by Key of %q: %v, %v", absent, cardIDs(cards), err)
			}
		}
		if _, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Codename: ""})); ok || err != nil {
			t.Errorf("no codename is nobody's codename: %v, %v", ok, err)
		}
	})
}

func cardIDs(cards []canon.Card) []canon.CardID {
	out := []canon.CardID{}
	for _, c := range cards {
		out = append(out, c.ID)
	}
	return out
}

// testOwnBytes changes byte slices after writing them and after reading them; the store must not
// change.
func testOwnBytes(t *testing.T, s canon.Store) {
	c := Card(1, "Hall", Open)
	c.Fields = json.RawMessage(`{"a":1}`)
	body := []byte("body")
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		tx.Row(c)
		tx.ok("PutBody", tx.Tx.PutBody(t.Context(), c.World, HashOf("body"), body))
	})
	c.Fields[2], body[0] = 'z', 'z'
	for range 2 {
		readAs(t, s, AsUser, func(e viewReader) {
			got, _ := e.findCard(1)
			b, _, err := e.r.Body(e.ctx(), c.World, HashOf("body"))
			e.ok("Body", err)
			if string(got.Fields) != `{"a":1}` || string(b) != "body" {
				t.Fatalf("the store reads %s and %s", got.Fields, b)
			}
			b[0] = 'z'
		})
	}
}
