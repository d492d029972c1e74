package app

import (
	"encoding/json"
	"net/http/httptest"
	"testing"
)

// Every route that answers with a file or a stream says so.
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
