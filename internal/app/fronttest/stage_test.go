// Package fronttest tests the product from outside: through its own server, on sockets, with the
// default limits.
package fronttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
)

// stage is a running server with one world.
type stage struct {
	t     testing.TB
	app   *app.App
	world access.WorldID
	url   string
	addr  string
}

// open serves an empty world with the default configuration as altered by change; change may be
// nil.
func open(t testing.TB, change func(*app.Config)) *stage {
	t.Helper()
	return openWith(t, change, app.Options{})
}

func openWith(t testing.TB, change func(*app.Config), o app.Options) *stage {
	t.Helper()
	c, err := app.LoadConfig("", []string{"LOREGATE_DATA=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	s := &stage{t: t}
	o.Version, o.Logger = "1.0.0", slog.New(slog.DiscardHandler)
	if s.app, err = app.Open(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	w, err := s.app.CreateWorld(t.Context(), canon.NewWorld{Slug: "mire", Title: "The Mire",
		Settings: canon.Settings{Starter: "Gate"}})
	if err != nil {
		t.Fatal(err)
	}
	s.world = w.ID
	s.serve(t, c)
	return s
}

func (s *stage) serve(t testing.TB, _ app.Config) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served, ready := make(chan error, 1), make(chan struct{})
	go func() { served <- s.app.Serve(ctx, listener, func(string) { close(ready) }) }()
	<-ready
	s.addr = listener.Addr().String()
	s.url = "http://" + s.addr
	t.Cleanup(func() {
		stop()
		<-served
		s.app.Close(context.Background())
	})
}

// key creates an API key for a role in the world.
func (s *stage) key(role access.Role) (secret, id string) {
	s.t.Helper()
	secret, id, err := s.app.CreateKey(s.t.Context(),
		identity.KeySpec{Name: "test", Subject: access.Subject("ada-" + role.String()), Actor: access.AI, MaxRole: role},
		[]string{"mire"})
	if err != nil {
		s.t.Fatal(err)
	}
	return secret, id
}

// change makes one commit as the operator.
func (s *stage) change(plan func(*canon.Plan) error) {
	s.t.Helper()
	r := access.Request{Operation: "test", Effect: access.Write, World: s.world, Correlation: uuid.NewString()}
	err := s.app.WithGrant(s.t.Context(), app.Operator(), r, func(g access.Grant) error {
		_, err := s.app.Canon.Update(s.t.Context(), g, plan)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// fill creates the starter location and n other cards.
func (s *stage) fill(n int) {
	s.t.Helper()
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Gate", Type: "Location", Codename: "gate", Root: true})
		return err
	})
	for from := 0; from < n; from += 1000 {
		s.change(func(p *canon.Plan) error {
			for i := from; i < min(n, from+1000); i++ {
				if _, err := p.Create(canon.NewCard{Name: "Card " + strconv.Itoa(i), Root: true}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// answer is the answer to one request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends one request.
func (s *stage) send(method, path, bearer, body string, headers ...string) answer {
	s.t.Helper()
	a, err := s.sendFrom(http.DefaultClient, method, path, bearer, body, headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *stage) sendFrom(c *http.Client, method, path, bearer, body string, headers ...string) (answer, error) {
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, b}, err
}

// mcp is the MCP session of one client, in the protocol version of 2025.
type mcp struct {
	s            *stage
	path, bearer string
	session      string
	id           int
}

// connect opens a session.
func (s *stage) connect(path, bearer string) *mcp {
	s.t.Helper()
	m := &mcp{s: s, path: path, bearer: bearer}
	a := m.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if a.status != http.StatusOK {
		s.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	m.session = a.header.Get("Mcp-Session-Id")
	m.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

func (m *mcp) post(body string) answer {
	m.s.t.Helper()
	return m.s.send("POST", m.path, m.bearer, body, "Mcp-Session-Id", m.session)
}

// ask calls a method and returns its result, or the error object.
func (m *mcp) ask(method string, params any) (result map[string]any, failed map[string]any) {
	m.s.t.Helper()
	m.id++
	p, err := json.Marshal(params)
	if err != nil {
		m.s.t.Fatal(err)
	}
	a := m.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, m.id, method, p))
	var message struct{ Result, Error map[string]any }
	if err := json.Unmarshal(data(a), &message); err != nil {
		m.s.t.Fatalf("%s: %d %s", method, a.status, a.body)
	}
	return message.Result, message.Error
}

// data returns the JSON of an answer, which may be an event stream.
func data(a answer) []byte {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		return a.body
	}
	for lines := bufio.NewScanner(bytes.NewReader(a.body)); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.Contains(text, `"id"`) {
			return []byte(text)
		}
	}
	return nil
}

// object sends a request that must succeed and decodes its answer.
func (s *stage) object(method, path, bearer, body string, into any) {
	s.t.Helper()
	a := s.send(method, path, bearer, body)
	if a.status > 299 {
		s.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		s.t.Fatalf("%s %s: %v %s", method, path, err, a.body)
	}
}
