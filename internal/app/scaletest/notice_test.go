package scaletest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// pair is two processes on one database: changes made at one, here, are noticed at the other,
// there.
type pair struct {
	here, there served
	key         string
}

func newPair(t testing.TB) pair {
	t.Helper()
	at := database(t)
	p := pair{here: serve(t, openApp(t, at, app.Options{}))}
	if _, err := p.here.app.CreateWorld(t.Context(), canon.NewWorld{Slug: app.FirstWorld,
		Settings: canon.Settings{Starter: "Quay"}}); err != nil {
		t.Fatal(err)
	}
	p.there = serve(t, openApp(t, at, app.Options{}))
	p.key, _ = p.here.key("keeper", access.RoleAdmin)
	return p
}

// do makes a call at here that must succeed.
func (p pair) do(key, method, path string, in, out any) {
	p.here.t.Helper()
	status, body := p.here.call(key, method, path, in)
	if status >= 300 {
		p.here.t.Fatalf("%s %s: %d %s", method, path, status, body)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(body), out); err != nil {
			p.here.t.Fatal(err)
		}
	}
}

// stream follows a stream at there, and returns the data of its messages.
func (p pair) stream(token, path string) <-chan string {
	t := p.there.t
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.there.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d", path, res.StatusCode)
	}
	heard := make(chan string, 1000)
	go func() {
		defer res.Body.Close()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data:"); ok {
				heard <- data
			}
		}
	}()
	return heard
}

// noticeKind is a kind of change made at here, and a listener for it at there.
type noticeKind struct {
	name  string
	begin func(p pair) (heard <-chan string, act func(n int) (mark string))
}

var noticeKinds = []noticeKind{
	{"a card's subscriber", func(p pair) (<-chan string, func(int) string) {
		p.do(p.key, "POST", "/api/mcp/cards", map[string]any{"name": "Bell", "content": "0"}, nil)
		heard := make(chan string, 1000)
		client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
				heard <- r.Params.URI
			}})
		c, err := client.Connect(p.there.t.Context(), &mcp.StreamableClientTransport{Endpoint: p.there.url + "/mcp",
			HTTPClient: &http.Client{Transport: bearer(p.key)}},
			&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			p.there.t.Fatal(err)
		}
		p.there.t.Cleanup(func() { _ = c.Close() })
		if err := c.Subscribe(p.there.t.Context(), &mcp.SubscribeParams{URI: "archive://card/Bell"}); err != nil {
			p.there.t.Fatal(err)
		}
		return heard, func(n int) string {
			p.do(p.key, "PATCH", "/api/mcp/cards/Bell", map[string]any{"content": fmt.Sprint("stroke ", n)}, nil)
			return "archive://card/Bell"
		}
	}},
	{"a game's stream", func(p pair) (<-chan string, func(int) string) {
		var game struct {
			ID string `json:"game_id"`
		}
		p.do(p.key, "POST", "/api/games", map[string]any{"messages": 500, "seconds": map[string]any{"sitrep": 600}}, &game)
		var tokens []string
		for i := range 6 {
			var seat, invitation struct{ Token, Link string }
			p.do(p.key, "POST", "/api/games/"+game.ID+"/invitation", map[string]any{}, &invitation)
			_, token, _ := strings.Cut(invitation.Link, "#")
			p.do(token, "POST", "/api/games/"+game.ID+"/join", map[string]any{"name": fmt.Sprint("Nr ", i+1)}, &seat)
			tokens = append(tokens, seat.Token)
		}
		p.do(p.key, "POST", "/api/games/"+game.ID+"/start", map[string]any{}, nil)
		return p.stream(tokens[1], "/api/games/"+game.ID+"/stream"), func(n int) string {
			// The other process has just read the game when this one changes it.
			if status, body := p.there.call(tokens[(n+1)%6], "POST", "/api/games/"+game.ID+"/commands",
				map[string]any{"type": "chat", "text": "hm"}); status >= 300 {
				p.there.t.Fatalf("%d %s", status, body)
			}
			p.do(tokens[n%6], "POST", "/api/games/"+game.ID+"/commands",
				map[string]any{"type": "chat", "text": fmt.Sprintf("word %d.", n)}, nil)
			return fmt.Sprintf("word %d.", n)
		}
	}},
	{"a player's stream", func(p pair) (<-chan string, func(int) string) {
		p.do(p.key, "POST", "/api/mcp/cards", map[string]any{"name": "Quay", "type": "Location",
			"content": "<p>Wet stones.</p>"}, nil)
		var made struct {
			Player struct{ ID string }
			Token  string
		}
		var worlds []canon.World
		worlds, err := p.here.app.Canon.Worlds(p.here.t.Context())
		if err != nil {
			p.here.t.Fatal(err)
		}
		p.do(p.key, "POST", "/api/players", map[string]any{"name": "Mira"}, &made)
		return p.stream(made.Token, "/api/players/"+made.Player.ID+"/stream"), func(n int) string {
			mark := fmt.Sprintf("mark-%d.", n)
			err := p.here.app.WithGrant(p.here.t.Context(), app.Operator(),
				access.Request{Operation: "test", Effect: access.Write, World: worlds[0].ID}, func(g access.Grant) error {
					_, err := p.here.app.Canon.Update(p.here.t.Context(), g, func(p *canon.Plan) error {
						return p.Event(canon.Event{Type: "NPC.Tick", Scope: "player:" + made.Player.ID,
							Payload: []byte(`{"note":"` + mark + `"}`), Version: 1})
					})
					return err
				})
			if err != nil {
				p.here.t.Fatal(err)
			}
			return mark
		}
	}},
}

