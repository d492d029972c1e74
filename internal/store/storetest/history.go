package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

func testHistory(t *testing.T, open func(*testing.T) canon.Store) {
	t.Run("a version reads back as it was written", func(t *testing.T) { testVersionRoundTrip(t, open(t)) })
	t.Run("versions by the count that the reader is shown", func(t *testing.T) { testByCount(t, open(t)) })
	t.Run("what was written out of sight leaves no gap", func(t *testing.T) { testNoGap(t, open(t)) })
	t.Run("feed", func(t *testing.T) { testFeed(t, open(t)) })
	t.Run("old names", func(t *testing.T) { testOldNames(t, open(t)) })
	t.Run("former names", func(t *testing.T) { testFormerNames(t, open(t)) })
}

func testVersionRoundTrip(t *testing.T, s canon.Store) {
	c := With(Card(1, "Old", AdminBoth), "body")
	c.Fields = []byte(`{"a":"<1>"}`)
	first := Version(c)
	first.Trashed, first.Purged, first.By, first.Op = true, true, "bob", "archive.update_card"
	next := Next(c, 2)
	last := Next(next, 7)
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		tx.Row(last)
		tx.Version(first)
		tx.Version(Version(next))
		tx.Version(Version(last))
		tx.ok("EndVersion", tx.Tx.EndVersion(t.Context(), c.World, CardID(9), 5))
	})
	second := Version(next)
	first.To, second.To = 2, 7
	want := []canon.Version{Version(last), second, first}
	readAs(t, s, AsAll, func(e viewReader) {
		got, total, err := e.r.Versions(e.ctx(), e.s, c.ID, everything)
		e.ok("Versions", err)
		e.checkTotal("Versions", total, 3)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Versions:\n got %+v\nwant %+v", got, want)
		}
		page, total, err := e.r.Versions(e.ctx(), e.s, c.ID, canon.Page{Limit: 1, Offset: 1})
		e.ok("Versions", err)
		e.checkTotal("Versions", total, 3)
		if !reflect.DeepEqual(page, want[1:2]) {
			t.Errorf("the second page: %+v", page)
		}
		for rev, v := range map[uint32]canon.Version{1: first, 2: second, 3: want[0]} {
			got, ok, err := e.r.VersionByRev(e.ctx(), c.World, c.ID, rev)
			if err != nil || !ok || !reflect.DeepEqual(got, v) {
				t.Errorf("VersionByRev %d: %+v, %v, %v", rev, got, ok, err)
			}
		}
		if _, ok, err := e.r.VersionByRev(e.ctx(), c.World, c.ID, 4); ok || err != nil {
			t.Errorf("VersionByRev 4: %v, %v", ok, err)
		}
	})
}

// putHistory writes versions of a card with the given labels, from revision 1 on.
func putHistory(t *testing.T, s canon.Store, labels ...access.Label) {
	t.Helper()
	c := Card(1, "Card", labels[0])
	Put(t, s, c)
	for i, l := range labels[1:] {
		c.Label, c.Own = l, l
		c = Next(c, i+2)
		Put(t, s, c)
	}
}

// testByCount checks which revision (0 for none) each view gets for the version numbers 0, 1, 2, …
func testByCount(t *testing.T, s canon.Store) {
	// revision:          1     2   3   4     5        6      7
	putHistory(t, s, Open, GM, GM, Open, GMAlice, Admin, Open)
	for _, test := range []struct {
		who  string
		view access.View
		revs []uint32
	}{
		{"a user", AsUser, []uint32{0, 1, 4, 7, 0}},
		// revision 5 also has the number 2, but revision 4 had it first
		{"a user who is named", AsAlice, []uint32{0, 1, 4, 7, 0}},
		{"a gm", AsGM, []uint32{0, 1, 2, 3, 4, 5, 7, 0}},
		{"an admin", AsAdmin, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 0}},
		{"the door", AsAll, []uint32{0, 1, 2, 3, 4, 5, 6, 7, 0}},
		{"nobody", AsNobody, []uint32{0, 0, 0, 0}},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			for n, rev := range test.revs {
				v, ok, err := e.r.VersionByCount(e.ctx(), e.s, CardID(1), uint32(n))
				e.ok("VersionByCount", err)
				if ok != (rev > 0) || v.Rev != rev {
					t.Errorf("%s asks for version %d and gets revision %d, %v; want %d", test.who, n, v.Rev, ok, rev)
				}
			}
		})
	}
	t.Run("of a card seen by being named, counted at its level", func(t *testing.T) {
		c := Card(2, "Named", Open)
		Put(t, s, c)
		c.Label, c.Own = GMAlice, GMAlice
		c = Next(c, 9)
		Put(t, s, c)
		readAs(t, s, AsAlice, func(e viewReader) {
			for n, rev := range []uint32{0, 1, 2, 0} {
				v, ok, err := e.r.VersionByCount(e.ctx(), e.s, CardID(2), uint32(n))
				e.ok("VersionByCount", err)
				if ok != (rev > 0) || v.Rev != rev {
					t.Errorf("version %d is revision %d, %v; want %d", n, v.Rev, ok, rev)
				}
			}
		})
	})
}

