package remote_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
	"loregate/internal/remote"
)

func TestOperationsTravelByTheirRoutes(t *testing.T) {
	c := newSite(t).connect()
	a, made := c.must("create_card", `{"name": "Games+Butterfly Galaxii", "content": "a+b & \"c\" %20 é", "wait_for_previous": true}`)
	if made["name"] != "Games+Butterfly Galaxii" || a.Reply.Location != "/api/mcp/cards/Games+Butterfly%20Galaxii" || a.Reply.ETag != "1" || a.Reply.Status != 0 {
		t.Errorf("%v %+v", made, a.Reply)
	}
	_, got := c.must("get_card", `{"name": "games + butterfly_galaxii", "with_children": true, "max_content_length": 3}`)
	if got["content"] != "a+b" || got["truncated"] != true {
		t.Errorf("got %v", got)
	}
	_, got = c.must("update_card", `{"name": "Games+Butterfly Galaxii", "if_match": 1, "fields": {"x": 1, "+tags": {"type": "Pointer", "content": "[[a]]"}}}`)
	if got["version"] != 2.0 {
		t.Errorf("got %v", got)
	}
	_, got = c.must("search_cards", `{"q": "é", "search_in": "content", "tag": "a"}`)
	if got["total"] != 1.0 {
		t.Errorf("got %v", got)
	}
	b, got := c.must("batch_cards", `{"ops": [{"action": "create", "name": "A"}, {"action": "update", "name": "Gone"}]}`)
	if got["applied"] != 1.0 || b.Reply.Status != http.StatusMultiStatus {
		t.Errorf("got %v %+v", got, b.Reply)
	}
	b, got = c.must("batch_cards", `{"mode": "transactional", "ops": [{"action": "create", "name": "A"}]}`)
	if got["applied"] != 0.0 || b.Reply.Status != http.StatusConflict {
		t.Errorf("got %v %+v", got, b.Reply)
	}
	_, got = c.must("upload_attachment", `{"name": "Map", "data": "`+base64.StdEncoding.EncodeToString([]byte("text"))+`"}`)
	if got["size"] != 4.0 {
		t.Errorf("got %v", got)
	}
	_, got = c.must("upload_attachment", `{"name": "Map 2", "filename": "a b+c.txt"}`, func(r *op.Request) { r.Upload = []byte("raw") })
	if got["size"] != 3.0 || got["file_name"] != "a b+c.txt" {
		t.Errorf("got %v", got)
	}
	if _, got = c.must("get_attachment", `{"name": "Map"}`); got["content_base64"] != base64.StdEncoding.EncodeToString([]byte("text")) {
		t.Errorf("got %v", got)
	}
	c.must("create_card", `{"name": "All", "type": "Query", "content": "{\"name\": \"{{word}}\"}"}`)
	if _, got = c.must("run_named_query", `{"q": "All", "args": {"word": "map 2"}}`); got["total"] != 1.0 {
		t.Errorf("got %v", got)
	}
}

func TestAnAdminsOperationsTravelToo(t *testing.T) {
	c := newSite(t).connectAdmin()
	c.must("create_card", `{"name": "A B+C"}`)
	_, got := c.must("delete_card", `{"name": "A B", "dry_run": true, "world": "main"}`)
	if got["descendant_count"] != 1.0 || got["deleted"] != false {
		t.Errorf("got %v", got)
	}
	c.wantKind(fault.Rule, "delete_card", `{"name": "A B"}`)
	_, got = c.must("rename_card", `{"name": "A B+C", "new_name": "D+E"}`)
	change := got["change_id"].(string)
	c.must("undo_change", `{"id": "`+change+`"}`)
	_, got = c.must("set_card_level", `{"name": "A B+C", "level": "gm", "subjects": ["bob"]}`)
	if got["level"] != "gm" {
		t.Errorf("got %v", got)
	}
	c.must("delete_card", `{"name": "A B", "confirm": "A B"}`)
	_, got = c.must("restore_card", `{"name": "A B"}`)
	if got["restored"] != 2.0 {
		t.Errorf("got %v", got)
	}
	c.wantKind(fault.NotFound, "get_card", `{"name": "Nothing"}`)
	c.wantKind(fault.Denied, "get_card", `{"name": "A B"}`, func(r *op.Request) { r.World = "other" })
}

