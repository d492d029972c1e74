package archive

import (
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlite/sqlitetest"
)

// aCoast is a small wiki with hidden cards among the others.
func aCoast(s *scene) *scene {
	gm := access.NewLabel(access.LevelGM)
	s.made(
		canon.NewCard{Name: "Games", Content: "<p>All games.</p>"},
		canon.NewCard{Name: "Games+Coast", Content: "<p>The <b>lent</b> coast &amp; its lamp.</p>"},
		canon.NewCard{Name: "Games+Coast+Lamp", Type: "Item",
			Content: "<p class=\"lamp\">A lamp burns: lamp, Lamp, <i>lamps</i>.</p>"},
		canon.NewCard{Name: "Games+Coast+Ferry", Type: "Location", Content: "<p>The ferry has a LAMP.</p>"},
		canon.NewCard{Name: "Games+Coast+Wreck", Type: "Location", Content: "<p>No lamp here.</p>", Label: &gm},
		canon.NewCard{Name: "Games+Coast+GM", Content: "<p>The lamp is a lie. lamp lamp</p>"},
		canon.NewCard{Name: "Gamesmanship", Content: "<p>Écluse.</p>"},
	)
	return s
}

func TestNamesAreSearchedExactly(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		s.As("user").Call("search_cards", `{"q": "coast", "fuzzy": false}`).WantNames("cards",
			"Games+Coast, Games+Coast+Ferry, Games+Coast+Lamp").
			Want("total", 3).Want("limit", 50).Want("offset", 0).Want("next_offset", nil).Want("ranked", false).Lacks("snippet",
			"level", "GM")
		s.As("gm").Call("search_cards", `{"q": "coast", "search_in": "name"}`).Want("total", 5).Want("cards.0.level", "user")
		s.As("user").Call("search_cards", `{"q": "lamp", "fuzzy": false}`).WantNames("cards", "Games+Coast+Lamp")
		s.As("user").Call("search_cards", `{"q": "oas", "match_mode": "substring"}`).Want("total", 3)
		s.As("user").Call("search_cards", `{"q": "oas", "match_mode": "whole_word"}`).Want("total", 0)
		s.As("user").Call("search_cards", `{"q": "coast lamp", "match_mode": "phrase"}`).WantNames("cards",
			"Games+Coast+Lamp").Lacks("snippet")
		s.As("user").Call("search_cards", `{"q": "LAMP", "case_sensitive": true}`).Want("total", 0)
		s.As("user").Call("search_cards", `{}`).Want("total", 5)
		s.As("gm").Call("search_cards", `{"level": "gm"}`).WantNames("cards", "Games+Coast+GM, Games+Coast+Wreck")
		s.As("gm").Call("search_cards", `{"level": "user", "q": "lamp"}`).Want("total", 3).Lacks("GM", "Wreck")
		s.As("gm").Call("search_cards", `{"level": "gm", "q": "lamp"}`).Want("total", 2)
		s.As("user").WantFault("validation_error", "search_cards", `{"level": "user"}`)
	})
}

func TestWordsAreSearchedByRelevanceByDefault(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		got := s.As("user").Call("search_cards", `{"q": "lamps burn", "highlight": true}`)
		got.Want("total", 3).Want("ranked", true).Want("cards.0.name", "Games+Coast+Lamp").Lacks("note", "Wreck", "lie")
		if snippet := got.Each("cards", "snippet")[0]; !strings.Contains(snippet,
			"<mark>lamp</mark>, <mark>Lamp</mark>, <mark>lamp") {
			s.t.Errorf("the snippet marks nothing: %s", snippet)
		}
		s.As("user").Call("search_cards", `{"q": "fery"}`).WantNames("cards", "Games+Coast+Ferry").
			Want("note", `No card has the word "fery"; searched instead: ferry.`)
		s.As("user").Call("search_cards", `{"q": "gamsmanship"}`).WantNames("cards", "Gamesmanship")
		s.As("user").Call("search_cards", `{"q": "wreck"}`).Want("total", 0).Want("note", `No card has the word "wreck".`)
		s.As("gm").Call("search_cards", `{"q": "wreck"}`).WantNames("cards", "Games+Coast+Wreck").Lacks("note")
		s.As("user").WantFault("validation_error", "search_cards", `{"q": "lamp", "fuzzy": true, "match_mode": "phrase"}`)
		s.As("user").WantFault("validation_error", "search_cards", `{"q": "lamp", "fuzzy": true, "sort": "name"}`)
		s.As("user").Call("search_cards", `{"q": "lamps", "fuzzy": true, "search_in": "name"}`).Want("total", 3)
	})
}

