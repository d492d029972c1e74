package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
)

// lore creates a fact.
func (s *scene) lore(codename, name, text, fields string, level access.Level, subjects ...access.Subject) {
	s.t.Helper()
	label := access.NewLabel(level, subjects...)
	if fields == "" {
		fields = `{}`
	}
	s.card(canon.NewCard{Name: name, Type: typeLore, Content: "<p>" + text + "</p>", Codename: codename,
		Fields: json.RawMessage(fields), Label: &label})
}

// newLoreScene returns a world with some lore.
func newLoreScene(t testing.TB, change ...func(*Config)) *scene {
	s := emptyScene(t, sqlitetest.Open(t), change...)
	user := access.LevelUser
	s.lore("lamp", "The Kept Lamp", "It has burned since the founding and was never filled.",
		`{"aliases": ["the Light", "Oda's lamp"]}`, user)
	s.lore("bell", "Bell of the Ebb", "Cast in bronze; rung once and lowered into the water.",
		`{"factType": "artifact", "aliases": ["the tongueless one"]}`, user)
	s.lore("war", "The Poplar War", "Six hundred men came for the rent and went home without boots.",
		`{"factType": "historical_event", "year": 131}`, user)
	s.card(canon.NewCard{Name: "Wickwardens", Type: "Faction", Codename: "faction-wick",
		Content: "<p>They trim the lamps on the marsh at night.</p>", Fields: json.RawMessage(`{"motto": "Expected back."}`)})
	s.card(canon.NewCard{Name: "Heron", Type: "Creature", Codename: "heron", Content: "<p>It counts eels.</p>"})
	s.card(canon.NewCard{Name: "Notes on lamps", Type: "RichText", Codename: "notes", Content: "<p>lamps lamps lamps</p>"})
	s.card(canon.NewCard{Name: "Nameless Lamp", Type: typeLore, Content: "<p>no codename, no fact: lamps</p>"})
	s.lore("secret", "The Lens Cell", "A child sleeps behind the lamp. xyzzysecret", `{"aliases": ["lampwick room"]}`,
		access.LevelGM)
	return s
}

func (a actor) found(query string, more ...string) (ids []string) {
	a.s.t.Helper()
	q, _ := json.Marshal(query)
	out := a.call("search-lore", `{"query": `+string(q)+strings.Join(append([]string{""}, more...), ", ")+`}`)
	for i := range int(out.at("items.#").(float64)) {
		ids = append(ids, out.at(fmt.Sprintf("items.%d.factId", i)).(string))
	}
	return ids
}

func TestFactByID(t *testing.T) {
	s := newLoreScene(t)
	user := s.as("user")
	a := user.call("get-canonical-fact", `{"factId": "war"}`)
	a.is("item.factId", "war", "item.type", "historical_event", "item.version", 1, "item.fields.name", "The Poplar War",
		"item.fields.text", "Six hundred men came for the rent and went home without boots.", "item.fields.year", 131,
		"item.fields.factType", nil, "item.updatedUtc", nil, "item.archivedUtc", nil, "item.fieldTruncations", nil)
	if a.Reply.Meta["contextRef"] == nil {
		t.Error("the answer cannot be cited")
	}
	for id, kind := range map[string]string{"lamp": "location_lore", "bell": "artifact", "faction-wick": "faction",
		"heron": "creature"} {
		user.call("get-canonical-fact", `{"factId": "`+id+`"}`).is("item.type", kind, "item.factId", id)
	}
	user.call("get-canonical-fact", `{"factId": "`+s.idOf("The Poplar War").String()+`"}`).is("item.factId", "war")
	for _, none := range []string{"nobody", "notes", "secret", "", "~x", "The Poplar War", "a b", strings.Repeat("x", 100),
		s.idOf("Nameless Lamp").String(), s.idOf("The Lens Cell").String()} {
		if got := user.call("get-canonical-fact", `{"factId": "`+none+`"}`).Raw; got != `{"item":null}` {
			t.Errorf("%q gives %s", none, got)
		}
	}
	s.as("gm").call("get-canonical-fact", `{"factId": "secret"}`).is("item.fields.name", "The Lens Cell")
	user.fails("validation_error", "get-canonical-fact", `{"factId": "`+strings.Repeat("x", 101)+`"}`)
}

