package campaign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/op/optest"
)

// inputs has a valid call of every operation; $ann, $bo (hidden), $tie, $tied (secret), $met,
// $missed (unknown), $one and $odd stand for ids of told.
var inputs = map[string]string{
	"campaign_get": `{}`, "campaign_list": `{}`, "system_get": `{"system_code": "fitd"}`,
	"entity_search": `{"query": "ann"}`, "entity_get": `{"entity_id": "$ann"}`,
	"entity_compare": `{"entity_id": "$ann", "other_id": "$cy"}`,
	"entity_create":  `{"entity_type": "npc", "name": "Somebody Else Entirely"}`,
	"entity_update":  `{"entity_id": "$ann", "attributes": {"hair": "red"}}`,
	"entity_delete":  `{"entity_id": "$ann", "dry_run": true}`, "relationship_types": `{}`,
	"relationship_type_create": `{"name": "sings to", "inverse": "sung to by"}`,
	"relationship_create":      `{"source_id": "$ann", "target_id": "$cy", "type": "guards"}`,
	"relationship_delete":      `{"relationship_id": "$tie", "dry_run": true}`,
	"relationship_map":         `{"entity_id": "$ann", "depth": 4}`, "timeline_query": `{}`,
	"timeline_add":    `{"date": "1926", "precision": "year", "description": "Snow."}`,
	"timeline_update": `{"event_id": "$met", "description": "They met again."}`,
	"timeline_delete": `{"event_id": "$met", "dry_run": true}`,
	"session_create":  `{"number": 77}`, "session_update": `{"session_id": "$one", "recap": "r"}`, "session_list": `{}`,
	"reveal":     `{"items": [{"entity_id": "$bo"}], "dry_run": true}`,
	"unreveal":   `{"items": [{"entity_id": "$ann"}], "dry_run": true}`,
	"preview_as": `{"tool": "campaign_get"}`, "player_knowledge": `{"entity_id": "$ann"}`,
	"canon_check": `{}`, "canon_acknowledge": `{"conflict_id": "$odd"}`,
	"canon_resolve": `{"conflict_id": "$odd", "resolution": "keep"}`,
}

// forAll are the operations that players may use; the others are for the GM.
var forAll = map[string]bool{"campaign_get": true, "campaign_list": true, "system_get": true, "entity_search": true,
	"entity_get": true, "entity_compare": true,
	"relationship_types": true, "relationship_map": true, "timeline_query": true, "session_list": true}

// told creates a small campaign with a hidden object of every kind, each with a mark, and returns
// the ids by name.
func told(s *scene) map[string]string {
	gm := s.As("gm")
	id := map[string]string{}
	id["ann"] = gm.Make("npc", "Ann",
		`"revealed": true, "description": "Known.", "attributes": {"age": 30, "secrets": "mark-secret"}, "gm_notes": "mark-notes", "discovered_session": 4711, "tags": ["open"], "source_document": "Book", "source_confidence": "AUTHORITATIVE"`)
	id["cy"] = gm.Make("npc", "Cy", `"revealed": true`)
	id["bo"] = gm.Make("npc", "Bo mark-name",
		`"description": "mark-description", "tags": ["mark-tag"], "aliases": ["mark-alias"]`)
	id["tie"] = gm.Relate(id["ann"], "friend of", id["cy"], "")
	id["tied"] = gm.Relate(id["ann"], "betrayed", id["cy"], `"secret": true`)
	gm.Relate(id["ann"], "worships", id["bo"], "")
	id["met"] = gm.Happened("1926-03-14", "exact", "They met.", `"is_player_known": true, "entity_ids": ["`+id["ann"]+
		`", "`+id["bo"]+`"]`)
	id["missed"] = gm.Happened("1926-03-15", "exact", "mark-event", `"entity_ids": ["`+id["ann"]+`"]`)
	id["one"] = gm.Call("session_create", `{"recap": "They came.", "prep_notes": "mark-prep"}`).Text("id")
	gm.Call("entity_update", `{"entity_id": "`+id["ann"]+`", "source_document": "mark-source", "attributes": {"age": 99}}`)
	id["odd"] = gm.Call("canon_check", `{}`).Text("conflicts.0.id")
	return id
}

// marks are texts of told that no player may see.
var marks = []string{"mark-", "4711", "betrayed", "worships", "99"}

func filled(input string, id map[string]string) string {
	for name, value := range id {
		input = strings.ReplaceAll(input, `"$`+name+`"`, `"`+value+`"`)
	}
	return input
}

func (a actor) heard(name, input string) string {
	got, err := a.invoke(name, input)
	if err != nil {
		shown, _ := json.Marshal(a.s.ops.Show(name, "", err, "c"))
		return string(shown)
	}
	return string(got.Output) + got.Reply.ETag
}

