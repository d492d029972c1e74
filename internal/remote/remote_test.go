package remote_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/remote"
	"loregate/internal/waittest"
)

// A client has the same through the bridge as from the server: tools, prompts, resources and
// completions, entry by entry.
func TestBridgeOffersTheServersTools(t *testing.T) {
	s := newSite(t)
	far, near := s.connect(nil), s.direct()
	far.must("create_card", `{"name": "Rent Quay", "content": "<p>Wet.</p>"}`)
	lists := func(c client) map[string]any {
		tools, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		prompts, err := c.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		resources, err := c.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		templates, err := c.ListResourceTemplates(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		prompt, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summarize-card",
			Arguments: map[string]string{"name": "Rent Quay"}})
		if err != nil {
			t.Fatal(err)
		}
		read, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "archive://card/Rent%20Quay"})
		if err != nil {
			t.Fatal(err)
		}
		complete, err := c.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource",
			URI: "archive://card/{name}"}, Argument: mcp.CompleteParamsArgument{Name: "name", Value: "Re"}})
		if err != nil {
			t.Fatal(err)
		}
		return map[string]any{"tools": tools.Tools, "prompts": prompts.Prompts, "resources": resources.Resources,
			"templates": templates.ResourceTemplates,
			"prompt":    prompt.Messages, "read": read.Contents, "complete": complete.Completion,
			"instructions": c.InitializeResult().Instructions}
	}
	got, want := lists(far), lists(near)
	for what := range want {
		a, _ := json.Marshal(got[what])
		b, _ := json.Marshal(want[what])
		if string(a) != string(b) || len(b) < 10 {
			t.Errorf("%s differ:\n%.300s\n%.300s", what, a, b)
		}
	}
	if n := len(want["tools"].([]*mcp.Tool)); n < 60 {
		t.Errorf("%d tools", n)
	}
}

func TestCallsRefusedWith429AreRepeated(t *testing.T) {
	s := newSite(t)
	c := s.connect(nil)
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c.must("create_card", `{"name": "Well"}`)
	for _, tc := range []struct {
		name           string
		status, breaks int
		retryAfter     string
		call, input    string
		calls          int
		slept          string
		fails          string // "" where it succeeds
	}{
		{"a read after a 503", 503, 2, "", "get_card", `{"name": "Well"}`, 3, "200ms 400ms", ""},
		{"as the server asks", 429, 1, "7", "get_card", `{"name": "Well"}`, 2, "7s", ""},
		{"a write that a 429 refused", 429, 1, "7", "update_card", `{"name": "Well", "content": "w"}`, 2, "7s", ""},
		{"not for as long as it likes", 429, 1, "3600", "get_card", `{"name": "Well"}`, 1, "", "429"},
		{"not for ever", 503, 9, "", "get_card", `{"name": "Well"}`, 4, "200ms 400ms 800ms", "503"},
		{"not what is wrong", 418, 9, "", "get_card", `{"name": "Well"}`, 1, "", "418"},
		{"never a write", 503, 1, "", "update_card", `{"name": "Well", "content": "x"}`, 1, "", "503"},
		{"but with a key", 503, 1, "", "update_card", `{"name": "Well", "content": "z", "idempotency_key": "k2"}`, 2,
			"200ms", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var headers []string
			if tc.retryAfter != "" {
				headers = []string{"Retry-After", tc.retryAfter}
			}
			s.breaks(tc.breaks, tc.status, headers...)
			text, failed := c.ask(tc.call, tc.input)
			if failed != (tc.fails != "") || !strings.Contains(text, tc.fails) {
				t.Errorf("%v %s", failed, text)
			}
			calls, _ := s.calls()
			var slept []string
			for _, d := range s.slept {
				slept = append(slept, d.String())
			}
			if calls != tc.calls || strings.Join(slept, " ") != tc.slept {
				t.Errorf("%d calls, slept %q; want %d, %q", calls, slept, tc.calls, tc.slept)
			}
		})
	}
}

// Over MCP a call above the rate limit gets a result instead of a status: it is repeated too,
// including writes and lists.
func TestCallsRefusedByALimitAreRepeated(t *testing.T) {
	s := newSite(t, "LOREGATE_LIMITS_WRITES=3", "LOREGATE_LIMITS_TOOL_LISTS=3")
	c := s.connect(nil)
	s.passes()
	for _, name := range []string{"One", "Two", "Three", "Four", "Five"} {
		c.must("create_card", `{"name": "`+name+`"}`)
		if _, err := c.ListTools(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
	if n := len(s.slept); n < 2 || n > 4 {
		t.Errorf("waited %d times: %v", n, s.slept)
	}
}

func TestTokensAreRenewedInTime(t *testing.T) {
	s := newSite(t)
	c := s.connect(nil)
	s.between(nil)
	c.must("list_types", `{}`)
	if _, tokens := s.calls(); tokens != 0 {
		t.Errorf("%d tokens for a call with a good one", tokens)
	}
	s.pass(29 * time.Minute)
	c.must("list_types", `{}`)
	if calls, tokens := s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("near its end: %d calls, %d tokens", calls, tokens)
	}
	// A 401 leads to one new token and one more try, also for a write.
	s.breaks(1, http.StatusUnauthorized)
	c.must("create_card", `{"name": "Once"}`)
	if calls, tokens := s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("after a 401: %d calls, %d tokens", calls, tokens)
	}
	s.breaks(9, http.StatusUnauthorized)
	if text, failed := c.ask("list_types", `{}`); !failed {
		t.Errorf("401 for ever: %s", text)
	}
	if calls, tokens := s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("401 for ever: %d calls, %d tokens", calls, tokens)
	}
	s.between(nil)
	if _, err := s.app.Identity.RotateSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.pass(29 * time.Minute)
	c.must("list_types", `{}`)
}

