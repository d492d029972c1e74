package lore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

// fact creates a fact.
func (s *loreScene) fact(codename, name, text, fields string, level access.Level, subjects ...access.Subject) {
	s.T.Helper()
	label := access.NewLabel(level, subjects...)
	if fields == "" {
		fields = `{}`
	}
	s.Card(canon.NewCard{Name: name, Type: cardType, Content: "<p>" + text + "</p>", Codename: codename,
		Fields: json.RawMessage(fields), Label: &label})
}

// loreScene is a scene with the surface lore.
type loreScene struct {
	*worldtest.Scene
	lore *Lore
}

// newEmptyLore returns a scene without cards.
func newEmptyLore(t testing.TB, store canon.Store, more ...Config) *loreScene {
	t.Helper()
	s := &loreScene{}
	s.Scene = worldtest.Empty(t, store, func(set *worldtest.Setup) {
		set.More = func(w *world.World, c *canon.Canon) op.Surface {
			config := Config{}
			for _, m := range more {
				config = m
			}
			config.World, config.Canon = w, c
			var err error
			if s.lore, err = New(config); err != nil {
				t.Fatal(err)
			}
			return s.lore.Surface()
		}
	})
	return s
}

// newLoreScene returns a world with some lore.
func newLoreScene(t testing.TB, more ...Config) *loreScene {
	s := newEmptyLore(t, sqlitetest.Open(t), more...)
	user := access.LevelUser
	s.fact("lamp", "The Kept Lamp", "It has burned since the founding and was never filled.",
		`{"aliases": ["the Light", "Oda's lamp"]}`, user)
	s.fact("bell", "Bell of the Ebb", "Cast in bronze; rung once and lowered into the water.",
		`{"factType": "artifact", "aliases": ["the tongueless one"]}`, user)
	s.fact("war", "The Poplar War", "Six hundred men came for the rent and went home without boots.",
		`{"factType": "historical_event", "year": 131}`, user)
	s.Card(canon.NewCard{Name: "Wickwardens", Type: "Faction", Codename: "faction-wick",
		Content: "<p>They trim the lamps on the marsh at night.</p>", Fields: json.RawMessage(`{"motto": "Expected back."}`)})
	s.Card(canon.NewCard{Name: "Heron", Type: "Creature", Codename: "heron", Content: "<p>It counts eels.</p>"})
	s.Card(canon.NewCard{Name: "Notes on lamps", Type: "RichText", Codename: "notes", Content: "<p>lamps lamps lamps</p>"})
	s.Card(canon.NewCard{Name: "Nameless Lamp", Type: cardType, Content: "<p>no codename, no fact: lamps</p>"})
	s.fact("secret", "The Lens Cell", "A child sleeps behind the lamp. xyzzysecret", `{"aliases": ["lampwick room"]}`,
		access.LevelGM)
	return s
}

// found returns the ids of the facts that an actor finds.
func found(a worldtest.Actor, query string, more ...string) (ids []string) {
	a.Scene.T.Helper()
	q, _ := json.Marshal(query)
	out := a.Call("search-lore", `{"query": `+string(q)+strings.Join(append([]string{""}, more...), ", ")+`}`)
	for i := range int(out.At("items.#").(float64)) {
		ids = append(ids, out.At(fmt.Sprintf("items.%d.factId", i)).(string))
	}
	return ids
}

func TestFactByID(t *testing.T) {
	s := newLoreScene(t)
	user := s.As("user")
	a := user.Call("get-canonical-fact", `{"factId": "war"}`)
	a.Is("item.factId", "war", "item.type", "historical_event", "item.version", 1, "item.fields.name", "The Poplar War",
		"item.fields.text", "Six hundred men came for the rent and went home without boots.", "item.fields.year", 131,
		"item.fields.factType", nil, "item.updatedUtc", nil, "item.archivedUtc", nil, "item.fieldTruncations", nil)
	if a.Reply.Meta["contextRef"] == nil {
		t.Error("the answer cannot be cited")
	}
	for id, kind := range map[string]string{"lamp": "location_lore", "bell": "artifact", "faction-wick": "faction",
		"heron": "creature"} {
		user.Call("get-canonical-fact", `{"factId": "`+id+`"}`).Is("item.type", kind, "item.factId", id)
	}
	user.Call("get-canonical-fact", `{"factId": "`+s.IDOf("The Poplar War").String()+`"}`).Is("item.factId", "war")
	for _, none := range []string{"nobody", "notes", "secret", "", "~x", "The Poplar War", "a b", strings.Repeat("x", 100),
		s.IDOf("Nameless Lamp").String(), s.IDOf("The Lens Cell").String()} {
		if got := user.Call("get-canonical-fact", `{"factId": "`+none+`"}`).Raw; got != `{"item":null}` {
			t.Errorf("%q gives %s", none, got)
		}
	}
	s.As("gm").Call("get-canonical-fact", `{"factId": "secret"}`).Is("item.fields.name", "The Lens Cell")
	user.Fails("validation_error", "get-canonical-fact", `{"factId": "`+strings.Repeat("x", 101)+`"}`)
}

