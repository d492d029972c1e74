package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/raceenabled"
	"loregate/internal/wait"
)

func testNames(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	Put(t, s, Card(1, "Brelaune", Open), Card(2, "Été", Open), Card(3, "Eternal", Open), Card(4, "eté+below", Open),
		Card(5, "Brelaune", GM), Card(6, "Brelauna", GM), Trashed(Card(7, "Etesian", Open), Card(7, "", Open), 1),
		Card(8, "Ete%", Open))
	for _, test := range []struct {
		name   string
		view   access.View
		prefix string
		n      int
		want   []string
	}{
		{"by key, case and accents folded", AsUser, "ETE", 10, []string{"Ete%", "Eternal", "eté+below", "Été"}},
		{"no more than asked for", AsUser, "ete", 2, []string{"Ete%", "Eternal"}},
		{"none asked for", AsUser, "ete", 0, []string{}},
		{"signs stand for themselves", AsUser, "ete%", 10, []string{"Ete%"}},
		{"each name once", AsGM, "brel", 10, []string{"Brelauna", "Brelaune"}},
		{"of what is in sight", AsUser, "brel", 10, []string{"Brelaune"}},
		{"over the joint of parts", AsUser, "été+", 10, []string{"eté+below"}},
		{"nothing", AsUser, "x", 10, []string{}},
	} {
		t.Run("complete/"+test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				got, err := e.r.CompleteNames(e.ctx(), e.s, test.prefix, test.n)
				e.ok("CompleteNames", err)
				if !slices.Equal(append([]string{}, got...), test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
	t.Run("near", func(t *testing.T) {
		for asked, want := range map[string]string{"Brelane": "Brelaune", "brelauné": "Brelaune", "Etrnal": "Eternal",
			"Eternall": "Eternal"} {
			readAs(t, s, AsUser, func(e viewReader) {
				got, err := e.r.NearNames(e.ctx(), e.s, asked, 3)
				e.ok("NearNames", err)
				if len(got) == 0 || got[0] != want || len(got) > 3 {
					t.Errorf("NearNames of %q: %q, want %q first, and 3 at most", asked, got, want)
				}
			})
		}
	})
}

// searchedCards are the cards that testSearch searches.
var searchedCards = []struct {
	n          int
	name, text string
	label      access.Label
}{
	{1, "The Lantern Keeper", "A well-kept lantern hangs over the Ferry Road; nobody lit it in 1802.", Open},
	{2, "Ferry Road", "The road to the ferry. Roads lead on.", Open},
	{3, "Déjà vu", "Cafe\u0301te\u0301ria crème and NAÏVE Straße, O’Neill’s.", Open},
	{4, "日本 notes", "東京タワー is one token; Οδυσσεύς is another.", Open},
	{5, "Odds", "foo_bar x1y2 a+b [[Ferry|boat]] 50% \"quoted\" AND OR NOT NEAR", Open},
	{6, "Kept secret", "The lantern is a well kept lie.", GM},
	{7, "Burnt", "lantern lantern lantern", Admin},
}

// searchedFields are the fields of some searchedCards, by number.
var searchedFields = map[int]json.RawMessage{
	2: json.RawMessage(`{"aliases":["Long Lane"],"keeper":"Ferrymen","tolls":["Oxen",4,"Hallowed ground",{"for":"pence"}]}`),
	5: json.RawMessage(`{"sort":3}`),
	6: json.RawMessage(`{"liar":"Oxen"}`),
}

func testSearch(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for _, d := range searchedCards {
			c := Card(d.n, d.name, d.label)
			c.Fields = searchedFields[d.n]
			tx.Card(c, d.text)
		}
	})
	t.Run("match", func(t *testing.T) { testMatch(t, s) })
	t.Run("languages", func(t *testing.T) { testLanguages(t, open(t)) })
	t.Run("pages", func(t *testing.T) { testSearchPages(t, s) })
	t.Run("counts", func(t *testing.T) { testSearchCounts(t, open(t)) })
	t.Run("relevance", func(t *testing.T) { testRelevance(t, open(t)) })
	t.Run("order", func(t *testing.T) { testSearchOrder(t, open(t)) })
	t.Run("seen by being named", func(t *testing.T) { testNamedLast(t, open(t)) })
	t.Run("index", func(t *testing.T) { testReindex(t, open(t)) })
	t.Run("above the cap", func(t *testing.T) {
		if testing.Short() || raceenabled.Detected {
			t.Skip("writes 10,000 cards, one after the other")
		}
		testAboveCap(t, open(t))
	})
}

const (
	part   = canon.MatchSubstring
	word   = canon.MatchWord
	phrase = canon.MatchPhrase
	stem   = canon.MatchStem
)

func testMatch(t *testing.T, s canon.Store) {
	for _, test := range []struct {
		mode    canon.MatchMode
		q       string
		columns string // name, content, both; + for case-sensitive
		want    []int
	}{
		{word, "lantern", "both", []int{1}},
		{word, "LANTERN", "both", []int{1}},
		{word, "lantern", "content", []int{1}},
		{word, "keeper", "content", nil},
		{word, "keeper", "name", []int{1}},
		{word, "ferry", "both", []int{1, 2, 5}},
		{word, "ferry", "name", []int{2}},
		{word, "road", "content", []int{1, 2}},
		{word, "roads", "both", []int{2}},
		{word, "roa", "both", nil},
		{word, "roa*", "content", []int{1, 2}},
		{word, "lant* ro*", "content", []int{1}},
		{word, "keeper 1802", "both", []int{1}}, // one in the name, one in the content
		{word, "keeper boat", "both", nil},
		{word, "lantern keeper", "content", nil},
		{word, "deja", "both", []int{3}},
		{word, "CRÈME", "both", []int{3}},
		{word, "cafétéria", "both", []int{3}},
		{word, "CAFETERIA", "both", []int{3}},
		{word, "naive", "both", []int{3}},
		{word, "straße", "both", []int{3}},
		{word, "neill", "both", []int{3}},
		{word, "東京タワー", "both", []int{4}},
		{word, "東京", "both", nil},
		{word, "東京*", "both", []int{4}},
		{word, "ΟΔΥΣΣΕύΣ", "both", []int{4}},
		{word, "foo", "both", []int{5}},
		{word, "x1", "both", nil},
		{word, "\"quoted", "both", []int{5}},
		{word, "AND", "both", []int{3, 5}},
		{word, "quoted OR lantern", "both", nil},
		{word, "name:lantern", "both", nil},
		{word, "-lantern", "both", []int{1}},
		{word, "'; DROP TABLE cards; --", "both", nil},
		{word, "well-kept", "both", []int{1}},
		{word, "", "both", nil},
		{word, " \t", "both", nil},
		{word, "!? — …", "both", nil},
		{word, "lantern …", "both", []int{1}},
		{word, "*", "both", nil},
		{phrase, "ferry road", "both", []int{1, 2}},
		{phrase, "Ferry, Road!", "content", []int{1}},
		{phrase, "road ferry", "both", nil},
		{phrase, "road to the ferry", "both", []int{2}},
		{phrase, "the road", "both", []int{2}},
		{phrase, "keeper a", "both", nil}, // spans two columns
		{phrase, "ferr", "both", nil},
		{phrase, "", "both", nil},
		{phrase, "...", "both", nil},
		{part, "anter", "both", []int{1}},
		{part, "ANTER", "both", []int{1}},
		{part, "erry oad", "both", []int{1, 2}},
		{part, "éJà", "both", []int{3}},
		{part, "la", "content", []int{1}},
		{part, "an", "content", []int{3, 4, 5}}, // under three letters: matches only beginnings
		{part, "er", "content", nil},
		{part, "京タワ", "both", []int{4}},
		{part, "東", "both", []int{4}},
		{part, "京", "both", nil},
		{part, "ell-ke", "both", []int{1}},
		{part, "ell-ept", "both", nil},
		{part, "ver-the-fer", "both", []int{1}},
		{part, "ver-th-ferry", "both", nil},
		{part, "oo_b", "both", []int{5}},
		{part, "neill's", "both", []int{3}},
		{part, "180", "both", []int{1}},
		{part, "50%", "both", []int{5}},
		{part, "%", "both", nil},
		{part, "lantern zzz", "both", nil},
		{part, "", "both", nil},
		{word, "Ferry", "both+", []int{1, 2, 5}},
		{word, "ferry", "content+", []int{2}},
		{word, "FERRY", "both+", nil},
		{word, "NAÏVE", "both+", []int{3}},
		{word, "NAIVE", "both+", nil},
		{word, "Ferr*", "content+", []int{1, 5}},
		{part, "Lant", "both+", []int{1}},
		{part, "Lant", "content+", nil},
		{part, "keeper nobody", "both+", nil},
		{part, "Keeper nobody", "both+", []int{1}},
		{phrase, "Ferry Road", "both+", []int{1, 2}},
		{phrase, "ferry Road", "both+", nil},
		{stem, "lanterns", "both", []int{1}},
		{stem, "roads", "content", []int{1, 2}},
		{stem, "Hanging", "both", []int{1}},
		{stem, "hang keeper", "both", []int{1}},
		{stem, "keeping", "both", nil}, // its stem is keep, that of the name's keeper is another
		{stem, "another's", "both", []int{}},
		{stem, "crème", "both", []int{3}},
		{stem, "1802", "both", []int{1}},
		{stem, "180", "both", nil},
		{stem, "", "both", nil},
		{word, "oxen", "both", nil},
		{word, "oxen", "fields", []int{2}},
		{word, "oxen", "all", []int{2}},
		{word, "lane", "fields", nil}, // an alias is a name
		{word, "ferry hallowed", "all", []int{2}},
		{phrase, "hallowed ground", "fields", []int{2}},
		{phrase, "road oxen", "all", nil},
		{part, "rryme", "fields", []int{2}},
		{part, "Oxe", "fields+", []int{2}},
		{part, "oxe", "fields+", nil},
		{stem, "hallow ferrymen", "fields", []int{2}},
		{word, "pence", "fields", nil},
		{word, "lantern", "neither", []int{1}},
		{word, "keeper", "neither", []int{1}},
	} {
		q := canon.SearchQuery{Q: test.q, Mode: test.mode, Language: "en"}
		columns, exact := strings.CutSuffix(test.columns, "+")
		q.InName, q.InContent, q.CaseSensitive = columns == "name" || columns == "both" || columns == "all",
			columns == "content" || columns == "both" || columns == "all", exact
		q.InFields = columns == "fields" || columns == "all"
		t.Run(fmt.Sprintf("%s/%q in %s", test.mode, test.q, test.columns), func(t *testing.T) {
			readAs(t, s, AsUser, func(e viewReader) {
				for _, q.Listed = range []bool{false, true} {
					if got := cardNumbers(e.searchAll(q)); !slices.Equal(got, test.want) {
						t.Errorf("finds %v, want %v, as listed %t", got, test.want, q.Listed)
					}
				}
			})
		})
	}
}

// testLanguages searches the same words in several languages.
func testLanguages(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		tx.Card(Card(1, "Haus", Open), "Die Frauen der Häuser")
		tx.Card(Card(2, "Cheval", Open), "continuellement")
		tx.Card(Card(3, "House", Open), "housing")
	})
	for _, test := range []struct {
		language, q string
		want        []int
	}{
		{"de", "Haus", []int{1}}, {"de", "hauses", []int{1}}, {"de", "Frau", []int{1}}, {"en", "Frau", nil},
		{"fr", "continuelle", []int{2}}, {"en", "continuelle", nil}, {"en", "houses", []int{3}}, {"", "houses", nil},
		{"xx", "housing", []int{3}},
	} {
		readAs(t, s, AsUser, func(e viewReader) {
			if got := cardNumbers(e.searchAll(canon.SearchQuery{Q: test.q, Mode: stem,
				Language: test.language})); !slices.Equal(got, test.want) {
				t.Errorf("%q in %q finds %v, want %v", test.q, test.language, got, test.want)
			}
		})
	}
}

