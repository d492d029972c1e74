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

// eyes is what a client shows its model of a tool's result. None shows _meta.
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

// structured shows the structured content in the place of the text, where there is any.
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

// model calls tools with values that it found in what it was shown, and with nothing else.
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
	transport := &mcp.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{h.keys[role]}}, DisableStandaloneSSE: true}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "scripted", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	return model{t, cs, shows}
}

// calls calls a tool, and gives what the model is shown. It waits where it is told to.
func (m model) calls(tool string, args map[string]any) string {
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

// finds takes a text out of what was shown, by the names of members that lead to it.
func (m model) finds(shown string, path ...string) string {
	m.t.Helper()
	for d := json.NewDecoder(strings.NewReader(shown)); ; {
		var v any
		if err := d.Decode(&v); err != nil {
			break
		}
		if text, ok := find(v, path); ok {
			return text
		}
	}
	m.t.Fatalf("the model is shown no %s: %s", strings.Join(path, "."), shown)
	return ""
}

func find(v any, path []string) (string, bool) {
	if len(path) == 0 {
		text, ok := v.(string)
		return text, ok
	}
	switch v := v.(type) {
	case map[string]any:
		if inner, ok := v[path[0]]; ok {
			if text, ok := find(inner, path[1:]); ok {
				return text, true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if text, ok := find(v[name], path); ok {
				return text, true
			}
		}
	case []any:
		for _, inner := range v {
			if text, ok := find(inner, path); ok {
				return text, true
			}
		}
	}
	return "", false
}

// TestAModelProposesByWhatItIsShown has a scripted model propose ambience, a line and a change
// of a card in each client: with default limits and settings, on a server that is started
// without the sample's profile, after the sample was loaded once.
func TestAModelProposesByWhatItIsShown(t *testing.T) {
	h := serveLimited(t, "", func(*app.Config) {})
	var made struct{ Player struct{ ID string } }
	if code := h.call(access.RoleUser, "POST /api/players?world="+app.SampleWorld, map[string]any{"name": "Wim"}, &made); code != http.StatusOK && code != http.StatusCreated {
		t.Fatalf("no player: %d", code)
	}
	for n, client := range []struct {
		name string
		eyes eyes
		mood string
		line string
	}{
		{"Claude Code", structured, "Fog takes the far bollards one by one.", "Rent is due before the tide."},
		{"Codex", structured, "Somewhere below, water counts under the planks.", "Mind the third plank, it counts you."},
		{"Gemini", texts, "The tar smells warm although nobody has lit a fire.", "Ask me after the bell, when I am no longer owed."},
	} {
		t.Run(client.name, func(t *testing.T) {
			m := h.model(t, access.RoleUser, client.eyes)
			here := m.calls("get-location-context", map[string]any{})
			got := m.calls("propose-ambience", map[string]any{"locationId": m.finds(here, "location", "id"), "layerType": []string{"ambient", "dynamic", "weather"}[n],
				"text": client.mood, "contextRef": m.finds(here, "contextRef")})
			if !strings.Contains(got, `"status":"accepted"`) {
				t.Errorf("ambience: %s", got)
			}

			who := m.calls("search_cards", map[string]any{"type": "Character", "limit": 1})
			player := m.calls("get-player-context", map[string]any{"playerId": m.finds(m.calls("search_cards", map[string]any{"type": "Player", "limit": 1}), "cards", "id")})
			got = m.calls("propose-npc-dialogue", map[string]any{"npcId": m.finds(who, "cards", "id"), "playerId": m.finds(player, "player", "id"), "draftText": client.line,
				"contextRef": m.finds(player, "contextRef")})
			if !strings.Contains(got, `"status":"accepted"`) {
				t.Errorf("a line: %s", got)
			}

			card := m.calls("get_card", map[string]any{"name": "Rent Quay"})
			change := map[string]any{"op": map[string]any{"name": "update_card", "arguments": map[string]any{
				"name": m.finds(card, "name"), "content": "<p>Wet, for client " + client.name + ".</p>", "if_match": m.finds(card, "etag")}}, "reason": "It rained."}
			got = m.calls("propose-canon-change", change)
			if !strings.Contains(got, `"status":"pending_review"`) {
				t.Errorf("a change of a card: %s", got)
			}
			again := m.calls("get-proposal", map[string]any{"proposalId": m.finds(got, "proposalId")})
			if !strings.Contains(again, `"what":"Rent Quay"`) || !strings.Contains(again, `"change":"update (`) {
				t.Errorf("what waits: %s", again)
			}
			events := m.calls("get-recent-events", map[string]any{"scope": "location", "scopeId": m.finds(here, "location", "id")})
			if m.finds(events, "contextRef") == "" {
				t.Error("a list cannot be cited")
			}
		})
	}
}

// TestAVerdictIsTheSameAfterARestart opens the same world as a sample and not: what an
// agent may do without a context is the world's own setting.
func TestAVerdictIsTheSameAfterARestart(t *testing.T) {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	texts := []string{"Fog takes the far bollards one by one.", "Somebody has left a lamp in the third window.", "The tar smells warm although it rains.", "Under the planks the water counts."}
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
			if n >= 2 { // from now on this world's agents may
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

// propose proposes a mood of where players begin as an agent that cites nothing, and gives the status.
func propose(t *testing.T, a *app.App, text string) string {
	t.Helper()
	invoke := func(operation string, in any, out any) {
		t.Helper()
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := a.Ops.Invoke(t.Context(), app.Local(access.RoleUser), op.Request{Operation: operation, Input: b, World: app.SampleWorld, Transport: "mcp"})
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
	invoke("propose-ambience", map[string]any{"locationId": here.Item.Location.ID, "layerType": "ambient", "text": text}, &r)
	return r.Status
}
