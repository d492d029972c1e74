package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func testLists(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	putListCards(t, s)
	t.Run("orders", func(t *testing.T) { testOrders(t, s) })
	t.Run("filters", func(t *testing.T) { testFilters(t, s) })
	t.Run("pages", func(t *testing.T) { testPages(t, s) })
	t.Run("keys sort by their bytes", func(t *testing.T) { testByteOrder(t, open(t)) })
	t.Run("types in use", func(t *testing.T) {
		readAs(t, s, AsUser, func(e viewReader) {
			use, err := e.r.TypeUse(e.ctx(), e.s)
			e.ok("TypeUse", err)
			if len(use) != 2 || use["rich_text"] != 5 || use["lore_fact"] != 2 {
				t.Errorf("TypeUse: %v", use)
			}
		})
	})
}

// putListCards writes seven open cards, a list of tags and a card in the trash. Some share a time of creation or
// update, and each type is spelled in two ways.
func putListCards(t *testing.T, s canon.Store) {
	t.Helper()
	at := func(c canon.Card, created, updated int) canon.Card {
		c.CreatedAt, c.UpdatedAt = Time(created), Time(updated)
		return c
	}
	typed := func(c canon.Card, typ string) canon.Card {
		c.Type = typ
		return c
	}
	game := at(Card(1, "Games", Open), 5, 40)
	Put(t, s, game,
		at(Under(game, Card(2, "Games+Été", Open)), 6, 10),
		at(Under(game, Card(3, "Games+Hero", Open)), 6, 20),
		at(typed(Card(4, "Gamer", Open), "Lore fact"), 4, 20),
		at(typed(Card(5, "Game Night", Open), "lore_facts"), 3, 20),
		at(typed(Card(6, "Straße", Open), "rich text"), 9, 30),
		at(Card(7, "été d'or", Open), 1, 50),
		Under(game, Card(9, "Games+tags", Open)),
		Trashed(at(Card(8, "Games+Gone", Open), 1, 99), Card(8, "", Open), 1))
	write(t, s, func(tx Writer) {
		tx.Refs(Card(9, "Games+tags", Open), canon.Ref{Kind: canon.RefTag, Target: "big_thing", Name: "Big Things"},
			canon.Ref{Kind: canon.RefLink, Target: "linked", Name: "linked"})
	})
}

func testOrders(t *testing.T, s canon.Store) {
	for _, test := range []struct {
		sort canon.Sort
		want []string
	}{
		{"", []string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer", "Straße", "été d'or"}},
		{canon.SortName, []string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer", "Straße",
			"été d'or"}},
		{canon.SortRank, []string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer", "Straße",
			"été d'or"}},
		{canon.SortUpdated, []string{"été d'or", "Games", "Straße", "Games+Hero", "Game Night", "Gamer", "Games+Été"}},
		{canon.SortCreated, []string{"Straße", "Games+Hero", "Games+Été", "Games", "Gamer", "Game Night",
			"été d'or"}},
	} {
		readAs(t, s, AsUser, func(e viewReader) {
			if got := cardNames(e.listCards(canon.Filter{Sort: test.sort})); !slices.Equal(got, test.want) {
				t.Errorf("sorted by %q:\n got %q\nwant %q", test.sort, got, test.want)
			}
		})
	}
}

