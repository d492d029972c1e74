package world_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/world"
	"loregate/internal/world/lore"
	"loregate/internal/world/worldtest"
)

func TestLocationContext(t *testing.T) {
	s := worldtest.New(t)
	got := s.As("user").Call("get-location-context", `{}`)
	got.Is("item.tick", 0, "item.location.name", "Quay", "item.location.id", s.IDOf("Quay").String(),
		"item.location.version", 1,
		"item.location.description", "Black stone and wet rope. A tariff board leans here.", "item.location.tags.0", "quay",
		"item.exits.#", 3, "item.exits.0.direction", "north", "item.exits.0.toLocationId", s.IDOf("Square").String(),
		"item.exits.0.availability", "hard",
		"item.exits.0.description", "Up wet steps.", "item.exits.0.travelDurationMs", 120000,
		"item.exits.1.direction", "west", "item.exits.1.availability", "pending", "item.exits.1.toLocationId", nil,
		"item.exits.2.direction", "up", "item.exits.2.availability", "forbidden",
		"item.realms.political.0.name", "Low Ward", "item.realms.weather.0.name", "Coast", "item.realms.functional.#", 0,
		"item.realms.geographic.#", 0,
		"item.narrativeTags.#", 3, "item.narrativeTags.0", "tar", "item.narrativeTags.2", "rain",
		"item.ambient.value", "calm", "item.ambient.defaulted", true, "item.ambient.present", false,
		"item.nearbyPlayers.#", 0, "item.recentEvents.#", 0)
	if strings.Contains(got.Raw, "secret") || strings.Contains(got.Raw, "Cellar") {
		t.Errorf("a user sees what is hidden: %s", got.Raw)
	}
	if ref, _ := got.Reply.Meta["contextRef"].(string); ref == "" ||
		!strings.Contains(got.Raw, `{"item":{"contextRef":"`+ref+`"`) {
		t.Error("no contextRef in the answer itself")
	}
	s.As("gm").Call("get-location-context", `{"locationId":"loc-quay"}`).Is("item.exits.#", 4, "item.exits.3.direction",
		"down", "item.exits.3.availability", "hard",
		"item.exits.2.direction", "up", "item.realms.functional.0.name", "Secret Order", "item.narrativeTags.0", "secrettag")
}

func TestUnknownAndHiddenPlacesAreNull(t *testing.T) {
	s := worldtest.New(t)
	absent := s.As("user").Call("get-location-context", `{"locationId":"01900000-0000-7000-8000-000000000000"}`).Raw
	for _, id := range []string{s.IDOf("Cellar").String(), "loc-cellar", "nowhere", s.IDOf("Oda Tarn").String(), "x y",
		"../.."} {
		for _, tool := range []string{"get-location-context", "get-spatial-context", "get-location"} {
			if got := s.As("user").Call(tool, `{"locationId":"`+id+`"}`).Raw; got != absent || got != `{"item":null}` {
				t.Errorf("%s of %s: %s", tool, id, got)
			}
		}
		s.As("user").Call("list-exits", `{"locationId":"`+id+`"}`).Is("exits.#", 0)
		s.As("user").Call("get-recent-events", `{"scope":"location","scopeId":"`+id+`"}`).Is("items.#", 0)
		s.As("user").Call("get-player-context", `{"playerId":"`+id+`"}`).Is("item", nil)
		s.As("user").Fails("not_found", "get-atmosphere", `{"locationId":"`+id+`"}`)
	}
}

