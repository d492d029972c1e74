package archive

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func TestRunQueryTakesTheListedFiltersOnly(t *testing.T) {
	s := aCoast(newScene(t))
	s.As("user").Call("run_query", `{"type": "Location"}`).WantNames("items", "Games+Coast+Ferry").Want("items.0.type",
		"Location").
		Want("items.0.updated_at", "2026-01-02T03:04:06.000Z").Want("items.0.id", s.idOf("Games+Coast+Ferry")).
		Want("items.0.summary", "The ferry has a LAMP.").Want("total", 1).Want("next_offset", nil)
	s.As("gm").Call("run_query", `{"type": "Location"}`).Want("total", 2)
	s.As("user").Call("run_query", `{"name": "coast", "limit": 2}`).Want("total", 3).Want("next_offset",
		2).Want("limit", 2)
	s.As("user").Call("run_query",
		`{"prefix": "Games+Coast", "not_name": "*+Lamp*", "sort": "updated_at"}`).Want("total", 2)
	s.As("user").Call("run_query", `{"content": "lamp"}`).WantNames("items",
		"Games+Coast+Lamp, Games+Coast, Games+Coast+Ferry")
	s.As("user").Call("run_query",
		`{"query": {"name": "coast", "created_at": ["between", "2026-01-02", "2026-01-02"]}, "limit": 1}`).Want("total", 3)
	s.As("user").Call("run_query", `{"query": {"name": "coast", "updated_at": ["<", "2026-01-02"]}}`).Want("total", 0)
	for _, input := range []string{
		`{"query": {"name": "coast", "updated_at": ["~", "2026-01-02"]}}`, `{"query": {"name": "coast"}, "type": "Item"}`,
		`{"query": {}}`,
		`{"query": {"name": "coast", "created_at": ["between", "2026-01-02"]}}`,
		`{"query": {"name": "coast", "created_at": [">="]}}`,
		`{}`, `{"limit": 10, "offset": 0, "sort": "name"}`, `{"name": " "}`, `{"content": " "}`,
		`{"type": "Item", "sql": "1"}`,
		`{"type": "Item", "limit": 101}`, `{"type": "Item", "sort": "relevance"}`, `{"type": "Item", "args": {"x": "y"}}`,
		`{"query_name": "q", "type": "Item"}`,
	} {
		s.As("user").WantFault("validation_error", "run_query", input)
	}
	if shown := s.As("user").WantFault("validation_error", "run_query",
		`{"type": "Item", "referred_to_by": "x"}`); !contains(shown, "referred_to_by") {
		t.Errorf("the refusal does not name the filter: %s", shown)
	}
}

func TestNamedQueriesAreCards(t *testing.T) {
	s := aCoast(newScene(t))
	s.made(canon.NewCard{Name: "places_in", Type: "Query",
		Content: `{"prefix": "{{top}}+", "type": "{{kind}}", "limit": {{n}}}`,
		Fields:  []byte(`{"description": "Cards of a kind below a card"}`)})
	s.made(canon.NewCard{Name: "secrets", Type: "Query", Content: `{"name": "GM"}`,
		Label: &access.Label{Level: access.LevelGM}})
	s.typed("Query", "broken", `{"type": "Item", "colour": "x"}`)
	s.typed("Query", "not_json", `{"type": `)
	s.typed("Query", "everything", `{"limit": 5}`)

	s.As("user").Call("list_queries", `{}`).WantNames("queries",
		"broken, everything, not_json, places_in").Want("total", 4).
		Want("queries.3.placeholders.0", "top").Want("queries.3.placeholders.#", 3).Want("queries.3.description",
		"Cards of a kind below a card").Lacks("secrets")
	s.As("gm").Call("list_queries", `{}`).Has("secrets")

	args := `"args": {"top": "Games", "kind": "location", "n": 1}`
	s.As("user").Call("run_query", `{"query_name": "places_in", `+args+`}`).WantNames("items",
		"Games+Coast+Ferry").Want("limit", 1)
	s.As("gm").Call("run_query", `{"query_name": "places_in", `+args+`}`).Want("total", 2).Want("next_offset", 1)
	s.As("gm").Call("run_query", `{"query_name": "places_in", `+args+`, "limit": 5, "offset": 1}`).WantNames("items",
		"Games+Coast+Wreck")
	s.As("user").Call("run_named_query", `{"q": "places_in", "args": {"top": "Games", "kind": "location", "n": "1"}}`,
		overREST).WantNames("items", "Games+Coast+Ferry")

	s.As("user").WantNotFound("run_query", `{"query_name": "secrets"}`)
	s.typed("JSON", "data", `{"type": "Item"}`)
	s.As("user").WantFault("validation_error", "run_query", `{"query_name": "data"}`)
	s.As("user").WantFault("validation_error", "run_query", `{"query_name": "places_in", "args": {"top": "Games"}}`)
	s.As("user").WantFault("validation_error", "run_query",
		`{"query_name": "places_in", "args": {"top": "Games", "kind": "x", "n": 1, "more": "y"}}`)
	s.As("user").WantFault("validation_error", "run_query",
		`{"query_name": "places_in", "args": {"top": ["Games"], "kind": "x", "n": 1}}`)
	s.As("user").WantFault("validation_error", "run_query",
		`{"query_name": "places_in", "args": {"top": "Games", "kind": "x", "n": "many"}}`)
	s.As("user").WantFault("validation_error", "run_query", `{"query_name": "broken"}`)
	s.As("user").WantFault("validation_error", "run_query", `{"query_name": "not_json"}`)
	s.As("user").WantFault("validation_error", "run_query", `{"query_name": "everything"}`)
}

func TestArgumentsAreValuesAndNeverSyntax(t *testing.T) {
	for _, hostile := range []string{`x", "limit": "100`, `"}`, `{{b}}`, `\`, `x","prefix":"GM`} {
		got, err := fillQuery(`{"name": "{{a}}", "tag": "t {{a}}", "type": {{b}}}`, map[string]any{"a": hostile, "b": "T"})
		if err != nil {
			t.Fatal(err)
		}
		want := selection{Name: hostile, filters: filters{Tag: "t " + hostile, Type: "T"}}
		if got != want {
			t.Errorf("%q gives %+v", hostile, got)
		}
	}
	if _, err := fillQuery(`{"{{a}}": "x"}`, map[string]any{"a": "name"}); err == nil {
		t.Error("an argument names a filter")
	}
	if _, err := fillQuery(`{"name": "x"} {"name": "y"}`, nil); err == nil {
		t.Error("two objects are one query")
	}
}

func FuzzNamedQuery(f *testing.F) {
	f.Add(`{"name": "{{a}}", "limit": {{a}}}`, "7")
	f.Add(`{"sort": "name", "updated_since": "{{a}}"}`, "2026-01-01")
	f.Add(`{{a}}`, `{"name":"x"}`)
	f.Fuzz(func(t *testing.T, content, arg string) {
		args := map[string]any{}
		for _, p := range placeholderNames(content) {
			args[p] = arg
		}
		s, err := fillQuery(content, args)
		if err == nil && (s.Limit < 0 || s.Limit > 100 || s.Offset < 0) {
			t.Errorf("%q with %q gives %+v", content, arg, s)
		}
	})
}
