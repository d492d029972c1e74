package storetest

import (
	"fmt"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// testReach follows the links 1 -> 2 -> 3 -> 4, 1 -> 5 -> 3 and 4 -> 1, where card 5 sorts before
// card 2, and the links through card 6, which only the gm sees, and card 7, which is in the trash.
func testReach(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	Put(t, s, Card(1, "A", Open), Card(2, "M", Open), Card(3, "C", Open), Card(4, "D", Open), Card(5, "B", Open),
		Card(6, "G", GM), Trashed(Card(7, "Gone", Open), Card(7, "", Open), 1), Card(8, "Behind", Open))
	n := 0
	write(t, s, func(tx Writer) {
		way := func(kind string, from, to int, label access.Label, since, until canon.Seq) {
			n++
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n), Kind: kind, From: CardID(from), To: CardID(to), Label: label,
				Since: since, Until: until})
		}
		way("exit", 1, 2, Open, 1, 0)      // 1
		way("exit", 2, 3, Open, 1, 0)      // 2
		way("exit", 3, 4, Open, 1, 0)      // 3
		way("path", 1, 5, Open, 1, 0)      // 4
		way("path", 5, 3, Open, 1, 0)      // 5
		way("exit", 4, 1, Open, 1, 0)      // 6
		way("exit", 1, 6, Open, 1, 0)      // 7
		way("exit", 6, 8, Open, 1, 0)      // 8
		way("exit", 1, 7, Open, 1, 0)      // 9
		way("exit", 7, 8, Open, 1, 0)      // 10
		way("exit", 1, 8, GM, 3, 0)        // 11
		way("exit", 2, 2, Open, 1, 0)      // 12
		way("exit", 5, 8, Open, 2, 4)      // 13, ended
		way("exit", 3, 2, AdminBoth, 1, 0) // 14
	})
	for _, test := range []struct {
		name string
		view access.View
		q    canon.ReachQuery
		want string // card:depth …, links
	}{
		{"no steps", AsUser, canon.ReachQuery{}, "A:0 []"},
		{"one step, by key", AsUser, canon.ReachQuery{Depth: 1}, "A:0 B:1 M:1 [1 4 12]"},
		{"each once, by the shortest way", AsUser, canon.ReachQuery{Depth: 9}, "A:0 B:1 M:1 C:2 D:3 [1 2 3 4 5 6 12]"},
		{"against the direction", AsUser, canon.ReachQuery{Depth: 1, Both: true}, "A:0 B:1 D:1 M:1 [1 4 6 12]"},
		{"of kinds", AsUser, canon.ReachQuery{Depth: 2, Kinds: []string{"path"}}, "A:0 B:1 C:2 [4 5]"},
		{"what the gm sees", AsGM, canon.ReachQuery{Depth: 1}, "A:0 B:1 Behind:1 G:1 M:1 [1 4 7 8 11 12]"},
		{"by being named", AsAlice, canon.ReachQuery{Depth: 2}, "A:0 B:1 M:1 C:2 [1 2 4 5 12 14]"},
		{"a limit cuts by key", AsUser, canon.ReachQuery{Depth: 9, Limit: 2}, "A:0 B:1 [4] cut"},
		{"a limit between steps", AsUser, canon.ReachQuery{Depth: 9, Limit: 3}, "A:0 B:1 M:1 [1 4 12] cut"},
		{"a limit that all fit in", AsUser, canon.ReachQuery{Depth: 9, Limit: 5}, "A:0 B:1 M:1 C:2 D:3 [1 2 3 4 5 6 12]"},
		{"a limit where the steps end", AsUser, canon.ReachQuery{Depth: 1, Limit: 3}, "A:0 B:1 M:1 [1 4 12]"},
		{"as of a commit", AsUser, canon.ReachQuery{Depth: 2, AsOf: 3}, "A:0 B:1 M:1 Behind:2 C:2 [1 2 4 5 12 13]"},
		{"as of its beginning", AsUser, canon.ReachQuery{Depth: 2, AsOf: 1, Kinds: []string{"exit"}}, "A:0 M:1 C:2 [1 2 12]"},
		{"the cards alone", AsUser, canon.ReachQuery{Depth: 1, CardsOnly: true}, "A:0 B:1 M:1 []"},
		{"from what is hidden", AsUser, canon.ReachQuery{From: CardID(6), Depth: 2}, "[]"},
		{"from what is in the trash", AsAdmin, canon.ReachQuery{From: CardID(7), Depth: 2}, "[]"},
		{"from nothing", AsUser, canon.ReachQuery{From: CardID(99), Depth: 2}, "[]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.q.From.IsZero() {
				test.q.From = CardID(1)
			}
			if test.q.Limit == 0 {
				test.q.Limit = 100
			}
			readAs(t, s, test.view, func(e viewReader) {
				got, err := e.r.Reach(e.ctx(), e.s, test.q)
				e.ok("Reach", err)
				if text := reachedText(got); text != test.want {
					t.Errorf("got %s\nwant %s", text, test.want)
				}
			})
		})
	}
	t.Run("links from any of some", func(t *testing.T) {
		readAs(t, s, AsUser, func(e viewReader) {
			wantLinks(e, canon.LinkQuery{Froms: []canon.CardID{CardID(2), CardID(5), CardID(6)}}, []int{2, 5, 12})
			wantLinks(e, canon.LinkQuery{Froms: []canon.CardID{CardID(1)}, To: CardID(2)}, []int{1})
		})
	})
}