func TestRolesAtEveryTool(t *testing.T) {
	onEachStore(t, func(s *scene) {
		id := told(s)
		for _, o := range s.ops.All() {
			input, ok := inputs[o.Name]
			if !ok {
				t.Errorf("there is no call of %s", o.Name)
				continue
			}
			if !strings.Contains(string(o.Doc), "For the GM.") != forAll[o.Name] {
				t.Errorf("the description of %s does not say whom it is for", o.Name)
			}
			if o.MinRole > access.RoleUser {
				t.Errorf("%s is not listed to players", o.Name)
			}
			input = filled(input, id)
			named := in(input)
			if o.NoWorld {
				named = input
			}
			player := s.As("ada").heard(o.Name, named)
			for _, mark := range marks {
				if strings.Contains(player, mark) && o.Name != "relationship_types" { // it contains these words for everybody
					t.Errorf("%s shows %q to a player: %s", o.Name, mark, player)
				}
			}
			if refused := strings.Contains(player, `"code":"FORBIDDEN"`); refused == forAll[o.Name] {
				t.Errorf("%s answers a player %s", o.Name, player)
			}
			if !o.NoWorld {
				strange := s.As("stranger").heard(o.Name, named)
				nothing := s.As("stranger").heard(o.Name, strings.Replace(named, `"`+slug+`"`, `"nowhere"`, 1))
				byID := s.As("stranger").heard(o.Name, strings.Replace(named, `"`+slug+`"`, `"`+s.world.String()+`"`, 1))
				if strange != nothing || byID != nothing || !strings.Contains(nothing, `"code":"NOT_FOUND"`) {
					t.Errorf("%s: a stranger hears\n%s\nof nothing\n%s\nby id\n%s", o.Name, strange, nothing, byID)
				}
			}
			if gm := s.As("gm").heard(o.Name, named); strings.Contains(gm, `"error":{"code"`) {
				t.Errorf("%s answers the GM %s", o.Name, gm)
			}
		}
		s.As("gm").WantFault("CONFLICT", "canon_resolve", filled(inputs["canon_resolve"], id)) // resolved above
		list := s.As("stranger").heard("campaign_list", `{}`)
		if strings.Contains(list, slug) || !strings.Contains(list, "elsewhere") {
			t.Errorf("a stranger lists %s", list)
		}
	})
}

// For each tool, the answer for a hidden object is the same as for a missing one.
func TestHiddenObjectsAreAbsentFromEveryTool(t *testing.T) {
	s := newScene(t)
	id := told(s)
	none := "01920000-0000-7000-8000-0000000000ff"
	for _, c := range []struct{ name, input string }{
		{"entity_get", `{"entity_id": "$"}`}, {"entity_compare", `{"entity_id": "` + id["ann"] + `", "other_id": "$"}`},
		{"relationship_map", `{"entity_id": "$"}`},
		{"timeline_query", `{"entity_id": "$"}`},
	} {
		hidden := s.As("ada").heard(c.name, in(strings.ReplaceAll(c.input, "$", id["bo"])))
		absent := s.As("ada").heard(c.name, in(strings.ReplaceAll(c.input, "$", none)))
		if strings.ReplaceAll(hidden, id["bo"], none) != absent || !strings.Contains(absent, "NOT_FOUND") {
			t.Errorf("%s: hidden\n%s\nabsent\n%s", c.name, hidden, absent)
		}
		if got := s.As("gm").heard(c.name, in(strings.ReplaceAll(c.input, "$", id["bo"]))); strings.Contains(got,
			`"error":`) {
			t.Errorf("%s answers the GM %s", c.name, got)
		}
	}
}

func (a actor) read(uri string) string {
	c, err := a.s.ops.ReadResource(a.s.t.Context(), a.caller, op.ResourceRequest{URI: uri})
	if err != nil {
		shown, _ := json.Marshal(fault.Show(err, "c"))
		return string(shown)
	}
	return c.Text
}

func TestRolesAtEveryResource(t *testing.T) {
	onEachStore(t, func(s *scene) {
		id := told(s)
		base := "imagineer://campaigns/"
		for _, path := range []string{"/entities", "/timeline", "/sessions", "/entities/" + id["ann"], "/entities/" +
			id["bo"], "/entities?cursor=1", "/timeline?cursor=1"} {
			gm, ada := s.As("gm").read(base+slug+path), s.As("ada").read(base+slug+path)
			if strings.Contains(gm, `"error"`) || gm == ada {
				t.Errorf("%s: the GM reads %s", path, gm)
			}
			for _, mark := range marks {
				if strings.Contains(ada, mark) {
					t.Errorf("%s shows %q to a player: %s", path, mark, ada)
				}
			}
			strange, nothing := s.As("stranger").read(base+slug+path), s.As("stranger").read(base+"nowhere"+path)
			if strings.ReplaceAll(strange, slug+"/", "nowhere/") != nothing || !strings.Contains(nothing, "not_found") {
				t.Errorf("%s: a stranger reads\n%s\nof nothing\n%s", path, strange, nothing)
			}
		}
		hidden, absent := s.As("ada").read(base+slug+"/entities/"+id["bo"]),
			s.As("ada").read(base+slug+"/entities/01920000-0000-7000-8000-0000000000ff")
		if strings.ReplaceAll(hidden, id["bo"], "01920000-0000-7000-8000-0000000000ff") != absent {
			t.Errorf("hidden\n%s\nabsent\n%s", hidden, absent)
		}
		for _, code := range systemCodes {
			var schema map[string]any
			if err := json.Unmarshal([]byte(s.As("stranger").read("imagineer://systems/"+code)), &schema); err != nil ||
				schema["title"] == nil {
				t.Errorf("%s: %v", code, err)
			}
		}
		if got := s.As("ada").read("imagineer://systems/../coc-7e"); !strings.Contains(got, "not_found") {
			t.Error(got)
		}
	})
}

