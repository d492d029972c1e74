package prooftest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/op"
)

// request is one HTTP call, the same bytes on every stage.
type request struct {
	operation string // the operation, or another name of the call
	method    string
	path      string
	header    []string // as "Name: value"
	body      string
	page      bool // sent by a browser, with the cookie of a session
}

func (r request) String() string {
	return fmt.Sprintf("%s: %s %s %q %s", r.operation, r.method, r.path, r.header, clip(r.body, 600))
}

func clip(s string, n int) string { return s[:min(n, len(s))] }

// reply is the caller's view of an answer.
type reply struct {
	status int
	header string
	body   string
}

func (r reply) String() string { return fmt.Sprintf("%d\n%s\n%s", r.status, r.header, r.body) }

// randomHeaders are headers that depend on chance or on the wall clock.
var randomHeaders = []string{"Date", "Mcp-Session-Id"}

// send sends a request as somebody; "" is a caller without a key.
func (s *stage) send(who string, r request) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), r.method, s.url+r.path, strings.NewReader(r.body))
	if err != nil {
		s.t.Fatalf("%s: %v", r, err)
	}
	req.Host = host
	req.Header.Set("X-Correlation-Id", "proof-"+strings.Trim(r.operation, "/"))
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	switch {
	case who != "" && r.page:
		req.Header.Set("Cookie", s.cookieOf(who))
	case who != "":
		req.Header.Set("Authorization", "Bearer "+s.keys[who])
	}
	for _, h := range r.header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatalf("%s: %v", r, err)
	}
	defer func() { _ = res.Body.Close() }() // the body was only read
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s: %v", r, err)
	}
	s.settleApp()
	var lines []string
	for name, values := range res.Header {
		if !slices.Contains(randomHeaders, name) {
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	return reply{res.StatusCode, strings.Join(lines, "\n"), string(b)}
}

// cookieOf signs somebody in on the pages, once for a stage, and returns the cookie of the session.
func (s *stage) cookieOf(who string) string {
	s.t.Helper()
	if s.cookies[who] == "" {
		s.cookies[who] = s.signIn(s.keys[who])
	}
	return s.cookies[who]
}

// pageRequest opens a page.
func pageRequest(path string) request {
	return request{operation: "page", method: "GET", path: path, page: true, header: []string{"Accept: text/html"}}
}

// client follows no redirects, so that the server's own answers are compared.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// randomTexts matches random texts in answers: cursors, references and positions, which are sealed, ids of traces, secrets that are shown once, and names of backups, which depend on the
// bytes of the store. Their lengths are not random.
var randomTexts = regexp.MustCompile(
	`"nextCursor":"[^"]*"|\\?"contextRef\\?":\\?"[^"\\]*|contextRef: [\w-]+|X-Context-Ref: \S+|\\?"(?:trace|span)_id\\?":\\?"[0-9a-f]+|lg[a-z]?_[A-Za-z0-9_-]+|name="once" value="[0-9a-f-]+|nonce(?:-|=")[A-Z2-7]+|loregate-[0-9a-f]{16}\.db|id: [\w-]{80,}`,
)

// maskRandom returns a text without its random texts.
func maskRandom(text string) string {
	return randomTexts.ReplaceAllStringFunc(text, func(s string) string {
		return fmt.Sprintf("%s…(%d)", s[:4], len(s))
	})
}

// viaREST calls an operation by its route.
func viaREST(o *op.Operation, input map[string]any) request { return viaRoute(o, o.Route, input) }

// viaRoute calls an operation by one of its routes.
func viaRoute(o *op.Operation, route string, input map[string]any) request {
	method, path, _ := strings.Cut(route, " ")
	rest := maps.Clone(input)
	for _, m := range pathVar.FindAllStringSubmatch(path, -1) {
		name := m[1]
		value, _ := rest[name].(string)
		if n, ok := rest[name].(int); ok {
			value = fmt.Sprint(n)
		}
		path = strings.Replace(path, "{"+name+"}", strings.ReplaceAll(url.PathEscape(value), "%2B", "+"), 1)
		delete(rest, name)
	}
	r := request{operation: o.Name, method: method, path: path}
	if key, ok := rest["idempotency_key"].(string); ok && o.Effect != access.Read {
		r.header = append(r.header, "Idempotency-Key: "+url.QueryEscape(key))
		delete(rest, "idempotency_key")
	}
	if world, ok := rest["world"].(string); ok {
		r.path += "?world=" + url.QueryEscape(world)
		delete(rest, "world")
	}
	if method != http.MethodGet {
		b, _ := json.Marshal(rest) // made of plain values
		r.body = string(b)
		return r
	}
	q := url.Values{}
	for k, v := range rest {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				q.Set(name, fmt.Sprint(x))
			}
		case []any:
			for _, x := range v {
				q.Add(k, fmt.Sprint(x))
			}
		default:
			q.Set(k, fmt.Sprint(v))
		}
	}
	if len(q) > 0 {
		r.path += map[bool]string{true: "&", false: "?"}[strings.Contains(r.path, "?")] + q.Encode()
	}
	return r
}

var pathVar = regexp.MustCompile(`\{([a-z_A-Z]+)\}`)

// The two eras of MCP, by their protocol versions.
const (
	older  = "2025-11-25"
	modern = "2026-07-28"
)

// mcpRequest is a message of the modern era, which needs no session.
func mcpRequest(method string, params map[string]any) request {
	if params == nil {
		params = map[string]any{}
	}
	r := request{operation: strings.ReplaceAll(method, "/", "-"), method: http.MethodPost, path: "/mcp",
		header: []string{"Mcp-Protocol-Version: " + modern, "Mcp-Method: " + method}}
	for method, field := range map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"} {
		if r.header[1] == "Mcp-Method: "+method {
			r.header = append(r.header, fmt.Sprintf("Mcp-Name: %s", params[field]))
		}
	}
	if method == "tools/call" {
		r.operation = fmt.Sprint(params["name"])
	}
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": modern,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	r.body = mcpMessage(method, params)
	return r
}

// sessionRequest is a message of the older era in a session.
func sessionRequest(session, method string, params map[string]any) request {
	r := request{operation: strings.ReplaceAll(method, "/", "-"), method: http.MethodPost, path: "/mcp",
		header: []string{"Mcp-Protocol-Version: " + older, "Mcp-Session-Id: " + session}, body: mcpMessage(method, params)}
	if method == "tools/call" {
		r.operation = fmt.Sprint(params["name"])
	}
	return r
}

func mcpMessage(method string, params map[string]any) string {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		m["id"] = 7
	}
	b, _ := json.Marshal(m) // made of plain values
	return string(b)
}

// toolRequest calls an operation as a tool.
func toolRequest(o *op.Operation, input map[string]any) request {
	return mcpRequest("tools/call", map[string]any{"name": o.Name, "arguments": input})
}

// startSession starts a session of the older era and returns its id.
func (s *stage) startSession(who string) string {
	s.t.Helper()
	body := mcpMessage("initialize", map[string]any{"protocolVersion": older, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "proof", "version": "1"}})
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+s.keys[who])
	res, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		s.t.Fatalf("no session: %s", res.Status)
	}
	s.send(who, sessionRequest(id, "notifications/initialized", nil))
	return id
}
