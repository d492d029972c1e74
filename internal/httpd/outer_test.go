package httpd_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/httpd"
)

func TestAccessChecks(t *testing.T) {
	strict := func(c *httpd.Config) {
		c.AllowFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16")}
		c.Hosts = []string{"lore.example"}
		c.Origins = []string{"https://table.example"}
	}
	s := newSite(t, strict)
	for _, tc := range []struct {
		name, line string
		headers    []string
		code       int
	}{
		{"loopback by name", "GET /api/mcp/cards/A", nil, 200},
		{"loopback by address", "GET /api/mcp/cards/A", []string{"Host: 127.0.0.1:8420"}, 200},
		{"loopback, IPv6", "GET /api/mcp/cards/A", []string{"Host: [::1]:8420"}, 200},
		{"a configured name", "GET /api/mcp/cards/A", []string{"Host: LORE.example:443"}, 200},
		{"rebinding", "GET /api/mcp/cards/A", []string{"Host: evil.example:8420"}, 403},
		{"rebinding that begins well", "GET /api/mcp/cards/A", []string{"Host: localhost.evil.example"}, 403},
		{"no host", "GET /api/mcp/cards/A", []string{"Host: "}, 403},
		{"health answers any host", "GET /healthz", []string{"Host: 10.1.2.3:8420", "Peer: 192.0.2.1:1"}, 200},
		{"own origin", "PATCH /api/mcp/cards/A", []string{"Origin: http://localhost:8420"}, 200},
		{"configured origin", "PATCH /api/mcp/cards/A", []string{"Origin: https://table.example"}, 200},
		{"another origin writes", "PATCH /api/mcp/cards/A", []string{"Origin: https://evil.example"}, 403},
		{"another origin reads", "GET /api/mcp/cards/A", []string{"Origin: https://evil.example"}, 403},
		{"no origin at all", "GET /api/mcp/cards/A", []string{"Origin: null"}, 403},
		{"cross-site by fetch metadata", "PATCH /api/mcp/cards/A", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"allowed range", "GET /api/mcp/cards/A", []string{"Peer: 10.1.2.3:9"}, 200},
		{"other range", "GET /api/mcp/cards/A", []string{"Peer: 192.0.2.1:9"}, 403},
		{"mapped IPv4", "GET /api/mcp/cards/A", []string{"Peer: [::ffff:10.1.2.3]:9"}, 200},
		{"through a proxy", "GET /api/mcp/cards/A", []string{"Peer: 10.9.0.1:9", "X-Forwarded-For: 192.0.2.1"}, 403},
		{"forged before the proxy's own entry", "GET /api/mcp/cards/A",
			[]string{"Peer: 10.9.0.1:9", "X-Forwarded-For: 10.1.1.1, 192.0.2.1"}, 403},
		{"forged without a proxy", "GET /api/mcp/cards/A", []string{"Peer: 192.0.2.1:9", "X-Forwarded-For: 10.1.1.1"}, 403},
		{"through two proxies", "GET /api/mcp/cards/A", []string{"Peer: 10.9.0.1:9",
			"X-Forwarded-For: 10.1.1.1, 10.9.0.2"}, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if w := s.ask(tc.line, "", tc.headers...); w.Code != tc.code {
				t.Errorf("got %d %s, want %d", w.Code, w.Body, tc.code)
			}
		})
	}
}

func TestMetricsNeedOperatorOrLoopback(t *testing.T) {
	s := newSite(t, func(c *httpd.Config) {
		c.Hosts = []string{"*"}
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "numbers") })
	})
	for _, tc := range []struct {
		name    string
		headers []string
		code    int
	}{
		{"loopback", []string{"Authorization: -"}, 200},
		{"loopback, but passed on", []string{"Authorization: -", "X-Forwarded-For: 192.0.2.1"}, 401},
		{"away, nobody", []string{"Peer: 192.0.2.1:9", "Authorization: -"}, 401},
		{"away, an admin", []string{"Peer: 192.0.2.1:9", "Authorization: Bearer admin"}, 403},
		{"away, the operator", []string{"Peer: 192.0.2.1:9", "Authorization: Bearer operator"}, 200},
	} {
		if w := s.ask("GET /metrics", "", tc.headers...); w.Code != tc.code ||
			(w.Body.String() == "numbers") != (tc.code == 200) {
			t.Errorf("%s: got %d %s, want %d", tc.name, w.Code, w.Body, tc.code)
		}
	}
}