func reachedText(got canon.Reached) string {
	text := ""
	for i, c := range got.Cards {
		text += fmt.Sprintf("%s:%d ", c.Name, got.Depth[i])
	}
	var links []int
	for _, l := range got.Links {
		links = append(links, int(l.ID[15]))
	}
	text += fmt.Sprint(links)
	if got.Cut {
		text += " cut"
	}
	return text
}

func testLinkMax(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	Put(t, s, Card(1, "A", Open), Card(2, "B", Open), Card(3, "C", GM),
		Trashed(Card(4, "Gone", Open), Card(4, "", Open), 1))
	n := 0
	write(t, s, func(tx Writer) {
		at := func(kind string, from, to int, label access.Label, attrs string, until canon.Seq) {
			n++
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n), Kind: kind, From: CardID(from), To: CardID(to), Label: label,
				Attrs: []byte(attrs), Since: 1, Until: until})
		}
		at("at", 1, 2, Open, `{"clock":5,"n":-4}`, 0)
		at("at", 2, 2, Open, `{"clock":-7,"n":-9}`, 0)
		at("at", 2, 1, Open, `{"clock":6.5}`, 0)
		at("at", 2, 1, Open, `{"clock":"80"}`, 0)
		at("at", 2, 1, Open, `{"clock":1e3}`, 0)
		at("at", 2, 1, Open, `{"clock":99999999999999999999}`, 0)
		at("at", 2, 1, Open, `{"other":{"clock":90}}`, 0)
		at("at", 2, 1, Open, `{"clock":60}`, 3)
		at("within", 2, 1, Open, `{"clock":70,"n":9}`, 0)
		at("at", 1, 3, Open, `{"clock":20}`, 0)
		at("at", 4, 1, Open, `{"clock":40}`, 0)
		at("at", 1, 1, AdminBoth, `{"clock":9223372036854775807}`, 0)
	})
	for _, test := range []struct {
		name, kind, attr string
		view             access.View
		want             int64
		found            bool
	}{
		{"in sight", "at", "clock", AsUser, 5, true},
		{"to what the gm sees", "at", "clock", AsGM, 20, true},
		{"by being named", "at", "clock", AsAlice, 1<<63 - 1, true},
		{"of another kind", "within", "clock", AsAdmin, 70, true},
		{"of another attribute", "at", "n", AsUser, -4, true},
		{"of no attribute", "at", "none", AsUser, 0, false},
		{"of no kind", "none", "clock", AsUser, 0, false},
		{"for nobody", "at", "clock", AsNobody, 0, false},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			got, found, err := e.r.LinkMax(e.ctx(), e.s, test.kind, test.attr)
			if err != nil || found != test.found || got != test.want {
				t.Errorf("%s: %d, %t, %v; want %d", test.name, got, found, err, test.want)
			}
		})
	}
	write(t, s, func(tx Writer) {
		tx.ok("EndLink", tx.Tx.EndLink(t.Context(), WorldID(1), LinkID(1), 9))
		tx.Link(canon.Link{World: WorldID(1), ID: LinkID(1), Kind: "at", From: CardID(1), To: CardID(2), Label: Open,
			Attrs: []byte(`{"clock":3}`), Since: 9})
	})
	readAs(t, s, AsUser, func(e viewReader) {
		if got, _, err := e.r.LinkMax(e.ctx(), e.s, "at", "clock"); err != nil || got != 3 {
			t.Errorf("after a change: %d, %v", got, err)
		}
	})
}

