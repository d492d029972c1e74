package fronttest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/raceenabled"
)

// pages follows a list to its end, like Claude Code and Gemini CLI. ok is false if a page was
// refused: the clients then discard the whole list.
func (m *mcp) pages(method, member string) (items []any, ok bool) {
	m.s.t.Helper()
	params := map[string]any{}
	for {
		result, failed := m.ask(method, params)
		if failed != nil {
			m.s.t.Logf("%s: %v", method, failed)
			return nil, false
		}
		list, _ := result[member].([]any)
		items = append(items, list...)
		next, _ := result["nextCursor"].(string)
		if next == "" {
			return items, true
		}
		params["cursor"] = next
	}
}

// startLists are the lists that each client requests at its start, in its order.
var startLists = map[string][][2]string{
	"Claude Code": {{"tools/list", "tools"}, {"prompts/list", "prompts"}, {"resources/list", "resources"},
		{"resources/templates/list", "resourceTemplates"}},
	"Gemini CLI": {{"prompts/list", "prompts"}, {"tools/list", "tools"}, {"resources/list", "resources"}},
	"Codex":      {{"tools/list", "tools"}},
}

// Each client starts ten times within a minute, with one key and the default limits.
func TestClientsThatStartOftenKeepAllTheirTools(t *testing.T) {
	cards := raceenabled.Share(20_000, 10)
	if os.Getenv("LOREGATE_FRONT_CARDS") != "" {
		cards = 100_000
	}
	s := open(t, nil)
	filled := time.Now()
	s.fill(cards)
	t.Logf("%d cards in %v", cards, time.Since(filled))
	key, _ := s.key(access.RoleGM)
	began := time.Now()
	slowest := time.Duration(0)
	want := map[string]int{}
	for range 10 {
		for _, client := range []string{"Claude Code", "Gemini CLI", "Codex"} {
			m := s.connect("/mcp", key)
			for _, list := range startLists[client] {
				asked := time.Now()
				items, ok := m.pages(list[0], list[1])
				slowest = max(slowest, time.Since(asked))
				if !ok {
					t.Fatalf("%s lost its list: %s", client, list[0])
				}
				if _, again := want[list[0]]; !again {
					want[list[0]] = len(items)
				}
				if len(items) != want[list[0]] || len(items) == 0 {
					t.Fatalf("%s: %d entries of %s, where there were %d", client, len(items), list[0], want[list[0]])
				}
			}
		}
	}
	if want["resources/list"] > 50 {
		t.Errorf("%d resources are listed", want["resources/list"])
	}
	t.Logf("%d cards: thirty starts in %v, slowest list %v, %v", cards, time.Since(began), slowest, want)
}

func TestEntryPointsAreListedOnce(t *testing.T) {
	s := open(t, nil)
	s.fill(300)
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Latest", Root: true})
		return err
	})
	key, _ := s.key(access.RoleGM)
	for _, path := range []string{"/mcp", "/mcp/archive", "/mcp/world", "/mcp/campaign"} {
		items, _ := s.connect(path, key).pages("resources/list", "resources")
		seen, gate := map[string]bool{}, 0
		for _, item := range items {
			r := item.(map[string]any)
			if seen[r["uri"].(string)] {
				t.Errorf("%s: %s is listed twice", path, r["uri"])
			}
			seen[r["uri"].(string)] = true
			if r["title"] == "Gate" {
				gate++
			}
		}
		if wanted := map[bool]int{true: 0, false: 1}[path == "/mcp/campaign"]; gate != wanted {
			t.Errorf("%s: the place to begin at is listed %d times in %v", path, gate, seen)
		}
		if len(items) == 0 || len(items) > 50 {
			t.Errorf("%s: %d entries", path, len(items))
		}
	}
	items, _ := s.connect("/mcp", key).pages("resources/list", "resources")
	last := ""
	for _, item := range items {
		last += item.(map[string]any)["uri"].(string) + " "
	}
	if !strings.Contains(last, "archive://card/Latest") {
		t.Errorf("what changed last is not among %s", last)
	}
}

