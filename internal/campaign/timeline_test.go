package campaign

import (
	"slices"
	"strings"
	"testing"

	"loregate/internal/canon"
)

func (a actor) Happened(date, precision, text, more string) string {
	a.s.t.Helper()
	if more != "" {
		more = ", " + more
	}
	return a.Call("timeline_add", `{"date": "`+date+`", "precision": "`+precision+`", "description": "`+text+`"`+more+
		`}`).Text("id")
}

func TestTheTimelineOfMixedPrecision(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		known := `"is_player_known": true`
		gm.Happened("1926-03-14", "exact", "c", known)
		gm.Happened("1926", "year", "a", known)
		gm.Happened("1926-03", "month", "b", known)
		gm.Happened("about 1925", "approximate", "z", known)
		gm.Happened("1926-03-14 21:30", "exact", "d", known)
		gm.Happened("1926-03-15", "exact", "hidden", "")
		gm.Happened("long ago", "unknown", "u", known)
		gm.Happened("1927-01-01", "exact", "e", known)
		for _, row := range []struct{ args, want string }{
			{``, "z, a, b, c, d, e, u"},
			{`"start_date": "1926-03-14"`, "a, b, c, d, e"},
			{`"start_date": "1926-03-14 12:00", "end_date": "1926-12"`, "a, b, c, d"},
			{`"start_date": "1926-04"`, "a, e"},
			{`"end_date": "1926-03"`, "z, a, b, c, d"},
			{`"end_date": "1925"`, "z"},
			{`"start_date": "1926", "end_date": "1926"`, "a, b, c, d"},
			{`"start_date": "1928"`, ""},
		} {
			ada.Call("timeline_query", `{`+row.args+`}`).WantEach("events", "description", row.want)
			if row.want == "" {
				continue
			}
			var seen []string
			for next := 0; next >= 0; {
				args := strings.Trim(row.args+`, "limit": 2, "offset": `+jsonOf(next), ", ")
				a := ada.Call("timeline_query", `{`+args+`}`).Want("total", len(strings.Split(row.want, ", ")))
				for i := range 2 {
					if d, ok := a.At("events." + jsonOf(i) + ".description"); ok {
						seen = append(seen, d.(string))
					}
				}
				n, _ := a.At("next_offset")
				if f, ok := n.(float64); ok {
					next = int(f)
				} else {
					next = -1
				}
			}
			if got := strings.Join(seen, ", "); got != row.want {
				t.Errorf("%s by pages: %s, want %s", row.args, got, row.want)
			}
		}
		gm.Call("timeline_query", `{}`).Want("total", 8).Has(`"known_to":"gm"`)
		gm.WantFault("INVALID_PARAMS", "timeline_query", `{"start_date": "1927", "end_date": "1926"}`)
		gm.WantFault("INVALID_PARAMS", "timeline_query", `{"start_date": "soon"}`)
	})
}

func TestAnEventShowsOnlyVisibleEntities(t *testing.T) {
	onEachStore(t, func(s *scene) {
		gm, ada := s.As("gm"), s.As("ada")
		open, hidden := gm.Make("npc", "Ann", `"revealed": true`), gm.Make("npc", "Bo", "")
		gm.Happened("1926-03-14", "exact", "They met.", `"is_player_known": true, "entity_ids": ["`+open+`", "`+hidden+`"]`)
		secret := gm.Happened("1926-03-15", "exact", "They parted.", `"entity_ids": ["`+open+`"]`)
		ada.Call("timeline_query", `{"entity_id": "`+open+`"}`).WantEach("events", "description",
			"They met.").Want("events.0.entities.#", 1)
		gm.Call("timeline_query", `{"entity_id": "`+open+`"}`).Want("total", 2).Want("events.0.entities.#", 2)
		ada.WantFault("NOT_FOUND", "timeline_query", `{"entity_id": "`+hidden+`"}`)
		gm.Call("reveal", `{"items": [{"event_id": "`+secret+`"}], "to": ["ada"]}`).Want("items.0.known_to.0", "ada")
		ada.Call("timeline_query", `{"start_date": "1926-03-15"}`).WantEach("events", "description", "They parted.")
		s.As("ben").Call("timeline_query", `{}`).Want("total", 1)
		gm.Call("timeline_update", `{"event_id": "`+secret+
			`", "date": "1926-03-13", "description": "They quarrelled.", "entity_ids": ["`+hidden+`"]}`)
		ada.Call("timeline_query", `{}`).WantEach("events", "description",
			"They quarrelled., They met.").Want("events.0.entities.#", 0)
		gm.Call("timeline_delete", `{"event_id": "`+secret+`"}`).Want("deleted", true)
		ada.Call("timeline_query", `{}`).Want("total", 1)
	})
}

func TestAnEventHasThePrecisionOfItsDate(t *testing.T) {
	s := newScene(t)
	for date, want := range map[string]string{"1926": "year", "1926-03": "month", "1926-03-04": "exact"} {
		s.As("gm").Call("timeline_add", `{"date": "`+date+`", "description": "Snow."}`).Has(`"precision":"` + want + `"`)
	}
	s.As("gm").Call("timeline_add", `{"date": "long ago", "sort": 5, "description": "Snow."}`).Has(`"precision":"unknown"`)
}