func TestRefusalsArePassedOnInOneLine(t *testing.T) {
	c := newSite(t).connect()
	f := c.wantKind(fault.NotFound, "get_card", `{"name": ".."}`)
	if last := c.s.asked[len(c.s.asked)-1]; !strings.Contains(f.Message, `".."`) || last != "GET /api/mcp/cards/%252E%252E" {
		t.Errorf("the dots did not arrive: %v, sent as %s", f, last)
	}
	c.wantKind(fault.NotFound, "get_card", `{"name": "A/B"}`)
	f = c.wantKind(fault.Invalid, "create_card", `{"name": "a/b", "content": "x", "markdown_content": "y"}`)
	if len(f.Fields) != 2 || strings.Contains(f.Message, "\n") {
		t.Errorf("%v %v", f, f.Fields)
	}
	c.must("create_card", `{"name": "Well"}`)
	if f = c.wantKind(fault.Stale, "update_card", `{"name": "Well", "content": "x", "if_match": 7}`); f.Details["current_version"] != 1.0 {
		t.Errorf("details %v", f.Details)
	}
	c.wantKind(fault.Conflict, "create_card", `{"name": "Well"}`)
	c.wantKind(fault.Invalid, "get_card", `{}`)
	c.wantKind(fault.Invalid, "get_card", `{"name": "a", "name": "b"}`)
	c.wantKind(fault.NotFound, "no_such_tool", `{}`)
	c.wantKind(fault.NotFound, "delete_card", `{"name": "Well"}`) // not offered to a gm
	for _, o := range c.Operations(access.Caller{EveryRole: access.RoleAdmin, Operator: true}, "") {
		if o.Route == "" || o.Operator {
			t.Errorf("%s is offered and cannot be asked for", o.Name)
		}
	}
	c.s.breaks(9, http.StatusInternalServerError)
	if f := c.wantKind(fault.Unavailable, "create_card", `{"name": "X"}`); !strings.Contains(f.Message, "500") {
		t.Errorf("%v", f)
	}
}

func TestReadsAreSentAgainAndWritesAreNot(t *testing.T) {
	c := newSite(t).connect()
	c.must("create_card", `{"name": "Well"}`)
	for _, tc := range []struct {
		name           string
		status, breaks int
		retryAfter     string
		call, input    string
		key            string
		calls          int
		slept          string
		fails          fault.Kind // Internal: it succeeds
	}{
		{"a read after a 503", 503, 2, "", "get_card", `{"name": "Well"}`, "", 3, "200ms 400ms", 0},
		{"a read by POST", 502, 1, "", "run_query", `{"name": "e"}`, "", 2, "200ms", 0},
		{"as the server asks", 429, 1, "7", "get_card", `{"name": "Well"}`, "", 2, "7s", 0},
		{"not for as long as it likes", 429, 1, "3600", "get_card", `{"name": "Well"}`, "", 1, "", fault.Unavailable},
		{"not for ever", 503, 9, "", "get_card", `{"name": "Well"}`, "", 4, "200ms 400ms 800ms", fault.Unavailable},
		{"not what is wrong", 418, 9, "", "get_card", `{"name": "Well"}`, "", 1, "", fault.Unavailable},
		{"never a write", 503, 1, "", "update_card", `{"name": "Well", "content": "x"}`, "", 1, "", fault.Unavailable},
		{"but with a key", 503, 1, "", "update_card", `{"name": "Well", "content": "y"}`, "k1", 2, "200ms", 0},
		{"a key among the arguments", 503, 1, "", "update_card", `{"name": "Well", "content": "z", "idempotency_key": "k2"}`, "", 2, "200ms", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var headers []string
			if tc.retryAfter != "" {
				headers = []string{"Retry-After", tc.retryAfter}
			}
			c.s.breaks(tc.breaks, tc.status, headers...)
			if tc.fails != fault.Internal {
				c.wantKind(tc.fails, tc.call, tc.input, withKey(tc.key))
			} else {
				c.must(tc.call, tc.input, withKey(tc.key))
			}
			calls, _ := c.s.calls()
			var slept []string
			for _, d := range c.s.slept {
				slept = append(slept, d.String())
			}
			if calls != tc.calls || strings.Join(slept, " ") != tc.slept {
				t.Errorf("%d calls, slept %q; want %d, %q", calls, slept, tc.calls, tc.slept)
			}
		})
	}
	c.s.between(nil)
	a, _ := c.must("update_card", `{"name": "Well", "content": "y"}`, withKey("k1"))
	if !a.Reply.Replayed {
		t.Error("the key had no effect")
	}
}