// cardNumbers returns the numbers of the cards found, sorted.
func cardNumbers(res canon.SearchResult) (out []int) {
	for _, h := range res.Hits {
		out = append(out, int(h.Card.ID[14])<<8|int(h.Card.ID[15]))
	}
	slices.Sort(out)
	return out
}

// testSearchPages compares pages with the complete result of the same store.
func testSearchPages(t *testing.T, s canon.Store) {
	for _, v := range []access.View{AsUser, AsGM, AsAdmin} {
		readAs(t, s, v, func(e viewReader) {
			q := canon.SearchQuery{Q: "the", InName: true, InContent: true, Mode: word}
			all := e.searchAll(q)
			for offset := range len(all.Hits) + 2 {
				for limit := 1; limit < 4; limit++ {
					res, err := e.r.Search(e.ctx(), e.s, q, canon.Page{Limit: limit, Offset: offset})
					e.ok("Search", err)
					from := min(offset, len(all.Hits))
					want := all.Hits[from:min(from+limit, len(all.Hits))]
					if !slices.Equal(hitNames(res), hitNames(canon.SearchResult{Hits: want})) || res.Total != all.Total {
						t.Errorf("%v: %d from %d: %q of %+v, want %q", v, limit, offset, hitNames(res), res.Total,
							hitNames(canon.SearchResult{Hits: want}))
					}
				}
			}
		})
	}
}

