package campaign

import (
	"fmt"
	"testing"
	"time"

	"loregate/internal/op"
	"loregate/internal/store/sqlite/sqlitetest"
)

// TestHiddenCardsChangeNoAnswer compares two campaigns that look the same to one player, one of
// which has secrets as well. All tools, resources, prompts and completions that the player can use
// must return the same bytes in both.
func TestHiddenCardsChangeNoAnswer(t *testing.T) {
	t.Run("memory", func(t *testing.T) { tellApart(t, newScene(t), newScene(t)) })
	t.Run("sqlite", func(t *testing.T) { tellApart(t, newSceneOn(t, sqlitetest.Open(t)), newSceneOn(t, sqlitetest.Open(t))) })
}

func tellApart(t *testing.T, bare, full *scene) {
	id := played(bare, false)
	if twin := played(full, true); fmt.Sprint(twin) != fmt.Sprint(id) {
		t.Fatalf("the public parts are not the same: %v, %v", id, twin)
	}
	asked := 0
	same := func(what, a, b string) {
		asked++
		if a != b {
			t.Errorf("%s:\nwithout secrets %s\nwith them       %s", what, a, b)
		}
	}
	for _, o := range full.ops.All() {
		if len(questions[o.Name]) == 0 {
			t.Errorf("nothing is asked of %s", o.Name)
		}
		for _, input := range questions[o.Name] {
			input = filled(input, id)
			if !o.NoWorld {
				input = in(input)
			}
			same(o.Name+" "+input, answered(bare, o.Name, input), answered(full, o.Name, input))
		}
	}
	for _, path := range []string{"entities", "timeline", "sessions", "entities?cursor=1", "timeline?cursor=2",
		"sessions?cursor=9", "entities/" + id["ann"], "entities/" + id["cy"],
		"entities/00000000-0000-7000-8000-0000000f4a41", "entities/x"} {
		uri := "imagineer://campaigns/" + slug + "/" + path
		same(uri, bare.As("ada").read(uri), full.As("ada").read(uri))
	}
	for _, c := range []struct{ prompt, template, variable, prefix string }{
		{"", "imagineer://campaigns/{id}/entities/{entity_id}", "entity_id", ""},
		{"", "imagineer://campaigns/{id}/entities/{entity_id}", "entity_id", "b"},
		{"what-do-players-know", "", "entity", "b"},
	} {
		ask := func(s *scene) string {
			values, err := s.ops.Complete(t.Context(), s.As("ada").caller,
				op.CompleteRequest{Prompt: c.prompt, Template: c.template, Variable: c.variable, Prefix: c.prefix})
			return fmt.Sprint(values, err)
		}
		same("complete "+c.template+c.prefix, ask(bare), ask(full))
	}
	list := func(s *scene) string {
		items, err := s.ops.ListResources(t.Context(), s.As("ada").caller, op.ListRequest{})
		text, err2 := s.ops.GetPrompt(t.Context(), s.As("ada").caller, op.PromptRequest{Name: "recap-session"})
		return fmt.Sprintf("%+v %v %s %v", items, err, text.Text, err2)
	}
	same("lists and prompts", list(bare), list(full))
	if asked < 75 {
		t.Errorf("only %d questions", asked)
	}
	if a, b := bare.As("gm").Call("campaign_get", `{}`).Raw, full.As("gm").Call("campaign_get", `{}`).Raw; a == b {
		t.Errorf("there are no secrets to tell the campaigns apart by: %s", a)
	}
}

// answered returns everything that the player receives from one call.
func answered(s *scene, name, input string) string {
	got, err := s.As("ada").invoke(name, input, func(r *op.Request) { r.Transport = "rest"; r.MaxText = 2500 })
	if err != nil {
		return jsonOf(s.ops.Show(name, "", err, "c"))
	}
	return fmt.Sprint(got.Reply.Status, got.Reply.ETag, got.Reply.Location, string(got.Output))
}

