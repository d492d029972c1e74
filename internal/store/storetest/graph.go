package storetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// refTo returns a reference to a name.
func refTo(kind canon.RefKind, name string) canon.Ref {
	return canon.Ref{Kind: kind, Target: markup.KeyOf(name), Name: name}
}

func withAlias(c canon.Card, alias string) canon.Card {
	c.Fields = fmt.Appendf(nil, `{"aliases":[%q]}`, alias)
	return c
}

const (
	link = canon.RefLink
	nest = canon.RefNest
	tag  = canon.RefTag
)

func testRefs(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	a, b, gm := Card(1, "A", Open), Card(2, "B", Open), Card(3, "C", GM)
	aTags, bTags := Under(a, Card(4, "A+tags", Open)), Under(b, Card(5, "B+tags", GM))
	orphan := Under(a, Card(6, "A+missing+tags", Open))
	Put(t, s, b, a, gm, aTags, bTags, orphan, Card(8, "Below", GM), withAlias(Card(9, "Open", Open), "Aliased"),
		withAlias(Card(10, "Plotter", GM), "Before"), withAlias(Card(11, "Hers", GMAlice), "C"),
		Trashed(withAlias(Card(12, "Lost", Open), "Zed"), Card(12, "", Open), 9))
	write(t, s, func(tx Writer) {
		tx.Refs(a, refTo(link, "Replaced"))
		tx.Refs(a, refTo(link, "Zed"), refTo(nest, "B"), refTo(link, "b"), refTo(link, "Zeds"), refTo(link, "C"),
			refTo(link, "Aliased"))
		tx.Refs(b, refTo(link, "zed"), refTo(link, "Before"), refTo(link, "Below"), refTo(nest, "Nested"), refTo(link, "A"))
		tx.Refs(gm, refTo(link, "zed"), refTo(link, "B"))
		tx.Refs(aTags, refTo(tag, "Sea Port"), refTo(tag, "ruins"), refTo(link, "Linked"))
		tx.Refs(bTags, refTo(tag, "sea ports"), refTo(tag, "Secret"))
		tx.Refs(orphan, refTo(tag, "Lost"))
		gone := Trashed(Card(7, "Gone", Open), Card(7, "", Open), 9)
		tx.Card(gone, "")
		tx.Refs(gone, refTo(link, "Zed"), refTo(link, "B"))
	})
	t.Run("from a card and to a target", func(t *testing.T) { testRefQueries(t, s) })
	t.Run("wanted", func(t *testing.T) { testWanted(t, s) })
	t.Run("tags", func(t *testing.T) { testTags(t, s) })
	t.Run("none removes", func(t *testing.T) {
		write(t, s, func(tx Writer) { tx.Refs(a) })
		readAs(t, s, AsAll, func(e viewReader) {
			rows, total, err := e.r.Refs(e.ctx(), e.s, canon.RefQuery{From: a.ID, Page: everything})
			if err != nil || len(rows) > 0 || total.Count > 0 {
				t.Errorf("%v, %+v, %v", rows, total, err)
			}
		})
	})
}

func testRefQueries(t *testing.T, s canon.Store) {
	for _, test := range []struct {
		name string
		view access.View
		q    canon.RefQuery
		want string // source card, order, target
	}{
		{"from a card by kind, then order", AsUser, canon.RefQuery{From: CardID(1)}, "A0:zed A2:b A3:zed A4:c A5:aliased A1:b"},
		{"of one kind", AsUser, canon.RefQuery{From: CardID(1), Kind: nest}, "A1:b"},
		{"to a target by source, then kind", AsUser, canon.RefQuery{Target: "b"}, "A2:b A1:b"},
		{"to a target, for the gm", AsGM, canon.RefQuery{Target: "b"}, "A2:b A1:b C1:b"},
		{"of one kind to a target", AsGM, canon.RefQuery{Target: "b", Kind: link}, "A2:b C1:b"},
		{"to what is not there", AsUser, canon.RefQuery{Target: "zed"}, "A0:zed A3:zed B0:zed"},
		{"tags of a card are its tag card's", AsUser, canon.RefQuery{From: CardID(4), Kind: tag},
			"A+tags0:sea_port A+tags1:ruin"},
		{"from what is hidden", AsUser, canon.RefQuery{From: CardID(3)}, ""},
		{"from what is in the trash", AsAll, canon.RefQuery{From: CardID(7)}, ""},
		{"to nothing", AsAll, canon.RefQuery{Target: "replaced"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				test.q.Page = everything
				rows, total, err := e.r.Refs(e.ctx(), e.s, test.q)
				e.ok("Refs", err)
				e.checkTotal("Refs", total, len(rows))
				if got := refsText(rows); got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
				for offset := range rows {
					test.q.Page = canon.Page{Limit: 1, Offset: offset}
					page, total, err := e.r.Refs(e.ctx(), e.s, test.q)
					e.ok("Refs", err)
					if refsText(page) != refsText(rows[offset:offset+1]) || total.Count != len(rows) {
						t.Errorf("one from %d: %q of %+v", offset, refsText(page), total)
					}
				}
			})
		})
	}
	readAs(t, s, AsUser, func(e viewReader) {
		rows, _, err := e.r.Refs(e.ctx(), e.s, canon.RefQuery{From: CardID(1), Page: canon.Page{Limit: 1}})
		e.ok("Refs", err)
		a, _ := e.findCard(1)
		if want := (canon.RefRow{Ref: canon.Ref{From: CardID(1), Kind: link, Target: "zed", Name: "Zed"},
			Card: a}); !reflect.DeepEqual(rows[0], want) {
			t.Errorf("a row: %+v, want %+v", rows[0], want)
		}
	})
}