// testSearchCounts searches again after each change: totals must not be outdated.
func testSearchCounts(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) { tx.PutWorld(World(1)) })
	finds := func(want int) {
		t.Helper()
		for _, mode := range []canon.MatchMode{word, part} {
			readAs(t, s, AsUser, func(e viewReader) {
				if res := e.searchAll(canon.SearchQuery{Q: "willow", InName: true, InContent: true,
					Mode: mode}); res.Total != (canon.Total{Count: want}) || len(res.Hits) != want {
					t.Errorf("%v: %d found of %+v, want %d", mode, len(res.Hits), res.Total, want)
				}
			})
		}
	}
	finds(0)
	for i := 1; i <= 3; i++ {
		write(t, s, func(tx Writer) { tx.Card(Card(i, fmt.Sprintf("Card %d", i), Open), "a willow") })
		finds(i)
	}
	write(t, s, func(tx Writer) { tx.Card(Card(4, "Card 4", GM), "a willow in secret") })
	finds(3)
	write(t, s, func(tx Writer) {
		c := Card(2, "Card 2", Open)
		c.Rev, c.Seq = 2, 9
		tx.Card(Trashed(c, c, 9), "")
	})
	finds(2)
}

// testSearchOrder writes five cards. Four contain "rare", the third one most often.
func testSearchOrder(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for i, text := range []string{"rare and a long tail of other words that say nothing", "common", "rare rare rare",
			"rare again", "rare"} {
			c := Card(i+1, []string{"E", "D", "C", "B", "rare"}[i], Open)
			c.CreatedAt = Time(100 - i)
			tx.Card(c, text)
		}
	})
	readAs(t, s, AsUser, func(e viewReader) {
		q := canon.SearchQuery{Q: "rare", InName: true, InContent: true, Mode: word}
		res := e.searchAll(q)
		if !res.Ranked || len(res.Hits) != 4 {
			t.Fatalf("a rare word: %+v", res)
		}
		for i, h := range res.Hits {
			if h.Score <= 0 || i > 0 && h.Score > res.Hits[i-1].Score {
				t.Errorf("scores fall from above zero: %v", res.Hits)
			}
		}
		if last := res.Hits[3].Card.Name; last != "E" {
			t.Errorf("said once in a long text ranks before: %q", hitNames(res))
		}
		for sort, want := range map[canon.Sort][]string{
			canon.SortName: {"B", "C", "E", "rare"}, canon.SortUpdated: {"rare", "B", "C", "E"},
			canon.SortCreated: {"E", "C", "B", "rare"},
		} {
			q.Filter.Sort = sort
			res := e.searchAll(q)
			if got := hitNames(res); !slices.Equal(got, want) || res.Ranked || res.Hits[0].Score != 0 {
				t.Errorf("sorted by %s: %q, ranked %v; want %q without scores", sort, got, res.Ranked, want)
			}
		}
	})
}