func TestNumericInputs(t *testing.T) {
	s := worldtest.New(t)
	u := s.As("user")
	u.Call("get-location-context", `{"tick":"3600000"}`).Is("item.tick", 3600000)
	u.Call("get-atmosphere", `{"tick":61200000}`).Is("tick", 61200000, "timeOfDay", "dusk")
	for _, bad := range []string{`{"tick":-1}`, `{"tick":"-1"}`, `{"tick":"soon"}`, `{"tick":1.5}`, `{"tick":true}`,
		`{"tick":[1]}`} {
		u.Fails("validation_error", "get-location-context", bad)
		u.Fails("validation_error", "get-atmosphere", bad)
	}
	for _, bad := range []string{`{"depth":"deep"}`, `{"depth":{}}`} {
		u.Fails("validation_error", "get-spatial-context", bad)
	}
	u.Fails("validation_error", "get-recent-events", `{"scope":"realm","scopeId":"x"}`)
	u.Fails("validation_error", "get-recent-events", `{"scope":"player","scopeId":"x","limit":"many"}`)
}

func TestSpatialContext(t *testing.T) {
	s := worldtest.New(t)
	got := s.As("user").Call("get-spatial-context", `{}`)
	got.Is("item.depth", 2, "item.requestedDepth", nil, "item.neighbors.#", 2, "item.neighbors.0.name", "Square",
		"item.neighbors.0.depth", 1, "item.neighbors.0.direction", "north",
		"item.neighbors.1.name", "Chapel", "item.neighbors.1.depth", 2, "item.neighbors.1.direction", "north",
		"item.neighbors.1.path.1", "east")
	s.As("user").Call("get-spatial-context", `{"depth":"9"}`).Is("item.depth", 5, "item.requestedDepth", 9,
		"item.warnings.#", 1, "item.neighbors.#", 3, "item.neighbors.2.name", "Tower")
	s.As("user").Call("get-spatial-context", `{"depth":0}`).Is("item.depth", 1, "item.requestedDepth", 0,
		"item.neighbors.#", 1)
	s.As("gm").Call("get-spatial-context", `{"depth":1}`).Is("item.neighbors.#", 2, "item.neighbors.1.direction", "down")
}

// A spatial context has the realms of each place, without those that its reader does not see and those behind them.
func TestSpatialContextHasRealms(t *testing.T) {
	s := worldtest.New(t)
	hidden := access.NewLabel(access.LevelGM)
	s.Card(canon.NewCard{Name: "Shire", Type: world.TypeRealm,
		Fields: json.RawMessage(`{"realmType":"county","scope":"LOCAL"}`)})
	s.Card(canon.NewCard{Name: "Bridge", Type: world.TypeRealm, Label: &hidden})
	s.Link("within", "Chapel", "Bridge", `{}`)
	s.Link("within", "Bridge", "Shire", `{}`)
	got := s.As("user").Call("get-spatial-context", `{}`)
	got.Is("item.realms.#", 2, "item.realms.0.name", "Low Ward", "item.realms.0.category", "political",
		"item.realms.1.name", "Coast", "item.realms.1.category", "weather", "item.realms.1.scope", "MACRO",
		"item.inRealms.#", 2, "item.neighbors.0.inRealms.1", 1, "item.neighbors.1.inRealms", nil, "item.warnings.#", 0)
	s.As("gm").Call("get-spatial-context", `{}`).Is("item.realms.#", 5, "item.realms.0.name", "Secret Order",
		"item.inRealms.#", 3, "item.neighbors.2.name", "Chapel", "item.neighbors.2.inRealms.#", 2,
		"item.neighbors.2.inRealms.0", 2)
	for i := range 33 {
		name := fmt.Sprintf("Parish %02d", i)
		s.Card(canon.NewCard{Name: name, Type: world.TypeRealm})
		s.Link("member_of", "Tower", name, `{}`)
	}
	s.As("user").Call("get-spatial-context", `{"depth":3}`).Is("item.realms.#", 32, "item.warnings.#", 1,
		"item.neighbors.2.inRealms.#", 30)
}

