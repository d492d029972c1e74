// Package campaigntest plays the sample campaign as it is served: real MCP clients over
// sockets, with a player's key and with the game master's.
package campaigntest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/app"
	"loregate/internal/app/apptest"
)

// table is the served sample campaign, with clients of its players and of the game master.
type table struct {
	t               *testing.T
	url             string
	ada, ben, gm    *guest
	adaKey, lendKey string
}

func open(t *testing.T) *table {
	t.Helper()
	c := apptest.Config(t, t.TempDir())
	made := apptest.Sample(t, c.Data)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	addr, _ := apptest.Serve(t, a, "")
	h := &table{t: t, url: "http://" + addr, adaKey: made.Campaign[0].Secret, lendKey: made.Keys[0].Secret}
	h.ada, h.ben, h.gm = h.seat(h.adaKey), h.seat(made.Campaign[1].Secret), h.seat(made.Campaign[2].Secret)
	return h
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// guest is a client of the campaign surface.
type guest struct {
	*mcp.ClientSession
	t     *testing.T
	heard chan string
}

func (h *table) seat(key string) *guest {
	h.t.Helper()
	g := &guest{t: h.t, heard: make(chan string, 100)}
	client := mcp.NewClient(&mcp.Implementation{Name: "guest", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			g.heard <- r.Params.URI
		}})
	var err error
	g.ClientSession, err = client.Connect(h.t.Context(),
		&mcp.StreamableClientTransport{Endpoint: h.url + "/mcp/campaign", MaxRetries: -1,
			HTTPClient: &http.Client{Transport: bearer(key)}}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = g.Close() })
	return g
}

// call calls a tool. It returns the answer, the code of the error if it failed, and the text.
func (g *guest) call(name string, args map[string]any) (out map[string]any, code, text string) {
	g.t.Helper()
	r, err := g.CallTool(g.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		g.t.Fatalf("%s %v: %v", name, args, err)
	}
	text = r.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		g.t.Fatalf("%s %v: %s", name, args, text)
	}
	if r.IsError {
		if r.StructuredContent != nil {
			g.t.Errorf("%s: an error with structured content", name)
		}
		code, _ = out["error"].(map[string]any)["code"].(string)
	}
	return out, code, text
}

func (g *guest) must(name string, args map[string]any) map[string]any {
	g.t.Helper()
	out, code, text := g.call(name, args)
	if code != "" {
		g.t.Fatalf("%s %v: %s", name, args, text)
	}
	return out
}

func (g *guest) find(query string) string {
	g.t.Helper()
	list := g.must("entity_search", map[string]any{"campaign_id": app.SampleCampaign, "query": query})["entities"].([]any)
	if len(list) == 0 {
		g.t.Fatalf("nobody finds %q", query)
	}
	return list[0].(map[string]any)["id"].(string)
}

// TestTheSameCallsByPlayerAndGM makes the same calls with both keys; the answers differ as the
// contract says.
func TestTheSameCallsByPlayerAndGM(t *testing.T) {
	h := open(t)
	brandt, conductor := h.gm.find("ottilie"), h.gm.find("the conductor")
	for _, c := range []struct {
		name   string
		args   map[string]any
		player string   // code of the error that the player gets, "" for none
		kept   []string // texts that only the GM reads
	}{
		{"campaign_list", map[string]any{}, "", []string{`"role":"gm"`}},
		{"campaign_get", map[string]any{}, "", []string{`"entities":77`, `"relationships":102`, `"events":84`}},
		{"entity_search", map[string]any{"query": "ninth"}, "", []string{"Circle of the Ninth Hour", "The Ninth Passenger"}},
		{"entity_get", map[string]any{"entity_id": brandt}, "",
			[]string{"gm_notes", "Afraid of", `"known_to"`, "secret_attributes"}},
		{"entity_get", map[string]any{"entity_id": conductor}, "NOT_FOUND", []string{"timetable"}},
		{"relationship_map", map[string]any{"entity_id": brandt, "depth": 3}, "", []string{"Circle of the Ninth Hour"}},
		{"timeline_query", map[string]any{"start_date": "1930-01-17", "end_date": "1930-01-17"}, "",
			[]string{"A written order", "stands for nine minutes"}},
		{"session_list", map[string]any{}, "", []string{"prep_notes", "The ninth chair"}},
		{"player_knowledge", map[string]any{"entity_id": brandt}, "FORBIDDEN", []string{`"known":true`}},
		{"canon_check", map[string]any{}, "FORBIDDEN", []string{"Parish register"}},
		{"reveal", map[string]any{"items": []any{map[string]any{"entity_id": conductor}}, "dry_run": true}, "FORBIDDEN",
			[]string{`"dry_run":true`}},
		{"entity_search", map[string]any{"limit": 0}, "INVALID_PARAMS", nil},
	} {
		if c.name != "campaign_list" {
			c.args["campaign_id"] = app.SampleCampaign
		}
		_, code, said := h.ada.call(c.name, c.args)
		if code != c.player {
			t.Errorf("%s %v answers a player %q: %s", c.name, c.args, code, said)
		}
		_, _, whole := h.gm.call(c.name, c.args)
		for _, word := range c.kept {
			if !strings.Contains(whole, word) || strings.Contains(said, word) {
				t.Errorf("%s: %q is for the GM alone:\nplayer %s\ngm     %s", c.name, word, said, whole)
			}
		}
	}
	if _, code, said := h.seat(h.lendKey).call("campaign_get",
		map[string]any{"campaign_id": app.SampleCampaign}); code != "NOT_FOUND" || strings.Contains(said, "Ninth Train") {
		t.Errorf("a stranger hears %s", said)
	}
}