// testNoGap checks that the version numbers a view gets have no gaps after versions were hidden and
// revealed.
func testNoGap(t *testing.T, s canon.Store) {
	putHistory(t, s, GM, GM, Open, Admin, Open, Open)
	for _, test := range []struct {
		view access.View
		want []uint32 // numbers shown, latest first
	}{
		{AsUser, []uint32{3, 2, 1}},
		{AsGM, []uint32{5, 4, 3, 2, 1}},
		{AsAdmin, []uint32{6, 5, 4, 3, 2, 1}},
		{AsNobody, []uint32{}},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			rows, total, err := e.r.Versions(e.ctx(), e.s, CardID(1), everything)
			e.ok("Versions", err)
			e.checkTotal("Versions", total, len(test.want))
			got := []uint32{}
			for _, v := range rows {
				got = append(got, v.Counts.For(test.view.Level))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v is shown %v, want %v", test.view, got, test.want)
			}
		})
	}
	c := Card(1, "Card", GM)
	c.Rev = 6
	Put(t, s, Next(c, 9))
	readAs(t, s, AsUser, func(e viewReader) {
		rows, total, err := e.r.Versions(e.ctx(), e.s, CardID(1), everything)
		e.ok("Versions", err)
		e.checkTotal("Versions of what was hidden", total, 0)
		if len(rows) > 0 {
			t.Errorf("of what was hidden the user still reads %d versions", len(rows))
		}
	})
}

func testFeed(t *testing.T, s canon.Store) {
	a, b, gm := Card(1, "A", Open), Card(2, "B", Open), Card(3, "C", GM)
	b.Type = "Lore facts"
	a2, b2 := Next(a, 10), Next(b, 10)
	b2.UpdatedBy, b2.UpdatedAt = "bob", Time(11)
	a3 := Next(a2, 12)
	d := Card(9, "D", Open)
	a3.UpdatedAt, d.UpdatedAt, d.Seq = Time(10), Time(10), 11
	revealed := Next(gm, 20)
	revealed.Label, revealed.Own = Open, Open
	Put(t, s, a, b, gm)
	Put(t, s, b2, a2, a3, d, revealed, Trashed(Card(4, "Gone", Open), Card(4, "", Open), 30))
	for _, test := range []struct {
		name string
		view access.View
		q    canon.FeedQuery
		want string // name and revision
	}{
		{"latest first: by time, commit, then card", AsUser, canon.FeedQuery{}, "C2 B2 A3 D1 A2 B1 A1"},
		{"what was hidden when it was written stays hidden", AsGM, canon.FeedQuery{}, "C2 B2 A3 D1 A2 C1 B1 A1"},
		{"since, inclusive", AsUser, canon.FeedQuery{Since: Time(10)}, "C2 B2 A3 D1 A2"},
		{"before, exclusive", AsUser, canon.FeedQuery{Before: Time(10)}, "B1 A1"},
		{"by type, however it is spelled", AsUser, canon.FeedQuery{Type: "lore fact"}, "B2 B1"},
		{"by author", AsUser, canon.FeedQuery{Author: "bob"}, "B2"},
		{"of nobody", AsUser, canon.FeedQuery{Author: "nobody"}, ""},
		{"of a card", AsUser, canon.FeedQuery{Card: a.ID}, "A3 A2 A1"},
		{"of a card by an author", AsUser, canon.FeedQuery{Card: b.ID, Author: "bob"}, "B2"},
		{"of a card in the trash", AsGM, canon.FeedQuery{Card: CardID(4), Trash: true}, ""},
		{"of a card in the trash, for an admin", AsAdmin, canon.FeedQuery{Card: CardID(4)}, "Gone1"},
		{"but for an operation's in a span", AsUser, canon.FeedQuery{Except: []canon.Span{{From: a2.Seq, To: a2.Seq, Op: "test"},
			{From: 1, To: 1000, Op: "another"}}}, "C2 A3 D1 B1 A1"},
		{"with the trash", AsAdmin, canon.FeedQuery{Trash: true}, "C2 B2 A3 D1 A2 Gone1 C1 B1 A1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				test.q.Page = everything
				rows, total, err := e.r.Feed(e.ctx(), e.s, test.q)
				e.ok("Feed", err)
				if got := versionsText(rows); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				e.checkTotal("Feed", total, len(rows))
				for offset := range rows {
					test.q.Page = canon.Page{Limit: 2, Offset: offset}
					page, total, err := e.r.Feed(e.ctx(), e.s, test.q)
					e.ok("Feed", err)
					if versionsText(page) != versionsText(rows[offset:min(offset+2, len(rows))]) || total.Count != len(rows) {
						t.Errorf("two from %d: %q of %+v", offset, versionsText(page), total)
					}
				}
			})
		})
	}
}

