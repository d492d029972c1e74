package benchtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/loadtest"
)

// TestMain lets the test binary stand in for the least that net/http can do: run with this
// variable it answers every request with 2,400 bytes at that address.
func TestMain(m *testing.M) {
	if addr := os.Getenv("BENCH_BARE"); addr != "" {
		answer := strings.Repeat("x", 2400)
		fmt.Fprintln(os.Stderr, http.ListenAndServe(addr, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, answer)
		})))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// BenchmarkBars measures programs that serve, each in a process of its own, by turns in one
// run, and reports the processor time of the server by call. BENCH_SERVERS names the
// programs, as old=/path/to/one,new=/path/to/other; without it the one of this tree is
// built. Each has a store of its own, which its own calls fill. BENCH_PROFILE names a folder
// for profiles of the last program, one for each call.
func BenchmarkBars(b *testing.B) {
	wanted(b)
	for _, n := range sizes(b) {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			servers := []*barred{bareServer(b)}
			for _, s := range programs(b) {
				servers = append(servers, s.start(b, n))
			}
			for _, bar := range bars(b, n) {
				b.Run(bar.name, func(b *testing.B) { measureBar(b, servers, bar) })
			}
		})
	}
}

// barred is a server that is measured.
type barred struct {
	name, path string
	served
	key, token string
}

func programs(b *testing.B) (list []*barred) {
	named := os.Getenv("BENCH_SERVERS")
	if named == "" {
		return []*barred{{name: "new", path: program(b)}}
	}
	for pair := range strings.SplitSeq(named, ",") {
		name, path, ok := strings.Cut(pair, "=")
		if !ok {
			b.Fatalf("BENCH_SERVERS: %q is not name=program", pair)
		}
		list = append(list, &barred{name: name, path: path})
	}
	return list
}

// start serves a world of n cards: a copy, so that the cards which a run makes are not in
// the next one's world.
func (s *barred) start(b *testing.B, n int) *barred {
	b.Helper()
	dir := filepath.Join(folder(), fmt.Sprintf("bars-%s-%d", s.name, n))
	if os.Getenv("BENCH_DATABASE") == "" {
		dir = s.copied(b, dir, n)
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if os.Getenv("BENCH_PROFILE") != "" {
		b.Setenv("LOREGATE_ADMIN_ADDRESS", profilesAt)
	}
	s.key = keyOf(b, s.path, dir)
	s.served = running(b, s.path, dir)
	s.fill(b, n)
	body, err := json.Marshal(map[string]string{"api_key": s.key, "role": "admin", "world": worldName})
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.Post(s.url+"/api/mcp/auth", "application/json", strings.NewReader(string(body)))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var out struct{ Token string }
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Token == "" {
		b.Fatal(res.Status, err)
	}
	s.token = out.Token
	s.rest(b)
	return s
}

// copied gives a copy of a folder with the store of n cards, which calls of the program
// write where it is not there.
func (s *barred) copied(b *testing.B, dir string, n int) string {
	b.Helper()
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		made := dir + ".new"
		err := errors.Join(os.RemoveAll(made), os.MkdirAll(made, 0o700))
		if err != nil {
			b.Fatal(err)
		}
		s.key = keyOf(b, s.path, made)
		s.served = running(b, s.path, made)
		s.fill(b, n)
		s.rest(b)
		s.stop()
		if err := os.Rename(made, dir); err != nil {
			b.Fatal(err)
		}
	}
	to := filepath.Join(b.TempDir(), s.name)
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		b.Fatal(err)
	}
	return to
}

// fill writes n cards where they are not there.
func (s *barred) fill(b *testing.B, n int) {
	s.load(b, loadtest.Config{Cards: n, Clients: 1, Duration: time.Second, Mix: map[loadtest.Kind]int{loadtest.Read: 1}})
}

// rest waits until the server has checked its store, and has ended the work that follows a
// start and a load.
func (s *barred) rest(b *testing.B) {
	for quiet := 0; quiet < 3; {
		cpu := s.cpu(b)
		time.Sleep(500 * time.Millisecond)
		res, err := http.Get(s.url + "/readyz")
		if err != nil {
			b.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			b.Fatal(err)
		}
		checked := !bytes.Contains(said, []byte("checked")) // nor being checked, nor not checked yet
		if quiet++; !checked || s.cpu(b)-cpu > 20*time.Millisecond {
			quiet = 0
		}
	}
}

// load drives the server as loregate bench does.
func (s *barred) load(b *testing.B, c loadtest.Config) *loadtest.Report {
	b.Helper()
	c.URLs, c.Key, c.World, c.Role, c.Keep = []string{s.url}, s.key, worldName, "admin", true
	r, err := loadtest.Run(context.WithoutCancel(b.Context()), c)
	if err != nil || r.Failed > 0 {
		b.Fatal(err, r)
	}
	return r
}

func (s *barred) addr() string { return strings.TrimPrefix(s.url, "http://") }

func bareServer(b *testing.B) *barred {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "BENCH_BARE="+addr)
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			_ = conn.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return &barred{name: "bare", served: served{url: "http://" + addr, pid: c.Process.Pid}}
}

// bar is a call whose cost has a goal.
type bar struct {
	name    string
	clients int
	target  func(b *testing.B, s *barred) *target
	floor   bool // the bare server can answer it too
}

