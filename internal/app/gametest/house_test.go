// Package gametest checks the served game Alignment against its contract: people over HTTP and
// in a browser, AI players and others over MCP, restarts in the middle of a phase, and no
// secret in any byte that a seat is sent.
package gametest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/game/view"
	"loregate/internal/identity"
)

// house is the product, served on one address, which stays the same over restarts.
type house struct {
	t    testing.TB
	dir  string
	addr string
	key  string // the host's
	app  *app.App
	with func(*app.Config) // changes further settings
	stop func()
	log  slog.Handler // of the app; nil discards all messages
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
	return h.newKeyOf(subject, false)
}

func (h *house) newKeyOf(subject string, operator bool) string {
	h.t.Helper()
	key, _, err := h.app.CreateKey(h.t.Context(), identity.KeySpec{Name: subject, Subject: access.Subject(subject),
		Actor: access.Person, MaxRole: access.RoleAdmin, Operator: operator}, []string{"main"})
	if err != nil {
		h.t.Fatal(err)
	}
	return key
}

// start opens the data folder and serves it.
func (h *house) start() {
	h.t.Helper()
	c, o := apptest.Config(h.t, h.dir), apptest.Quiet()
	h.with(&c)
	if h.log != nil {
		o.Logger = slog.New(h.log)
	}
	var shut, end func()
	h.app, shut = apptest.Open(h.t, c, o)
	h.addr, end = apptest.Serve(h.t, h.app, h.addr)
	h.stop = func() {
		end()
		shut()
	}
}

// restart stops the server and starts another on the same data.
func (h *house) restart() {
	h.t.Helper()
	h.stop()
	h.start()
}

func (h *house) url() string { return "http://" + h.addr }

// send makes a call and returns its status and body.
func (h *house) send(token, method, path string, in any) (int, []byte) {
	h.t.Helper()
	if in == nil {
		return apptest.Send(h.t, method, h.url()+path, token, "")
	}
	body, err := json.Marshal(in)
	if err != nil {
		h.t.Fatal(err)
	}
	return apptest.Send(h.t, method, h.url()+path, token, string(body))
}

// do makes a call that must succeed, and decodes the answer into out.
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
	Code  string `json:"recovery"`
}

// newGame creates a game with the given numbers of people, clients over MCP, and AI players. The first person is the
// host; the others join by an invitation, as do clients at a table at which the host plays.
func (h *house) newGame(settings object, people, clients, programs int) *table {
	h.t.Helper()
	var made struct {
		ID string `json:"game_id"`
	}
	h.do(h.key, "POST", "/api/games", settings, &made)
	t := &table{house: h, id: made.ID}
	for i := range people + clients + programs {
		in, token := object{"name": fmt.Sprintf("Nr%d", i+1), "host": i == 0 && people > 0}, h.key
		if i > 0 && i < people+clients && people > 0 {
			token = t.invitation()
		}
		switch {
		case i >= people+clients:
			in["as"] = "ai"
			delete(in, "name")
		case i >= people:
			in["as"] = "mcp"
		}
		var s seat
		h.do(token, "POST", "/api/games/"+t.id+"/join", in, &s)
		t.seats = append(t.seats, s)
	}
	return t
}

// invitation returns the token of a link by which anybody joins.
func (t *table) invitation() string {
	t.t.Helper()
	var made struct{ Link string }
	t.do(t.key, "POST", "/api/games/"+t.id+"/invitation", object{}, &made)
	_, token, _ := strings.Cut(made.Link, "#")
	return token
}

func (t *table) begin() {
	t.t.Helper()
	t.do(t.key, "POST", "/api/games/"+t.id+"/start", object{}, nil)
}

// viewAs returns a seat's view of the game.
func (t *table) viewAs(s seat) view.Own {
	t.t.Helper()
	var v view.Own
	t.do(s.Token, "GET", "/api/games/"+t.id, nil, &v)
	return v
}

// act sends a command as a seat, and returns the status and the body.
func (t *table) act(s seat, in object) (int, string) {
	t.t.Helper()
	status, b := t.send(s.Token, "POST", "/api/games/"+t.id+"/commands", in)
	return status, string(b)
}

// advance ends the phase.
func (t *table) advance() {
	t.t.Helper()
	t.do(t.key, "POST", "/api/games/"+t.id+"/commands", object{"type": "advance"}, nil)
}
