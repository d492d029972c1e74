// Package gametest holds Alignment, as it is served, to its contract: people over HTTP
// and in a browser, AI players and others over MCP, restarts in the middle of a phase,
// and no secret in any byte that a seat is sent.
package gametest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/game/view"
	"loregate/internal/httpd"
	"loregate/internal/identity"
)

// house is the product as it is served on one address, which outlives restarts.
type house struct {
	t    testing.TB
	dir  string
	addr string
	key  string // of the host
	app  *app.App
	with func(*app.Config) // settings besides
	stop func()
	log  slog.Handler // of the app; nil keeps nothing
}

func open(t testing.TB) *house { return openWith(t, func(*app.Config) {}) }

func openWith(t testing.TB, with func(*app.Config)) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), with: with}
	h.start()
	t.Cleanup(func() { h.stop() })
	if _, err := h.app.CreateWorld(t.Context(), canon.NewWorld{Slug: "main", Title: "Main"}); err != nil {
		t.Fatal(err)
	}
	h.key = h.newKey("host")
	return h
}

func (h *house) newKey(subject string) string {
	h.t.Helper()
	key, _, err := h.app.CreateKey(h.t.Context(), identity.KeySpec{Name: subject, Subject: access.Subject(subject), Actor: access.Person, MaxRole: access.RoleAdmin}, []string{"main"})
	if err != nil {
		h.t.Fatal(err)
	}
	return key
}

// start opens the data folder and serves it.
func (h *house) start() {
	h.t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	c.Data = h.dir
	h.with(&c)
	log := h.log
	if log == nil {
		log = slog.DiscardHandler
	}
	ctx, cancel := context.WithCancel(context.Background())
	if h.app, err = app.Open(ctx, c, app.Options{Version: "1.0.0", Profile: access.ProfileNone, Logger: slog.New(log)}); err != nil {
		h.t.Fatal(err)
	}
	handler, stop, err := h.app.Handler(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	if h.addr == "" {
		h.addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	h.addr = listener.Addr().String()
	server := httpd.NewServer(h.addr, handler)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			h.t.Error(err)
		}
	}()
	h.stop = func() {
		stop()
		_ = server.Close()
		<-done
		h.app.Close(context.WithoutCancel(ctx))
		cancel()
	}
}

// restart stops the server and starts another on what it left.
func (h *house) restart() {
	h.t.Helper()
	h.stop()
	h.start()
}

func (h *house) url() string { return "http://" + h.addr }

// send makes a call and gives its status and body.
func (h *house) send(token, method, path string, in any) (int, []byte) {
	h.t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		h.t.Fatal(err)
	}
	if in == nil {
		body = nil
	}
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url()+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return res.StatusCode, b
}

// do makes a call that must succeed, into out.
func (h *house) do(token, method, path string, in, out any) {
	h.t.Helper()
	status, b := h.send(token, method, path, in)
	if status >= 300 {
		h.t.Fatalf("%s %s: %d %s", method, path, status, b)
	}
	if err := json.Unmarshal(b, out); out != nil && err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
}

type object = map[string]any

// table is one game and its seats.
type table struct {
	*house
	id    string
	seats []seat
}

type seat struct {
	ID    string `json:"player_id"`
	Token string `json:"token"`
	Key   string `json:"mcp_key"`
	Link  string `json:"link"`
}

// game makes a game with so many people, clients over MCP, and AI players.
func (h *house) game(settings object, people, clients, programs int) *table {
	h.t.Helper()
	var made struct {
		ID string `json:"game_id"`
	}
	h.do(h.key, "POST", "/api/games", settings, &made)
	t := &table{house: h, id: made.ID}
	for i := range people + clients + programs {
		in := object{"name": fmt.Sprintf("Nr%d", i+1), "host": i == 0 && people > 0}
		switch {
		case i >= people+clients:
			in["as"] = "ai"
			delete(in, "name")
		case i >= people:
			in["as"] = "mcp"
		}
		var s seat
		h.do(h.key, "POST", "/api/games/"+t.id+"/join", in, &s)
		t.seats = append(t.seats, s)
	}
	return t
}

func (t *table) begin() {
	t.t.Helper()
	t.do(t.key, "POST", "/api/games/"+t.id+"/start", object{}, nil)
}

// as sees the game as a seat does.
func (t *table) as(s seat) view.Own {
	t.t.Helper()
	var v view.Own
	t.do(s.Token, "GET", "/api/games/"+t.id, nil, &v)
	return v
}

// act does something as a seat, and gives the status.
func (t *table) act(s seat, in object) (int, string) {
	t.t.Helper()
	status, b := t.send(s.Token, "POST", "/api/games/"+t.id+"/commands", in)
	return status, string(b)
}

// advance ends the phase by hand.
func (t *table) advance() {
	t.t.Helper()
	t.do(t.key, "POST", "/api/games/"+t.id+"/commands", object{"type": "advance"}, nil)
}
