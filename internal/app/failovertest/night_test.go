package failovertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/app/apptest"
	"loregate/internal/app/patronitest"
	"loregate/internal/wait"
)

// TestGameNight plays an evening on the whole of docs/operations.md: three processes behind Caddy, the home database
// and the database of the played world on three servers each. The primary of each is killed while two programs write
// over MCP, one of either era, two people play in their browsers, a narrator follows the world, and an import runs.
// All go on by themselves: each acknowledged write is there once, no stream has a gap, and the import ends.
func TestGameNight(t *testing.T) {
	if os.Getenv("GAME_NIGHT") == "" {
		t.Skip("GAME_NIGHT is not set: no cluster is started (make proof does)")
	}
	n := openNight(t)
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		n.go_("MCP "+era, func(who string) { n.writeCards(who, era) })
	}
	var streams []*listener
	for _, name := range []string{"Wim", "Mira"} {
		p := n.makePlayer(name)
		l := n.listen("/api/players/"+p.Player.ID+"/stream", p.Token)
		streams = append(streams, l)
		n.go_(name, func(who string) { n.play(who, p) })
	}
	narrator := n.listen("/api/world/feed?world="+nightWorld, n.key)
	n.awaitProgress("all play")
	apptest.Eventually(t, "the streams have messages", patronitest.Patience, func() bool {
		return streams[0].count() > 0 && streams[1].count() > 0 && narrator.count() > 0
	})
	imported := n.startImport()
	n.killPrimaryOf("east", n.east)
	n.killPrimaryOf("home", n.home)
	if err := <-imported; err != nil {
		t.Errorf("the import ends with %v", err)
	}
	n.over.Store(true)
	n.guests.Wait()
	if t.Failed() {
		return
	}
	n.wantAllOnce()
	for i, name := range []string{"Wim", "Mira"} {
		streams[i].wantOnce(n.acts[name])
	}
	narrator.wantOnce(append(n.acts["Wim"], n.acts["Mira"]...))
	narrator.wantNoGap()
	n.report(append(streams, narrator))
}

// The world of the evening, which its name places in the database east, and the size of the import.
const (
	nightWorld    = "campaign-7"
	importedNotes = 8000
)

// night is the evening.
type night struct {
	*service
	home, east *patronitest.Cluster
	url        string // of Caddy
	over       atomic.Bool
	guests     sync.WaitGroup

	names   []string
	mu      sync.Mutex // guards all below
	done    map[string]int
	longest map[string]time.Duration // longest refusal of each guest
	acts    map[string][]string      // words that players said, by player
	written int                      // cards of programs
	resumed int                      // sessions and connections that programs opened again
}

func openNight(t *testing.T) *night {
	t.Helper()
	n := &night{home: patronitest.Start(t), url: "http://" + patronitest.FreeAddress(t), done: map[string]int{},
		longest: map[string]time.Duration{}, acts: map[string][]string{}}
	n.east = n.home.Another("east")
	n.home.CreateDatabase()
	n.east.CreateDatabase()
	config := filepath.Join(n.home.Dir, "loregate.yaml")
	text := fmt.Sprintf("databases: [%q]\nworlds: [\"campaign-*=east\"]\n", "east="+n.east.Address())
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n.service = newService(t, n.home, "LOREGATE_CONFIG="+config, "LOREGATE_DATABASE_STANDBYS=true",
		"LOREGATE_BEHIND_PROXY=true", "LOREGATE_PUBLIC_URL="+n.url, "LOREGATE_ALLOW_KEY_AS_BEARER=yes")
	n.openWorld(nightWorld)
	var upstreams []string
	for _, url := range n.urls {
		upstreams = append(upstreams, strings.TrimPrefix(url, "http://"))
	}
	apptest.Caddy(t, n.url, strings.Join(upstreams, " "))
	n.urls = []string{n.url}
	apptest.Eventually(t, "Caddy listens", patronitest.Patience, func() bool {
		res, err := n.client.Get(n.url + "/readyz")
		if err == nil {
			_ = res.Body.Close()
		}
		return err == nil && res.StatusCode == http.StatusOK
	})
	n.postJSON("/api/mcp/cards?world="+nightWorld, map[string]any{"name": "Quay", "type": "Location", "content": "Wet stone."}, nil)
	n.run("world", "configure", nightWorld, "--starter-location", "Quay")
	return n
}