// testNamedLast writes cards that everybody of a level sees, and cards that only named users see.
func testNamedLast(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		tx.Card(Card(1, "Zeal", Open), "rare")
		tx.Card(Card(2, "Mild", Open), "other")
		tx.Card(Card(3, "Rare beta", GMAlice), "rare rare rare rare")
		tx.Card(Card(4, "Rare alpha", AdminBoth), "rare")
		tx.Card(Card(5, "Rare gm", GM), "rare")
	})
	for _, test := range []struct {
		view  access.View
		last  []string
		total int
	}{
		{AsUser, nil, 1},
		{AsAlice, []string{"Rare alpha", "Rare beta"}, 3},
		{AsGM, nil, 3},
		{AsGMAlice, []string{"Rare alpha"}, 4},
	} {
		readAs(t, s, test.view, func(e viewReader) {
			res := e.searchAll(canon.SearchQuery{Q: "rare", InName: true, InContent: true, Mode: word})
			got := hitNames(res)
			ranked := test.total - len(test.last)
			if len(got) != test.total || !slices.Equal(got[ranked:], test.last) {
				t.Fatalf("%v: %q; want %d in all, %q last", test.view, got, test.total, test.last)
			}
			for i, h := range res.Hits {
				if (h.Score > 0) != (i < ranked) {
					t.Errorf("%v: hit %d has score %v", test.view, i, h.Score)
				}
			}
		})
	}
}