// played plays a campaign and returns the ids of its public objects. Each public step has its own
// time and ids, so secret steps before it do not change them.
func played(s *scene, secrets bool) map[string]string {
	gm, id := s.As("gm"), map[string]string{}
	step := 0
	public := func(f func()) {
		step++
		s.now = time.Date(2026, 2, 1, 0, step, 0, 0, time.UTC)
		s.ids.After(uint64(step) * 1000)
		f()
	}
	secret := func(f func()) {
		if secrets {
			s.ids.After(s.ids.Last() + 1_000_000)
			f()
		}
	}
	hidden := map[string]string{}
	public(func() {
		id["ann"] = gm.Make("npc", "Ann",
			`"revealed": true, "description": "Keeps the lamp of [[Bo]].", "attributes": {"age": 30}, "tags": ["lamp"], "aliases": ["The Keeper"], "source_document": "Book", "source_confidence": "AUTHORITATIVE"`)
	})
	secret(func() {
		hidden["bo"] = gm.Make("npc", "Bo",
			`"description": "lamp lamp lamp", "tags": ["lamp", "oil"], "aliases": ["The Keeper"]`)
		gm.Make("npc", "Anna", `"description": "lamp"`)
		gm.Make("clue", "A lamp", `"attributes": {"secrets": "lamp"}`)
		gm.Call("relationship_type_create", `{"name": "haunts", "inverse": "haunted by"}`)
		gm.Relate(id["ann"], "haunts", hidden["bo"], "")
	})
	public(func() { id["cy"] = gm.Make("npc", "Cy", `"revealed": true, "tags": ["lamp", "oil"]`) })
	public(func() { id["dee"] = gm.Make("location", "Dee", `"revealed": true, "description": "A lamp house."`) })
	secret(func() {
		gm.Relate(id["ann"], "betrayed", id["cy"], `"secret": true`)
		gm.Relate(hidden["bo"], "ally of", id["cy"], "")
		gm.Relate(hidden["bo"], "lives in", id["dee"], "")
		gm.Happened("1926-03-13", "exact", "lamp", `"entity_ids": ["`+id["ann"]+`"]`)
		gm.Happened("1926-03-14", "exact", "They met.", "")
	})
	public(func() { id["tie"] = gm.Relate(id["ann"], "friend of", id["cy"], `"tone": "friendly"`) })
	public(func() {
		more := ""
		if secrets {
			more = `, "` + hidden["bo"] + `"`
		}
		id["met"] = gm.Happened("1926-03-14", "exact", "They met.", `"is_player_known": true, "entity_ids": ["`+id["ann"]+`"`+
			more+`]`)
	})
	public(func() { id["year"] = gm.Happened("1926", "year", "A cold year.", `"is_player_known": true`) })
	public(func() { id["one"] = gm.Call("session_create", `{"recap": "They came."}`).Text("id") })
	secret(func() {
		gm.Call("session_update", `{"session_id": "`+id["one"]+`", "prep_notes": "lamp"}`)
		gm.Call("entity_update", `{"entity_id": "`+id["ann"]+
			`", "source_document": "Book", "attributes": {"secrets": "lamp"}, "gm_notes": "lamp", "discovered_session": 1}`)
		gm.Call("entity_update", `{"entity_id": "`+id["ann"]+`", "source_document": "Letter", "attributes": {"age": 31}}`)
		gm.Call("reveal", `{"items": [{"secret_of": "`+id["ann"]+`"}, {"entity_id": "`+hidden["bo"]+
			`"}], "to": ["ben"], "session_id": "`+id["one"]+`"}`)
		gm.Call("entity_update", `{"entity_id": "`+hidden["bo"]+`", "description": "lamp, revised"}`)
	})
	public(func() { gm.Call("session_update", `{"session_id": "`+id["one"]+`", "status": "COMPLETED"}`) })
	public(func() {
		gm.Call("entity_update", `{"entity_id": "`+id["ann"]+
			`", "source_document": "Book", "attributes": {"hair": "red"}, "tags": ["lamp", "red"]}`)
	})
	secret(func() {
		gm.Call("entity_delete", `{"entity_id": "`+hidden["bo"]+`"}`)
		gm.Make("npc", "Bo", `"description": "lamp again"`)
		gm.Call("session_update", `{"session_id": "`+id["one"]+`", "prep_notes": "more lamp"}`)
	})
	return id
}