// The bridge relays notifications of changes like the server itself.
func TestSubscriptionsAreRelayed(t *testing.T) {
	s := newSite(t)
	heard := make(chan string, 10)
	c := s.connect(&mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI }})
	c.must("create_card", `{"name": "Well"}`)
	if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "archive://card/Well"}); err != nil {
		t.Fatal(err)
	}
	c.must("update_card", `{"name": "Well", "content": "x"}`)
	if uri := waittest.Receive(t, heard, "a notice of the change"); uri != "archive://card/Well" {
		t.Error(uri)
	}
}

func TestConnectionsThatAreRefused(t *testing.T) {
	s := newSite(t)
	for _, tc := range []struct {
		name   string
		change func(*remote.Config)
		kind   fault.Kind
	}{
		{"a wrong key", func(c *remote.Config) { c.Key = "lg_" + strings.Repeat("a", 32) }, fault.Unauthorized},
		{"a role above the key's", func(c *remote.Config) { c.Role = access.RoleAdmin }, fault.Denied},
		{"another issuer", func(c *remote.Config) { c.Issuer = "somebody" }, fault.Unauthorized},
		{"no such world", func(c *remote.Config) { c.World = "nowhere" }, fault.NotFound},
		{"no server", func(c *remote.Config) { c.URL = "http://127.0.0.1:1/api/mcp" }, fault.Unavailable},
		{"no API", func(c *remote.Config) { c.URL = s.server.URL + "/elsewhere" }, fault.NotFound},
	} {
		cfg := s.config()
		tc.change(&cfg)
		if _, err := remote.New(t.Context(), cfg); fault.KindOf(err) != tc.kind || strings.Contains(err.Error(), cfg.Key) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for _, address := range []string{"", "lore.example/api/mcp", "ftp://lore.example", "http://lore.example/api/mcp",
		"https://u:p@lore.example"} {
		cfg := s.config()
		cfg.URL = address
		if _, err := remote.New(t.Context(), cfg); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
	cfg := s.config()
	cfg.URL = s.server.URL
	if _, err := remote.New(t.Context(), cfg); err != nil {
		t.Errorf("the server's address without the API's path: %v", err)
	}
}

func TestInvalidTokens(t *testing.T) {
	s := newSite(t)
	issued, err := s.app.Identity.Exchange(t.Context(), s.key, access.RoleGM, "")
	if err != nil {
		t.Fatal(err)
	}
	good := issued.Token
	user, err := s.app.Identity.Exchange(t.Context(), s.key, access.RoleUser, "")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))
	hs := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"x"}`))
	other := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256","kid":"other"}`))
	for name, token := range map[string]string{
		"none": none + "." + parts[1] + ".", "HS256": hs + "." + parts[1] + "." + parts[2], "an unknown key": other + "." +
			parts[1] + "." + parts[2],
		"a changed payload": parts[0] + "." + strings.Split(user.Token, ".")[1] + "." + parts[2], "another role": user.Token,
		"nonsense": "a.b.c", "no token": "",
	} {
		s.between(func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/mcp/auth" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			_, _ = w.Write([]byte(`{"token": "` + token + `"}`))
			return true
		})
		want := fault.Unauthorized
		if token == "" {
			want = fault.Unavailable
		}
		if _, err := remote.New(t.Context(), s.config()); fault.KindOf(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A token that was valid once and has expired.
	s.pass(2 * time.Hour)
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/mcp/auth" {
			return false
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"token": "` + good + `"}`))
		return true
	})
	if _, err := remote.New(t.Context(), s.config()); fault.KindOf(err) != fault.Unauthorized ||
		!strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
}

func TestACancelledCallEnds(t *testing.T) {
	s := newSite(t)
	c := s.connect(nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "list_types") {
			w.WriteHeader(http.StatusAccepted) // of the notice that it is cancelled
			return true
		}
		cancel()
		<-r.Context().Done()
		close(ended)
		return true
	})
	if _, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "list_types"}); err == nil {
		t.Error("it was answered")
	}
	waittest.Receive(t, ended, "the server ends a call that was given up")
}