func TestFactFollowsCard(t *testing.T) {
	s := newLoreScene(t)
	user := s.as("user")
	for _, who := range []string{"user", "admin"} { // builds an index, which must not outlive the text
		if got := s.as(who).found("boots"); !slices.Equal(got, []string{"war"}) {
			t.Errorf("boots as %s finds %v", who, got)
		}
	}
	s.edit("The Poplar War", canon.Edit{Content: ptr("<p>Fog won it.</p>")})
	user.call("get-canonical-fact", `{"factId": "war"}`).is("item.version", 2, "item.fields.text", "Fog won it.")
	if user.call("get-canonical-fact", `{"factId": "war"}`).at("item.updatedUtc") == nil {
		t.Error("it does not say when it changed")
	}
	if got := user.found("fog"); !slices.Equal(got, []string{"war"}) {
		t.Errorf("fog finds %v", got)
	}
	for _, who := range []string{"user", "admin"} {
		if got := s.as(who).found("boots"); len(got) > 0 {
			t.Errorf("what was taken out is found by %s: %v", who, got)
		}
	}
	s.change(func(p *canon.Plan) error {
		c, err := p.Card("The Poplar War")
		if err != nil {
			return err
		}
		return p.Trash(c)
	})
	if got := user.call("get-canonical-fact", `{"factId": "war"}`).Raw; got != `{"item":null}` ||
		len(user.found("fog")) > 0 || len(s.as("admin").found("fog")) > 0 {
		t.Errorf("an archived fact is there: %s", got)
	}
}

func TestLongFactIsTruncated(t *testing.T) {
	s := newLoreScene(t)
	long := strings.Repeat("ü", 700)
	many := `[` + strings.Repeat(`1,`, 149) + `1]`
	s.lore("long", "Long", long, `{"deep": {"why": "`+long+`"}, "many": `+many+`, "short": "s"}`, access.LevelUser)
	a := s.as("user").call("get-canonical-fact", `{"factId": "long"}`)
	a.is("item.fields.text", strings.Repeat("ü", 512), "item.fields.deep.why", strings.Repeat("ü", 512),
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
			if got := s.as(who).found(tc.query); len(got) == 0 || got[0] != tc.first {
				t.Errorf("%q as %s finds %v, want %s first", tc.query, who, got, tc.first)
			}
		}
	}
	if got := s.as("user").call("search-lore", `{"query": "boots"}`); got.at("items.0.score") != 1.0 ||
		got.at("items.0.type") != "historical_event" || got.at("items.0.version") != 1.0 {
		t.Errorf("boots: %s", got.Raw)
	}
}

// TestAliasRanksAboveFrequentWords checks that a fact whose alias is the query ranks above facts
// that mention it often.
func TestAliasRanksAboveFrequentWords(t *testing.T) {
	s := newLoreScene(t)
	s.lore("a-house", "The Light House", "A light, a light, a light: the light house of the light.", "", access.LevelUser)
	if got := s.as("user").found("the light"); got[0] != "lamp" {
		t.Errorf("found %v", got)
	}
}

func TestSearchInputs(t *testing.T) {
	s := newLoreScene(t)
	user := s.as("user")
	for _, blank := range []string{"", "   ", "\t", "…!?"} {
		if got := user.found(blank); len(got) > 0 {
			t.Errorf("%q finds %v", blank, got)
		}
	}
	if got := user.found("lamp war bell eels", `"k": "2"`); len(got) != 2 {
		t.Errorf("two are %v", got)
	}
	for _, bad := range []string{`{"query": "x", "k": 0}`, `{"query": "x", "k": 21}`, `{"query": "x", "k": "many"}`,
		`{"query": "x", "k": 1.5}`, `{}`, `{"query": "` + strings.Repeat("x", 501) + `"}`} {
		user.fails("validation_error", "search-lore", bad)
		user.fails("validation_error", "semantic-search-lore", bad)
	}
	user.call("semantic-search-lore", `{"query": "the Light"}`).is("items.0.id", "lamp", "items.0.score", 1)
}

func TestSnippets(t *testing.T) {
	s := newLoreScene(t)
	s.lore("tale", "Tale", strings.Repeat("für ever und ever ", 60)+"the kraken "+strings.Repeat("rolls on and on ", 60),
		"", access.LevelUser)
	got := s.as("user").call("search-lore", `{"query": "kraken"}`).at("items.0.snippet").(string)
	if n := utf8.RuneCountInString(got); n > 200 || !strings.Contains(got, "kraken") {
		t.Errorf("%d characters: %s", n, got)
	}
}