// bars are all of them for a world of n cards.
func bars(b *testing.B, n int) []bar {
	words := newProse(2)
	name := func(i int) string { return words.CardName(1, i) }
	random := func(int64) string { return name(rand.IntN(n)) }
	few := func(i int64) string { return name(int(i*7919%200) * (n / 200)) }
	part := func(i int64) string {
		word, _, _ := strings.Cut(name(int(i * 7919 % int64(n)))[strings.LastIndexByte(name(int(i*7919%int64(n))), '+')+1:], " ")
		return word
	}
	get := func(name func(int64) string) func(*testing.B, *barred) *target {
		return func(_ *testing.B, s *barred) *target {
			return s.get(func(i int64) string { return "/api/mcp/cards/" + url.PathEscape(name(i)) })
		}
	}
	tool := func(era, tool string, args func(i int64) string) func(*testing.B, *barred) *target {
		return func(b *testing.B, s *barred) *target {
			return mcpTarget(b, s.addr(), "/mcp", s.token, era, tool, args)
		}
	}
	named := func(name func(int64) string) func(int64) string {
		return func(i int64) string { return fmt.Sprintf(`{"name":%q}`, name(i)) }
	}
	var mu sync.Mutex
	search := func(mode string, count int, more string) func(*testing.B, *barred) *target {
		return func(_ *testing.B, s *barred) *target {
			return s.get(func(int64) string {
				mu.Lock()
				defer mu.Unlock()
				q := words.word()
				for range count - 1 {
					q += "%20" + words.word()
				}
				return "/api/mcp/cards?search_in=content&limit=20&match_mode=" + mode + more + "&q=" + q
			})
		}
	}
	fresh := fmt.Sprint(time.Now().UnixNano())
	created := func(i int64) string {
		mu.Lock()
		defer mu.Unlock()
		return fmt.Sprintf(`{"name":"Made %s %d","content":%q}`, fresh, i, words.text(1000))
	}
	list := []bar{
		{"get_card/REST", clients, get(random), true},
		{"get_card/REST/kept", clients, get(few), true},
		{"get_card/MCP-2025", clients, tool(older, "get_card", named(random)), false},
		{"get_card/MCP-2025/kept", clients, tool(older, "get_card", named(few)), false},
		{"get_card/MCP-2026", clients, tool(modern, "get_card", named(random)), false},
		{"get_card/MCP-2026/kept", clients, tool(modern, "get_card", named(few)), false},
		{"name/part", 1, func(_ *testing.B, s *barred) *target {
			return s.get(func(i int64) string { return "/api/mcp/cards?limit=20&q=" + part(i) })
		}, false},
	}
	for _, mode := range []string{"whole_word", "substring"} {
		for count := 1; count <= 2; count++ {
			list = append(list, bar{fmt.Sprintf("search/%s/%d", mode, count), 1, search(mode, count, ""), false})
			if os.Getenv("BENCH_SERVERS") == "" {
				list = append(list, bar{fmt.Sprintf("search/%s/%d/plain", mode, count), 1, search(mode, count, "&snippets=false"), false})
			}
		}
	}
	return append(list, []bar{ // last: the cards they make are searched too
		{"create/REST", clients, func(_ *testing.B, s *barred) *target {
			h := head("POST /api/mcp/cards", s.addr(), "Content-Type: application/json", "Authorization: Bearer "+s.token)
			return &target{addr: s.addr(), call: want(http.StatusCreated, func(i int64) (string, string) { return h, created(i + 1<<40) })}
		}, false},
		{"create/MCP-2025", clients, tool(older, "create_card", created), false},
	}...)
}

func (s *barred) get(path func(i int64) string) *target {
	return &target{addr: s.addr(), call: want(http.StatusOK, func(i int64) (string, string) {
		return head("GET "+path(i), s.addr(), "Authorization: Bearer "+s.token), ""
	})}
}

// measureBar measures a call at each server in turn, and reports their CPU in µs.
func measureBar(b *testing.B, servers []*barred, bar bar) {
	m := medians{}
	targets := map[*barred]*target{}
	for profiled := false; b.Loop(); {
		for _, s := range servers {
			if s.name == "bare" && !bar.floor {
				continue
			}
			t := targets[s]
			if t == nil {
				t = bar.target(b, s)
				targets[s] = t
				t.closed(b, bar.clients, round/2) // the kept answers are there then
			}
			cpu := s.cpu(b)
			if folder := os.Getenv("BENCH_PROFILE"); folder != "" && !profiled && s.name != "bare" {
				profiled = true
				go profile(b, filepath.Join(folder, strings.ReplaceAll(bar.name, "/", "-")+".pb"))
			}
			o := t.closed(b, bar.clients, round)
			m.add(s.name+"-cpu-us", float64((s.cpu(b)-cpu).Microseconds())/float64(o.calls+1))
			m.add(s.name+"-p99-ms", ms(o.at(99)))
		}
	}
	m.report(b)
}

const profilesAt = "127.0.0.1:6161"

// profile keeps a profile of the program for as long as a round takes.
func profile(b *testing.B, path string) {
	res, err := http.Get("http://" + profilesAt + "/debug/pprof/profile?seconds=" + strconv.Itoa(int(round.Seconds())))
	if err != nil {
		b.Error(err)
		return
	}
	defer res.Body.Close()
	f, err := os.Create(path)
	if err == nil {
		_, err = io.Copy(f, res.Body)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		b.Error(err)
	}
}

// cpu is how long the program has had a processor.
func (s served) cpu(b *testing.B) time.Duration {
	took, ok := loadtest.ProcessTime(s.pid)
	if !ok {
		b.Skip("processor time is read from /proc")
	}
	return took
}