// counter lets two attempts through for each account.
type counter map[string]int

func (c counter) Take(account, _ string, class access.Class) (time.Duration, bool) {
	c[account]++
	return 6 * time.Second, class != access.ClassAuth || c[account] <= 2
}

func TestTokenForKey(t *testing.T) {
	s := newSite(t, nil)
	for _, tc := range []struct {
		name, body string
		code       int
		want       string
	}{
		{"good", `{"api_key":"lg_good","role":"gm","world":"main"}`, 201,
			`{"token":"t-gmmain","token_type":"Bearer","username":"ada","role":"gm","expires_in":1800,"expires_at":"2026-03-01T12:30:00Z"}`},
		{"no world", `{"api_key":"lg_good","role":"user"}`, 201, `"token":"t-user"`},
		{"bad key", `{"api_key":"lg_bad","role":"gm"}`, 401, `"unauthorized"`},
		{"bad role", `{"api_key":"lg_good","role":"king"}`, 400, `"field":"role"`},
		{"folded case", `{"API_KEY":"lg_good","Role":"gm"}`, 400, `"field":"API_KEY"`},
		{"without a role", `{"api_key":"lg_good"}`, 400, `"field":"role"`},
		{"by name", `{"username":"Ada","password":"lg_good","world":"main"}`, 201, `"username":"ada"`},
		{"by name and role", `{"username":"ada","password":"lg_good","role":"gm"}`, 201, `"token":"t-gm"`},
		{"by another name", `{"username":"bob","password":"lg_good"}`, 401, `"unauthorized"`},
		{"by name with a bad key", `{"username":"ada","password":"lg_bad"}`, 401, `"unauthorized"`},
		{"by name alone", `{"username":"ada"}`, 400, `"field":"password"`},
		{"both ways", `{"username":"ada","password":"lg_good","api_key":"lg_good"}`, 400, `"field":"api_key"`},
		{"a doubled role", `{"api_key":"lg_good","role":"user","role":"admin"}`, 400, `is given twice`},
		{"nothing", ``, 400, `empty`},
		{"too much", `{"api_key":"` + strings.Repeat("x", 70000) + `"}`, 413, `payload_too_large`},
	} {
		w := s.ask("POST /api/mcp/auth", tc.body, "Authorization: -", "Content-Type: application/json")
		if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got %d %s, want %d %s", tc.name, w.Code, w.Body, tc.code, tc.want)
		}
		if strings.Contains(fmt.Sprint(*s.records), "lg_") {
			t.Errorf("%s: a key was recorded", tc.name)
		}
	}
	if n := len(*s.records); n != 15 {
		t.Errorf("%d attempts recorded, want 15", n)
	}
}

func TestAttemptsAreLimited(t *testing.T) {
	c := counter{}
	s := newSite(t, func(cfg *httpd.Config) { cfg.Limiter = c })
	for i, tc := range []struct {
		key, peer string
		code      int
	}{
		{"lg_a", "127.0.0.1:1", 401}, {"lg_b", "127.0.0.1:2", 401},
		{"lg_c", "127.0.0.1:3", 429},    // the address has had its two wrong ones
		{"lg_good", "127.0.0.1:4", 201}, // a valid key is not affected by them
		{"lg_a", "127.0.0.2:1", 401},
		{"lg_a", "127.0.0.3:1", 429}, // the key has had its two
	} {
		w := s.ask("POST /api/mcp/auth", `{"api_key":"`+tc.key+`","role":"gm"}`, "Peer: "+tc.peer)
		if w.Code != tc.code || (w.Code == 429 && w.Header().Get("Retry-After") != "6") {
			t.Errorf("%d: got %d, want %d; %s", i, w.Code, tc.code, w.Body)
		}
	}
	for account := range c {
		if strings.Contains(account, "lg_") {
			t.Errorf("the limiter was told the key: %s", account)
		}
	}
}

