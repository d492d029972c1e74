package benchtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/cputest"
	"loregate/internal/game/player"
	"loregate/internal/wait"
)

// Four clients at once read the table of a game. In 200 games of eight, subscribers are notified of
// a hundred messages a second.
const (
	readers  = 4
	games    = 200
	seats    = 8
	messages = 100 // a second
)

// hostedGame is one game, with people who talk and clients who listen.
type hostedGame struct {
	id     string
	people []string // tokens
	keys   []string // of clients over MCP

	mu   sync.Mutex
	sent time.Time // when the last message was sent. Guarded by mu
	turn int       // number of that message. Guarded by mu
}

func (s *stage) call(token, path string, in, out any) {
	s.b.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		s.b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.b.Context(), "POST", s.server.URL+path, bytes.NewReader(body))
	if err != nil {
		s.b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.b.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		s.b.Fatal(path, res.StatusCode, string(answer), err)
	}
	if out != nil {
		if err := json.Unmarshal(answer, out); err != nil {
			s.b.Fatal(err)
		}
	}
}

// hostGame starts a game in which everyone may talk for about a day.
func (s *stage) hostGame(people, clients int) *hostedGame {
	s.b.Helper()
	var made struct {
		ID string `json:"game_id"`
	}
	s.call(s.token, "/api/games", map[string]any{"messages": 500, "mandate": "aggressive_growth",
		"seconds": map[string]any{"sitrep": 80000}}, &made)
	g := &hostedGame{id: made.ID}
	var invited struct{ Link string }
	s.call(s.token, "/api/games/"+g.id+"/invitation", map[string]any{}, &invited)
	_, guest, _ := strings.Cut(invited.Link, "#")
	for i := range people + clients {
		by := s.token
		in := map[string]any{"name": fmt.Sprint("Nr", i), "as": "mcp"}
		if i < people {
			in["as"], by = "person", guest
		}
		var got struct {
			Token string `json:"token"`
			Key   string `json:"mcp_key"`
		}
		s.call(by, "/api/games/"+g.id+"/join", in, &got)
		if i < people {
			g.people = append(g.people, got.Token)
		} else {
			g.keys = append(g.keys, got.Key)
		}
	}
	s.call(s.token, "/api/games/"+g.id+"/start", map[string]any{}, nil)
	return g
}

// sendChat sends the n-th message, from the game's people in turn.
func (s *stage) sendChat(g *hostedGame, n int) {
	s.call(g.people[n%len(g.people)], "/api/games/"+g.id+"/commands",
		map[string]any{"type": "chat", "text": fmt.Sprintf("Message %d, which is as long as people write when they talk.",
			n)}, nil)
}

func (g *hostedGame) uri() string { return "game://alignment/" + g.id }

// BenchmarkGameRead reads a game with 500 messages, with four clients at once.
func BenchmarkGameRead(b *testing.B) {
	requireBench(b)
	s := serve(b, b.TempDir())
	g := s.hostGame(9, 1)
	for n := range 498 {
		wait.For(b.Context(), time.Second/80) // a person may say ten things a second
		s.sendChat(g, n)
	}
	read := func(n int64) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, n+10, g.uri())
	}
	session := handshake(b, s.server.URL+"/mcp/alignment", g.keys[0])
	h := head("POST /mcp/alignment", s.server.Listener.Addr().String(), "Content-Type: application/json",
		"Accept: application/json, text/event-stream",
		"Authorization: Bearer "+g.keys[0], "Mcp-Session-Id: "+session)
	t := &target{addr: s.server.Listener.Addr().String(),
		call: want(http.StatusOK, func(n int64) (string, string) { return h, read(n) })}
	m := medians{}
	for b.Loop() {
		o := t.closedLoop(b, readers, round)
		m.add("reads/s", o.rate())
		m.add("cpu-ms", ms(o.cpu)/float64(o.calls))
		m.add("p50-ms", ms(o.at(50)))
		m.add("p99-ms", ms(o.at(99)))
	}
	m.report(b)
}

