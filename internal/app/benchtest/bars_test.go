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

	"loregate/internal/app/apptest"
	"loregate/internal/loadtest"
	"loregate/internal/wait"
)

// TestMain lets the test binary act as the smallest server of net/http: with BENCH_BARE set, it
// listens on that address and answers every request with 2,400 bytes.
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

// BenchmarkBars measures server programs, each in its own process, in turns within one run, and
// reports the server's processor time per call. BENCH_SERVERS names the programs, as
// old=/path/to/one,new=/path/to/other; without it, the program is built from this tree. Each has
// its own store, which its own calls fill. BENCH_PROFILE names a folder for profiles of the last
// program, one for each call.
func BenchmarkBars(b *testing.B) {
	requireBench(b)
	for _, n := range sizes(b) {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			servers := []*barServer{bareServer(b)}
			for _, s := range barServers(b) {
				servers = append(servers, s.start(b, n))
			}
			for _, bar := range bars(b, n) {
				b.Run(bar.name, func(b *testing.B) { measureBar(b, servers, bar) })
			}
		})
	}
}

// barServer is a server that is measured.
type barServer struct {
	name, path string
	served
	key, token string
}

func barServers(b *testing.B) (list []*barServer) {
	named := os.Getenv("BENCH_SERVERS")
	if named == "" {
		return []*barServer{{name: "new", path: program(b)}}
	}
	for pair := range strings.SplitSeq(named, ",") {
		name, path, ok := strings.Cut(pair, "=")
		if !ok {
			b.Fatalf("BENCH_SERVERS: %q is not name=program", pair)
		}
		list = append(list, &barServer{name: name, path: path})
	}
	return list
}