func refsText(rows []canon.RefRow) string {
	text := ""
	for i, r := range rows {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%s%d:%s", r.Card.Name, r.Ref.Order, r.Ref.Target)
	}
	return text
}

func testWanted(t *testing.T, s canon.Store) {
	for _, test := range []struct {
		view access.View
		page canon.Page
		want []canon.Wanted
		of   int
	}{
		{AsUser, everything, []canon.Wanted{{Key: "zed", Name: "Zed", Count: 2}, {Key: "before", Name: "Before", Count: 1},
			{Key: "below", Name: "Below", Count: 1}, {Key: "c", Name: "C", Count: 1}}, 4},
		{AsGM, everything, []canon.Wanted{{Key: "zed", Name: "Zed", Count: 3}}, 1},
		{AsAlice, everything, []canon.Wanted{{Key: "zed", Name: "Zed", Count: 2}, {Key: "before", Name: "Before", Count: 1},
			{Key: "below", Name: "Below", Count: 1}}, 3},
		{AsUser, canon.Page{Limit: 2, Offset: 1}, []canon.Wanted{{Key: "before", Name: "Before", Count: 1},
			{Key: "below", Name: "Below", Count: 1}}, 4},
		// no row carries the total, so it is counted separately
		{access.View{Subject: "nobody"}, canon.Page{Limit: 2, Offset: 1}, nil, 0},
		{AsUser, canon.Page{Limit: 2, Offset: 5}, nil, 4},
		{AsNobody, everything, nil, 0},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			got, total, err := e.r.Wanted(e.ctx(), e.s, test.page)
			e.ok("Wanted", err)
			if !sameRows(got, test.want) {
				t.Errorf("Wanted for %v, %+v: %+v, want %+v", test.view, test.page, got, test.want)
			}
			e.checkTotal("Wanted", total, test.of)
		})
	}
}

func testTags(t *testing.T, s canon.Store) {
	port, ruins, secret := canon.TagCount{Key: "sea_port", Name: "Sea Port", Count: 1},
		canon.TagCount{Key: "ruin", Name: "ruins", Count: 1}, canon.TagCount{Key: "secret", Name: "Secret", Count: 1}
	ports := port
	ports.Count = 2
	for _, test := range []struct {
		view   access.View
		prefix string
		page   canon.Page
		want   []canon.TagCount
		of     int
	}{
		{AsUser, "", everything, []canon.TagCount{ruins, port}, 2},
		{AsGM, "", everything, []canon.TagCount{ports, ruins, secret}, 3},
		{AsGM, "", canon.Page{Limit: 1, Offset: 1}, []canon.TagCount{ruins}, 3},
		{AsGM, "SEA p", everything, []canon.TagCount{ports}, 1},
		{AsGM, "ruíns", everything, []canon.TagCount{ruins}, 1},
		{AsGM, "port", everything, nil, 0},
		{AsUser, "secret", everything, nil, 0},
		{AsNobody, "", everything, nil, 0},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			got, total, err := e.r.Tags(e.ctx(), e.s, test.prefix, test.page)
			e.ok("Tags", err)
			if !sameRows(got, test.want) {
				t.Errorf("Tags %q for %v: %+v, want %+v", test.prefix, test.view, got, test.want)
			}
			e.checkTotal("Tags", total, test.of)
		})
	}
	readAs(t, s, AsUser, func(e viewReader) {
		if got := cardNames(e.listCards(canon.Filter{Tag: "Lost"})); len(got) > 0 {
			t.Errorf("tags of a card that is missing are borne by %q", got)
		}
	})
}