func testNear(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	known := func(c canon.Card, fields string) canon.Card {
		c.Fields = []byte(fields)
		return c
	}
	deep := Under(Card(1, "Marsh", Open), Card(5, "Marsh+Old Mill", Open))
	long := Under(Card(3, "The Old Mill", Open), Card(11,
		"The Old Mill+What stands beyond the weir and the water meadows+Bell", Open))
	Put(t, s, Card(1, "Marsh", Open), Card(2, "Old Mill", Open), Card(3, "The Old Mill", Open), Card(4, "Été", Open),
		deep, long,
		known(Card(6, "Grinder", Open), `{"aliases":["Old Mills","Windmill"],"sort":4}`),
		known(Card(7, "Hidden", GM), `{"aliases":["Old Mill"]}`),
		known(Card(8, "Hers", GMAlice), `{"aliases":["Old Mill",7,"","old mill"]}`),
		known(Card(9, "Odd", Open), `{"aliases":"Old Mill"}`),
		Trashed(known(Card(10, "Gone", Open), `{"aliases":["Old Mill"]}`), Card(10, "", Open), 3))
	for _, test := range []struct {
		name string
		view access.View
		text string
		f    canon.Filter
		n    int
		want []string
	}{
		{"best first, then by key", AsUser, "old mill", canon.Filter{}, 9,
			[]string{"Marsh+Old Mill", "Old Mill", "Grinder", "The Old Mill"}},
		{"with a slip of the hand", AsUser, "Old Mlil", canon.Filter{}, 2, []string{"Marsh+Old Mill", "Old Mill"}},
		{"by the last part of a long name", AsUser, "bell", canon.Filter{}, 9, []string{long.Name}},
		{"accents folded", AsUser, "ETE", canon.Filter{}, 9, []string{"Été"}},
		{"through a filter", AsUser, "old mill", canon.Filter{SortFrom: new(int64)}, 9, []string{"Grinder"}},
		{"what the gm sees", AsGM, "old mill", canon.Filter{Roots: true}, 3, []string{"Hers", "Hidden", "Old Mill"}},
		{"by being named", AsAlice, "old mill", canon.Filter{Roots: true}, 2, []string{"Hers", "Old Mill"}},
		{"nothing near", AsAdmin, "zzzzz", canon.Filter{}, 9, nil},
		{"no text", AsAdmin, "", canon.Filter{}, 9, nil},
		{"none asked for", AsAdmin, "old mill", canon.Filter{}, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				hits, err := e.r.NearCards(e.ctx(), e.s, test.text, test.f, test.n)
				e.ok("NearCards", err)
				if got := hitNames(canon.SearchResult{Hits: hits}); !slices.Equal(got, append([]string{}, test.want...)) {
					t.Errorf("got %q, want %q", got, test.want)
				}
				for _, h := range hits {
					if h.Score != canon.LikenessTo(test.text).OfCard(h.Card) || h.Score > 1 {
						t.Errorf("%s scores %v", h.Card.Name, h.Score)
					}
				}
			})
		})
	}
	alias := func(v access.View, want ...string) {
		t.Helper()
		readAs(t, s, v, func(e viewReader) {
			cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Alias: "old_mill"})
			e.ok("FindCards by Alias", err)
			if got := cardNames(cards); !slices.Equal(got, append([]string{}, want...)) {
				t.Errorf("for %v the alias means %q, want %q", v, got, want)
			}
		})
	}
	alias(AsUser, "Grinder")
	alias(AsAlice, "Grinder", "Hers")
	alias(AsGM, "Grinder", "Hers", "Hidden")
	c := Next(Card(6, "Grinder", Open), 20)
	Put(t, s, c, Next(known(Card(9, "Odd", Open), `{"aliases":["Old  mills"]}`), 20))
	alias(AsUser, "Odd")
	Put(t, s, Trashed(Next(Card(9, "Odd", Open), 21), Card(9, "", Open), 21))
	alias(AsUser)
}

