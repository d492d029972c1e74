package gametest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/game/player"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/raceenabled"
)

// number returns the number of games of a proof: that of an environment variable, or a few by
// default.
func number(variable string, fallback int) int {
	if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
		return n
	}
	fallback = raceenabled.Share(fallback, 3)
	return fallback
}

// TestNoSecretInProcess plays games by program, puts a mark into every secret field of every
// state, and looks for a mark in the table that seats read.
func TestNoSecretInProcess(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	looks := 0
	o, err := player.Simulate(t.Context(), player.Simulation{Players: 8, AI: 8, Seed: 11, Games: number("GAME_SECRETS", 8),
		Workers: 2,
		Watch: func(_, after *rule.State, events []rule.Event) {
			if after.Public.Phase == rule.Over || len(events) == 0 {
				return
			}
			marked := *after
			mark(&marked.Secret)
			plain := encodeTable(t, view.TableOf(after.ID, &after.Public, 1))
			shown := encodeTable(t, view.TableOf(marked.ID, &marked.Public, 1))
			mu.Lock()
			looks++
			mu.Unlock()
			if !bytes.Equal(plain, shown) || bytes.Contains(shown, []byte("MARK")) {
				t.Errorf("a secret shows: %s", shown)
			}
			if own, err := json.Marshal(view.OwnOf(&marked, 1)); err != nil || !bytes.Contains(own, []byte("MARK")) {
				t.Errorf("the control shows no mark: %v", err)
			}
		}})
	if err != nil || len(o.Broken) > 0 || looks == 0 {
		t.Fatal(err, o.Broken, looks)
	}
	t.Logf("%d looks at the table show no mark", looks)
}

// mark sets every secret field that can hold a text to a mark, and others to a number.
func mark(s *rule.Secret) {
	s.Host, s.World, s.Deck, s.Tainted, s.Liaison = "MARKhost", "MARKworld", []rule.Crisis{"MARKdeck"}, !s.Tainted,
		!s.Liaison
	s.Whispers = rule.Fold([]rule.Event{&rule.Created{ID: "x"}, &rule.Whispered{From: 1, To: 2, Text: "MARKwhisper"},
		&rule.Whispered{From: 1, Text: "MARKaligned"}}).Secret.Whispers
	for i := range s.Seats {
		s.Seats[i] = rule.Hidden{Owner: "MARKowner", Played: "MARKplayed", Host: true, Role: "MARKrole",
			Alignment: "MARKalignment", KPI: "MARKkpi", KPIMet: true,
			Equity: 770077, Shock: "MARKshock", Ballot: "MARKballot", Convict: 770077, Pulse: "MARKpulse",
			Action: rule.Action{Do: "MARKaction", Pick: "MARKpick"},
			Last:   rule.Action{Do: "MARKlast"}, Convert: 3, Failed: true, Kind: true, Said: 770077, Written: 770077,
			Leaving: true, Cue: 770077,
			Notices: []rule.Notice{{Day: 770077, Text: "MARKnotice"}}}
	}
}

// capture keeps every byte that a connection receives.
type capture struct {
	mu sync.Mutex
	b  bytes.Buffer // guarded by mu
}

func (c *capture) add(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.b.Write(p)
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.b.Bytes())
}

// TestNoSecretOverMCP plays games in which every secret text of people is a mark. No mark may
// be in the bytes that a client at the table receives, until the rules reveal it.
func TestNoSecretOverMCP(t *testing.T) {
	t.Parallel()
	h := open(t)
	for n := range number("GAME_SECRETS_MCP", 2) {
		era := []string{older, modern}[n%2]
		g := h.newGame(object{"mandate": "aggressive_growth", "days": 2}, 6, 1, 0)
		all := &capture{}
		c := g.client(g.seats[6].Key, era, all.add)
		if err := c.Subscribe(t.Context(), &mcp.SubscribeParams{URI: g.uri()}); err != nil {
			t.Fatal(err)
		}
		g.begin()
		marks, secrets := g.playWithMarks(c, n)
		got := all.bytes()
		for _, m := range marks {
			for _, form := range encodedForms(m) {
				if bytes.Contains(bytes.ToLower(got), []byte(strings.ToLower(form))) {
					t.Fatalf("%s: %q came over the connection", era, form)
				}
			}
		}
		for _, word := range secrets {
			if bytes.Contains(got, []byte(word)) {
				t.Fatalf("%s: %s came over the connection", era, word)
			}
		}
		if !bytes.Contains(got, []byte("ALOUD")) {
			t.Fatalf("%s: the control, what was said aloud, did not come", era)
		}
	}
}