// TestNoticesAreOnlyOfVisibleChanges subscribes a player and the GM to entities: only the GM is
// notified of a change of a secret; the player is notified of visible changes.
func TestNoticesAreOnlyOfVisibleChanges(t *testing.T) {
	h := open(t)
	base := "imagineer://campaigns/" + app.SampleCampaign + "/entities/"
	quill, vogt := h.gm.find("emil quill"), h.gm.find("konrad vogt")
	for _, g := range []*guest{h.ben, h.gm} {
		for _, id := range []string{quill, vogt} {
			if err := g.Subscribe(t.Context(), &mcp.SubscribeParams{URI: base + id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(id string, attributes map[string]any) {
		h.gm.must("entity_update", map[string]any{"campaign_id": app.SampleCampaign, "entity_id": id,
			"source_document": "Staff register 1931", "attributes": attributes})
	}
	change(quill, map[string]any{"secrets": "Older than his teeth."})
	if uri := <-h.gm.heard; uri != base+quill {
		t.Errorf("the GM hears of %s", uri)
	}
	change(vogt, map[string]any{"age": 48})
	if uri := <-h.ben.heard; uri != base+vogt {
		t.Errorf("the player hears of %s first", uri)
	}
}

// TestCampaignOverREST reads an entity with its tag, and pages through a resource.
func TestCampaignOverREST(t *testing.T) {
	h := open(t)
	id := h.ada.find("ottilie")
	get := func(path, tag string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.adaKey)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	path := "/api/campaigns/" + app.SampleCampaign + "/entities/" + id
	first := get(path, "")
	if first.StatusCode != 200 || first.Header.Get("ETag") == "" {
		t.Fatalf("%s %s", first.Status, first.Header.Get("ETag"))
	}
	read := h.gm.must("entity_get", map[string]any{"campaign_id": app.SampleCampaign, "entity_id": id})
	h.gm.must("entity_update", map[string]any{"campaign_id": app.SampleCampaign, "entity_id": id,
		"gm_notes": "Counts backwards now.", "if_match": read["etag"]})
	if again := get(path, first.Header.Get("ETag")); again.StatusCode != 304 {
		t.Errorf("after a change of notes: %s", again.Status)
	}
	for path, status := range map[string]int{"/api/campaigns": 200, "/api/campaigns/nowhere": 404, "/api/campaigns/" +
		app.SampleCampaign + "/conflicts": 403,
		"/api/systems/gurps-4e": 200, "/api/systems/nothing": 404, "/api/campaigns/" + app.SampleCampaign +
			"/timeline?start_date=soon": 400} {
		if res := get(path, ""); res.StatusCode != status {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	page, err := h.ada.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "imagineer://campaigns/" +
		app.SampleCampaign + "/timeline?cursor=50"})
	if err != nil || !strings.Contains(page.Contents[0].Text, `"next":null`) {
		t.Errorf("%v %v", page, err)
	}
}

// TestPromptsAndResourcesUseTheSurfacesCodes checks that prompts and resources refuse with the surface's
// error codes, as tools do.
func TestPromptsAndResourcesUseTheSurfacesCodes(t *testing.T) {
	h := open(t)
	_, asked := h.gm.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "what-do-players-know",
		Arguments: map[string]string{"entity": "Nobody At All"}})
	_, read := h.ada.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "imagineer://campaigns/nowhere/entities"})
	for what, err := range map[string]error{"a prompt": asked, "a resource": read} {
		var e *jsonrpc.Error
		if !errors.As(err, &e) || !strings.Contains(string(e.Data), `"code":"NOT_FOUND"`) {
			t.Errorf("%s refuses with %v, %s", what, err, e.Data)
		}
	}
}