// BenchmarkGameSimulate plays 500 games of eight AI players in this process, to their end.
func BenchmarkGameSimulate(b *testing.B) {
	requireBench(b)
	m := medians{}
	for b.Loop() {
		began, cpu := time.Now(), cputest.Used()
		o, err := player.Simulate(b.Context(), player.Simulation{Players: seats, AI: seats, Seed: 7, Games: 500,
			Workers: runtime.GOMAXPROCS(0)})
		if err != nil || len(o.Broken) > 0 {
			b.Fatal(err, o.Broken)
		}
		m.add("s", time.Since(began).Seconds())
		m.add("cpu-s", (cputest.Used() - cpu).Seconds())
	}
	m.report(b)
}

// BenchmarkGameNotice measures the time from sending a chat message until each subscriber is
// notified of the change. The memory is that of server and clients together.
func BenchmarkGameNotice(b *testing.B) {
	requireBench(b)
	s := serve(b, b.TempDir())
	all := make([]*hostedGame, games)
	for i := range all {
		all[i] = s.hostGame(1, seats)
	}
	heard := &latencies{}
	ctx, cancel := context.WithCancel(b.Context())
	var listening sync.WaitGroup
	for _, g := range all {
		for _, key := range g.keys {
			body := s.subscribe(ctx, g, key)
			listening.Go(func() { g.listen(body, heard) })
		}
	}
	b.Cleanup(func() { cancel(); listening.Wait() })
	m := medians{}
	for b.Loop() {
		heard.drain()
		s.sendMessages(all, 10*time.Second)
		each := heard.drain()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		m.add("notices", float64(len(each)))
		m.add("p50-ms", ms(each[len(each)/2]))
		m.add("p99-ms", ms(each[len(each)*99/100]))
		m.add("memory-MB", float64(mem.Sys-mem.HeapReleased)/(1<<20))
	}
	m.report(b)
}

// sendMessages sends messages at a steady rate, each to the next game.
func (s *stage) sendMessages(all []*hostedGame, d time.Duration) {
	var sending sync.WaitGroup
	tick := time.NewTicker(time.Second / messages)
	defer tick.Stop()
	for n := range int(d.Seconds() * messages) {
		<-tick.C
		g := all[n%len(all)]
		sending.Go(func() {
			g.mu.Lock()
			g.sent, g.turn = time.Now(), g.turn+1
			g.mu.Unlock()
			s.sendChat(g, n)
		})
	}
	sending.Wait()
	wait.For(s.b.Context(), 300*time.Millisecond) // the last notices may be under way
}

// latencies collects the delays of notices.
type latencies struct {
	mu   sync.Mutex
	each []time.Duration // guarded by mu
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.each = append(l.each, d)
}

// drain returns the collected delays, sorted, and empties the collection.
func (l *latencies) drain() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	each := l.each
	l.each = nil
	slices.Sort(each)
	return each
}

// subscribe opens a session for a key, subscribes to the game, and returns the stream of its
// notices.
func (s *stage) subscribe(ctx context.Context, g *hostedGame, key string) io.ReadCloser {
	s.b.Helper()
	url := s.server.URL + "/mcp/alignment"
	session := handshake(s.b, url, key)
	request := func(method, body string) *http.Response {
		r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
		if err != nil {
			s.b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Mcp-Session-Id", session)
		if method == "GET" {
			r.Header.Set("Accept", "text/event-stream")
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode >= 300 {
			s.b.Fatal(method, res, err)
		}
		return res
	}
	stream := request("GET", "")
	answer := request("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":%q}}`,
		g.uri()))
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		s.b.Fatal(err)
	}
	answer.Body.Close()
	return stream.Body
}

// listen records the delay of each notice after its message.
func (g *hostedGame) listen(body io.ReadCloser, heard *latencies) {
	defer body.Close()
	lines, last := bufio.NewReaderSize(body, 1024), 0
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return
		}
		if !bytes.Contains(line, []byte("resources/updated")) {
			continue
		}
		g.mu.Lock()
		sent, turn := g.sent, g.turn
		g.mu.Unlock()
		if turn > last { // a second notice after one message belongs to another change
			last = turn
			heard.add(time.Since(sent))
		}
	}
}