// versionsText returns the names and revisions of versions as one text.
func versionsText(rows []canon.Version) string {
	text := ""
	for i, v := range rows {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(v.Name, v.Rev)
	}
	return text
}

// testOldNames renames three cards away from "Old", in commits 10, 30 and 20.
func testOldNames(t *testing.T, s canon.Store) {
	put := func(n, at int, label access.Label, name string) canon.Card {
		was := Card(n, "Old", label)
		now := Next(was, at)
		now.Name, now.Part, now.Key = name, name, markup.KeyOf(name)
		Put(t, s, was)
		Put(t, s, now)
		return now
	}
	put(1, 10, Open, "First")
	put(2, 30, Open, "Third")
	second := put(3, 20, GM, "Second")
	gone := put(4, 40, Open, "Gone")
	Put(t, s, Trashed(Next(gone, 41), gone, 41))
	moved := put(5, 50, Open, "Fifth")
	bearer := Next(moved, 60)
	bearer.Name, bearer.Part, bearer.Key = "Old", "Old", "old"
	Put(t, s, bearer)

	want := func(v access.View, key markup.Key, want ...string) {
		t.Helper()
		readAs(t, s, v, func(e viewReader) {
			cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{OldKey: key})
			e.ok("FindCards by OldKey", err)
			if got := cardNames(cards); !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("%v: %q once had %s, want %q", v, got, key, want)
			}
		})
	}
	want(AsUser, "old", "Third", "First") // a card that has the name again is left out
	want(AsGM, "old", "Third", "Second", "First")
	want(AsUser, "fifth", "Old")
	want(AsUser, "first")
	want(AsUser, "")

	// Revealing a card does not reveal its earlier name.
	second.Label, second.Own = Open, Open
	Put(t, s, Next(second, 70))
	want(AsUser, "old", "Third", "First")
	want(AsUser, "second")
}

// testFormerNames reads a version that was written under a secret name, and that later became
// visible to more views under another name.
func testFormerNames(t *testing.T, s canon.Store) {
	c := With(Card(1, "Baker", Open), "bread")
	next := Next(c, 5)
	next.Name, next.Key = "Miller", "miller"
	v := Version(c)
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		tx.Row(next)
		v.Former = canon.FormerName{Name: "Zq The Killer", Label: GMAlice}
		tx.Version(v)
		tx.Version(Version(next))
	})
	for _, test := range []struct {
		view         access.View
		name, former string // name of the version; name of the card found by the secret name
	}{
		{AsUser, "Baker", ""}, {AsAlice, "Zq The Killer", "Miller"}, {AsGM, "Zq The Killer", "Miller"},
		{AsAdmin, "Zq The Killer", "Miller"},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			wantName := func(what string, list []canon.Version, err error) {
				t.Helper()
				if err != nil || len(list) == 0 || list[len(list)-1].Name != test.name || list[len(list)-1].Former.Name != "" {
					t.Errorf("%v: %s: %+v, %v; want it called %q", test.view, what, list, err, test.name)
				}
			}
			list, _, err := e.r.Versions(e.ctx(), e.s, c.ID, everything)
			wantName("Versions", list, err)
			list, _, err = e.r.Feed(e.ctx(), e.s, canon.FeedQuery{Page: everything})
			wantName("Feed", list, err)
			one, _, err := e.r.VersionByCount(e.ctx(), e.s, c.ID, 1)
			wantName("VersionByCount", []canon.Version{one}, err)
			one, _, err = canon.First(e.r.CardsAt(e.ctx(), e.s, []canon.CardID{c.ID}, 3))
			wantName("CardsAt of one card", []canon.Version{one}, err)
			list, err = e.r.CardsAt(e.ctx(), e.s, []canon.CardID{c.ID}, 3)
			wantName("CardsAt", list, err)
			for key, want := range map[markup.Key]string{"zq_the_killer": test.former, "baker": "Miller"} {
				cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{OldKey: key})
				e.ok("FindCards by OldKey", err)
				if got := strings.Join(cardNames(cards), " "); got != want {
					t.Errorf("%v: %q once had %s, want %q", test.view, got, key, want)
				}
			}
		})
	}
	readAs(t, s, AsAll, func(e viewReader) {
		got, ok, err := e.r.VersionByRev(e.ctx(), c.World, c.ID, 1)
		v.To = 5
		if err != nil || !ok || !reflect.DeepEqual(got, v) {
			t.Errorf("VersionByRev:\n got %+v\nwant %+v\n%v", got, v, err)
		}
	})
}
