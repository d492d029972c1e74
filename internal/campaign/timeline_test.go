package campaign

import (
	"strings"
	"testing"
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