func TestFactFollowsCard(t *testing.T) {
	s := newLoreScene(t)
	user := s.As("user")
	for _, who := range []string{"user", "admin"} { // builds an index, which must not outlive the text
		if got := found(s.As(who), "boots"); len(got) == 0 || got[0] != "war" {
			t.Errorf("boots as %s finds %v", who, got)
		}
	}
	s.Edit("The Poplar War", canon.Edit{Content: new("<p>Fog won it.</p>")})
	user.Call("get-canonical-fact", `{"factId": "war"}`).Is("item.version", 2, "item.fields.text", "Fog won it.")
	if user.Call("get-canonical-fact", `{"factId": "war"}`).At("item.updatedUtc") == nil {
		t.Error("it does not say when it changed")
	}
	if got := found(user, "fog"); len(got) == 0 || got[0] != "war" {
		t.Errorf("fog finds %v", got)
	}
	for _, who := range []string{"user", "admin"} {
		if got := found(s.As(who), "boots"); slices.Contains(got, "war") {
			t.Errorf("what was taken out is found by %s: %v", who, got)
		}
	}
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card("The Poplar War")
		if err != nil {
			return err
		}
		return p.Trash(c)
	})
	if got := user.Call("get-canonical-fact", `{"factId": "war"}`).Raw; got != `{"item":null}` ||
		slices.Contains(found(user, "fog"), "war") || slices.Contains(found(s.As("admin"), "fog"), "war") {
		t.Errorf("an archived fact is there: %s", got)
	}
}

func TestLongFactIsTruncated(t *testing.T) {
	s := newLoreScene(t)
	long := strings.Repeat("ü", 700)
	many := `[` + strings.Repeat(`1,`, 149) + `1]`
	s.fact("long", "Long", long, `{"deep": {"why": "`+long+`"}, "many": `+many+`, "short": "s"}`, access.LevelUser)
	a := s.As("user").Call("get-canonical-fact", `{"factId": "long"}`)
	a.Is("item.fields.text", strings.Repeat("ü", 512), "item.fields.deep.why", strings.Repeat("ü", 512),
		"item.fields.many.#", 100, "item.fields.short", "s")
	var out struct {
		Item struct {
			Cut map[string]int `json:"fieldTruncations"`
		} `json:"item"`
	}
	if err := json.Unmarshal([]byte(a.Raw), &out); err != nil || len(out.Item.Cut) != 3 || out.Item.Cut["text"] != 700 ||
		out.Item.Cut["deep.why"] != 700 || out.Item.Cut["many"] != 150 {
		t.Errorf("cut: %v, %v", out.Item.Cut, err)
	}
}

func TestLoreSearchByWordsNamesAndTypos(t *testing.T) {
	s := newLoreScene(t)
	for _, tc := range []struct{ query, first string }{
		{"boots", "war"}, {"who trims the lamps of the marsh", "faction-wick"}, {"expected back", "faction-wick"},
		{"the Light", "lamp"}, {"Odas lamp", "lamp"}, {"THE TONGUELESS ONE", "bell"}, {"kept lamp", "lamp"},
		{"poplr war", "war"}, {"Wikwardens", "faction-wick"}, {"tonguless", "bell"}, {"hern", "heron"},
		{"eel counting", "heron"},
	} {
		for _, who := range []string{"user", "gm"} {
			if got := found(s.As(who), tc.query); len(got) == 0 || got[0] != tc.first {
				t.Errorf("%q as %s finds %v, want %s first", tc.query, who, got, tc.first)
			}
		}
	}
	if got := s.As("user").Call("search-lore", `{"query": "boots"}`); got.At("items.0.score") != 1.0 ||
		got.At("items.0.type") != "historical_event" || got.At("items.0.version") != 1.0 {
		t.Errorf("boots: %s", got.Raw)
	}
}