// go_ starts a guest, who goes on until the evening is over.
func (n *night) go_(name string, act func(who string)) {
	n.names = append(n.names, name)
	n.guests.Go(func() {
		for !n.over.Load() && !n.t.Failed() {
			act(name)
			wait.For(n.t.Context(), 50*time.Millisecond)
		}
	})
}

// repeat calls f until it is not refused, and notes the time from the first refusal to the answer.
func (n *night) repeat(who string, f func() (refusal error)) {
	var refused time.Time
	ctx, cancel := context.WithTimeout(n.t.Context(), 2*patronitest.Patience)
	defer cancel()
	for {
		err := f()
		if err == nil {
			break
		}
		if refused.IsZero() {
			refused = time.Now()
		}
		if !wait.For(ctx, 200*time.Millisecond) || n.t.Failed() {
			n.t.Errorf("%s is never answered: %v", who, err)
			return
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done[who]++
	if !refused.IsZero() {
		n.longest[who] = max(n.longest[who], time.Since(refused))
	}
}

// writeCards is a client of MCP that writes cards until the evening is over. It repeats a call with its key, in
// another session if it lost its own.
func (n *night) writeCards(who, era string) {
	var cs *mcp.ClientSession
	for i := 0; !n.over.Load() && !n.t.Failed(); i++ {
		n.repeat(who, func() (err error) {
			if cs == nil {
				if cs, err = n.connect(era); err != nil {
					return err
				}
			}
			if err = n.writeCard(cs, fmt.Sprintf("Log %s %d", era, i)); err != nil && !isRefusal(err) {
				_ = cs.Close()
				cs = nil
				n.mu.Lock()
				n.resumed++
				n.mu.Unlock()
			}
			return err
		})
		n.mu.Lock()
		n.written++
		n.mu.Unlock()
		wait.For(n.t.Context(), 50*time.Millisecond)
	}
	if cs != nil {
		_ = cs.Close()
	}
}

func (n *night) connect(era string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "program", Version: "1"}, nil)
	cs, err := client.Connect(n.t.Context(), &mcp.StreamableClientTransport{Endpoint: n.url + "/mcp",
		HTTPClient: &http.Client{Transport: keyed{n.key}}}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err == nil && cs.InitializeResult().ProtocolVersion != era { // a client whose first question is refused tries an older era
		_ = cs.Close()
		return nil, fmt.Errorf("negotiated %s, want %s", cs.InitializeResult().ProtocolVersion, era)
	}
	return cs, err
}

// keyed adds a key to each request.
type keyed struct{ key string }

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return http.DefaultTransport.RoundTrip(r)
}

// refusal is an answer of a tool that asks to try again.
type refusal struct{ error }

func isRefusal(err error) bool {
	_, ok := err.(refusal) //nolint:errorlint // writeCard returns it as it is
	return ok
}

func (n *night) writeCard(cs *mcp.ClientSession, name string) error {
	ctx, cancel := context.WithTimeout(n.t.Context(), patronitest.Patience)
	defer cancel()
	res, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "create_card", Arguments: map[string]any{"world": nightWorld,
		"name": name, "content": "x", "idempotency_key": name}})
	if err != nil || !res.IsError {
		return err
	}
	text, _ := json.Marshal(res.Content) // content that was decoded
	if !strings.Contains(string(text), "unavailable") {
		n.t.Errorf("%s is answered %s", name, text)
	}
	return refusal{fmt.Errorf("%s", text)}
}

// player is a player as create_player answers.
type player struct {
	Player struct {
		ID string `json:"id"`
	} `json:"player"`
	Token string `json:"token"`
}

func (n *night) makePlayer(name string) (p player) {
	n.t.Helper()
	n.postJSON("/api/players?world="+nightWorld, map[string]any{"name": name}, &p)
	return p
}

