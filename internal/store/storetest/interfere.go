package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/raceenabled"
)

// testInterference fills two stores with the same data that a view may see, and with different data
// that it may not see. One store has no hidden data. The other has, between, before and after the
// visible data: more cards of the same names, words, references, tags and types, links, layers,
// versions, cards that were visible once, and a full trash. Both stores must give byte-identical
// results.
func testInterference(t *testing.T, open func(*testing.T) canon.Store) {
	if raceenabled.Detected {
		t.Skip("one caller asks thousands of questions; make test asks them without the race detector")
	}
	bob := access.NewLabel(access.LevelGM, "bob")
	for _, test := range []struct {
		name   string
		view   access.View
		shown  []access.Label
		hidden []access.Label
	}{
		{"user against gm and admin", AsUser, []access.Label{Open}, []access.Label{GM, Admin, GMAlice}},
		{"gm against admin", AsGM, []access.Label{Open, GM, bob}, []access.Label{Admin, AdminBoth}},
		{"a named user against the unnamed", AsAlice, []access.Label{Open, GMAlice, AdminBoth},
			[]access.Label{GM, Admin, bob}},
		{"nobody against all", AsNobody, nil, []access.Label{Open, GM, Admin, GMAlice}},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone, beside := open(t), open(t)
			fillSeen(t, alone, test.shown, nil)
			fillSeen(t, beside, test.shown, test.hidden)
			a, b := collectAnswers(t, alone, test.view), collectAnswers(t, beside, test.view)
			for i := range a {
				if a[i] != b[i] {
					t.Errorf("what is hidden shows:\nwithout it %s\n   with it %s", a[i], b[i])
				}
			}
			if test.shown != nil && len(a) < 100 {
				t.Errorf("only %d questions were asked", len(a))
			}
		})
	}
}

// seenCards is the number of visible cards in a world; each is followed by one hidden card per
// hidden label.
const seenCards = 40

var seenWords = []string{"lantern", "ferry", "road", "mist", "tide", "bell", "rare"}

func fillSeen(t *testing.T, s canon.Store, shown, hidden []access.Label) {
	t.Helper()
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		// Hidden cards take the ids after those of the visible cards.
		for i := range seenCards {
			for j, l := range hidden {
				putHiddenCard(tx, 1000+i*10+j, i, l)
			}
			if len(shown) > 0 {
				putSeenCard(tx, i, shown[i%len(shown)])
			}
			if len(shown) > 0 && len(hidden) > 0 {
				// The name of the card before it became visible.
				was := Version(seenCard(i, shown[i%len(shown)]))
				was.Former = canon.FormerName{Name: fmt.Sprintf("Once %d", 1000+i*10), Label: hidden[i%len(hidden)]}
				tx.Version(was)
				putHiddenTags(tx, i, shown[i%len(shown)], hidden)
			}
		}
		for j, l := range hidden {
			for i := range 60 {
				putHiddenCard(tx, 3000+i*10+j, i, l)
			}
		}
	})
}

// putHiddenTags gives the ith visible card, if everyone sees it, a list of tags that only zed may see.
func putHiddenTags(tx Writer, i int, shown access.Label, hidden []access.Label) {
	if !shown.Equal(Open) {
		return
	}
	c := seenCard(i, shown)
	tags := Under(c, Card(20_000+i, c.Name+"+tags", access.NewLabel(hidden[i%len(hidden)].Level, "zed")))
	tx.Card(tags, "lantern secret")
	tx.Refs(tags, refTo(tag, fmt.Sprintf("tag %d", (i+1)%3)), refTo(tag, "secret"), refTo(tag, "Wanted in secret"))
	tx.Index(tags, &canon.SearchDoc{Name: tags.Name, Text: "lantern secret"})
}

// seenCard returns the ith visible card.
func seenCard(i int, l access.Label) canon.Card {
	c := Card(i+1, fmt.Sprintf("Place %d %s", i, seenWords[i%len(seenWords)]), l)
	c.Type = []string{"RichText", "Lore"}[i%2]
	c.Fields = fmt.Appendf(nil, `{"aliases":["%s House"],"sort":%d}`, seenWords[i%len(seenWords)], i%9)
	return c
}

