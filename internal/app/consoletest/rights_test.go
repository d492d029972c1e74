package consoletest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/identity"
	"loregate/internal/op"
)

// bearing sends each request with a key.
type bearing struct{ key string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return http.DefaultTransport.RoundTrip(r)
}

// guest is a person who came by an invitation, with a key of the same person.
type guest struct {
	*visitor
	subject access.Subject
	key     string
}

// invite makes an invitation on the page and accepts it. rights is a choice of its form.
func (s *stage) invite(rights string) *guest {
	s.t.Helper()
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	_, body, _ := gm.send("POST", "/members/lendwater/invite", url.Values{"role": {rights}, "uses": {"1"}, "days": {"1"}})
	_, rest, found := strings.Cut(body, "/join#")
	if !found {
		s.t.Fatalf("no invitation: %.2000s", body)
	}
	g := &guest{visitor: s.visitor()}
	if status, body, _ := g.send("POST", "/join", url.Values{"code": {rest[:36]}, "name": {"Ada"}}); status != 200 {
		s.t.Fatalf("%d %.500s", status, body)
	}
	members, err := s.app.Members(s.t.Context(), app.SampleWorld)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range members {
		if strings.HasPrefix(string(m.Subject), "ada-") {
			g.subject = m.Subject
		}
	}
	if g.key, _, err = s.app.CreateKey(s.t.Context(), identity.KeySpec{Name: "ada", Subject: g.subject,
		MaxRole: access.RoleAdmin}, []string{app.SampleWorld}); err != nil {
		s.t.Fatal(err)
	}
	return g
}

// tool calls a tool over MCP, and returns its text and whether it failed.
func (s *stage) tool(key, set, name string, args map[string]any) (text string, failed bool) {
	s.t.Helper()
	at := &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp" + set,
		HTTPClient: &http.Client{Transport: bearing{key}}}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "quill", Version: "1"}, nil).Connect(s.t.Context(), at, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	r, err := client.CallTool(s.t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, r.IsError
}

// TestNoWayAroundTheMembership changes a card of somebody else by every way in, with different rights.
func TestNoWayAroundTheMembership(t *testing.T) {
	t.Parallel()
	for rights, want := range map[string]struct{ status, token, page, own int }{
		"read":    {status: 403, token: 403, page: 403, own: 403},
		"propose": {status: 202, token: 202, page: 202, own: 202},
		"own":     {status: 403, token: 403, page: 403, own: 201},
		"write":   {status: 200, token: 200, page: 200, own: 201},
	} {
		t.Run(rights, func(t *testing.T) {
			s := newStage(t)
			s.t = t
			ada := s.invite(rights)
			keeper := s.visitor()
			keeper.signIn(s.code(access.RoleAdmin))
			keeper.wants("/members/lendwater", `<option value="`+rights+`" selected>`)
			card, edit := s.base+"/api/mcp/cards/Rent%20Stone", `{"content": "<p>Painted black by rest.</p>"}`
			if status, body := apptest.Send(t, "PATCH", card, ada.key, edit); status != want.status {
				t.Errorf("REST: %d %s", status, body)
			}
			if status, body := apptest.Send(t, "POST", s.base+"/api/mcp/cards", ada.key,
				`{"name": "Ada's Boat", "content": "<p>Leaks.</p>"}`); status != want.own {
				t.Errorf("a card of her own: %d %s", status, body)
			}
			_, answer := apptest.Send(t, "POST", s.base+"/api/mcp/auth", "", `{"role": "user", "api_key": "`+ada.key+`"}`)
			var issued struct{ Token string }
			if err := json.Unmarshal(answer, &issued); err != nil || issued.Token == "" {
				t.Fatalf("%s, %v", answer, err)
			}
			if status, body := apptest.Send(t, "PATCH", card, issued.Token,
				strings.Replace(edit, "rest", "token", 1)); status != want.token {
				t.Errorf("a token: %d %s", status, body)
			}
			status, body, _ := ada.send("POST", "/edit/lendwater/Rent%20Stone", url.Values{"once": {"1"},
				"content": {"<p>Painted black by page.</p>"}, "seen": {"<p>x</p>"}})
			if status != want.page {
				t.Errorf("the page: %d %.800s", status, body)
			}
			painted := map[string]any{"name": "Rent Stone", "patch": map[string]any{"mode": "append",
				"content": "<p>Painted black by mcp.</p>"}}
			for _, way := range []struct {
				set, tool string
				args      map[string]any
			}{
				{"/archive", "update_card", painted},
				{"", "write", map[string]any{"name": "Rent Stone", "append": "Painted black by front."}},
				{"", "change_by_operation", map[string]any{"operation": "update_card", "arguments": painted}},
				{"/archive", "batch_cards", map[string]any{"ops": []any{painted}}},
			} {
				text, failed := s.tool(ada.key, way.set, way.tool, way.args)
				switch refused := want.status == 403; {
				case refused && !strings.Contains(text, "only"), !refused && failed:
					t.Errorf("%s at /mcp%s: failed %t, %.300s", way.tool, way.set, failed, text)
				}
			}
			_, now := apptest.Send(t, "GET", card, s.keys[access.RoleUser], "")
			if painted := strings.Contains(string(now), "Painted black"); painted != (rights == "write") {
				t.Errorf("the card is %s", now)
			}
		})
	}
}

// TestAGameMasterApprovesASuggestion follows a suggestion from the page of the invited to its approval.
func TestAGameMasterApprovesASuggestion(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	ada, ben := s.invite("propose"), s.invite("propose")
	ada.wants("/new/lendwater", "You suggest changes here")
	status, body, _ := ada.send("POST", "/new/lendwater", url.Values{"name": {"Kelp House"}, "content": {"A house."},
		"once": {"k"}})
	if status != http.StatusAccepted {
		t.Fatalf("%d %.500s", status, body)
	}
	ask := func(operation, input string) (*op.Answer, error) {
		return s.app.Ops.Invoke(t.Context(), app.Operator(), op.Request{Operation: operation, World: app.SampleWorld,
			Input: []byte(input)})
	}
	answer, err := ask("list-proposals", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Proposals []struct{ ProposalID string } }
	if err := json.Unmarshal(answer.Output, &list); err != nil || len(list.Proposals) != 1 {
		t.Fatalf("%s, %v", answer.Output, err)
	}
	id := list.Proposals[0].ProposalID
	answer, err = ask("get-proposal", `{"proposalId": "`+id+`"}`)
	var shown struct{ ExpectedHash string }
	if err != nil || json.Unmarshal(answer.Output, &shown) != nil {
		t.Fatal(err)
	}
	approve := url.Values{"do": {"approve"}, "proposal": {id}, "hash-" + id: {shown.ExpectedHash}}
	for _, player := range []*guest{ada, ben} {
		if status, _, _ := player.send("POST", "/proposals/lendwater", approve); status != 403 && status != 404 {
			t.Errorf("%s approves: %d", player.subject, status)
		}
	}
	gm := s.visitor()
	gm.signIn(s.code(access.RoleGM))
	if status, body, _ := gm.send("POST", "/proposals/lendwater", approve); status != 200 {
		t.Fatalf("%d %.500s", status, body)
	}
	ben.wants("/w/lendwater/Kelp%20House", "A house.")
}