// play says one thing as a player.
func (n *night) play(who string, p player) {
	n.mu.Lock()
	words := fmt.Sprintf("hello %s%dx", who, len(n.acts[who]))
	n.mu.Unlock()
	n.repeat(who, func() error {
		status, err := n.postAs(p.Token, n.url+"/api/players/"+p.Player.ID+"/commands?world="+nightWorld, words,
			`{"text":"say `+words+`"}`)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
			if status != http.StatusServiceUnavailable {
				n.t.Errorf("%s: %v", words, err)
			}
		}
		return err
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.acts[who] = append(n.acts[who], words)
}

// startImport starts an import, and returns when it has written its first cards.
func (n *night) startImport() <-chan error {
	n.t.Helper()
	vault := filepath.Join(n.home.Dir, "vault")
	if err := os.MkdirAll(vault, 0o700); err != nil {
		n.t.Fatal(err)
	}
	for i := range importedNotes {
		text := fmt.Sprintf("Note %d follows [[Note %d]].\n", i, (i+1)%importedNotes)
		if err := os.WriteFile(filepath.Join(vault, fmt.Sprintf("Note %d.md", i)), []byte(text), 0o600); err != nil {
			n.t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(n.t.Context(), n.service.program, "import", "markdown", vault, "--world", nightWorld)
	cmd.Env = n.env
	ended := make(chan error, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		ended <- err
	}()
	apptest.Eventually(n.t, "the import has begun", patronitest.Patience, func() bool { return n.countNotes() > 0 })
	return ended
}

func (n *night) countNotes() (notes int) {
	_ = n.east.Query(n.east.Primary(), "SELECT count(*) FROM cards WHERE trashed = 0 AND name LIKE 'Note %'", &notes) // 0 if there is no answer
	return notes
}

// killPrimaryOf kills the primary of a database, waits until everybody goes on, and starts it again.
func (n *night) killPrimaryOf(name string, c *patronitest.Cluster) {
	n.t.Helper()
	c.Kill()
	n.awaitProgress("all go on after the primary of " + name + " was killed")
	c.Again()
	n.awaitProgress("all go on when the primary of " + name + " is back")
}

// awaitProgress waits until each guest has been answered five more times.
func (n *night) awaitProgress(what string) {
	n.t.Helper()
	before := map[string]int{}
	n.mu.Lock()
	for _, name := range n.names {
		before[name] = n.done[name]
	}
	n.mu.Unlock()
	apptest.Eventually(n.t, what, 2*patronitest.Patience, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for name, count := range before {
			if n.done[name] < count+5 {
				return false
			}
		}
		return true
	})
}

// wantAllOnce compares the database with what was acknowledged.
func (n *night) wantAllOnce() {
	n.t.Helper()
	var cards, names int
	if err := n.east.Query(n.east.Primary(), `SELECT count(*), count(DISTINCT name) FROM cards
		WHERE trashed = 0 AND name LIKE 'Log %'`, &cards, &names); err != nil {
		n.t.Fatal(err)
	}
	if cards != n.written || names != n.written {
		n.t.Errorf("%d cards were acknowledged; there are %d of %d names", n.written, cards, names)
	}
	if notes := n.countNotes(); notes != importedNotes {
		n.t.Errorf("the import of %d notes made %d cards", importedNotes, notes)
	}
	n.wantWhole()
}

// report logs the figures of the evening.
func (n *night) report(streams []*listener) {
	var text []string
	for _, who := range n.names {
		text = append(text, fmt.Sprintf("%s %d calls, refused for at most %s", who, n.done[who],
			n.longest[who].Round(10*time.Millisecond)))
	}
	messages, opened := 0, 0
	for _, l := range streams {
		messages, opened = messages+l.count(), opened+l.openedTimes()
	}
	n.t.Logf("two primaries killed: %s; %d messages of three streams, opened %d times; %d sessions of MCP opened again; "+
		"%d notes imported meanwhile; load of the machine %s", strings.Join(text, "; "), messages, opened, n.resumed,
		importedNotes, loadAverage())
}