func TestLayersByPlaceScopeAndTime(t *testing.T) {
	s := worldtest.New(t)
	s.Layer("Coast", world.LayerWeather, "Rain from the sea.", 0, 0)
	s.Layer("Low Ward", world.LayerWeather, "Drizzle.", 0, 1000)
	s.Layer("Low Ward", world.LayerAmbient, "Hammers.", 0, 0)
	u := s.As("user")
	u.Call("get-atmosphere", `{"tick":500}`).Is("weather.value", "Drizzle.", "weather.scopeId",
		s.IDOf("Low Ward").String(), "weather.effectiveToTick", 1000, "ambient.value", "Hammers.", "lighting.defaulted", true)
	u.Call("get-atmosphere", `{"tick":1000}`).Is("weather.value", "Drizzle.")
	u.Call("get-atmosphere", `{"tick":1001}`).Is("weather.value", "Rain from the sea.", "weather.effectiveToTick", nil)
	s.Layer("Quay", world.LayerWeather, "Fog on the stones.", 2000, 0)
	s.Layer("Quay", world.LayerWeather, "Thicker fog.", 1500, 0)
	u.Call("get-atmosphere", `{"tick":1999}`).Is("weather.value", "Thicker fog.")
	u.Call("get-atmosphere", `{"tick":2000}`).Is("weather.value", "Thicker fog.", "weather.present", true,
		"weather.defaulted", false)
	u.Call("get-atmosphere", `{"tick":1499}`).Is("weather.value", "Rain from the sea.")
	s.Layer("Quay", world.LayerAmbient, strings.Repeat("ä", 600), 0, 0)
	got := u.Call("get-location-context", `{"tick":5}`)
	got.Is("item.ambient.valueTruncated", true, "item.ambient.value", strings.Repeat("ä", 512))
}

func TestTimeOfDay(t *testing.T) {
	for h, want := range map[int64]string{0: "night", 4: "night", 5: "dawn", 7: "dawn", 8: "morning", 11: "morning",
		12: "afternoon", 16: "afternoon", 17: "dusk", 19: "dusk", 20: "night", 23: "night", 29: "dawn"} {
		if got := world.TimeOfDay(h*world.Hour + world.Hour - 1); got != want {
			t.Errorf("hour %d: %s, want %s", h, got, want)
		}
	}
}

func TestPlaceVersion(t *testing.T) {
	s := worldtest.New(t)
	u := s.As("user")
	version := func(n int) {
		t.Helper()
		u.Call("get-location", `{}`).Is("item.version", n)
	}
	s.Way("Quay", "in", "Tower")
	s.Edit("Quay", canon.Edit{Fields: []byte(`{"terrain":"hilltop"}`)})
	version(1)
	text := "<p>New.</p>"
	s.Edit("Quay", canon.Edit{Content: &text})
	version(2)
	u.Call("get-location-context", `{}`).Is("item.location.description", "New.")
	s.Edit("Quay", canon.Edit{Fields: []byte(`{"tags":["quay","wet"]}`)})
	version(3)
	s.Edit("Quay", canon.Edit{Fields: []byte(`{"exitAvailability":null}`)})
	version(3)
	s.Card(canon.NewCard{Name: "Quay+tags", Type: canon.TypePointer, Content: "[[start]]"})
	u.Call("get-location", `{}`).Is("item.version", 4, "item.tags.2", "start")
}

func TestTruncatedDescriptionIsReported(t *testing.T) {
	s := worldtest.New(t)
	text := "<p>" + strings.Repeat("é", 700) + "</p>"
	s.Edit("Quay", canon.Edit{Content: &text})
	s.As("user").Call("get-location", `{}`).Is("item.description", strings.Repeat("é", 512),
		"item.fieldTruncations.description", 700)
}