func TestWritesOfTheTimelineAreChecked(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	for _, row := range []struct{ input, field string }{
		{`{"date": "long ago", "precision": "exact", "description": "x"}`, `"date"`},
		{`{"date": "1926", "precision": "exact", "description": "x"}`, `"precision"`},
		{`{"date": "1926", "precision": "month", "description": "x"}`, `"precision"`},
		{`{"date": "1926", "precision": "day", "description": "x"}`, `"precision"`},
		{`{"date": "1926", "precision": "year", "description": "x", "entity_ids": ["Ann"]}`, `"entity_ids[0]"`},
		{`{"date": "1926", "precision": "year"}`, `"description"`},
	} {
		if shown := gm.WantFault("INVALID_PARAMS", "timeline_add", row.input); !strings.Contains(shown, row.field) {
			t.Errorf("%s: %s names no %s", row.input, shown, row.field)
		}
	}
	gm.Happened("the third bell", "exact", "x", `"sort": 192603140000`)
	gm.Call("timeline_query", `{"start_date": "1926-03-14", "end_date": "1926-03-14"}`).Want("total", 1)
	one, two := gm.Happened("1927", "year", "Same.", ""), gm.Happened("1927", "year", "Same.", `"is_player_known": true`)
	gm.Call("reveal", `{"items": [{"event_id": "`+one+`"}]}`)
	if one == two {
		t.Error("two events are one")
	}
	s.As("ada").Call("timeline_query", `{"start_date": "1927"}`).Want("total", 2)
}

// TestTheNameOfAnEventHidesWhatItsTextHides writes events with each kind of mark: their names are made of the open text.
func TestTheNameOfAnEventHidesWhatItsTextHides(t *testing.T) {
	for _, text := range []string{"known open %%XX%% end", "known open [gm:: XX] end", "known <!-- XX --> open",
		`known <span class="secret">XX</span> open`, "known open\n\n> [!secret] XX\n> XX",
		"known open\n\n## GM notes\n\nXX",
		"known open\n\nGM: XX", "known open %%XX"} {
		s := newScene(t)
		gm, ada := s.As("gm"), s.As("ada")
		send := func(name, input, answer string) string {
			return gm.Call(name, `{`+input+`, "`+answer+`": true}`).Text("id")
		}
		description := `"description": ` + jsonOf(text)
		for i, answer := range []string{"hide_unsure", "as_written"} {
			day := `"date": "193` + jsonOf(i) + `-01-0`
			send("timeline_add", day+`1", "is_player_known": true, `+description, answer)
			id := send("timeline_add", day+`2", "is_player_known": true, "description": "plain"`, answer)
			send("timeline_update", `"event_id": "`+id+`", `+description, answer)
			id = send("timeline_add", day+`3", `+description, answer)
			gm.Call("reveal", `{"event_id": "`+id+`"}`)
			id = send("timeline_add", day+`4", "description": "plain"`, answer)
			send("timeline_update", `"event_id": "`+id+`", `+description, answer)
			gm.Call("reveal", `{"event_id": "`+id+`"}`)
		}
		names, _ := ada.inSight()
		if len(names) != 8 {
			t.Errorf("%s: a player sees %q", text, names)
		}
		for _, name := range names {
			if strings.Contains(name, "X") || !strings.Contains(name, "known open") {
				t.Errorf("%s: a player reads the name %q", text, name)
			}
		}
		if seen := ada.versions(); strings.Contains(seen, "XX") {
			t.Errorf("%s: a player reads in the versions %s", text, seen)
		}
	}
}

// TestANameFollowsTheOpenTextOfAnEvent hides a part without a mark, and reveals an event whose name tells a hidden part,
// as in earlier program versions.
func TestANameFollowsTheOpenTextOfAnEvent(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	id := gm.Happened("1930-01-01", "exact", "known open, the XX end", `"is_player_known": true`)
	old := gm.Happened("1930-01-02", "exact", "known open %%XX%% end", "")
	named := gm.Happened("1930-01-03", "exact", "plain", "")
	s.change(func(p *canon.Plan) error {
		for id, edit := range map[string]func(canon.Card) (canon.Card, error){
			id:    func(c canon.Card) (canon.Card, error) { return p.HideText(c, []string{"XX"}, false) },
			old:   func(c canon.Card) (canon.Card, error) { return p.Rename(c, "1930-01-02 known open %%XX%% end") },
			named: func(c canon.Card) (canon.Card, error) { return p.Rename(c, "The plain one") },
		} {
			c, err := p.Card("~" + id)
			if err != nil {
				return err
			}
			if _, err := edit(c); err != nil {
				return err
			}
		}
		return nil
	})
	gm.Call("timeline_update", `{"event_id": "`+id+`", "date": "1930-01-05"}`).
		Want("description", "known open, the %%XX%% end")
	gm.Call("reveal", `{"event_id": "`+old+`"}`)
	gm.Call("reveal", `{"event_id": "`+named+`"}`)
	names, _ := ada.inSight()
	want := []string{"1930-01-02 known open end", "1930-01-05 known open, the end", "The plain one"}
	if !slices.Equal(names, want) {
		t.Errorf("a player sees %q, want %q", names, want)
	}
}

// TestAnEventThatHidesOpenTextHidesItsFormerNames hides text that the name of an event told.
func TestAnEventThatHidesOpenTextHidesItsFormerNames(t *testing.T) {
	s := newScene(t)
	gm, ada := s.As("gm"), s.As("ada")
	id := gm.Happened("1930-01-01", "exact", "known XX open", `"is_player_known": true`)
	gm.Call("timeline_update", `{"event_id": "`+id+`", "description": "known %%XX%% open"}`)
	if seen := ada.versions(); strings.Contains(seen, "XX") || !strings.Contains(seen, "known open") {
		t.Errorf("a player reads %s", seen)
	}
}