func testLinks(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	Put(t, s, Card(1, "A", Open), Card(2, "B", Open), Card(3, "C", GM),
		Trashed(Card(4, "Gone", Open), Card(4, "", Open), 1))
	full := canon.Link{World: WorldID(1), ID: LinkID(1), Kind: "exit", From: CardID(1), To: CardID(2),
		Attrs: json.RawMessage(`{"a":"<é>"}`), Label: AdminBoth, Since: 3, At: Time(3)}
	plain := func(n int, kind string, from, to int, since canon.Seq) canon.Link {
		return canon.Link{World: WorldID(1), ID: LinkID(n), Kind: kind, From: CardID(from), To: CardID(to), Label: Open,
			Since: since, At: Time(int(since))}
	}
	moved := plain(2, "at", 1, 1, 5)
	write(t, s, func(tx Writer) {
		end := func(n int, at canon.Seq) { tx.ok("EndLink", tx.Tx.EndLink(t.Context(), WorldID(1), LinkID(n), at)) }
		tx.Link(plain(5, "within", 2, 1, 1))
		tx.Link(full)
		tx.Link(plain(2, "at", 1, 2, 2))
		end(2, 5)
		tx.Link(moved)
		tx.Link(plain(3, "holds", 1, 2, 2))
		end(3, 4)
		tx.Link(plain(4, "at", 1, 3, 2)) // to a card that only the gm sees
		tx.Link(plain(6, "at", 1, 4, 2)) // to a card in the trash
		tx.Link(plain(7, "brief", 1, 2, 6))
		end(7, 6)
		tx.Link(plain(8, "again", 1, 2, 6))
		end(8, 6)
		tx.Link(plain(8, "again", 2, 1, 6)) // the final state of the same commit
		tx.Link(plain(9, "at", 1, 2, 1))
		end(9, 3)
		tx.Link(plain(9, "at", 2, 1, 3))
		end(9, 7)
		end(99, 9)
	})
	for _, test := range []struct {
		name string
		view access.View
		q    canon.LinkQuery
		want []int
	}{
		{"all, by id", AsUser, canon.LinkQuery{}, []int{2, 5, 8}},
		{"with what the gm sees", AsGM, canon.LinkQuery{}, []int{2, 4, 5, 8}},
		{"by being named", AsAlice, canon.LinkQuery{}, []int{1, 2, 5, 8}},
		{"from a card", AsGM, canon.LinkQuery{From: CardID(1)}, []int{2, 4}},
		{"to a card", AsUser, canon.LinkQuery{To: CardID(1)}, []int{2, 5, 8}},
		{"between cards", AsUser, canon.LinkQuery{From: CardID(1), To: CardID(1)}, []int{2}},
		{"of kinds", AsUser, canon.LinkQuery{Kinds: []string{"within", "at"}}, []int{2, 5}},
		{"of no known kind", AsUser, canon.LinkQuery{Kinds: []string{"nope"}}, nil},
		{"before there were any", AsUser, canon.LinkQuery{AsOf: 0, Kinds: []string{"brief"}}, nil},
		{"as of 1", AsAdmin, canon.LinkQuery{AsOf: 1}, []int{5, 9}},
		{"as of 2", AsAdmin, canon.LinkQuery{AsOf: 2}, []int{2, 3, 4, 5, 9}},
		{"as of 3, one still there", AsAdmin, canon.LinkQuery{AsOf: 3}, []int{1, 2, 3, 4, 5, 9}},
		{"as of 4, just ended", AsAdmin, canon.LinkQuery{AsOf: 4}, []int{1, 2, 4, 5, 9}},
		{"as of 6", AsAdmin, canon.LinkQuery{AsOf: 6}, []int{1, 2, 4, 5, 8, 9}},
		{"as of 4, to where they led", AsAdmin, canon.LinkQuery{AsOf: 4, To: CardID(2)}, []int{1, 2}},
		{"as of later", AsAdmin, canon.LinkQuery{AsOf: 600}, []int{1, 2, 4, 5, 8}},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) { wantLinks(e, test.q, test.want) })
		})
	}
	readAs(t, s, AsAdmin, func(e viewReader) {
		for n, want := range map[int]canon.Link{1: full, 2: moved} {
			got, ok := e.findLink(n)
			if !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("link %d: %+v, %v; want %+v", n, got, ok, want)
			}
		}
		for _, n := range []int{3, 6, 7, 99} {
			if got, ok := e.findLink(n); ok || !reflect.DeepEqual(got, canon.Link{}) {
				t.Errorf("link %d, which is no more: %+v, %v", n, got, ok)
			}
		}
	})
}

func wantLinks(e viewReader, q canon.LinkQuery, want []int) {
	e.t.Helper()
	q.Page = everything
	rows, total, err := e.r.Links(e.ctx(), e.s, q)
	e.ok("Links", err)
	e.checkTotal("Links", total, len(want))
	var got []int
	for _, l := range rows {
		got = append(got, int(l.ID[15]))
	}
	if !slices.Equal(got, want) {
		e.t.Errorf("Links: %v, want %v", got, want)
	}
	for offset := range rows {
		q.Page = canon.Page{Limit: 2, Offset: offset}
		page, total, err := e.r.Links(e.ctx(), e.s, q)
		e.ok("Links", err)
		if !reflect.DeepEqual(page, rows[offset:min(offset+2, len(rows))]) || total.Count != len(rows) {
			e.t.Errorf("two from %d: %+v of %+v", offset, page, total)
		}
	}
}

