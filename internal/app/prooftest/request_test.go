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

// request is one call as it goes over the wire, the same bytes on every stage.
type request struct {
	operation string // or what else is called
	method    string
	path      string
	header    []string // "Name: value"
	body      string
}

func (r request) String() string {
	return fmt.Sprintf("%s: %s %s %q %s", r.operation, r.method, r.path, r.header, clip(r.body, 600))
}

func clip(s string, n int) string { return s[:min(n, len(s))] }

// reply is what came back, as the caller has it.
type reply struct {
	status int
	header string
	body   string
}

func (r reply) String() string { return fmt.Sprintf("%d\n%s\n%s", r.status, r.header, r.body) }

// unfixed are the headers that are chance or the wall clock's.
var unfixed = []string{"Date", "Mcp-Session-Id"}

// send sends a request as somebody; "" is nobody.
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
	if who != "" {
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
	defer func() { _ = res.Body.Close() }() // it was only read
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%s: %v", r, err)
	}
	s.settle()
	var lines []string
	for name, values := range res.Header {
		if !slices.Contains(unfixed, name) {
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	return reply{res.StatusCode, strings.Join(lines, "\n"), string(b)}
}

// client follows no redirects, so that what is compared is what the server said.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// sealed are texts of chance in answers: cursors and references, sealed with a new nonce
// each, ids of traces, secrets that are shown once, and names of copies of the store, which are of
// its bytes. Their lengths are no chance.
var sealed = regexp.MustCompile(`"nextCursor":"[^"]*"|\\?"contextRef\\?":\\?"[^"\\]*|X-Context-Ref: \S+|\\?"(?:trace|span)_id\\?":\\?"[0-9a-f]+|lgp?_[A-Za-z0-9_-]+|loregate-[0-9a-f]{16}\.db`)

// fixed is the reply without what is chance.
func (r reply) fixed() string { return fixed(r.String()) }

func fixed(text string) string {
	return sealed.ReplaceAllStringFunc(text, func(s string) string {
		return fmt.Sprintf("%s…(%d)", s[:4], len(s))
	})
}

// overREST is a call of an operation by its route.
func overREST(o *op.Operation, input map[string]any) request { return overRoute(o, o.Route, input) }

// overRoute is a call of an operation by one of its routes.
func overRoute(o *op.Operation, route string, input map[string]any) request {
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

// The two eras of MCP, as a client asks for them.
const (
	older  = "2025-11-25"
	modern = "2026-07-28"
)

// overMCP is a message of the modern era, which needs no session.
func overMCP(method string, params map[string]any) request {
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
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	r.body = message(method, params)
	return r
}

// inSession is a message of the older era in a session.
func inSession(session, method string, params map[string]any) request {
	r := request{operation: strings.ReplaceAll(method, "/", "-"), method: http.MethodPost, path: "/mcp",
		header: []string{"Mcp-Protocol-Version: " + older, "Mcp-Session-Id: " + session}, body: message(method, params)}
	if method == "tools/call" {
		r.operation = fmt.Sprint(params["name"])
	}
	return r
}

func message(method string, params map[string]any) string {
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if !strings.HasPrefix(method, "notifications/") {
		m["id"] = 7
	}
	b, _ := json.Marshal(m) // made of plain values
	return string(b)
}

// asTool is a call of an operation as a tool.
func asTool(o *op.Operation, input map[string]any) request {
	return overMCP("tools/call", map[string]any{"name": o.Name, "arguments": input})
}

// session begins a session of the older era and gives its id.
func (s *stage) session(who string) string {
	s.t.Helper()
	body := message("initialize", map[string]any{"protocolVersion": older, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "proof", "version": "1"}})
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
	s.send(who, inSession(id, "notifications/initialized", nil))
	return id
}
