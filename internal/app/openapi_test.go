package app

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"loregate/internal/op"
)

// Every route that answers with a file or a stream is described as such.
func TestOpenAPIKnowsFilesAndStreams(t *testing.T) {
	a := declared(t)
	h, stop, err := a.Handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/api/openapi.json", nil)
	r.Host = "localhost"
	h.ServeHTTP(w, r)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for path, kinds := range map[string][]string{
		"/api/mcp/cards/{name}/file":          {"*/*"},
		"/api/studio/artifacts/{artifact_id}": {"*/*"},
		"/api/mcp/admin/backup/{id}":          {"*/*", "application/json"},
	} {
		content := doc.Paths[path]["get"].Responses["200"].Content
		for _, kind := range kinds {
			if content[kind] == nil || len(content) != len(kinds) {
				t.Errorf("%s answers %v", path, content)
			}
		}
	}
	for _, f := range a.Ops.Feeds() {
		path := f.Route[len("GET "):]
		if doc.Paths[path]["get"].Responses["200"].Content["text/event-stream"] == nil {
			t.Errorf("%s is not among the routes", f.Route)
		}
	}
	if len(a.Ops.Feeds()) == 0 {
		t.Error("there are no feeds to look for")
	}
}

// The document has an example of each operation and each path variable.
func TestOpenAPIShowsExamples(t *testing.T) {
	a := declared(t)
	raw := op.OpenAPI(op.APIInfo{Title: "Loregate", Operations: a.Ops.All()})
	type media struct {
		Examples map[string]struct{ Value map[string]any }
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name    string
				Example any
			}
			RequestBody struct{ Content map[string]media }
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for _, o := range a.Ops.All() {
		if o.Route == "" || len(o.Examples) == 0 {
			continue
		}
		item := doc.Paths[o.Path()][strings.ToLower(o.Method())]
		if o.Method() != "GET" && o.Method() != "DELETE" {
			for title, e := range item.RequestBody.Content["application/json"].Examples {
				for _, name := range o.PathVars() {
					if _, inBody := e.Value[name]; inBody {
						t.Errorf("%s, %q: %s comes in the path", o.Name, title, name)
					}
				}
			}
			if n := len(item.RequestBody.Content["application/json"].Examples); n != len(o.Examples) {
				t.Errorf("%s: %d of %d examples", o.Name, n, len(o.Examples))
			}
		}
		for _, p := range item.Parameters {
			if p.Example == nil && slices.Contains(o.PathVars(), p.Name) {
				t.Errorf("%s: %s has no example", o.Name, p.Name)
			}
		}
	}
}