func TestContentIsSearchedRankedWithSnippets(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		got := s.As("user").Call("search_cards", `{"q": "lamp", "search_in": "content", "highlight": true}`)
		got.Want("total", 3).Want("ranked", true).Want("next_offset", nil).Lacks("lie", "Wreck", "<b>", "<p")
		for i, name := range got.Each("cards", "name") {
			snippet := got.Each("cards", "snippet")[i]
			if !strings.Contains(strings.ToLower(snippet), "<mark>lamp") {
				s.t.Errorf("the snippet of %s marks nothing: %s", name, snippet)
			}
		}
		s.As("user").Call("search_cards",
			`{"q": "lent coast & its", "search_in": "content", "match_mode": "phrase", "highlight": true}`).
			WantNames("cards", "Games+Coast").Want("cards.0.snippet", "The <mark>lent coast &amp; its</mark> lamp.")
		plain := s.As("user").Call("search_cards", `{"q": "ferry", "search_in": "content"}`)
		plain.Want("cards.0.snippet", "The ferry has a LAMP.")
		s.As("user").Call("search_cards", `{"q": "class", "search_in": "content"}`).Want("total", 0)
		s.As("user").Call("search_cards", `{"q": "LAMP", "search_in": "content", "case_sensitive": true}`).WantNames("cards",
			"Games+Coast+Ferry")
		s.As("user").Call("search_cards", `{"q": "ecluse", "search_in": "both"}`).WantNames("cards", "Gamesmanship")
		s.As("gm").Call("search_cards", `{"q": "lamp", "search_in": "content"}`).Want("total", 5)
		s.As("user").Call("search_cards", `{"q": "lamp", "search_in": "content", "sort": "name"}`).
			WantNames("cards", "Games+Coast, Games+Coast+Ferry, Games+Coast+Lamp").Want("ranked", false)
	})
}

func TestFiltersNarrow(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		s.wrote("Games+Coast+Lamp+tags", "[[Light]]")
		s.As("user").Call("search_cards", `{"prefix": "Game"}`).Want("total", 5).Has("Gamesmanship").Lacks("+tags")
		s.As("user").Call("search_cards", `{"prefix": "Games+"}`).Want("total", 3).Lacks("Gamesmanship")
		s.As("user").Call("search_cards", `{"prefix": "games + coas"}`).Want("total", 3)
		s.As("user").Call("search_cards", `{"prefix": "Games+Coast+"}`).Want("total", 2)
		s.As("user").Call("search_cards", `{"prefix": "Games+Coast", "not_name": "*+Ferry*"}`).Lacks("Ferry").Want("total", 2)
		s.As("gm").Call("search_cards", `{"prefix": "Games", "not_name": "*+GM*"}`).Lacks("+GM").Want("total", 6)
		s.As("user").Call("search_cards", `{"type": "location"}`).WantNames("cards", "Games+Coast+Ferry").Want("total", 1)
		s.As("user").Call("search_cards", `{"tag": "lights"}`).WantNames("cards", "Games+Coast+Lamp")
		s.As("user").Call("search_cards", `{"updated_since": "2026-01-02T03:04:07Z"}`).Want("total", 0)
		s.As("user").Call("search_cards", `{"updated_before": "2026-01-02T03:04:07Z", "type": "Item"}`).WantNames("cards",
			"Games+Coast+Lamp")
		s.As("user").Call("search_cards", `{"updated_before": "2026-01-02T03:04:07Z"}`).Want("total", 5)
		s.As("user").Call("search_cards", `{"updated_since": "2026-01-02"}`).Want("total", 5)
		s.As("user").Call("search_cards", `{"sort": "updated_at", "limit": 1}`).WantNames("cards", "Games")
		s.As("user").WantFault("validation_error", "search_cards", `{"prefix": "+"}`)
		s.As("user").WantFault("validation_error", "search_cards",
			`{"updated_since": "2026-02-01", "updated_before": "2026-01-01"}`)
		s.As("user").Call("search_cards", `{"limit": 500}`).Want("limit", 100)
		s.As("user").WantFault("validation_error", "search_cards", `{"limit": 1001}`)
		s.As("user").WantFault("validation_error", "search_cards", `{"sort": "size"}`)
	})
}