func testLayers(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	Put(t, s, Card(1, "Place", Open), Card(2, "Other", Open), Card(3, "Hidden", GM),
		Trashed(Card(4, "Gone", Open), Card(4, "", Open), 1))
	layer := func(n, card int, kind string, from, to int64, since canon.Seq) canon.Layer {
		return canon.Layer{World: WorldID(1), ID: LayerID(n), Card: CardID(card), Kind: kind, Text: fmt.Sprintf("té %d", n),
			FromTick: from, ToTick: to, Label: Open, Since: since, At: Time(int(since))}
	}
	rewritten := layer(3, 1, "dynamic", 0, 50, 6)
	rewritten.Label = AdminBoth
	write(t, s, func(tx Writer) {
		end := func(n int, at canon.Seq) { tx.ok("EndLayer", tx.Tx.EndLayer(t.Context(), WorldID(1), LayerID(n), at)) }
		tx.Layer(layer(1, 1, "base", 0, 0, 1))
		tx.Layer(layer(2, 1, "weather", 100, 200, 4))
		tx.Layer(layer(3, 1, "dynamic", -100, 0, 2))
		end(3, 6)
		tx.Layer(rewritten)
		tx.Layer(layer(4, 1, "ambient", 100, 100, 4))
		tx.Layer(layer(5, 1, "base", 0, 0, 1))
		end(5, 3)
		tx.Layer(layer(6, 2, "base", 0, 0, 1))
		tx.Layer(layer(7, 3, "base", 0, 0, 1))
		tx.Layer(layer(8, 4, "base", 0, 0, 1))
		end(99, 1)
	})
	for _, test := range []struct {
		name string
		view access.View
		q    canon.LayerQuery
		want []int
	}{
		{"latest written first", AsUser, canon.LayerQuery{Card: CardID(1)}, []int{4, 2, 1}},
		{"by being named", AsAlice, canon.LayerQuery{Card: CardID(1)}, []int{3, 4, 2, 1}},
		{"before its first tick", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: 99}, []int{1}},
		{"at its first tick", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: 100}, []int{4, 2, 1}},
		{"in between", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: 101}, []int{2, 1}},
		{"at its last tick", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: 200}, []int{2, 1}},
		{"after its last tick", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: 201}, []int{1}},
		{"before time", AsUser, canon.LayerQuery{Card: CardID(1), Active: true, Tick: -1}, nil},
		{"at tick 0", AsAlice, canon.LayerQuery{Card: CardID(1), Active: true}, []int{3, 1}},
		{"as of 1", AsUser, canon.LayerQuery{Card: CardID(1), AsOf: 1}, []int{5, 1}},
		{"as of 3", AsUser, canon.LayerQuery{Card: CardID(1), AsOf: 3}, []int{3, 1}},
		{"as of 3, before time", AsUser, canon.LayerQuery{Card: CardID(1), AsOf: 3, Active: true, Tick: -50}, []int{3}},
		{"as of 6", AsUser, canon.LayerQuery{Card: CardID(1), AsOf: 6}, []int{4, 2, 1}},
		{"of another card", AsUser, canon.LayerQuery{Card: CardID(2)}, []int{6}},
		{"of any of some cards", AsUser, canon.LayerQuery{Cards: []canon.CardID{CardID(3), CardID(2), CardID(1), CardID(9)},
			Active: true, Tick: 101}, []int{2, 6, 1}},
		{"of any, at another time", AsAlice, canon.LayerQuery{Cards: []canon.CardID{CardID(2), CardID(1)}, AsOf: 3},
			[]int{3, 6, 1}},
		{"of none", AsAll, canon.LayerQuery{}, nil},
		{"of a hidden card", AsUser, canon.LayerQuery{Card: CardID(3)}, nil},
		{"of a card in the trash", AsAll, canon.LayerQuery{Card: CardID(4)}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				rows, err := e.r.Layers(e.ctx(), e.s, test.q)
				e.ok("Layers", err)
				var got []int
				for _, l := range rows {
					got = append(got, int(l.ID[15]))
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		})
	}
	readAs(t, s, AsAlice, func(e viewReader) {
		got, ok := e.findLayer(3)
		if !ok || !reflect.DeepEqual(got, rewritten) {
			t.Errorf("layer 3: %+v, %v; want %+v", got, ok, rewritten)
		}
		for _, n := range []int{5, 7, 8, 99} {
			if _, ok := e.findLayer(n); ok {
				t.Errorf("layer %d: %v", n, ok)
			}
		}
	})
}