// TestAliasRanksAboveFrequentWords checks that a fact whose alias is the query ranks above facts
// that mention it often.
func TestAliasRanksAboveFrequentWords(t *testing.T) {
	s := newLoreScene(t)
	s.fact("a-house", "The Light House", "A light, a light, a light: the light house of the light.", "", access.LevelUser)
	if got := found(s.As("user"), "the light"); got[0] != "lamp" {
		t.Errorf("found %v", got)
	}
}

func TestSearchInputs(t *testing.T) {
	s := newLoreScene(t)
	user := s.As("user")
	for _, blank := range []string{"", "   ", "\t", "…!?"} {
		if got := found(user, blank); len(got) > 0 {
			t.Errorf("%q finds %v", blank, got)
		}
	}
	if got := found(user, "lamp war bell eels", `"k": "2"`); len(got) != 2 {
		t.Errorf("two are %v", got)
	}
	for _, bad := range []string{`{"query": "x", "k": 0}`, `{"query": "x", "k": 21}`, `{"query": "x", "k": "many"}`,
		`{"query": "x", "k": 1.5}`, `{}`, `{"query": "` + strings.Repeat("x", 501) + `"}`} {
		user.Fails("validation_error", "search-lore", bad)
		user.Fails("validation_error", "semantic-search-lore", bad)
	}
	user.Call("semantic-search-lore", `{"query": "the Light"}`).Is("items.0.id", "lamp", "items.0.score", 1)
}

func TestSnippets(t *testing.T) {
	s := newLoreScene(t)
	s.fact("tale", "Tale", strings.Repeat("für ever und ever ", 60)+"the kraken "+strings.Repeat("rolls on and on ", 60),
		"", access.LevelUser)
	got := s.As("user").Call("search-lore", `{"query": "kraken"}`).At("items.0.snippet").(string)
	if n := utf8.RuneCountInString(got); n > 200 || !strings.Contains(got, "kraken") {
		t.Errorf("%d characters: %s", n, got)
	}
}

// TestHiddenLoreDoesNotAffectAnswers compares the answers to a user, byte for byte, in a world with
// hidden facts and in one without.
func TestHiddenLoreDoesNotAffectAnswers(t *testing.T) {
	queries := []string{"lamp", "the Light", "lampwick", "child behind the lamp", "xyzzysecret", "Lens Cell",
		"boots of the war", "room"}
	ask := func(s *loreScene) (all []string) {
		for _, q := range queries {
			for _, tool := range []string{"search-lore", "semantic-search-lore"} {
				all = append(all, s.As("user").Call(tool, `{"query": "`+q+`", "k": 20}`).Raw)
			}
		}
		return all
	}
	s := newLoreScene(t)
	before := ask(s)
	for i := range 40 {
		s.fact(fmt.Sprint("hidden-", i), fmt.Sprint("Lamp ", i), "lamp boots war room xyzzysecret",
			`{"aliases": ["the Light"]}`, access.LevelGM)
	}
	if len(found(s.As("gm"), "xyzzysecret", `"k": 20`)) != 20 {
		t.Error("the gm does not find what is for the gm")
	}
	ask(s)
	newcomer := s.As("gm")
	newcomer.Caller.Subject = "another gm" // has no cached entry yet; searches between two searches of the user
	if got := found(newcomer, "xyzzysecret"); len(got) == 0 {
		t.Error("the gm is given what a user is")
	}
	for i, got := range ask(s) {
		if got != before[i] {
			t.Errorf("%s: with hidden facts a user is answered\n%s\nwithout\n%s", queries[i/2], got, before[i])
		}
		if strings.Contains(got, "xyzzy") || strings.Contains(got, "secret") {
			t.Errorf("a user is shown %s", got)
		}
	}
	// A fact that becomes hidden disappears from the answers at once.
	s.Change(func(p *canon.Plan) error {
		c, err := p.Card("Bell of the Ebb")
		if err != nil {
			return err
		}
		_, err = p.SetLabel(c, access.NewLabel(access.LevelGM))
		return err
	})
	if got := found(s.As("user"), "bronze bell"); slices.Contains(got, "bell") {
		t.Errorf("what was hidden is found: %v", got)
	}
}