// TestTagsAreNoCardsOfTheirOwn writes the tags of a card as a wiki does, by the card X+tags: that name
// stays readable and writable, but no list and no search shows it, and its words find X.
func TestTagsAreNoCardsOfTheirOwn(t *testing.T) {
	onEachStore(t, func(s *scene) {
		u, gm := s.As("user"), s.As("gm")
		s.wrote("Mole", "<p>A wall in the sea.</p>")
		u.Call("create_card", `{"name": "Mole+tags", "type": "Pointer", "content": "[[Breakwater]]"}`)
		s.hid(access.LevelGM, "Mole+tags", "[[Smugglers]]")
		for _, list := range []string{`{}`, `{"prefix": "Mole"}`, `{"q": "tags"}`, `{"q": "mole", "fuzzy": false}`,
			`{"q": "breakwater", "search_in": "content"}`, `{"type": "Pointer"}`, `{"updated_since": "2020-01-01"}`} {
			u.Call("search_cards", list).Lacks("Mole+tags")
			gm.Call("search_cards", list).Lacks("Mole+tags")
		}
		u.Call("search_cards", `{"q": "breakwaters"}`).WantNames("cards", "Mole")
		u.Call("search_cards", `{"q": "smugglers"}`).Want("total", 0)
		u.Call("search_cards", `{"tag": "smuggler"}`).Want("total", 0)
		gm.Call("search_cards", `{"tag": "smuggler"}`).WantNames("cards", "Mole")
		u.Call("get_tags", `{"name": "Mole"}`).WantNames("tags", "Breakwater")
		gm.Call("get_tags", `{"name": "Mole"}`).WantNames("tags", "Breakwater, Smugglers")

		u.Call("get_card", `{"name": "Mole+tags"}`).Want("content", "[[Breakwater]]").Want("type", "Pointer")
		u.Call("update_card", `{"name": "Mole+tags", "patch": {"mode": "items", "add": ["Pier"], "remove": ["Breakwater"]}}`)
		u.Call("get_card", `{"name": "Mole+tags"}`).Want("content", "[[Pier]]").Want("version", 2)
		u.Call("search_cards", `{"q": "breakwaters"}`).Want("total", 0)
		u.Call("search_cards", `{"q": "pier"}`).WantNames("cards", "Mole")
		shown := u.Call("get_card", `{"name": "Mole+tags"}`).Text("id")
		s.As("admin").Call("rename_card", asJSON(map[string]any{"name": "~" + shown, "new_name": "Mole+marks"}))
		u.Call("search_cards", `{"q": "mole", "fuzzy": false}`).WantNames("cards", "Mole, Mole+marks")
		u.Call("search_cards", `{"tag": "pier"}`).Want("total", 0)
		u.Call("search_cards", `{"q": "pier"}`).WantNames("cards", "Mole+marks")
	})
}

func TestPagesAddUpToTheTotal(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		for _, call := range []string{`"q": "a", "fuzzy": false`, `"q": "lamp"`, `"q": "lamp", "search_in": "content"`,
			`"type": "Location"`} {
			var names []string
			total := 0
			for offset, steps := "0", 0; offset != "" && steps < 20; steps++ {
				got := s.As("user").Call("search_cards", `{`+call+`, "limit": 1, "offset": `+offset+`}`)
				names = append(names, got.Each("cards", "name")...)
				n, _ := got.At("total")
				total = int(n.(float64))
				next, _ := got.At("next_offset")
				if offset = ""; next != nil {
					offset = asJSON(next)
				}
			}
			if len(names) != total || total == 0 {
				s.t.Errorf("%s: total is %d, the pages had %v", call, total, names)
			}
		}
	})
}

