package proposaltest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/wait"
)

// eyes returns the text of a tool's result that a client shows its model. No client shows
// _meta.
type eyes func(*mcp.CallToolResult) string

func texts(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

// structured returns the structured content if there is any, and the text otherwise.
func structured(r *mcp.CallToolResult) string {
	if r.StructuredContent == nil {
		return texts(r)
	}
	b, err := json.Marshal(r.StructuredContent)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// model calls tools only with values that it found in the results it was shown.
type model struct {
	t     *testing.T
	cs    *mcp.ClientSession
	shows eyes
}

type bearer struct{ key string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

func (h *house) model(t *testing.T, role access.Role, shows eyes) model {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp",
		HTTPClient: &http.Client{Transport: bearer{h.keys[role]}}, DisableStandaloneSSE: true}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "scripted", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return model{t, cs, shows}
}

// callTool calls a tool, and returns the text that the model is shown. After a rate_limited
// answer it waits and repeats the call.
func (m model) callTool(tool string, args map[string]any) string {
	m.t.Helper()
	for range 5 {
		r, err := m.cs.CallTool(m.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			m.t.Fatalf("%s: %v", tool, err)
		}
		shown := m.shows(r)
		if !r.IsError || !strings.Contains(shown, `"rate_limited"`) {
			return shown
		}
		wait.For(m.t.Context(), time.Second)
	}
	m.t.Fatalf("%s is held back for ever", tool)
	return ""
}

// findShown returns a text from a shown result, by the names of the members that lead to it.
func (m model) findShown(shown string, path ...string) string {
	m.t.Helper()
	for d := json.NewDecoder(strings.NewReader(shown)); ; {
		var v any
		if err := d.Decode(&v); err != nil {
			break
		}
		if text, ok := findMember(v, path); ok {
			return text
		}
	}
	m.t.Fatalf("the model is shown no %s: %s", strings.Join(path, "."), shown)
	return ""
}

func findMember(v any, path []string) (string, bool) {
	if len(path) == 0 {
		text, ok := v.(string)
		return text, ok
	}
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[path[0]]; ok {
			if text, ok := findMember(inner, path[1:]); ok {
				return text, true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := findMember(v[name], path); ok {
				return text, true
			}
		}
	case []any:
		for _, inner := range v {
			if text, ok := findMember(inner, path); ok {
				return text, true
			}
		}
	}
	return "", false
}

// TestAModelProposesFromShownResults makes a scripted model propose ambience, a line and a
// change of a card in each client, with default limits and settings. The server runs without
// the sample's profile, after the sample was loaded once.
func TestAModelProposesFromShownResults(t *testing.T) {
	h := serveLimited(t, "", func(*app.Config) {})
	var made struct{ Player struct{ ID string } }
	if code := h.call(access.RoleUser, "POST /api/players?world="+app.SampleWorld, map[string]any{"name": "Wim"},
		&made); code != http.StatusOK && code != http.StatusCreated {
		t.Fatalf("no player: %d", code)
	}
	for n, client := range []struct {
		name string
		eyes eyes
		mood string
		line string
	}{
		{"Claude Code", structured, "Somewhere a rope creaks and stops.", "Rent is due before the tide."},
		{"Codex", structured, "Somewhere below, water counts under the planks.", "Mind the third plank, it counts you."},
		{"Gemini", texts, "The tar smells warm although nobody has lit a fire.",
			"Ask me after the bell, when I am no longer owed."},
	} {
		t.Run(client.name, func(t *testing.T) {
			m := h.model(t, access.RoleUser, client.eyes)
			here := m.callTool("get-location-context", map[string]any{})
			got := m.callTool("propose-ambience", map[string]any{"locationId": m.findShown(here, "location", "id"),
				"layerType": []string{"ambient", "dynamic", "weather"}[n],
				"text":      client.mood, "contextRef": m.findShown(here, "contextRef")})
			if !strings.Contains(got, `"status":"accepted"`) {
				t.Errorf("ambience: %s", got)
			}

			player := m.callTool("get-player-context", map[string]any{"playerId": m.findShown(m.callTool("search_cards",
				map[string]any{"type": "Player", "limit": 1}), "cards", "id")})
			got = m.callTool("propose-npc-dialogue", map[string]any{"npcId": m.findShown(player, "npcs", "id"),
				"playerId": m.findShown(player, "player", "id"), "draftText": client.line,
				"contextRef": m.findShown(player, "contextRef")})
			if !strings.Contains(got, `"status":"accepted"`) {
				t.Errorf("a line: %s", got)
			}

			card := m.callTool("get_card", map[string]any{"name": "Rent Quay"})
			change := map[string]any{"op": map[string]any{"name": "update_card", "arguments": map[string]any{
				"name": m.findShown(card, "name"), "content": "<p>Wet to the mark " + strings.Repeat("I", n+1) + ".</p>",
				"if_match": m.findShown(card, "etag")}}, "reason": "It rained."}
			got = m.callTool("propose-canon-change", change)
			if !strings.Contains(got, `"status":"pending_review"`) {
				t.Errorf("a change of a card: %s", got)
			}
			again := m.callTool("get-proposal", map[string]any{"proposalId": m.findShown(got, "proposalId")})
			if !strings.Contains(again, `"what":"Rent Quay"`) || !strings.Contains(again, `"change":"update (`) {
				t.Errorf("what waits: %s", again)
			}
			events := m.callTool("get-recent-events", map[string]any{"scope": "location",
				"scopeId": m.findShown(here, "location", "id")})
			if m.findShown(events, "contextRef") == "" {
				t.Error("a list cannot be cited")
			}
		})
	}
}

// TestAVerdictIsTheSameAfterARestart opens the same world with the sample's profile and
// without: the world's own setting decides on proposals without a context.
func TestAVerdictIsTheSameAfterARestart(t *testing.T) {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	texts := []string{"Somewhere a rope creaks and stops.", "Somebody has left a lamp in the third window.",
		"The tar smells warm at this hour.", "Under the planks the water counts."}
	for n, profile := range []string{access.ProfileSample, access.ProfileNone, access.ProfileSample, access.ProfileNone} {
		func() {
			a, err := app.Open(t.Context(), c, app.Options{Version: "1.0.0", Profile: profile})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close(context.WithoutCancel(t.Context()))
			if _, err := a.LoadSample(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			want := "pending_review"
			if n >= 2 { // from here on the world accepts them
				want = "accepted"
				err := a.ConfigureWorld(t.Context(), app.SampleWorld, func(_ *string, s *canon.Settings) {
					if n == 2 {
						app.SetUnproven(s, []string{"ambience"})
					}
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := propose(t, a, texts[n]); got != want {
				t.Errorf("start %d, profile %v: %s, want %s", n, profile, got, want)
			}
		}()
	}
}

// propose proposes a mood of the start place as an agent that cites no context, and returns the
// status.
func propose(t *testing.T, a *app.App, text string) string {
	t.Helper()
	invoke := func(operation string, in any, out any) {
		t.Helper()
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := a.Ops.Invoke(t.Context(), app.Local(access.RoleUser),
			op.Request{Operation: operation, Input: b, World: app.SampleWorld, Transport: "mcp"})
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer.Output, out); err != nil {
			t.Fatal(err)
		}
	}
	var here struct {
		Item struct{ Location struct{ ID string } }
	}
	invoke("get-location-context", map[string]any{}, &here)
	var r struct{ Status string }
	invoke("propose-ambience", map[string]any{"locationId": here.Item.Location.ID, "layerType": "ambient",
		"text": text}, &r)
	return r.Status
}