// TestFactsSharedByNameComeLast checks that facts shared with a reader by name come last, without a
// score, and do not affect other answers.
func TestFactsSharedByNameComeLast(t *testing.T) {
	s := newLoreScene(t)
	before := s.As("alice").Call("search-lore", `{"query": "lamp burned"}`).Raw
	s.fact("zeta", "Zeta", "a burned lamp", "", access.LevelGM, "alice")
	s.fact("alpha", "Alpha", "another lamp that burned", "", access.LevelGM, "alice")
	alice, bob := s.As("alice"), s.As("bob")
	if got := found(alice, "lamp burned"); !slices.Equal(got[len(got)-2:], []string{"alpha", "zeta"}) {
		t.Errorf("alice finds %v", got)
	}
	n := len(found(alice, "lamp burned"))
	alice.Call("search-lore", `{"query": "lamp burned"}`).Is(fmt.Sprintf("items.%d.score", n-1), 0)
	if got := bob.Call("search-lore", `{"query": "lamp burned"}`).Raw; got != before {
		t.Errorf("bob is answered\n%s\nbefore\n%s", got, before)
	}
	alice.Call("get-canonical-fact", `{"factId": "zeta"}`).Is("item.fields.name", "Zeta")
}

// TestLoreSearchUsesWorldLanguage searches for other forms of words, before and after the world's
// language is set.
func TestLoreSearchUsesWorldLanguage(t *testing.T) {
	s := newLoreScene(t)
	s.fact("haus", "Ortschaft", "Zwanzig Wohnungen aus Holz.", `{"herold": ["Schmiede"]}`, access.LevelUser)
	s.fact("turm", "東京塔", "古い港の灯台", "", access.LevelUser)
	want := func(query string, want ...string) {
		t.Helper()
		if got := found(s.As("user"), query); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	want("lamp burns", found(s.As("user"), "lamps burning")...)
	want("港の灯台", "turm")
	want("hölzer")
	s.Change(func(p *canon.Plan) error {
		set := p.World().Settings
		set.Extra = map[string]string{canon.LanguageSetting: "de"}
		return p.Configure("Main", set)
	})
	want("hölzer", "haus")
	want("schmieden", "haus")
}

// TestSearchDuringWrites searches during writes, for the race detector.
func TestSearchDuringWrites(t *testing.T) {
	s := newLoreScene(t)
	done := make(chan struct{})
	for _, who := range []string{"user", "gm", "alice"} {
		caller := s.As(who).Caller
		go func() {
			defer func() { done <- struct{}{} }()
			for range 20 {
				if _, err := s.Ops.Invoke(context.Background(), caller,
					op.Request{Operation: "search-lore", Input: json.RawMessage(`{"query": "lamp"}`)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for i := range 10 { // the scene's clock must not move: the searches read it
		if _, err := s.Canon.Update(t.Context(), s.Admin, func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: fmt.Sprint("More ", i), Type: cardType, Codename: fmt.Sprint("more-", i),
				Content: "<p>lamp</p>"})
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		<-done
	}
	if got := found(s.As("user"), "more 7"); len(got) == 0 || got[0] != "more-7" {
		t.Errorf("found %v", got)
	}
}

func TestFactResource(t *testing.T) {
	s := newLoreScene(t)
	read := func(who, uri string) (string, error) {
		c, err := s.Ops.ReadResource(t.Context(), s.As(who).Caller, worldtest.Resource(uri))
		return c.Text, err
	}
	text, err := read("user", "world://fact/war")
	item, _ := json.Marshal(s.As("user").Call("get-canonical-fact", `{"factId": "war"}`).At("item"))
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(worldtest.Uncited(string(item))), &b) != nil ||
		fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("the document is %s, the fact %s, %v", text, item, err)
	}
	for _, none := range []string{"nobody", "secret", "notes"} {
		if text, err := read("user", "world://fact/"+none); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s reads %q, %v", none, text, err)
		}
	}
	if _, err := read("gm", "world://fact/secret"); err != nil {
		t.Error(err)
	}
}