func TestContextAsOf(t *testing.T) {
	s := worldtest.New(t)
	before := s.Now
	text := "<p>After the flood.</p>"
	s.Edit("Quay", canon.Edit{Content: &text})
	s.Layer("Quay", world.LayerAmbient, "Dripping.", 0, 0)
	s.Change(func(p *canon.Plan) error {
		q, err := p.Card("Quay")
		if err != nil {
			return err
		}
		links, _, err := p.Links(t.Context(), canon.LinkQuery{From: q.ID, Kinds: []string{world.LinkExit},
			Page: canon.Page{Limit: 10}})
		for _, l := range links {
			p.Unlink(l)
		}
		return err
	})
	u := s.As("user")
	u.Call("get-location-context", `{}`).Is("item.location.description", "After the flood.", "item.location.version", 2,
		"item.ambient.value", "Dripping.", "item.exits.0.availability", "pending")
	u.Call("get-location-context", `{"as_of":"`+before.Format("2006-01-02T15:04:05Z")+`"}`).Is("item.location.version", 1,
		"item.location.description", "Black stone and wet rope. A tariff board leans here.", "item.ambient.value", "calm",
		"item.exits.0.availability", "hard")
	u.Call("get-spatial-context", `{"as_of":"`+before.Format("2006-01-02T15:04:05Z")+`"}`).Is("item.neighbors.#", 2)
	u.Call("get-spatial-context", `{}`).Is("item.neighbors.#", 0)
	u.Fails("validation_error", "get-location-context", `{"as_of":"5"}`)
	u.Fails("validation_error", "get-location-context", `{"as_of":"1999-01-01"}`)
	u.Fails("validation_error", "get-location-context", `{"as_of":"then"}`)
	s.As("gm").Call("get-location-context", `{"as_of":"2"}`).Is("item.location.name", "Quay",
		"item.exits.0.direction", "west")
	s.As("gm").Fails("validation_error", "get-location-context", `{"as_of":"100000"}`)
}

func TestRereadReturnsSameAnswer(t *testing.T) {
	s := worldtest.New(t)
	for _, who := range []string{"user", "gm", "admin"} {
		for tool, input := range map[string]string{"get-location-context": `{}`,
			"get-atmosphere": `{"locationId":"loc-square"}`, "get-spatial-context": `{"depth":3}`,
			"get-recent-events": `{"scope":"location","scopeId":"loc-quay"}`, "list-exits": `{}`,
			"get-location": `{"locationId":"nowhere"}`} {
			got := s.As(who).Call(tool, input)
			ref := got.Reply.Meta["contextRef"].(string)
			text := "<p>Edited for " + who + tool + "</p>"
			s.Edit("Quay", canon.Edit{Content: &text})
			s.Layer("Quay", world.LayerAmbient, text, 0, 0)
			s.Way("Quay", "out", "Tower")
			again, err := s.World.Reread(t.Context(), s.Grant(who), ref)
			if err != nil || string(again.Answer) != worldtest.Uncited(got.Raw) {
				t.Errorf("%s as %s: %v\n got %s\nwant %s", tool, who, err, again.Answer, got.Raw)
			}
			if who == "gm" {
				if _, err := s.World.Reread(t.Context(), s.Grant("user"), ref); err == nil {
					t.Error("a user read again what a gm had read")
				}
			}
			if who == "user" {
				again, err = s.World.Reread(t.Context(), s.Grant("gm"), ref)
				if err != nil || string(again.Answer) != worldtest.Uncited(got.Raw) {
					t.Errorf("%s read again by a gm, as a user: %v\n%s", tool, err, again.Answer)
				}
			}
		}
	}
	good := s.As("user").Call("list-exits", `{}`).Reply.Meta["contextRef"].(string)
	for range 120 {
		s.Layer("Cellar", world.LayerAmbient, "hidden work", 0, 0)
	}
	if later := s.As("user").Call("list-exits", `{}`).Reply.Meta["contextRef"].(string); len(later) != len(good) {
		t.Errorf("a reference grows with what is hidden: %d, then %d characters", len(good), len(later))
	}
	for _, bad := range []string{"", "x", good[1:], good[:len(good)-2], good + "A", strings.ToUpper(good),
		strings.Repeat("A", 5000)} {
		if _, err := s.World.Reread(t.Context(), s.Grant("admin"), bad); err == nil {
			t.Errorf("the reference %.20q was opened", bad)
		}
	}
}