func testFilters(t *testing.T, s canon.Store) {
	for _, test := range []struct {
		name   string
		filter canon.Filter
		want   []string
	}{
		{"a piece of the name", canon.Filter{NameContains: "ame"},
			[]string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer"}},
		{"in any case and without accents", canon.Filter{NameContains: "ETE"}, []string{"Games+Été", "été d'or"}},
		{"with accents where there are none", canon.Filter{NameContains: "Gámer"}, []string{"Gamer"}},
		{"over the joint of parts", canon.Filter{NameContains: "s+h"}, []string{"Games+Hero"}},
		{"signs stand for themselves", canon.Filter{NameContains: "%"}, []string{}},
		{"also these", canon.Filter{NameContains: "Game_"}, []string{}},
		{"an apostrophe", canon.Filter{NameContains: "D'O"}, []string{"été d'or"}},
		{"what the name begins with", canon.Filter{NameStarts: "game"},
			[]string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer"}},
		{"and with the joint", canon.Filter{NameStarts: "GAMES+e", Prefix: "game"}, []string{"Games+Été"}},
		{"not what it contains", canon.Filter{NameStarts: "ame"}, []string{}},
		{"one letter", canon.Filter{NameStarts: "s"}, []string{"Straße"}},
		{"a prefix of whole parts", canon.Filter{Prefix: "game"}, []string{"Games", "Games+Hero", "Games+Été"}},
		{"what lies below a name", canon.Filter{Below: "game"}, []string{"Games+Hero", "Games+Été"}},
		{"below a name that is no whole part", canon.Filter{Below: "gam"}, []string{}},
		{"a prefix that is no whole part", canon.Filter{Prefix: "gam"}, []string{}},
		{"a glob left out", canon.Filter{NotName: "Games*"}, []string{"Gamer", "Straße", "été d'or"}},
		{"a glob of parts left out", canon.Filter{NotName: "*+hero", Prefix: "game"}, []string{"Games", "Games+Été"}},
		{"with lists of tags", canon.Filter{Prefix: "game", TagLists: true},
			[]string{"Games", "Games+Hero", "Games+tags", "Games+Été"}},
		{"with lists of tags, by type", canon.Filter{Type: "rich text", Parent: CardID(1), TagLists: true,
			Sort: canon.SortUpdated}, []string{"Games+Hero", "Games+Été", "Games+tags"}},
		{"a type, however it is spelled", canon.Filter{Type: "Lore Facts"}, []string{"Game Night", "Gamer"}},
		{"a type nobody has", canon.Filter{Type: "Lore"}, []string{}},
		{"a tag, however it is spelled", canon.Filter{Tag: "big thing"}, []string{"Games"}},
		{"a level", canon.Filter{Level: access.LevelUser, Prefix: "game"}, []string{"Games", "Games+Hero", "Games+Été"}},
		{"a level above the view", canon.Filter{Level: access.LevelGM}, []string{}},
		{"a link is no tag", canon.Filter{Tag: "linked"}, []string{}},
		{"updated since, inclusive", canon.Filter{UpdatedSince: Time(40)}, []string{"Games", "été d'or"}},
		{"updated before, exclusive", canon.Filter{UpdatedBefore: Time(20)}, []string{"Games+Été"}},
		{"updated a hair later", canon.Filter{UpdatedSince: Time(40).Add(time.Millisecond)}, []string{"été d'or"}},
		{"updated between", canon.Filter{UpdatedSince: Time(20), UpdatedBefore: Time(30)},
			[]string{"Games+Hero", "Game Night", "Gamer"}},
		{"children", canon.Filter{Parent: CardID(1)}, []string{"Games+Hero", "Games+Été"}},
		{"roots", canon.Filter{Roots: true}, []string{"Games", "Game Night", "Gamer", "Straße", "été d'or"}},
		{"all of it at once", canon.Filter{NameContains: "game", Prefix: "game", NotName: "*+gone", Type: "RichText",
			UpdatedSince: Time(1), Parent: CardID(1), Sort: canon.SortUpdated}, []string{"Games+Hero", "Games+Été"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, AsUser, func(e viewReader) {
				if got := cardNames(e.listCards(test.filter)); !slices.Equal(got, test.want) {
					t.Errorf(" got %q\nwant %q", got, test.want)
				}
			})
		})
	}
}

func testPages(t *testing.T, s canon.Store) {
	all := []string{"Games", "Games+Hero", "Games+Été", "Game Night", "Gamer", "Straße", "été d'or"}
	for _, test := range []struct {
		name     string
		page     canon.Page
		from, to int
	}{
		{"the first", canon.Page{Limit: 1}, 0, 1},
		{"one in the middle", canon.Page{Limit: 1, Offset: 3}, 3, 4},
		{"the last", canon.Page{Limit: 1, Offset: 6}, 6, 7},
		{"over the end", canon.Page{Limit: 5, Offset: 5}, 5, 7},
		{"just past the end", canon.Page{Limit: 5, Offset: 7}, 7, 7},
		{"far past the end", canon.Page{Limit: 5, Offset: 1 << 40}, 7, 7},
		{"more than there is", canon.Page{Limit: math.MaxInt}, 0, 7},
		{"more than there is, from the middle", canon.Page{Limit: math.MaxInt, Offset: 4}, 4, 7},
	} {
		readAs(t, s, AsUser, func(e viewReader) {
			cards, total := e.listPage(canon.Filter{}, test.page)
			if got, want := cardNames(cards), all[test.from:test.to]; !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", test.name, got, want)
			}
			e.checkTotal(test.name, total, len(all))
		})
	}
}

// testByteOrder writes cards whose keys sort differently by bytes than in any dictionary.
func testByteOrder(t *testing.T, s canon.Store) {
	want := []string{"*star", "1", "10", "2", "a", "a+z", "a b", "ab", "Z", "ä", "Ω", "日本", "𝟘"}
	for i := range want {
		Put(t, s, Card(len(want)-i, want[len(want)-1-i], Open))
	}
	Put(t, s, Card(101, "ab", GM), Card(100, "ab", Admin))
	readAs(t, s, AsUser, func(e viewReader) {
		if got := cardNames(e.listCards(canon.Filter{})); !slices.Equal(got, want) {
			t.Errorf("by key:\n got %q\nwant %q", got, want)
		}
	})
	readAs(t, s, AsAdmin, func(e viewReader) {
		cards := e.listCards(canon.Filter{NameContains: "ab"})
		if got := cardIDs(cards); !slices.Equal(got, []canon.CardID{CardID(8), CardID(100), CardID(101)}) {
			t.Errorf("cards of one key: %v, want them by id", got)
		}
	})
}