func TestResourcesContinueAtTheCursor(t *testing.T) {
	s := newScene(t)
	gm := s.As("gm")
	for i := range 120 {
		gm.Make("npc", fmt.Sprintf("Person %03d", i), fmt.Sprintf(`"revealed": %t`, i%12 > 0))
	}
	seen, uri := 0, "imagineer://campaigns/"+slug+"/entities"
	for range 5 {
		a := optest.Answer{T: t, Raw: s.As("ada").read(uri)}
		a.Want("total", 110)
		n, _ := a.At("entities.#")
		seen += int(n.(float64))
		next, _ := a.At("next")
		if next == nil {
			break
		}
		uri = next.(string)
	}
	if seen != 110 {
		t.Errorf("%d entities by pages", seen)
	}
	// The resource list has the campaign's three lists, the game systems, and entities that changed
	// lately.
	items, err := s.ops.ListResources(t.Context(), s.As("ada").caller, op.ListRequest{})
	if err != nil || len(items) != 3+4+10 {
		t.Errorf("%d resources listed, %v", len(items), err)
	}
}

func TestPromptsQuoteVisibleText(t *testing.T) {
	s := newScene(t)
	told(s)
	get := func(who, name string, args map[string]string) (string, error) {
		text, err := s.ops.GetPrompt(t.Context(), s.As(who).caller, op.PromptRequest{Name: name, Args: args})
		return text.Text, err
	}
	if text, err := get("gm", "prepare-session", map[string]string{"focus": "snow"}); err != nil ||
		!strings.Contains(text, "mark-prep") || !strings.Contains(text, "snow") {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := get("ada", "recap-session", map[string]string{"session": "1"}); err != nil ||
		!strings.Contains(text, "They came.") || strings.Contains(text, "mark-") {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := get("gm", "what-do-players-know",
		map[string]string{"entity": "Bo mark-name", "session": "1"}); err != nil ||
		!strings.Contains(text, "player_knowledge") {
		t.Errorf("%s, %v", text, err)
	}
	for _, name := range []string{"prepare-session", "what-do-players-know"} {
		if _, err := get("ada", name, map[string]string{"entity": "Ann"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a player gets %s: %v", name, err)
		}
	}
	if _, err := get("gm", "recap-session", map[string]string{"session": "x"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("session x: %v", err)
	}
	values, err := s.ops.Complete(t.Context(), s.As("ada").caller,
		op.CompleteRequest{Template: "imagineer://campaigns/{id}/entities/{entity_id}", Variable: "entity_id", Prefix: "bo"})
	if err != nil || len(values) > 0 {
		t.Errorf("a player completes a hidden name to %v, %v", values, err)
	}
}

// recorder keeps access records.
type recorder struct{ kept []access.Record }

func (r *recorder) Reserve() error         { return nil }
func (r *recorder) Record(x access.Record) { r.kept = append(r.kept, x) }

// Neither the log nor the records contain requests' texts or entities' texts.
func TestLogsAndRecordsHoldNoText(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	s := newScene(t)
	id := told(s)
	kept := &recorder{}
	surface, err := New(Config{Canon: s.canon})
	if err != nil {
		t.Fatal(err)
	}
	if s.ops, err = op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{Recorder: kept}),
		Surfaces: []op.Surface{surface}, Worlds: worlds{s}}); err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"gm", "ada", "stranger"} {
		for name, input := range inputs {
			s.As(who).heard(name, in(filled(input, id)))
		}
		s.As(who).heard("entity_search", in(`{"query": "hushed"}`))
		s.As(who).heard("entity_get", in(`{"entity_id": "hushed"}`))
		s.As(who).heard("entity_create",
			in(`{"entity_type": "npc", "name": "hushed", "description": "hushed", "gm_notes": "hushed"}`))
		s.As(who).heard("timeline_add", in(`{"date": "hushed", "precision": "exact", "description": "hushed"}`))
		s.As(who).heard("preview_as", in(`{"tool": "entity_search", "subject": "hushed", "arguments": {"query": "hushed"}}`))
	}
	records, _ := json.Marshal(kept.kept)
	targets := 0
	for _, text := range []string{logged.String(), string(records)} {
		for _, word := range []string{"hushed", "mark-", "Ann", "Somebody", "Snow", "They met"} {
			if strings.Contains(text, word) {
				t.Errorf("%q was kept: %s", word, text)
			}
		}
		targets += strings.Count(text, id["ann"])
	}
	if targets == 0 || len(kept.kept) < 3*len(inputs) {
		t.Errorf("%d records with %d targets", len(kept.kept), targets)
	}
}