// start serves a world of n cards. It serves a copy of the stored world, so that cards created by
// one run are not in the world of the next.
func (s *barServer) start(b *testing.B, n int) *barServer {
	b.Helper()
	dir := filepath.Join(folder(), fmt.Sprintf("bars-%s-%d", s.name, n))
	if os.Getenv("BENCH_DATABASE") == "" {
		dir = s.copyFolder(b, dir, n)
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if os.Getenv("BENCH_PROFILE") != "" {
		b.Setenv("LOREGATE_ADMIN_ADDRESS", profilesAt)
	}
	s.key = keyOf(b, s.path, dir)
	s.served = startServer(b, s.path, dir)
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
	s.awaitIdle(b)
	return s
}

// copyFolder returns a copy of the folder with the store of n cards. If the folder does not exist,
// it first fills one by calls of the program.
func (s *barServer) copyFolder(b *testing.B, dir string, n int) string {
	b.Helper()
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		made := dir + ".new"
		err := errors.Join(os.RemoveAll(made), os.MkdirAll(made, 0o700))
		if err != nil {
			b.Fatal(err)
		}
		s.key = keyOf(b, s.path, made)
		s.served = startServer(b, s.path, made)
		s.fill(b, n)
		s.awaitIdle(b)
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

// fill writes n cards unless they exist.
func (s *barServer) fill(b *testing.B, n int) {
	s.load(b, loadtest.Config{Cards: n, Clients: 1, Duration: time.Second, Mix: map[loadtest.Kind]int{loadtest.Read: 1}})
}

// awaitIdle waits until the server has checked its store and finished the work that follows a start
// and a load.
func (s *barServer) awaitIdle(b *testing.B) {
	for quiet := 0; quiet < 3; {
		cpu := s.cpu(b)
		wait.For(b.Context(), 500*time.Millisecond)
		res, err := http.Get(s.url + "/readyz")
		if err != nil {
			b.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			b.Fatal(err)
		}
		checked := !bytes.Contains(said, []byte("checked")) // "being checked" and "not checked yet" contain it too
		if quiet++; !checked || s.cpu(b)-cpu > 20*time.Millisecond {
			quiet = 0
		}
	}
}

// load drives the server as loregate bench does.
func (s *barServer) load(b *testing.B, c loadtest.Config) *loadtest.Report {
	b.Helper()
	c.URLs, c.Key, c.World, c.Role, c.Keep = []string{s.url}, s.key, worldName, "admin", true
	r, err := loadtest.Run(context.WithoutCancel(b.Context()), c)
	if err != nil || r.Failed > 0 {
		b.Fatal(err, r)
	}
	return r
}

func (s *barServer) addr() string { return strings.TrimPrefix(s.url, "http://") }

func bareServer(b *testing.B) *barServer {
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
	apptest.Eventually(b, "the bare server listens", 10*time.Second, func() bool {
		conn, err := net.Dial("tcp", addr)
		return err == nil && conn.Close() == nil
	})
	return &barServer{name: "bare", served: served{url: "http://" + addr, pid: c.Process.Pid}}
}

// bar is a call whose cost has a target value.
type bar struct {
	name    string
	clients int
	target  func(b *testing.B, s *barServer) *target
	floor   bool // the bare server can answer it too
}

// bars returns all calls that are measured in a world of n cards.
func bars(b *testing.B, n int) []bar {
	words := newProse(2)
	name := func(i int) string { return words.CardName(1, i) }
	random := func(int64) string { return name(rand.IntN(n)) }
	few := func(i int64) string { return name(int(i*7919%200) * (n / 200)) }
	part := func(i int64) string {
		word, _, _ := strings.Cut(name(int(i * 7919 % int64(n)))[strings.LastIndexByte(name(int(i*7919%int64(n))),
			'+')+1:], " ")
		return word
	}
	get := func(name func(int64) string) func(*testing.B, *barServer) *target {
		return func(_ *testing.B, s *barServer) *target {
			return s.get(func(i int64) string { return "/api/mcp/cards/" + url.PathEscape(name(i)) })
		}
	}
	tool := func(era, tool string, args func(i int64) string) func(*testing.B, *barServer) *target {
		return func(b *testing.B, s *barServer) *target {
			return mcpTarget(b, s.addr(), "/mcp", s.token, era, tool, args)
		}
	}
	named := func(name func(int64) string) func(int64) string {
		return func(i int64) string { return fmt.Sprintf(`{"name":%q}`, name(i)) }
	}
	var mu sync.Mutex
	search := func(mode string, count int, more string) func(*testing.B, *barServer) *target {
		return func(_ *testing.B, s *barServer) *target {
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
		{"get_card/MCP-2025", clients, tool(protocol2025, "get_card", named(random)), false},
		{"get_card/MCP-2025/kept", clients, tool(protocol2025, "get_card", named(few)), false},
		{"get_card/MCP-2026", clients, tool(protocol2026, "get_card", named(random)), false},
		{"get_card/MCP-2026/kept", clients, tool(protocol2026, "get_card", named(few)), false},
		{"name/part", 1, func(_ *testing.B, s *barServer) *target {
			return s.get(func(i int64) string { return "/api/mcp/cards?limit=20&q=" + part(i) })
		}, false},
	}
	for _, mode := range []string{"whole_word", "substring"} {
		for count := 1; count <= 2; count++ {
			list = append(list, bar{fmt.Sprintf("search/%s/%d", mode, count), 1, search(mode, count, ""), false})
			if os.Getenv("BENCH_SERVERS") == "" {
				list = append(list, bar{fmt.Sprintf("search/%s/%d/plain", mode, count), 1,
					search(mode, count, "&snippets=false"), false})
			}
		}
	}
	return append(list, []bar{ // last, since searches would find the created cards
		{"create/REST", clients, func(_ *testing.B, s *barServer) *target {
			h := head("POST /api/mcp/cards", s.addr(), "Content-Type: application/json", "Authorization: Bearer "+s.token)
			return &target{addr: s.addr(), call: want(http.StatusCreated,
				func(i int64) (string, string) { return h, created(i + 1<<40) })}
		}, false},
		{"create/MCP-2025", clients, tool(protocol2025, "create_card", created), false},
	}...)
}

func (s *barServer) get(path func(i int64) string) *target {
	return &target{addr: s.addr(), call: want(http.StatusOK, func(i int64) (string, string) {
		return head("GET "+path(i), s.addr(), "Authorization: Bearer "+s.token), ""
	})}
}

// measureBar measures a call at each server in turn, and reports their processor time in µs.
func measureBar(b *testing.B, servers []*barServer, bar bar) {
	m := medians{}
	targets := map[*barServer]*target{}
	for profiled := false; b.Loop(); {
		for _, s := range servers {
			if s.name == "bare" && !bar.floor {
				continue
			}
			t := targets[s]
			if t == nil {
				t = bar.target(b, s)
				targets[s] = t
				t.closedLoop(b, bar.clients, round/2) // fills the cache of answers
			}
			cpu := s.cpu(b)
			if folder := os.Getenv("BENCH_PROFILE"); folder != "" && !profiled && s.name != "bare" {
				profiled = true
				go profile(b, filepath.Join(folder, strings.ReplaceAll(bar.name, "/", "-")+".pb"))
			}
			o := t.closedLoop(b, bar.clients, round)
			m.add(s.name+"-cpu-us", float64((s.cpu(b)-cpu).Microseconds())/float64(o.calls+1))
			m.add(s.name+"-p99-ms", ms(o.at(99)))
		}
	}
	m.report(b)
}

const profilesAt = "127.0.0.1:6161"

// profile stores a profile of the program that covers one round.
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

// cpu returns the processor time that the program has used.
func (s served) cpu(b *testing.B) time.Duration {
	took, ok := loadtest.ProcessTime(s.pid)
	if !ok {
		b.Skip("processor time is read from /proc")
	}
	return took
}