func TestTokensAreRenewedInTime(t *testing.T) {
	c := newSite(t).connect()
	c.s.between(nil)
	c.must("list_types", `{}`)
	if _, tokens := c.s.calls(); tokens != 0 {
		t.Errorf("%d tokens for a call with a good one", tokens)
	}
	c.s.pass(29 * time.Minute)
	c.must("list_types", `{}`)
	if calls, tokens := c.s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("near its end: %d calls, %d tokens", calls, tokens)
	}
	// While there is no new one, the old one serves to its end.
	c.s.pass(29 * time.Minute)
	down := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/mcp/auth" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return r.URL.Path == "/api/mcp/auth"
	}
	c.s.between(down)
	c.must("list_types", `{}`)
	c.s.pass(2 * time.Minute)
	c.wantKind(fault.Unavailable, "list_types", `{}`)
	c.s.between(nil)
	c.must("list_types", `{}`)

	// A 401 is answered with one new token, and one more try, of a write too.
	c.s.breaks(1, http.StatusUnauthorized)
	c.must("create_card", `{"name": "Once"}`)
	if calls, tokens := c.s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("after a 401: %d calls, %d tokens", calls, tokens)
	}
	c.s.breaks(9, http.StatusUnauthorized)
	c.wantKind(fault.Unavailable, "list_types", `{}`)
	if calls, tokens := c.s.calls(); calls != 2 || tokens != 1 {
		t.Errorf("401 for ever: %d calls, %d tokens", calls, tokens)
	}
}

func TestRotatedKeysAreFetched(t *testing.T) {
	s := newSite(t)
	c := s.connect()
	if _, err := s.app.Identity.RotateSigningKey(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.pass(29 * time.Minute)
	c.must("list_types", `{}`)
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
	for _, address := range []string{"", "lore.example/api/mcp", "ftp://lore.example", "http://lore.example/api/mcp", "https://u:p@lore.example"} {
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

func TestTokensThatDoNotHold(t *testing.T) {
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
		"none": none + "." + parts[1] + ".", "HS256": hs + "." + parts[1] + "." + parts[2], "an unknown key": other + "." + parts[1] + "." + parts[2],
		"a changed payload": parts[0] + "." + strings.Split(user.Token, ".")[1] + "." + parts[2], "another role": user.Token, "nonsense": "a.b.c", "no token": "",
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
	// One that was good once and is expired.
	s.pass(2 * time.Hour)
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/mcp/auth" {
			return false
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"token": "` + good + `"}`))
		return true
	})
	if _, err := remote.New(t.Context(), s.config()); fault.KindOf(err) != fault.Unauthorized || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}
}

func TestACancelledCallEnds(t *testing.T) {
	s := newSite(t)
	c := s.connect()
	ctx, cancel := context.WithCancel(t.Context())
	s.between(func(w http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	_, err := c.Invoke(ctx, access.Caller{EveryRole: access.RoleGM}, op.Request{Operation: "list_types"})
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if calls, _ := s.calls(); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

// What a program was shown of a server elsewhere is a part, as over the server's own MCP,
// and it must not write it back as the whole.
func TestAPartIsNotWrittenBackFromElsewhere(t *testing.T) {
	s := newSite(t)
	secret, _, err := s.app.CreateKey(t.Context(), identity.KeySpec{Name: "bot", Subject: "bot", Actor: access.AI, MaxRole: access.RoleGM}, []string{"main"})
	if err != nil {
		t.Fatal(err)
	}
	s.key = secret
	c := s.connect()
	text := strings.Repeat("The tide keeps its own book. ", 828)
	c.must("create_card", `{"name": "Annals", "content": "`+text+`"}`)
	_, got := c.must("get_card", `{"name": "Annals"}`)
	part, _ := got["content"].(string)
	if got["truncated"] != true || len(part) != 8000 {
		t.Fatalf("%d characters: %v", len(part), got["truncated"])
	}
	c.wantKind(fault.Invalid, "update_card", `{"name": "Annals", "content": "`+part+`"}`)
	c.wantKind(fault.Stale, "update_card", `{"name": "Annals", "content": "`+part+`", "if_match": "`+got["etag"].(string)+`"}`)
	if _, got = c.must("get_card", `{"name": "Annals", "full": true}`); got["content"] != text {
		t.Error("the card is shorter")
	}
}