var questions = map[string][]string{
	"campaign_list": {`{}`}, "campaign_get": {`{}`, `{"more": 1}`},
	"system_get": {`{"system_code": "coc-7e"}`, `{"system_code": "x"}`},
	"entity_search": {`{}`, `{"query": "lamp"}`, `{"query": "lamp", "limit": 1}`,
		`{"query": "lamp", "limit": 1, "offset": 1}`, `{"query": "bo"}`, `{"query": "anna"}`, `{"query": "annn"}`,
		`{"query": "boo"}`,
		`{"query": "keeper"}`, `{"query": "kepeer"}`, `{"tags": ["lamp"]}`, `{"tags": ["lamp", "oil"]}`, `{"tags": ["oil"]}`,
		`{"entity_type": "clue"}`, `{"entity_type": "npc", "query": "lamp"}`, `{"limit": 2, "offset": 2}`},
	"entity_get": {`{"entity_id": "$ann"}`, `{"entity_id": "$cy"}`, `{"entity_id": "$dee"}`, `{"entity_id": "$met"}`,
		`{"entity_id": "Bo"}`},
	"entity_compare": {`{"entity_id": "$ann", "other_id": "$cy"}`, `{"entity_id": "$ann", "other_id": "$one"}`},
	"entity_create":  {`{"entity_type": "npc", "name": "Bo"}`, `{"entity_type": "npc", "name": ""}`},
	"entity_update":  {`{"entity_id": "$ann", "attributes": {"age": 1}}`},
	"entity_delete":  {`{"entity_id": "$ann", "dry_run": true}`}, "relationship_types": {`{}`},
	"relationship_type_create": {`{"name": "haunts", "inverse": "haunted by"}`},
	"relationship_create":      {`{"source_id": "$ann", "target_id": "$cy", "type": "betrayed"}`},
	"relationship_delete":      {`{"relationship_id": "$tie"}`},
	"relationship_map": {`{"entity_id": "$ann"}`, `{"entity_id": "$ann", "depth": 4, "as_of_session": 1}`, `{"entity_id": "$ann", "depth": 4}`,
		`{"entity_id": "$cy", "depth": 2}`, `{"entity_id": "$dee", "depth": 4}`, `{"entity_id": "$ann", "depth": 9}`},
	"timeline_query": {`{}`, `{"limit": 1}`, `{"limit": 1, "offset": 1}`, `{"start_date": "1926-03-13"}`,
		`{"start_date": "1926-03-13", "end_date": "1926-03-13"}`, `{"end_date": "1926"}`,
		`{"entity_id": "$ann"}`, `{"entity_id": "$dee"}`, `{"start_date": "x"}`},
	"timeline_add":    {`{"date": "1926", "precision": "year", "description": "Snow."}`},
	"timeline_update": {`{"event_id": "$met", "date": "1927"}`}, "timeline_delete": {`{"event_id": "$met"}`},
	"session_create": {`{"number": 1}`}, "session_update": {`{"session_id": "$one", "recap": "x"}`},
	"session_list": {`{}`, `{"status": "COMPLETED"}`, `{"limit": 1, "offset": 1}`},
	"reveal":       {`{"items": [{"entity_id": "$ann"}]}`, `{"items": []}`},
	"unreveal":     {`{"items": [{"secret_of": "$ann"}]}`}, "preview_as": {`{"tool": "entity_search"}`},
	"player_knowledge":  {`{}`, `{"entity_id": "$ann", "as_of_session": 1}`},
	"canon_check":       {`{}`, `{"entity_id": "$ann"}`},
	"canon_acknowledge": {`{"conflict_id": "$ann"}`}, "canon_resolve": {`{"conflict_id": "$ann", "resolution": "keep"}`},
}