func TestFixedRoutes(t *testing.T) {
	broken := false
	var log bytes.Buffer
	s := newSite(t, func(c *httpd.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Ready = func(context.Context) error {
			if broken {
				return errors.New("secret path")
			}
			return nil
		}
		c.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/mcp/panic" {
				panic("secret")
			}
			fmt.Fprint(w, "mcp ", r.URL.Path, " ", r.Header.Get("X-Correlation-Id"))
		})
		c.Routes = []httpd.Route{{Pattern: "GET /api/players/{id}/stream",
			Serve: func(w http.ResponseWriter, _ *http.Request, c access.Caller, vars map[string]string) {
				fmt.Fprint(w, c.Subject, vars["id"])
			}}}
	})
	for _, tc := range []struct {
		line string
		code int
		want string
	}{
		{"GET /healthz", 200, `{"status":"ok"}`},
		{"GET /readyz", 200, `{"status":"ready"}`},
		{"GET /.well-known/jwks.json", 200, `{"keys":[]}`},
		{"GET /api/mcp/.well-known/jwks.json", 200, `{"keys":[]}`},
		{"GET /.well-known/oauth-protected-resource", 200,
			`{"resource":"http://localhost:8420/mcp","resource_name":"Loregate","jwks_uri":"http://localhost:8420/.well-known/jwks.json","scopes_supported":["user"],"bearer_methods_supported":["header"]}`},
		{"GET /.well-known/oauth-protected-resource/mcp", 200, `"resource":"http://localhost:8420/mcp"`},
		{"GET /.well-known/oauth-protected-resource/mcp/archive", 200, `"resource":"http://localhost:8420/mcp/archive"`},
		{"GET /.well-known/oauth-protected-resource/mcp/nothing", 404, `not_found`},
		{"POST /mcp", 200, `mcp /mcp id-`},
		{"POST /mcp/archive", 200, `mcp /mcp/archive id-`},
		{"POST /mcp/panic", 500, `"correlation_id":"id-`},
		{"GET /mcpx", 404, `not_found`},
		{"GET /api/players/p%2F1/stream", 200, `testerp/1`},
		{"GET /", 404, `not_found`},
		{"GET //api/mcp/cards/A", 404, `not_found`},
	} {
		if w := s.ask(tc.line, ""); w.Code != tc.code || !strings.Contains(w.Body.String(), tc.want) {
			t.Errorf("%s: got %d %s, want %d %s", tc.line, w.Code, w.Body, tc.code, tc.want)
		}
	}
	broken = true
	if w := s.ask("GET /readyz", ""); w.Code != 503 || w.Header().Get("Retry-After") == "" ||
		strings.Contains(w.Body.String(), "secret") {
		t.Errorf("not ready: %d %s", w.Code, w.Body)
	}
	s.ask("GET /readyz", "") // a balancer asks every second, and the log gets one line
	broken = false
	s.ask("GET /readyz", "")
	s.ask("GET /readyz", "")
	for _, line := range []string{`msg="not ready`, `msg="ready again"`} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("the log has %s %d times, want once:\n%s", line, n, &log)
		}
	}
}

// The server does not wait for a body that does not arrive; a handler that takes longer than a body
// may is not cut short.
func TestDeadlines(t *testing.T) {
	s := newSite(t, func(c *httpd.Config) { c.BodyWait = 50 * time.Millisecond })
	srv := httptest.NewServer(s)
	defer srv.Close()
	send := func(length int, body string) int {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "PATCH /api/mcp/cards/slow HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\nContent-Length: %d\r\n\r\n%s", length, body)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	if code := send(2, "{}"); code != 200 {
		t.Errorf("a slow handler: %d", code)
	}
	if code := send(200, "{"); code != 400 {
		t.Errorf("a slow body: %d", code)
	}
}

// The same holds for messages of MCP, which reads its bodies itself.
func TestDeadlinesOfMCP(t *testing.T) {
	s := newSite(t, func(c *httpd.Config) {
		c.BodyWait = 50 * time.Millisecond
		c.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
		})
	})
	srv := httptest.NewServer(s)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200\r\n\r\n{")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a slow message: %s", resp.Status)
	}
}

// Over a real connection too, nothing is redirected, and requests sent slowly or not at all do not
// block the server.
func TestOnTheWire(t *testing.T) {
	s := newSite(t, nil)
	srv := httptest.NewUnstartedServer(s)
	srv.Config = httpd.NewServer("", s)
	srv.Start()
	defer srv.Close()
	if srv.Config.ReadHeaderTimeout == 0 || srv.Config.IdleTimeout == 0 || srv.Config.MaxHeaderBytes == 0 {
		t.Error("a timeout is not set")
	}
	for _, path := range []string{"/api/mcp/cards/..", "/api/mcp/cards/./children", "/api/mcp/cards/A%2F..%2FB",
		"/api/mcp/cards/%2e%2e/children"} {
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\nConnection: close\r\n\r\n",
			path)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
		_ = conn.Close()
	}
}
