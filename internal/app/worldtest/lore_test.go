package worldtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/waittest"
)

// call calls a tool in the sample world and decodes the text of its answer.
func call(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any, into any) {
	t.Helper()
	args["world"] = app.SampleWorld
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil || result.IsError {
		t.Fatalf("%s %v: %v %+v", tool, args, err, result)
	}
	if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), into); err != nil {
		t.Fatal(err)
	}
}

// TestLoreIsFoundByWordsAliasAndTypo searches as a client on both surfaces, and reads the facts
// found.
func TestLoreIsFoundByWordsAliasAndTypo(t *testing.T) {
	h := open(t)
	for _, surface := range []string{"world", "lore"} {
		session := h.connectTo(surface, h.keys[access.RoleUser])
		for how, ask := range map[string][2]string{
			"words": {"boots of the men who did not go home", "lore-boot-wall"},
			"alias": {"the six hundred pairs", "lore-boot-wall"},
			"typo":  {"Chaple Rat", "lore-chapel-rat"},
		} {
			for _, tool := range []string{"search-lore", "semantic-search-lore"} {
				var hits []struct {
					FactID, ID string
					Score      float64
					Snippet    string
				}
				call(t, session, tool, map[string]any{"query": ask[0], "k": 3}, &hits)
				if len(hits) == 0 || hits[0].FactID+hits[0].ID != ask[1] || hits[0].Score <= 0 || hits[0].Score > 1 ||
					hits[0].Snippet == "" {
					t.Errorf("%s by %s, %s %q: %+v", surface, how, tool, ask[0], hits)
				}
			}
			var fact struct{ FactID string }
			if call(t, session, "get-canonical-fact", map[string]any{"factId": ask[1]}, &fact); fact.FactID != ask[1] {
				t.Errorf("%s reads as %+v", ask[1], fact)
			}
		}
	}
}

// TestSubscribersHearOfPlacesAndFacts subscribes to a place and to a fact, and expects a notice
// after each edit in the wiki.
func TestSubscribersHearOfPlacesAndFacts(t *testing.T) {
	h := open(t)
	heard := make(chan string, 16)
	client := mcp.NewClient(&mcp.Implementation{Name: "follower", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI },
	})
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp/world",
		HTTPClient: &http.Client{Transport: bearer(h.keys[access.RoleUser])}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var here struct{ Location struct{ ID, Name string } }
	call(t, session, "get-location-context", map[string]any{}, &here)
	for uri, name := range map[string]string{"world://location/" + here.Location.ID: here.Location.Name,
		"world://fact/lore-boot-wall": "The Boot Wall"} {
		if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatalf("%s: %v", uri, err)
		}
		body, _ := json.Marshal(map[string]string{"content": "<p>It has been painted.</p>"})
		if code := h.send("PATCH", "/api/mcp/cards/"+url.PathEscape(name)+"?world="+app.SampleWorld, h.keys[access.RoleGM],
			string(body), nil); code != http.StatusOK {
			t.Fatalf("editing %s: %d", name, code)
		}
		if got := waittest.Receive(t, heard, "a notice of "+uri); got != uri {
			t.Errorf("heard of %s, want %s", got, uri)
		}
		if err := session.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: uri}); err != nil {
			t.Error(err)
		}
	}
}