// playWithMarks plays a day and a night in which everybody writes marks in private, and reads
// the table in every phase. It returns the marks, and words that only secrets contain.
func (t *table) playWithMarks(c *client, n int) (marks, secrets []string) {
	t.t.Helper()
	mark := func(what string, i int) string {
		m := fmt.Sprintf("Zq%s%dx%dZq", what, n, i)
		marks = append(marks, m)
		return m
	}
	for phase := ""; phase != "NIGHT"; {
		v, _ := c.read(t.t, t.uri())
		phase = v.Phase
		for i, s := range t.seats[:6] {
			if phase == "DAY_PULSE_CHECK" {
				// Answers are shown when the phase ends, so that they are no marks.
				t.act(s, object{"type": "pulse", "text": "public later"})
			}
			t.act(s, object{"type": "chat", "channel": "direct", "to": t.seats[(i+1)%6].ID, "text": mark("direct", i)})
			t.act(s, object{"type": "chat", "channel": "aligned", "text": mark("aligned", i)})
		}
		t.act(t.seats[0], object{"type": "chat", "text": "ALOUD"})
		if phase != "NIGHT" {
			t.advance()
		}
	}
	for _, s := range t.seats[:6] {
		own := t.viewAs(s)
		for _, m := range own.Self.Legal {
			for _, o := range m.Actions {
				in := object{"type": "night_action", "action": o.Action}
				if len(o.Target) > 0 {
					in["target"] = o.Target[0].String()
				}
				t.must(s, in)
			}
		}
		secrets = append(secrets, `ORIGINAL_AI`, `ai_equity`, `milestones_needed`)
		if own.Self.KPI != nil {
			secrets = append(secrets, own.Self.KPI.ID, own.Self.KPI.Text)
		}
	}
	before, _ := c.read(t.t, t.uri())
	for _, s := range t.seats[:6] {
		t.act(s, object{"type": "night_action", "action": "project"})
	}
	if after, _ := c.read(t.t, t.uri()); after.Version != before.Version {
		t.t.Error("a night action changed the version")
	}
	return marks, secrets
}

// encodedForms returns the encodings in which a mark could be sent.
func encodedForms(m string) []string {
	all := []string{m, hex.EncodeToString([]byte(m)), m[:8], m[len(m)-8:]}
	for shift := range 3 {
		padded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", shift) + m))
		all = append(all, padded[4:len(padded)-4])
	}
	return all
}

// logged is a log that tests read.
type logged struct{ capture }

func (l *logged) Write(p []byte) (int, error) {
	l.add(p)
	return len(p), nil
}

// TestNoMessageIsLogged sends texts in every way that a client can, and looks for them in the
// log and in the access records.
func TestNoMessageIsLogged(t *testing.T) {
	t.Parallel()
	var log logged
	h := open(t)
	h.log = slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
	h.restart()
	g := h.newGame(object{"mandate": "aggressive_growth"}, 6, 1, 0)
	c := g.client(g.seats[6].Key, older, nil)
	g.begin()
	g.advance()
	for i, s := range g.seats[:6] {
		for _, in := range []object{{"type": "chat", "text": "hushed"},
			{"type": "chat", "channel": "direct", "to": g.seats[(i+1)%6].ID, "text": "hushed"},
			{"type": "chat", "channel": "aligned", "text": "hushed"}, {"type": "pulse", "text": "hushed"},
			{"type": "status", "text": "hushed"},
			{"type": "hushed"}, {"type": "vote", "choice": "hushed"}} {
			g.act(s, in)
		}
	}
	if _, text := c.read(t, g.uri()); !strings.Contains(text, "hushed") {
		t.Fatal("nothing was said")
	}
	h.restart() // the server writes all records when it stops
	acts := 0
	for r, err := range h.app.AccessTail(t.Context(), access.TailOptions{Last: 1000}) {
		if b, encoding := json.Marshal(r); err != nil || encoding != nil || bytes.Contains(b, []byte("hushed")) {
			t.Fatalf("a record holds what was said: %s %v %v", b, err, encoding)
		}
		if r.Operation == "command_game" {
			acts++
		}
	}
	if acts < 6*7 {
		t.Errorf("%d acts are recorded", acts)
	}
	if bytes.Contains(log.bytes(), []byte("hushed")) {
		t.Errorf("the log holds what was said: %s", log.bytes())
	}
}