// bearer adds a key to every request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// noticeDelays makes n changes at here, at varying points of the listeners' polling intervals, and
// returns the delays until the other process noticed them, shortest first.
func noticeDelays(t testing.TB, n int, heard <-chan string, act func(int) string) []time.Duration {
	t.Helper()
	var took []time.Duration
	for i := range n {
		wait.For(t.Context(), time.Duration(i*37%300)*time.Millisecond)
		for len(heard) > 0 {
			<-heard
		}
		begin := time.Now()
		mark := act(i)
		for !strings.Contains(waittest.Receive(t, heard, "a notice of "+mark), mark) {
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	return took
}

// TestNoticesCrossProcesses checks that one process notices every change made in another.
func TestNoticesCrossProcesses(t *testing.T) {
	p := newPair(t)
	for _, kind := range noticeKinds {
		t.Run(kind.name, func(t *testing.T) {
			heard, act := kind.begin(p)
			took := noticeDelays(t, 12, heard, act)
			t.Logf("median %v, longest %v", took[len(took)/2], took[len(took)-1])
		})
	}
}

// BenchmarkNotice measures the time from before the call at here to the notice at there.
func BenchmarkNotice(b *testing.B) {
	p := newPair(b)
	for _, kind := range noticeKinds {
		b.Run(strings.ReplaceAll(kind.name, " ", "_"), func(b *testing.B) {
			heard, act := kind.begin(p)
			for b.Loop() {
				took := noticeDelays(b, 200, heard, act)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// TestWhatOneProcessTakesAwayIsGoneInASecond advances the clock by exactly one second after a
// change of rights at one process. At the other, the revoked key then opens nothing, and the
// subject with a lowered role no longer sees GM cards.
func TestWhatOneProcessTakesAwayIsGoneInASecond(t *testing.T) {
	at := database(t)
	clock := newIDClock()
	here := serve(t, openApp(t, at, app.Options{Now: clock.Now}))
	if err := here.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	there := serve(t, openApp(t, at, app.Options{Now: clock.Now}))
	gm, id := here.key("keeper", access.RoleGM)
	member, _, err := here.app.CreateKey(t.Context(),
		identity.KeySpec{Name: "member", Subject: "member", Actor: access.Person, MaxRole: access.RoleGM},
		[]string{app.FirstWorld})
	if err != nil {
		t.Fatal(err)
	}
	be := func(role access.Role) {
		t.Helper()
		worlds, err := here.app.Canon.Worlds(t.Context())
		if err == nil {
			err = here.app.WithGrant(t.Context(), app.Operator(), access.Request{Operation: "test", Effect: access.Write,
				World: worlds[0].ID}, func(g access.Grant) error {
				_, err := here.app.Canon.Update(t.Context(), g,
					func(p *canon.Plan) error { return p.SetMember(canon.MemberImage{Subject: "member", Role: role}) })
				return err
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	be(access.RoleGM)
	clock.advance()
	if status, body := here.call(gm, "POST", "/api/mcp/cards",
		map[string]any{"name": "Plot+GM", "content": "the butler"}); status >= 300 {
		t.Fatalf("%d %s", status, body)
	}
	read := func(key string) int {
		status, _ := there.call(key, "GET", "/api/mcp/cards/Plot+GM", nil)
		return status
	}
	if a, b := read(gm), read(member); a != 200 || b != 200 {
		t.Fatalf("before: %d and %d", a, b)
	}
	if err := here.app.Identity.RevokeKey(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	be(access.RoleUser)
	clock.advance()
	if a, b := read(gm), read(member); a != 401 || b < 400 {
		t.Errorf("a second later: the revoked key is answered %d, who was lowered %d", a, b)
	}
}