// TestHiddenLoreDoesNotAffectAnswers compares the answers to a user, byte for byte, in a world with
// hidden facts and in one without.
func TestHiddenLoreDoesNotAffectAnswers(t *testing.T) {
	queries := []string{"lamp", "the Light", "lampwick", "child behind the lamp", "xyzzysecret", "Lens Cell",
		"boots of the war", "room"}
	ask := func(s *scene) (all []string) {
		for _, q := range queries {
			for _, tool := range []string{"search-lore", "semantic-search-lore"} {
				all = append(all, s.as("user").call(tool, `{"query": "`+q+`", "k": 20}`).Raw)
			}
		}
		return all
	}
	s := newLoreScene(t)
	before := ask(s)
	for i := range 40 {
		s.lore(fmt.Sprint("hidden-", i), fmt.Sprint("Lamp ", i), "lamp boots war room xyzzysecret",
			`{"aliases": ["the Light"]}`, access.LevelGM)
	}
	if len(s.as("gm").found("xyzzysecret", `"k": 20`)) != 20 {
		t.Error("the gm does not find what is for the gm")
	}
	ask(s)
	newcomer := s.as("gm")
	newcomer.caller.Subject = "another gm" // has no entry on the shelf yet; searches between two searches of the user
	if got := newcomer.found("xyzzysecret"); len(got) == 0 {
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
	s.change(func(p *canon.Plan) error {
		c, err := p.Card("Bell of the Ebb")
		if err != nil {
			return err
		}
		_, err = p.SetLabel(c, access.NewLabel(access.LevelGM))
		return err
	})
	if got := s.as("user").found("bronze bell"); slices.Contains(got, "bell") {
		t.Errorf("what was hidden is found: %v", got)
	}
}

// TestFactsSharedByNameComeLast checks that facts shared with a reader by name come last, without a
// score, and do not affect other answers.
func TestFactsSharedByNameComeLast(t *testing.T) {
	s := newLoreScene(t)
	before := s.as("alice").call("search-lore", `{"query": "lamp burned"}`).Raw
	s.lore("zeta", "Zeta", "a burned lamp", "", access.LevelGM, "alice")
	s.lore("alpha", "Alpha", "another lamp that burned", "", access.LevelGM, "alice")
	alice, bob := s.as("alice"), s.as("bob")
	if got := alice.found("lamp burned"); !slices.Equal(got[len(got)-2:], []string{"alpha", "zeta"}) {
		t.Errorf("alice finds %v", got)
	}
	n := len(alice.found("lamp burned"))
	alice.call("search-lore", `{"query": "lamp burned"}`).is(fmt.Sprintf("items.%d.score", n-1), 0)
	if got := bob.call("search-lore", `{"query": "lamp burned"}`).Raw; got != before {
		t.Errorf("bob is answered\n%s\nbefore\n%s", got, before)
	}
	alice.call("get-canonical-fact", `{"factId": "zeta"}`).is("item.fields.name", "Zeta")
}

// TestLargeWorldIsSearchedInStore runs queries in a world that has more facts than an index holds.
func TestLargeWorldIsSearchedInStore(t *testing.T) {
	s := newLoreScene(t)
	s.world.lore.maxFacts = 3
	for _, tc := range []struct{ query, first string }{
		{"boots", "war"}, {"the Light", "lamp"}, {"poplr war", "war"}, {"trims nothing lamps", "faction-wick"},
		{"Heron", "heron"},
	} {
		if got := s.as("user").found(tc.query); len(got) == 0 || got[0] != tc.first {
			t.Errorf("%q finds %v, want %s first", tc.query, got, tc.first)
		}
	}
	if got := s.as("user").found("xyzzysecret lampwick"); slices.Contains(got, "secret") || slices.Contains(got, "notes") {
		t.Errorf("a user finds %v", got)
	}
	s.as("user").call("search-lore", `{"query": "boots"}`).is("items.0.snippet",
		"Six hundred men came for the rent and went home without boots.")
}

// TestLoreSearchUsesWorldLanguage searches for other forms of words, in an index and in the store,
// before and after the world's language is set.
func TestLoreSearchUsesWorldLanguage(t *testing.T) {
	for name, most := range map[string]int{"index": maxIndexed, "store": 0} {
		t.Run(name, func(t *testing.T) {
			s := newLoreScene(t)
			s.world.lore.maxFacts = most
			s.lore("haus", "Ortschaft", "Zwanzig Wohnungen aus Holz.", `{"herold": ["Schmiede"]}`, access.LevelUser)
			want := func(query string, want ...string) {
				t.Helper()
				if got := s.as("user").found(query); !slices.Equal(got, want) {
					t.Errorf("%q finds %q, want %q", query, got, want)
				}
			}
			want("lamp burns", s.as("user").found("lamps burning")...)
			want("wohnung")
			s.change(func(p *canon.Plan) error {
				set := p.World().Settings
				set.Extra = map[string]string{canon.LanguageSetting: "de"}
				return p.Configure("Main", set)
			})
			want("wohnung", "haus")
			want("schmied", "haus")
		})
	}
}

// TestSearchDuringWrites searches during writes, for the race detector.
func TestSearchDuringWrites(t *testing.T) {
	s := newLoreScene(t)
	done := make(chan struct{})
	for _, who := range []string{"user", "gm", "alice"} {
		caller := s.as(who).caller
		go func() {
			defer func() { done <- struct{}{} }()
			for range 20 {
				if _, err := s.ops.Invoke(context.Background(), caller,
					op.Request{Operation: "search-lore", Input: json.RawMessage(`{"query": "lamp"}`)}); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	for i := range 10 { // the scene's clock must not move: the searches read it
		if _, err := s.canon.Update(t.Context(), s.admin, func(p *canon.Plan) error {
			_, err := p.Create(canon.NewCard{Name: fmt.Sprint("More ", i), Type: typeLore, Codename: fmt.Sprint("more-", i),
				Content: "<p>lamp</p>"})
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		<-done
	}
	if got := s.as("user").found("more 7"); len(got) == 0 || got[0] != "more-7" {
		t.Errorf("found %v", got)
	}
}

// meanings is an embedding model that distinguishes two meanings: sources of light, and everything
// else.
type meanings struct {
	asked []string
	fails error
}

func (m *meanings) Embed(_ context.Context, texts []string) (out [][]float32, err error) {
	m.asked = append(m.asked, texts...)
	for _, t := range texts {
		v := []float32{0, 1}
		for _, w := range []string{"lamp", "Lamp", "gleam"} {
			if strings.Contains(t, w) {
				v = []float32{1, 0}
			}
		}
		out = append(out, v)
	}
	return out, m.fails
}

func TestSearchByMeaning(t *testing.T) {
	model := &meanings{}
	s := newLoreScene(t, func(c *Config) { c.Lore = LoreConfig{Embedder: model, Logger: slog.New(slog.DiscardHandler)} })
	user := s.as("user")
	a := user.call("semantic-search-lore", `{"query": "a gleam"}`)
	if got := []any{a.at("items.0.id"), a.at("items.1.id")}; !slices.Contains(got, any("lamp")) ||
		!slices.Contains(got, any("faction-wick")) || a.at("items.#") != 2.0 {
		t.Errorf("a gleam: %s", a.Raw)
	}
	if got := user.found("a gleam"); len(got) > 0 {
		t.Errorf("words alone find %v", got)
	}
	for _, text := range model.asked {
		if strings.Contains(text, "xyzzysecret") {
			t.Error("a user's search had the model read what is hidden from users")
		}
	}
	n := len(model.asked)
	user.call("semantic-search-lore", `{"query": "a gleam"}`)
	if len(model.asked) != n {
		t.Errorf("%d texts were embedded again", len(model.asked)-n)
	}
	model.fails = errors.New("down")
	user.call("semantic-search-lore", `{"query": "boots"}`).is("items.0.id", "war")
}

func TestFactResource(t *testing.T) {
	s := newLoreScene(t)
	read := func(who, uri string) (string, error) {
		c, err := s.ops.ReadResource(t.Context(), s.as(who).caller, resourceAt(uri))
		return c.Text, err
	}
	text, err := read("user", "world://fact/war")
	item, _ := json.Marshal(s.as("user").call("get-canonical-fact", `{"factId": "war"}`).at("item"))
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal([]byte(uncited(string(item))), &b) != nil ||
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