// TestRereadAfterRenames gives every name that was used to read a context to another card, and
// reads the context again.
func TestRereadAfterRenames(t *testing.T) {
	s := worldtest.New(t, func(set *worldtest.Setup) {
		set.More = func(w *world.World, c *canon.Canon) op.Surface {
			facts, err := lore.New(lore.Config{World: w, Canon: c})
			if err != nil {
				t.Fatal(err)
			}
			return facts.Surface()
		}
	})
	s.Card(canon.NewCard{Name: "Square+tags", Content: "<ul><li>loud</li></ul>"})
	s.Card(canon.NewCard{Name: "The Well", Type: "Lore", Content: "<p>It hums.</p>", Codename: "the-well"})
	s.Card(canon.NewCard{Name: "No Fact Yet", Type: "Lore", Content: "<p>x</p>"})
	none := s.IDOf("No Fact Yet").String()
	asks := [][2]string{{"get-location-context", `{}`}, {"get-location-context", `{"locationId":"loc-square"}`},
		{"get-atmosphere", `{"locationId":"loc-quay"}`},
		{"get-spatial-context", `{"locationId":"loc-square","depth":3}`}, {"get-location", `{"locationId":"loc-new"}`},
		{"get-canonical-fact", `{"factId":"the-well"}`},
		{"get-canonical-fact", `{"factId":"the-spring"}`},
		{"get-canonical-fact", `{"factId":"` + s.IDOf("The Well").String() + `"}`},
		{"get-canonical-fact", `{"factId":"` + none + `"}`},
		{"get-recent-events", `{"scope":"location","scopeId":"loc-quay"}`}}
	var first []worldtest.Answer
	for _, a := range asks {
		first = append(first, s.As("user").Call(a[0], a[1]))
	}
	code := func(name, code string) { s.Edit(name, canon.Edit{Codename: new(code)}) }
	code("Quay", "loc-new")
	code("Square", "loc-plaza")
	code("Tower", "loc-square")
	code("Chapel", "loc-quay")
	code("The Well", "the-spring")
	s.Card(canon.NewCard{Name: "Another Well", Type: "Lore", Content: "<p>It is dry.</p>", Codename: "the-well"})
	code("No Fact Yet", "a-fact")
	s.Change(func(p *canon.Plan) error { return p.Configure("Main", canon.Settings{Starter: "Tower"}) })
	for from, to := range map[string]string{"Square": "Plaza", "Quay": "Dock", "Low Ward": "High Ward"} {
		s.Change(func(p *canon.Plan) error {
			c, err := p.Card(from)
			if err == nil {
				_, err = p.Rename(c, to)
			}
			return err
		})
	}
	for i, a := range asks {
		again, err := s.World.Reread(t.Context(), s.Grant("user"), first[i].Reply.Meta["contextRef"].(string))
		if err != nil || string(again.Answer) != worldtest.Uncited(first[i].Raw) {
			t.Errorf("%v: %v\n got %s\nwant %s", a, err, again.Answer, first[i].Raw)
		}
	}
}

func TestPlacesAreResources(t *testing.T) {
	s := worldtest.New(t)
	c := s.As("user")
	got, err := s.Ops.ReadResource(t.Context(), c.Caller, worldtest.Resource("world://location/loc-quay"))
	if err != nil || !strings.Contains(got.Text, `"name":"Quay"`) || got.MIME != "application/json" {
		t.Errorf("%+v, %v", got, err)
	}
	_, absent := s.Ops.ReadResource(t.Context(), c.Caller, worldtest.Resource("world://location/loc-cella"))
	_, hidden := s.Ops.ReadResource(t.Context(), c.Caller, worldtest.Resource("world://location/loc-cellar"))
	if absent == nil || hidden == nil || strings.Replace(hidden.Error(), "loc-cellar", "loc-cella", 1) != absent.Error() {
		t.Errorf("hidden %v, absent %v", hidden, absent)
	}
}
