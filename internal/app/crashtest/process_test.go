package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loregate/internal/store/postgres/pgtest"
)

// patience is how long a test waits for what should come soon.
const patience = 30 * time.Second

// scratch is the folder of this run: of the program, and of the files of those who keep
// their worlds in a database.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "loregate-crash"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The database writes as one in use does: doctor would rightly find fault with another.
	if err := os.Setenv("PGTEST_FSYNC", "1"); err != nil {
		panic(err)
	}
	pgtest.Main(m, func() { _ = os.RemoveAll(scratch) })
}

// onEachStore runs a test on an empty folder and on an empty database, each named as the
// command line names it.
func onEachStore(t *testing.T, f func(t *testing.T, at string)) {
	t.Run("embedded", func(t *testing.T) { f(t, t.TempDir()) })
	t.Run("postgres", func(t *testing.T) { f(t, pgtest.Empty(t)) })
}

// isDatabase tells the address of a database from a folder.
func isDatabase(at string) bool { return strings.HasPrefix(at, "postgres://") }

// placed is where the program's store is, as its settings data and database say it.
func placed(at string) (data, database string) {
	if isDatabase(at) {
		return filepath.Join(scratch, "files"), at
	}
	return at, ""
}

var built struct {
	once sync.Once
	err  error
}

// binary builds the program as it is shipped, once.
func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", scratch, "loregate/cmd/loregate").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(scratch, "loregate")
}

// command is the program with arguments, on a store, with no limits for callers. It is
// bounded in CPU time, and killed when the test ends.
func command(t testing.TB, at string, args ...string) *exec.Cmd {
	t.Helper()
	line := append([]string{"-c", `ulimit -t 300; exec "$0" "$@"`, binary(t)}, args...)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", line...)
	cmd.WaitDelay = 5 * time.Second
	dieWithParent(cmd)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=512MiB", "LOREGATE_ADDR=127.0.0.1:0", "LOREGATE_LOG_LEVEL=warn")
	data, database := placed(at)
	cmd.Env = append(cmd.Env, "LOREGATE_DATA="+data, "LOREGATE_DATABASE="+database)
	for _, limit := range []string{"CALLS", "CALLS_BURST", "RESOURCES", "LISTS", "LIST_PAGES", "TOOL_LISTS", "WRITES", "AUTH"} {
		cmd.Env = append(cmd.Env, "LOREGATE_LIMITS_"+limit+"=-1")
	}
	return cmd
}

// run runs the program to its end and gives what it wrote to standard output.
func run(t testing.TB, at string, args ...string) (string, error) {
	t.Helper()
	cmd := command(t, at, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("loregate %s: %w\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out), err
}

func mustRun(t testing.TB, at string, args ...string) string {
	t.Helper()
	out, err := run(t, at, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// server is a running serve, and the way to call it over REST.
type server struct {
	cmd    *exec.Cmd
	url    string
	key    string
	client *http.Client
	said   *tail
	dead   chan struct{}
}

// serve starts the server and waits until it listens.
func serve(t testing.TB, at, key string) *server {
	t.Helper()
	s := &server{cmd: command(t, at, "serve"), key: key, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, dead: make(chan struct{})}
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.said = &tail{}
	listens := make(chan string, 1)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.dead)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.said.add(lines.Text())
			if rest, ok := strings.CutPrefix(lines.Text(), "Loregate serves "); ok {
				listens <- strings.Fields(rest)[0]
			}
		}
		_ = s.cmd.Wait()
	}()
	t.Cleanup(s.kill)
	select {
	case s.url = <-listens:
	case <-s.dead:
		t.Fatalf("the server ended: %s", s.said)
	case <-time.After(patience):
		t.Fatalf("the server does not listen: %s", s.stacks())
	}
	return s
}

// stacks ends a process that hangs, and gives what it said last: what each of its
// goroutines waits for.
func (s *server) stacks() string {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-s.dead:
	case <-time.After(patience):
	}
	return s.said.String()
}

// kill ends the process as a crash does, and waits until it is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.dead
	s.client.CloseIdleConnections()
}

// mostLines is room for the stacks of a process.
const mostLines = 1000

// tail keeps the last lines that a process wrote.
type tail struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > mostLines {
		t.lines = t.lines[1:]
	}
}

// Write keeps the last things written, lines or not.
func (t *tail) Write(b []byte) (int, error) {
	t.add(string(b))
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// routes are the ways to the operations that clerks call.
var routes = map[string]string{
	"create_card":  "POST /api/mcp/cards",
	"update_card":  "PATCH /api/mcp/cards/{name}",
	"rename_card":  "PUT /api/mcp/cards/{name}/rename",
	"delete_card":  "DELETE /api/mcp/cards/{name}",
	"restore_card": "POST /api/mcp/cards/{name}/restore",
	"batch_cards":  "POST /api/mcp/cards/batch",
	"get_card":     "GET /api/mcp/cards/{name}",
	"spoiler_scan": "POST /api/mcp/jobs/spoiler-scan",
}

// call calls an operation over REST. What has no body sends its fields in the query. The
// correlation is the key, so that the access records tell the calls apart.
func (s *server) call(ctx context.Context, operation, key string, in map[string]any) (answer, error) {
	method, path, _ := strings.Cut(routes[operation], " ")
	rest := map[string]any{}
	for k, v := range in {
		if at := "{" + k + "}"; strings.Contains(path, at) {
			path = strings.ReplaceAll(path, at, url.PathEscape(fmt.Sprint(v)))
			continue
		}
		rest[k] = v
	}
	var body io.Reader
	if method == http.MethodGet || method == http.MethodDelete {
		query := make([]string, 0, len(rest))
		for k, v := range rest {
			query = append(query, k+"="+url.PathEscape(fmt.Sprint(v)))
		}
		path += "?" + strings.Join(query, "&")
	} else {
		b, err := json.Marshal(rest)
		if err != nil {
			return answer{}, err
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
		r.Header.Set("X-Correlation-Id", key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	// Addresses of cards are those of the process that answers.
	return answer{res.StatusCode, strings.ReplaceAll(string(b), s.url, ""), res.Header.Get("Idempotency-Replayed") == "true"}, err
}

// eventually asks until it is so, or fails the test at the deadline.
func eventually(t testing.TB, what string, within time.Duration, ask func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ask() {
		if time.Since(begin) > within {
			t.Fatalf("not within %s: %s", within, what)
		}
		<-tick.C
	}
	return time.Since(begin)
}
