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

	"loregate/internal/app/apptest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// maxWait bounds the time that a test waits for something that should come soon.
const maxWait = 30 * time.Second

// scratchDir is the folder of this run. It has the program's binary, and the files of processes
// whose worlds are in a database.
var scratchDir string

func TestMain(m *testing.M) {
	var err error
	if scratchDir, err = os.MkdirTemp("", "loregate-crash"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The database syncs its writes, as one in production does: doctor complains about a
	// database that does not.
	if err := os.Setenv("PGTEST_FSYNC", "1"); err != nil {
		panic(err)
	}
	pgtest.Main(m, func() { _ = os.RemoveAll(scratchDir) })
}

// onEachStore runs a test on an empty folder and on an empty database, each named as on the
// command line.
func onEachStore(t *testing.T, f func(t *testing.T, at string)) {
	t.Run("embedded", func(t *testing.T) { f(t, t.TempDir()) })
	t.Run("postgres", func(t *testing.T) { f(t, pgtest.Empty(t)) })
}

// isDatabase reports whether at is the URL of a database; otherwise it is a folder.
func isDatabase(at string) bool { return strings.HasPrefix(at, "postgres://") }

// settingsFor returns the settings data and database for a store.
func settingsFor(at string) (data, database string) {
	if isDatabase(at) {
		return filepath.Join(scratchDir, "files"), at
	}
	return at, ""
}

var built struct {
	once sync.Once
	err  error
}

// binary builds the program as it is shipped, once, and returns its path.
func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", scratchDir,
			"loregate/cmd/loregate").CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(scratchDir, "loregate")
}

// command returns the program with arguments, on a store, without limits for callers. Its CPU
// time is bounded, and it is killed when the test ends.
func command(t testing.TB, at string, args ...string) *exec.Cmd {
	t.Helper()
	line := append([]string{"-c", `ulimit -t 300; exec "$0" "$@"`, binary(t)}, args...)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", line...)
	cmd.WaitDelay = 5 * time.Second
	dieWithParent(cmd)
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=512MiB", "LOREGATE_ADDR=127.0.0.1:0", "LOREGATE_LOG_LEVEL=warn")
	data, database := settingsFor(at)
	cmd.Env = append(cmd.Env, "LOREGATE_DATA="+data, "LOREGATE_DATABASE="+database)
	cmd.Env = append(cmd.Env, apptest.Unlimited()...)
	return cmd
}

// run runs the program to its end and returns its standard output.
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

// server is a running serve, and a client that calls it over REST.
type server struct {
	cmd    *exec.Cmd
	url    string
	key    string
	client *http.Client
	said   *apptest.Tail
	dead   chan struct{}
}

// startServer starts the server, with more in its environment, and waits until it listens.
func startServer(t testing.TB, at, key string, env ...string) *server {
	t.Helper()
	s := &server{cmd: command(t, at, "serve"), key: key,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, dead: make(chan struct{})}
	s.cmd.Env = append(s.cmd.Env, env...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.said = &apptest.Tail{}
	listens := make(chan string, 1)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.dead)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.said.Add(lines.Text())
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
	case <-waittest.Context(t).Done():
		t.Fatalf("the server does not listen: %s", s.killForStacks())
	}
	return s
}

// killForStacks ends a process that hangs, and returns its last output, which has the stacks of
// its goroutines.
func (s *server) killForStacks() string {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	wait.Or(context.Background(), maxWait, s.dead)
	return s.said.String()
}

// kill kills the process as a crash does, and waits until it is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.dead
	s.client.CloseIdleConnections()
}

// routes maps the operations that clerks call to their REST routes.
var routes = map[string]string{
	"create_card":  "POST /api/mcp/cards",
	"update_card":  "PATCH /api/mcp/cards/{name}",
	"rename_card":  "PUT /api/mcp/cards/{name}/rename",
	"delete_card":  "DELETE /api/mcp/cards/{name}",
	"restore_card": "POST /api/mcp/cards/{name}/restore",
	"batch_cards":  "POST /api/mcp/cards/batch",
	"get_card":     "GET /api/mcp/cards/{name}",
	"spoiler_scan": "POST /api/mcp/jobs/spoiler-scan",

	"create_player": "POST /api/players",
	"send_command":  "POST /api/players/{id}/commands",
}

// call calls an operation over REST. GET and DELETE send their fields in the query. The
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
	// Addresses of cards contain the address of the process that answers.
	return answer{res.StatusCode, strings.ReplaceAll(string(b), s.url, ""),
		res.Header.Get("Idempotency-Replayed") == "true"}, err
}