// putSeenCard writes the ith visible card with its references, tags, links, layer and event.
func putSeenCard(tx Writer, i int, l access.Label) {
	c := seenCard(i, l)
	tx.Card(c, seenText(i))
	tx.Refs(c, refTo(link, fmt.Sprintf("Wanted %d", i%5)), refTo(link, "Place 0 lantern"), refTo(nest, "Place 1 ferry"))
	tags := Under(c, Card(100+i, c.Name+"+tags", l))
	tx.Card(tags, "")
	tx.Refs(tags, refTo(tag, fmt.Sprintf("tag %d", i%3)))
	tx.Link(canon.Link{World: WorldID(1), ID: LinkID(i + 1), Kind: "exit", From: c.ID, To: tags.ID, Label: l,
		Since: canon.Seq(i + 1)})
	tx.Link(canon.Link{World: WorldID(1), ID: LinkID(i + 1001), Kind: "at", From: c.ID, To: Card(1, "", l).ID, Label: l,
		Since: canon.Seq(i + 1), Attrs: fmt.Appendf(nil, `{"clock":%d}`, i)})
	tx.Layer(canon.Layer{World: WorldID(1), ID: LayerID(i + 1), Card: c.ID, Kind: "base", Text: "seen", Label: l,
		Since: canon.Seq(i + 1)})
	tx.Event(Event(i+1, []string{"moved", "said"}[i%2], fmt.Sprintf("place:%d", i%3), l))
}

func seenText(i int) string {
	text := ""
	for j, w := range seenWords {
		if i%(j+1) == 0 {
			text += w + " "
		}
	}
	return text + fmt.Sprintf("word%d", i)
}

// putHiddenCard writes the nth hidden card. It resembles the ith visible card except for its label.
func putHiddenCard(tx Writer, n, i int, l access.Label) {
	like := Card(i+1, fmt.Sprintf("Place %d %s", i, seenWords[i%len(seenWords)]), l)
	c := like
	c.ID, c.CreatedAt, c.UpdatedAt, c.Seq = CardID(n), Time(n), Time(n), canon.Seq(n)
	if n >= 3000 {
		c.Name = fmt.Sprintf("Place %d", n)
		c.Key = markup.KeyOf(c.Name)
	}
	c.Codename, c.Type = fmt.Sprintf("shade %d", n), "Secret kind"
	c.Fields = []byte(`{"aliases":["Lantern House","Ferry House"],"sort":3}`)
	once := c // its first version was open, under another name
	once.Label, once.Name = Open, fmt.Sprintf("Once %d", n)
	once.Key = markup.KeyOf(once.Name)
	tx.Card(once, "lantern once "+seenText(i))
	c.Rev, c.Seq, c.UpdatedAt = 2, c.Seq+1, Time(n+1)
	tx.Card(c, "lantern lantern secret rare "+seenText(i))
	tx.Refs(c, refTo(link, fmt.Sprintf("Wanted %d", i%5)), refTo(link, "Wanted in secret"), refTo(link, "Place 0 lantern"))
	tags := Under(c, Card(n+5, c.Name+"+tags", l))
	tx.Card(tags, "")
	tx.Refs(tags, refTo(tag, fmt.Sprintf("tag %d", i%3)), refTo(tag, "secret"))
	tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n), Kind: "exit", From: c.ID, To: c.ID, Label: Open, Since: 1})
	tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n + 10_000), Kind: "at", From: CardID(1), To: c.ID, Label: Open,
		Since: 9, Attrs: []byte(`{"clock":9999}`)})
	tx.Layer(canon.Layer{World: WorldID(1), ID: LayerID(n), Card: c.ID, Kind: "base", Text: "secret", Label: Open,
		Since: 1})
	tx.Event(Event(n, []string{"moved", "said"}[i%2], fmt.Sprintf("place:%d", i%3), l))
	gone := Trashed(Card(n+5000, fmt.Sprintf("Place %d", n), l), Card(n+5000, "", l), n)
	tx.Card(gone, "")
}

// collectAnswers returns the results that a view gets, one line per query.
func collectAnswers(t *testing.T, s canon.Store, v access.View) (out []string) {
	t.Helper()
	add := func(name string, err error, parts ...any) {
		b, jerr := json.Marshal(parts)
		out = append(out, fmt.Sprintf("%s: %s %v %v", name, b, err, jerr))
	}
	readAs(t, s, v, func(e viewReader) {
		ctx := e.ctx()
		for _, q := range slices.Concat(cardQuestions, rowQuestions) {
			got, total := q.ask(e)
			add(q.name, nil, got, total)
		}
		for _, p := range []canon.Page{everything, {Limit: 3, Offset: 2}, {Limit: 5, Offset: 38}} {
			askLists(e, p, add)
			askSearches(e, p, add)
		}
		for i := 1; i <= 140; i += 7 {
			c, ok, err := canon.First(e.r.FindCards(ctx, e.s, canon.CardQuery{ID: CardID(i)}))
			add("FindCards by ID", err, c, ok)
			v, n, err := e.r.Versions(ctx, e.s, CardID(i), everything)
			add("Versions", err, v, n)
			layers, err := e.r.Layers(ctx, e.s, canon.LayerQuery{Card: CardID(i)})
			add("Layers", err, layers)
			name := fmt.Sprintf("Place %d %s", i, seenWords[i%len(seenWords)])
			cards, err := e.r.FindCards(ctx, e.s, canon.CardQuery{Key: markup.KeyOf(name)})
			add("FindCards by Key", err, cards)
			cards, err = e.r.FindCards(ctx, e.s, canon.CardQuery{OldKey: markup.KeyOf(fmt.Sprintf("Once %d", 1000+i*10))})
			add("FindCards by OldKey", err, cards)
			then, ok, err := canon.First(e.r.CardsAt(ctx, e.s, []canon.CardID{CardID(i)}, canon.Seq(i+2)))
			add("CardsAt of one card", err, then, ok)
			reached, err := e.r.Reach(ctx, e.s, canon.ReachQuery{From: CardID(i), Both: true, Depth: 3, Limit: 30})
			add("Reach", err, reached)
			hits, err := e.r.NearCards(ctx, e.s, name, canon.Filter{}, 8)
			add("NearCards", err, hits)
			near, err := e.r.NearNames(ctx, e.s, name+"x", 5)
			add("NearNames", err, near)
		}
	})
	return out
}