func TestListsAreCutWithTheExactNextCall(t *testing.T) {
	s := newScene(t)
	var cards []canon.NewCard
	for i := range 60 {
		cards = append(cards, canon.NewCard{Name: "Stone " + strings.Repeat("x", 1+i), Content: "moss"})
	}
	s.made(cards...)
	got := s.As("user").Call("search_cards", `{"q": "stone", "limit": 60}`, atMost(4000))
	if len(got.Raw) > 4000 {
		t.Errorf("%d bytes", len(got.Raw))
	}
	n := len(got.Each("cards", "name"))
	later := s.As("user").Call("search_cards", `{"q": "stone", "limit": 40, "offset": 20}`, atMost(4000))
	later.Want("next.arguments.offset", 20+len(later.Each("cards", "name")))
	got.Want("truncated", true).Want("total", 60).Want("next_offset", n).Want("next.tool", "search_cards").
		Want("next.arguments.offset", n).Want("next.arguments.q", "stone")
	v, _ := got.At("next.arguments")
	rest := s.As("user").Call("search_cards", asJSON(v))
	if n+len(rest.Each("cards", "name")) != 60 {
		t.Errorf("%d and %d cards of 60", n, len(rest.Each("cards", "name")))
	}
}

func TestALongQuerySaysThatItIsCut(t *testing.T) {
	s := aCoast(newSceneOn(t, sqlitetest.Open(t)))
	query := "lamp"
	for i := range 40 {
		query += fmt.Sprint(" coast", i)
	}
	s.As("user").Call("search", `{"query": "`+query+`"}`).Has("only the first ones count")
	s.As("user").Call("search", `{"query": "lamp coast"}`).Lacks("only the first ones count")
}

func TestSearchIsNarrowedByFilters(t *testing.T) {
	onEachStore(t, func(s *scene) {
		aCoast(s)
		s.wrote("Games+Coast+Lamp+tags", "<p>Light</p>")
		for _, c := range []struct{ query, titles, note string }{
			{"lamp type:location", "Games+Coast+Ferry", ""},
			{"lamp type:Locaton", "Games+Coast+Ferry", `No card has the type "Locaton"; searched with Location.`},
			{"lamps tag:light", "Games+Coast+Lamp", ""},
			{`lamp in:"Games+Coast" type:Item`, "Games+Coast+Lamp", ""},
			{`ferry in:Gmes`, "Games+Coast+Ferry", `There is no card "Gmes"; looked in Games.`},
			{"type:Location", "Games+Coast+Ferry", ""},
			{"ferry level:gm", "Games+Coast+Ferry", "No card found passes level:gm; this is the answer without it."},
			{"ferry level:all", "Games+Coast+Ferry", `There is no level "all": the levels are user, gm and admin.`},
			{"ferry type:Xyzzy", "Games+Coast+Ferry", `No card has the type "Xyzzy"; the filter was left out.`},
		} {
			got := s.As("user").Call("search", `{"query": `+asJSON(c.query)+`}`)
			if titles := strings.Join(got.Each("results", "title"), ", "); titles != c.titles {
				s.t.Errorf("%q finds %q, want %q", c.query, titles, c.titles)
			}
			if note, _ := got.At("note"); c.note != "" && note != c.note || c.note == "" && note != nil {
				s.t.Errorf("%q has the note %v, want %q", c.query, note, c.note)
			}
		}
		if got := s.As("gm").Call("search", `{"query": "lamp level:gm"}`).Each("results", "title"); len(got) != 2 {
			s.t.Errorf("the gm finds %q of the level gm", got)
		}
	})
}

func TestTheConnectorPairSearchesAndFetches(t *testing.T) {
	s := aCoast(newScene(t))
	got := s.As("user").Call("search", `{"query": "ferry lamp"}`, reached("https://wiki.example"))
	got.Want("results.0.title", "Games+Coast+Ferry").Want("results.#", 3).Lacks("GM", "lie").
		Want("results.0.url", "https://wiki.example/api/mcp/cards/Games+Coast+Ferry")
	page := s.As("user").Call("fetch", `{"id": "`+got.Text("results.0.id")+`"}`)
	page.Want("title", "Games+Coast+Ferry").Want("text", "The ferry has a LAMP.").Want("metadata.type", "Location").
		Want("url", "archive://card/Games+Coast+Ferry").Want("id", got.Text("results.0.id")).Lacks("level")
	s.As("user").Call("search", `{"query": "lie"}`).Want("results.#", 0)
	s.As("gm").Call("search", `{"query": "lie"}`).Want("results.#", 1)
	s.wrote("Tome", strings.Repeat("<p>A long line of the tome.</p>", 400))
	cut := s.As("user").Call("fetch", `{"id": "Tome"}`, atMost(5000))
	cut.Want("truncated", true).Want("next.tool", "fetch").Want("next.arguments.id", "Tome").
		Want("next.arguments.offset", len(cut.Text("text")))
}