func testFields(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	var cards []canon.Card
	for i, fields := range []string{`{"sort":5}`, `{"sort":-5}`, `{}`, `{"sort":5}`, `{"sort":2.5}`, `{"sort":"1"}`,
		`{"a":{"sort":1}}`, `{"sort":70}`} {
		c := Card(i+1, fmt.Sprintf("Card %c", 'H'-i), Open)
		c.Fields = []byte(fields)
		c.Codename = []string{"", fmt.Sprint("code-", i)}[i%2]
		c.Type = []string{"Lore", "Place", "Realm"}[i%3]
		cards = append(cards, c)
	}
	hidden := Card(20, "Card Z", GM)
	hidden.Fields = []byte(`{"sort":5}`)
	Put(t, s, append(cards, hidden)...)
	n := func(v int64) *int64 { return &v }
	for _, test := range []struct {
		name string
		view access.View
		f    canon.Filter
		want string
	}{
		{"by a field, then key, the others last", AsUser, canon.Filter{Sort: canon.SortField}, "G E H A B C D F"},
		{"with the gm's in its place", AsGM, canon.Filter{Sort: canon.SortField}, "G E H Z A B C D F"},
		{"from, inclusive", AsUser, canon.Filter{Sort: canon.SortField, SortFrom: n(5)}, "E H A"},
		{"to, inclusive", AsUser, canon.Filter{Sort: canon.SortField, SortTo: n(5)}, "G E H"},
		{"from and to, by name", AsUser, canon.Filter{SortFrom: n(-5), SortTo: n(69)}, "E G H"},
		{"to the end: only cards that have it", AsUser, canon.Filter{SortTo: n(1<<63 - 1)}, "A E G H"},
		{"none there", AsUser, canon.Filter{SortFrom: n(6), SortTo: n(7)}, ""},
		{"with a codename", AsUser, canon.Filter{Coded: true}, "A C E G"},
		{"of types", AsUser, canon.Filter{Types: []string{"lore", "Realms"}}, "B C E F H"},
		{"of types and a type", AsUser, canon.Filter{Types: []string{"lore", "Realms"}, Type: "lore"}, "B E H"},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				text := func(cards []canon.Card) (text string) {
					for i, c := range cards {
						if i > 0 {
							text += " "
						}
						text += c.Name[5:]
					}
					return text
				}
				all := e.listCards(test.f)
				if got := text(all); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				if len(all) > 1 {
					page, _ := e.listPage(test.f, canon.Page{Limit: 1, Offset: 1})
					if text(page) != text(all[1:2]) {
						t.Errorf("the second page is %q", text(page))
					}
				}
				res := e.searchAll(canon.SearchQuery{Q: "card", InName: true, Mode: word, Filter: test.f})
				if test.f.Sort != "" && text(cardsOf(res)) != test.want || len(res.Hits) != len(all) {
					t.Errorf("Search finds %q", text(cardsOf(res)))
				}
			})
		})
	}
}

func cardsOf(res canon.SearchResult) (cards []canon.Card) {
	for _, h := range res.Hits {
		cards = append(cards, h.Card)
	}
	return cards
}