// testReindex searches for one card while its text and label change.
func testReindex(t *testing.T, s canon.Store) {
	c := Card(1, "Card", Open)
	Put(t, s, c)
	finds := func(q string, v access.View, want bool) {
		t.Helper()
		readAs(t, s, v, func(e viewReader) {
			for _, mode := range []canon.MatchMode{word, part, phrase} {
				res := e.searchAll(canon.SearchQuery{Q: q, InName: true, InContent: true, Mode: mode})
				if (len(res.Hits) == 1) != want {
					t.Errorf("%v finds %q by %s: %v, want %v", v, q, mode, len(res.Hits), want)
				}
			}
		})
	}
	index := func(c canon.Card, d *canon.SearchDoc) {
		write(t, s, func(tx Writer) { tx.Row(c); tx.Index(c, d) })
	}
	index(c, &canon.SearchDoc{Name: "Card", Text: "first"})
	finds("first", AsUser, true)
	index(c, &canon.SearchDoc{Name: "Card", Text: "second"})
	finds("first", AsUser, false)
	finds("second", AsUser, true)
	c.Label = GMAlice
	index(c, &canon.SearchDoc{Name: "Card", Text: "third"})
	finds("second", AsGM, false)
	finds("third", AsUser, false)
	finds("third", AsAlice, true)
	finds("third", AsGM, true)
	index(c, nil)
	finds("third", AsGM, false)
	index(c, nil)
	c.Label = Open
	index(c, &canon.SearchDoc{Name: "Card", Text: "fourth"})
	finds("fourth", AsUser, true)
}

// searchIndexed searches, and waits for the index as long as it is being built.
func (e viewReader) searchIndexed(q canon.SearchQuery, p canon.Page) (canon.SearchResult, error) {
	for {
		res, err := e.r.Search(e.ctx(), e.s, q, p)
		if fault.KindOf(err) != fault.Unavailable {
			return res, err
		}
		wait.For(e.ctx(), 10*time.Millisecond)
	}
}

// testAboveCap fills a world with more cards than a listing counts. Two of them have the word in
// their name, and one more is visible only to a named user.
func testAboveCap(t *testing.T, s canon.Store) {
	const n = canon.CountCap + 1
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for i := 1; i <= n; i++ {
			c := Card(i, fmt.Sprintf("Card %d", i), Open)
			tx.Row(c)
			tx.Index(c, &canon.SearchDoc{Name: c.Name, Text: "mist"})
		}
		for i, c := range []canon.Card{Card(7, "Mist east", Open), Card(5, "Mist west", Open),
			Card(n+1, "Mist named", GMAlice)} {
			c.UpdatedAt = Time(i)
			if !c.Label.Equal(Open) {
				c.UpdatedAt = Time(2 * n) // latest of all, with the word in its name
			}
			tx.Row(c)
			tx.Index(c, &canon.SearchDoc{Name: c.Name, Text: "mist"})
		}
	})
	readAs(t, s, AsAlice, func(e viewReader) {
		res, err := e.searchIndexed(canon.SearchQuery{Q: "mist", InName: true, InContent: true, Mode: word},
			canon.Page{Limit: 4})
		e.ok("Search", err)
		want := []string{"Mist east", "Mist west", "Card 1", "Card 10"}
		if got := hitNames(res); !slices.Equal(got, want) || !res.Ranked {
			t.Errorf("above the cap of listings: %q, ranked %v; want %q", got, res.Ranked, want)
		}
		if res.Total != (canon.Total{Count: n + 1}) {
			t.Errorf("the total of %d is told as %+v", n+1, res.Total)
		}
		_, total := e.listPage(canon.Filter{}, canon.Page{Limit: 1})
		if total.Count < canon.CountCap || total.Count > n+1 || !total.AtLeast && total.Count != n+1 {
			t.Errorf("a listing of %d is told as %+v", n+1, total)
		}
	})
	readAs(t, s, AsUser, func(e viewReader) {
		res, err := e.searchIndexed(canon.SearchQuery{Q: "mist 77", InName: true, InContent: true, Mode: word},
			canon.Page{Limit: 4})
		e.ok("Search", err)
		if got := hitNames(res); !slices.Equal(got, []string{"Card 77"}) {
			t.Errorf("a rare word beside a common one: %q", got)
		}
	})
}
