package campaign

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/sample"
)

// loaded loads the sample campaign into the scene.
func (s *scene) loaded() *scene {
	s.t.Helper()
	guard := access.NewGuard(access.Config{})
	a, err := guard.Admit(s.t.Context(), s.As("admin").caller,
		access.Request{Operation: "load_sample", Effect: access.Write, World: s.world})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := Load(s.t.Context(), s.canon, a.Grant, sample.Campaign()); err != nil {
		s.t.Fatal(err)
	}
	return s
}

func TestTheSampleCampaignIsAsRichAsPromised(t *testing.T) {
	onEachStore(t, func(s *scene) {
		s.loaded()
		gm, ada := s.As("gm"), s.As("sample-ada")
		all := gm.Call("campaign_get", `{}`)
		for path, least := range map[string]float64{"stats.entities": 60, "stats.relationships": 90, "stats.events": 80,
			"stats.sessions": 8} {
			if n, _ := all.At(path); n.(float64) < least {
				t.Errorf("%s is %v, want %v", path, n, least)
			}
		}
		if n, _ := gm.Call("canon_check", `{"status": "DETECTED"}`).At("total"); n.(float64) < 5 {
			t.Errorf("%v open conflicts", n)
		}
		for _, precision := range []string{"exact", "approximate", "month", "year", "unknown"} {
			gm.Call("timeline_query", `{"limit": 100}`).Has(`"precision":"` + precision + `"`)
		}
		plate := gm.Call("entity_search", `{"query": "orsk plate", "entity_type": "item"}`).Text("entities.0.id")
		ada.Call("entity_get", `{"entity_id": "`+plate+`"}`).Want("name", "The Orsk Plate")
		s.As("sample-ben").WantFault("NOT_FOUND", "entity_get", `{"entity_id": "`+plate+`"}`)
		gm.Call("player_knowledge", `{"entity_id": "`+plate+
			`", "subject": "sample-ada", "as_of_session": 5}`).Want("known", false)
		gm.Call("player_knowledge", `{"entity_id": "`+plate+
			`", "subject": "sample-ada", "as_of_session": 6}`).Want("known", true)
		if a, b := ada.Call("campaign_get", `{}`).Raw, all.Raw; a == b {
			t.Error("a player counts what the GM counts")
		}
	})
}

// admitted returns a grant to read in the scene's world.
func (a actor) admitted() access.Grant {
	a.s.t.Helper()
	guard := access.NewGuard(access.Config{})
	in, err := guard.Admit(a.s.t.Context(), a.caller,
		access.Request{Operation: "scene", Effect: access.Read, World: a.s.world})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return in.Grant
}

// inSight returns the names and texts, including fields, of all cards visible to an actor.
func (a actor) inSight() (names []string, texts map[string]string) {
	a.s.t.Helper()
	texts = map[string]string{}
	err := a.s.canon.Read(a.s.t.Context(), a.admitted(), func(l *canon.Snapshot) error {
		cards, _, err := l.Cards(a.s.t.Context(), canon.Filter{Sort: canon.SortName}, canon.Page{Limit: 1000})
		for _, c := range cards {
			content, err := l.Content(a.s.t.Context(), c)
			if err != nil {
				return err
			}
			names = append(names, c.Name)
			texts[c.Name] = canon.PlainText(c.TextKind(), content) + "\n" + string(c.Fields)
		}
		return err
	})
	if err != nil {
		a.s.t.Fatal(err)
	}
	return names, texts
}

// The texts that players can read name nothing that is hidden from them, and quote none of the game
// master's notes on sessions.
func TestTheSampleCampaignRevealsNoSecrets(t *testing.T) {
	s := newScene(t).loaded()
	all, _ := s.As("gm").inSight()
	for _, who := range []string{"sample-ada", "sample-ben"} {
		seen, texts := s.As(who).inSight()
		known := map[string]bool{}
		for _, name := range seen {
			known[name] = true
		}
		for _, name := range all {
			if known[name] || strings.Contains(name, "+") {
				continue
			}
			for card, text := range texts {
				if len(markup.FindAll(text, name, markup.FindOptions{Mode: markup.WholeWord, FoldAccents: true, Limit: 1})) > 0 {
					t.Errorf("%s reads of %q, which is hidden, in %q", who, name, card)
				}
			}
		}
	}
	for _, kept := range []string{"It will matter", "stole a page", "knelt", "luggage van", "dog was a good idea"} {
		if read := s.As("sample-ada").sessionSurfaces(); strings.Contains(read, kept) {
			t.Errorf("players read %q of the game master's notes", kept)
		}
	}
}
