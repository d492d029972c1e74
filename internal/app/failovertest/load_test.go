package failovertest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/app/patronitest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// service is three processes on one database, and clients that write to them.
type service struct {
	t        *testing.T
	program  string
	env      []string
	key      string
	urls     []string
	client   http.Client
	writes   int64
	enough   atomic.Bool // all events have happened
	next     atomic.Int64
	repeated atomic.Int64

	mu       sync.Mutex // guards all below
	acked    []time.Time
	refusals []time.Duration // from the first refusal of a call to its acknowledgement
}

// newService builds the program. env has further settings.
func newService(t *testing.T, c *patronitest.Cluster, env ...string) *service {
	t.Helper()
	s := &service{t: t, program: filepath.Join(c.Dir, "loregate")}
	if out, err := exec.Command("go", "build", "-o", s.program, "loregate/cmd/loregate").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.env = append(os.Environ(), "LOREGATE_DATABASE="+c.Address(), "LOREGATE_DATA="+filepath.Join(c.Dir, "files"),
		"LOREGATE_LOG_LEVEL=warn", "LOREGATE_POOL_CONNECTIONS=8")
	s.env = append(s.env, apptest.Unlimited()...)
	s.env = append(s.env, env...)
	return s
}

// openWorld creates a world and a key, and starts three processes.
func (s *service) openWorld(slug string) {
	s.t.Helper()
	s.run("world", "create", slug) // prepares the databases, and waits for them
	s.key, _, _ = strings.Cut(s.run("key", "create", "writers", "--role", "admin"), "\t")
	for range 3 {
		s.urls = append(s.urls, s.startProcess())
	}
}

// run runs a command to its end and returns its output.
func (s *service) run(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.program, args...)
	cmd.Env = s.env
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("loregate %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return string(out)
}

// startProcess starts a process that must not end before the test, and returns its address.
func (s *service) startProcess() string {
	s.t.Helper()
	addr := patronitest.FreeAddress(s.t)
	cmd := exec.Command(s.program, "serve", "--addr", addr)
	cmd.Env, cmd.SysProcAttr = s.env, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var ending atomic.Bool
	var said []string
	listens, dead := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(dead)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "Loregate serves ") {
				close(listens)
			}
			said = append(said, lines.Text())
		}
		if err := cmd.Wait(); !ending.Load() {
			s.t.Errorf("a process ended: %v", err)
		}
	}()
	s.t.Cleanup(func() {
		ending.Store(true)
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		<-dead
		if s.t.Failed() {
			s.t.Logf("a process said:\n%s", strings.Join(said[max(len(said)-400, 0):], "\n"))
		}
	})
	select {
	case <-listens:
		return "http://" + addr
	case <-dead:
	case <-waittest.Context(s.t).Done():
	}
	s.t.Fatal("a process does not listen")
	return ""
}

// writeUntilDone writes until all writes are done and all events have happened.
func (s *service) writeUntilDone(who int) {
	r := rand.New(rand.NewPCG(seed(), uint64(who)))
	for !s.t.Failed() {
		n := s.next.Add(1)
		if n > s.writes && s.enough.Load() {
			return
		}
		s.createCard(r, n)
		if n > s.writes { // waits for the events
			wait.For(s.t.Context(), 50*time.Millisecond)
		}
	}
}

// createCard repeats a call at random processes until it is acknowledged.
func (s *service) createCard(r *rand.Rand, n int64) {
	body := fmt.Sprintf(`{"name":"Entry %d","content":"<p>Written as %d.</p>"}`, n, n)
	var refused time.Time
	for end := time.Now().Add(4 * patronitest.Patience); time.Now().Before(end) && !s.t.Failed(); {
		status, err := s.post(s.urls[r.IntN(len(s.urls))], fmt.Sprint("create-", n), body)
		if err == nil && status < 300 {
			s.noteAck(refused)
			if r.IntN(8) == 0 {
				s.repeat(r, n, body)
			}
			return
		}
		if err == nil && status != http.StatusServiceUnavailable {
			s.t.Errorf("create-%d answers %d", n, status)
			return
		}
		if refused.IsZero() {
			refused = time.Now()
		}
		wait.For(s.t.Context(), time.Duration(50+r.IntN(100))*time.Millisecond)
	}
	s.t.Errorf("create-%d is never acknowledged", n)
}

// repeat repeats a call that was acknowledged: it takes no effect.
func (s *service) repeat(r *rand.Rand, n int64, body string) {
	if status, err := s.post(s.urls[r.IntN(len(s.urls))], fmt.Sprint("create-", n), body); err == nil && status < 300 {
		s.repeated.Add(1)
	}
}

func (s *service) noteAck(refused time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked = append(s.acked, time.Now())
	if !refused.IsZero() {
		s.refusals = append(s.refusals, time.Since(refused))
	}
}

func (s *service) post(url, key, body string) (status int, err error) {
	return s.postAs(s.key, url+"/api/mcp/cards", key, body)
}

// postAs makes a call with a key or token, and an idempotency key.
func (s *service) postAs(token, url, key, body string) (status int, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), patronitest.Patience)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Idempotency-Key", key)
	res, err := s.client.Do(q)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return 0, err
	}
	if res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "" {
		s.t.Error("a call is answered 503 without Retry-After")
	}
	return res.StatusCode, nil
}

// pauseAfter returns the longest time without an acknowledged write in the time after an event.
func (s *service) pauseAfter(event, end time.Time) (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := event
	for _, at := range s.acked {
		if at.After(event) && at.Before(end) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	return max(longest, end.Sub(last))
}

// ackedCount returns the number of acknowledged writes.
func (s *service) ackedCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acked)
}

// wantWhole checks all chains and tables.
func (s *service) wantWhole() {
	s.t.Helper()
	if out := s.run("audit", "verify"); !strings.Contains(out, "chain intact") {
		s.t.Errorf("audit verify says: %s", out)
	}
	if out := s.run("rebuild"); !strings.Contains(out, "identical") {
		s.t.Errorf("rebuild says: %s", out)
	}
}

// wantOnce compares the surviving line with the acknowledged writes.
func (s *service) wantOnce(c *patronitest.Cluster) {
	s.t.Helper()
	s.wantWhole()
	var cards, names, commits int
	p := c.Primary()
	if p == nil {
		s.t.Fatal("there is no primary")
	}
	if err := c.Query(p, `SELECT (SELECT count(*) FROM cards WHERE trashed = 0 AND name LIKE 'Entry %'),
		(SELECT count(DISTINCT name) FROM cards WHERE trashed = 0 AND name LIKE 'Entry %'),
		(SELECT count(*) FROM commits WHERE op = 'create_card')`, &cards, &names, &commits); err != nil {
		s.t.Fatal(err)
	}
	if want := s.ackedCount(); cards != want || names != want || commits != want {
		s.t.Errorf("%d writes were acknowledged; there are %d cards, %d names and %d commits", want, cards, names, commits)
	}
}

func median(list []time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2].Round(10 * time.Millisecond)
}

func seed() uint64 { return uint64(countFromEnv("SEED", 1)) }

func countFromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