type adder = func(name string, err error, parts ...any)

func askLists(e viewReader, p canon.Page, add adder) {
	ctx := e.ctx()
	for _, f := range []canon.Filter{
		{}, {Sort: canon.SortUpdated}, {Sort: canon.SortCreated}, {NameContains: "place"}, {Type: "lore"},
		{Type: "secret kind"},
		{Tag: "tag 1"}, {Tag: "secret"}, {Roots: true}, {Prefix: "place_3_mist"}, {TagLists: true},
		{UpdatedSince: Time(30)},
	} {
		cards, total, err := e.r.Cards(ctx, e.s, f, p)
		add("Cards", err, f, cards, total)
	}
	cards, total, err := e.r.Descendants(ctx, e.s, CardID(4), 3, p)
	add("Descendants", err, cards, total)
	cards, total, err = e.r.Trash(ctx, e.s, p)
	if e.s.View.Level < access.LevelAdmin {
		add("Trash", err, cards, total)
	}
	feed, total, err := e.r.Feed(ctx, e.s, canon.FeedQuery{Page: p})
	add("Feed", err, feed, total)
	refs, total, err := e.r.Refs(ctx, e.s, canon.RefQuery{Target: "place_0_lantern", Page: p})
	add("Refs", err, refs, total)
	wanted, total, err := e.r.Wanted(ctx, e.s, p)
	add("Wanted", err, wanted, total)
	tags, total, err := e.r.Tags(ctx, e.s, "", p)
	add("Tags", err, tags, total)
	links, total, err := e.r.Links(ctx, e.s, canon.LinkQuery{Page: p})
	add("Links", err, links, total)
	use, err := e.r.TypeUse(ctx, e.s)
	add("TypeUse", err, use)
	complete, err := e.r.CompleteNames(ctx, e.s, "place", p.Limit)
	add("CompleteNames", err, complete)
	most, ok, err := e.r.LinkMax(ctx, e.s, canon.ClockKind, canon.ClockAttr)
	add("LinkMax", err, most, ok)
	cards, err = e.r.FindCards(ctx, e.s, canon.CardQuery{Alias: "ferry_house"})
	add("FindCards by Alias", err, cards)
	hits, err := e.r.NearCards(ctx, e.s, "lantern hous", canon.Filter{}, p.Limit)
	add("NearCards", err, hits)
	from := int64(3)
	cards, total, err = e.r.Cards(ctx, e.s, canon.Filter{Sort: canon.SortField, SortFrom: &from,
		Types: []string{"lore", "rich text"}}, p)
	add("Cards by a field", err, cards, total)
	for _, q := range []canon.EventQuery{{}, {Oldest: true}, {Types: []string{"moved"}},
		{Scopes: []string{"place:1", "place:2"}, After: 5}} {
		q.Page = p
		events, total, err := e.r.Events(ctx, e.s, q)
		add("Events", err, q, events, total)
	}
}

func askSearches(e viewReader, p canon.Page, add adder) {
	for _, q := range slices.Concat(seenWords, []string{"secret", "once", "lantern ferry", "lantern rare", "word1",
		"place", "antern", "la", "lanterm ferri", "secrat hiden"}) {
		for _, mode := range []canon.MatchMode{word, part, phrase, canon.MatchRelevance} {
			res, err := e.r.Search(e.ctx(), e.s, canon.SearchQuery{Q: q, InName: true, InContent: true, Mode: mode}, p)
			add("Search", err, q, mode, res)
		}
		res, err := e.r.Search(e.ctx(), e.s, canon.SearchQuery{Q: q, InContent: true, Mode: word,
			Filter: canon.Filter{Type: "lore", Sort: canon.SortUpdated}}, p)
		add("Search", err, q, res)
	}
}