// Codex closes a connection on the error "method not found", so an empty list must not be an error.
func TestAnEmptySurfaceListsNoTools(t *testing.T) {
	s := open(t, nil)
	key, _ := s.key(access.RoleGM)
	m := s.connect("/mcp/alignment", key)
	for method, member := range map[string]string{"tools/list": "tools", "prompts/list": "prompts"} {
		result, failed := m.ask(method, map[string]any{})
		if list, ok := result[member].([]any); !ok || len(list) != 0 || failed != nil {
			t.Errorf("%s: %v %v", method, result, failed)
		}
	}
	for name, arguments := range map[string]any{"reveal_all": map[string]any{}, "delete_card": map[string]any{"name": "Gate"}} {
		_, failed := m.ask("tools/call", map[string]any{"name": name, "arguments": arguments})
		if failed == nil || !strings.Contains(failed["message"].(string), name) {
			t.Errorf("%s, which does not exist for this key: %v", name, failed)
		}
	}
}

func TestASeatsKeyListsItsGameEverywhere(t *testing.T) {
	s := open(t, nil)
	gm, _ := s.key(access.RoleGM)
	var game struct {
		ID string `json:"game_id"`
	}
	s.object("POST", "/api/games?world=mire", gm, `{}`, &game)
	var joined struct {
		Key string `json:"mcp_key"`
	}
	s.object("POST", "/api/games/"+game.ID+"/join?world=mire", gm, `{"name":"Ada","as":"mcp"}`, &joined)
	for _, path := range []string{"/mcp/alignment", "/mcp"} {
		m := s.connect(path, joined.Key)
		items, ok := m.pages("resources/list", "resources")
		if !ok || len(items) != 1 || items[0].(map[string]any)["uri"] != "game://alignment/"+game.ID {
			t.Errorf("%s lists %v", path, items)
		}
		if tools, ok := m.pages("tools/list", "tools"); !ok || len(tools) != 0 {
			t.Errorf("%s has tools: %v", path, tools)
		}
	}
}

// All errors at the campaign's address use the campaign's error codes, also errors before any call.
func TestCampaignErrorCodesAreUpperCase(t *testing.T) {
	s := open(t, func(c *app.Config) { c.Limits.ToolLists = 1 })
	key, _ := s.key(access.RoleUser)
	for _, row := range []struct{ path, bearer, code string }{
		{"/mcp/campaign", "", "UNAUTHORIZED"}, {"/mcp/campaign", "lg_wrong", "UNAUTHORIZED"},
		{"/mcp/archive", "", "unauthorized"}, {"/mcp", "", "unauthorized"}, {"/mcp/nowhere", key, "not_found"},
	} {
		a := s.send("POST", row.path, row.bearer, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		if !strings.Contains(string(a.body), `"code":"`+row.code+`"`) {
			t.Errorf("%s: %d %s, want %s", row.path, a.status, a.body, row.code)
		}
	}
	for path, code := range map[string]string{"/mcp/campaign": "RATE_LIMITED", "/mcp/archive": "rate_limited"} {
		m := s.connect(path, key)
		m.ask("tools/list", map[string]any{})
		if _, failed := m.ask("tools/list", map[string]any{}); !strings.Contains(fmt.Sprint(failed), "code:"+code) {
			t.Errorf("%s: %v, want %s", path, failed, code)
		}
	}
}

// Some clients replace all characters of a tool's name but letters, digits and underscores. Of two
// tools that then have the same name, they drop or rename one.
func TestToolNamesDifferForClients(t *testing.T) {
	s := open(t, nil)
	key, _ := s.key(access.RoleAdmin)
	tools, ok := s.connect("/mcp/all", key).pages("tools/list", "tools")
	if !ok {
		t.Fatal("no list")
	}
	seen := map[string]string{}
	for _, tool := range tools {
		name, _ := tool.(map[string]any)["name"].(string)
		written := strings.NewReplacer(".", "_", "-", "_").Replace(name)
		if other, taken := seen[written]; taken {
			t.Errorf("%s and %s are one to a client", other, name)
		}
		seen[written] = name
	}
}
