// Package rollingtest proves the promises to an operator: a process can be stopped and started
// again without losing a call, a backup can be restored completely, the example configuration
// in deploy works, and doctor finds problems.
package rollingtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/waittest"
)

// patience bounds the time that a test waits for something that should come soon.
const patience = waittest.Patience

var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	defer func() { _ = os.RemoveAll(built.dir) }()
	pgtest.Main(m)
}

// binary builds the program, once, and returns its path.
func binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "loregate-rolling"); built.err != nil {
			return
		}
		out, err := exec.Command("go", "build", "-o", built.dir, "loregate/cmd/loregate").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "loregate")
}

// instance is a store, and the environment of its processes.
type instance struct {
	t       testing.TB
	data    string
	environ []string
}

// newInstance returns an instance on a database, or in a folder if database is "".
func newInstance(t testing.TB, database string, environ ...string) *instance {
	t.Helper()
	i := &instance{t: t, data: t.TempDir()}
	i.environ = append(os.Environ(), "LOREGATE_DATA="+i.data, "LOREGATE_DATABASE="+database, "LOREGATE_LOG_LEVEL=warn")
	i.environ = append(i.environ, apptest.Unlimited()...)
	i.environ = append(i.environ, environ...)
	return i
}

// try runs the program to its end and returns its standard output.
func (i *instance) try(args ...string) (string, error) {
	i.t.Helper()
	cmd := exec.CommandContext(i.t.Context(), binary(i.t), args...)
	cmd.Env = i.environ
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("loregate %s: %w\n%s%s", strings.Join(args, " "), err, out.String(), said.String())
	}
	return out.String(), err
}

func (i *instance) run(args ...string) string {
	i.t.Helper()
	out, err := i.try(args...)
	if err != nil {
		i.t.Fatal(err)
	}
	return out
}

var secrets = regexp.MustCompile(`lg_[a-z2-7]{32}`)

// key creates a game master's key for the first world, which a server must have made.
func (i *instance) key() string {
	i.t.Helper()
	return secrets.FindString(i.run("key", "create", "smith", "--role", "gm", "--world", "main"))
}

// process is a running serve.
type process struct {
	*instance
	addr string
	cmd  *exec.Cmd
	dead chan struct{}
	mu   sync.Mutex
	said []string // guarded by mu
}

// freeAddr returns an address on which nobody listens.
func freeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serve starts a server and waits until it listens.
func (i *instance) serve(addr string) *process {
	i.t.Helper()
	p := &process{instance: i, addr: addr, dead: make(chan struct{})}
	p.cmd = exec.CommandContext(i.t.Context(), binary(i.t), "serve", "--addr", addr)
	p.cmd.Env, p.cmd.WaitDelay = i.environ, 5*time.Second
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		i.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		i.t.Fatal(err)
	}
	listens := make(chan struct{})
	go func() {
		defer close(p.dead)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			p.mu.Lock()
			p.said = append(p.said, lines.Text())
			p.mu.Unlock()
			if strings.HasPrefix(lines.Text(), "Loregate serves ") {
				close(listens)
			}
		}
		_ = p.cmd.Wait() // ProcessState has the result
	}()
	i.t.Cleanup(p.kill)
	select {
	case <-listens:
	case <-p.dead:
		i.t.Fatalf("the server ended: %s", p.log())
	case <-waittest.Context(i.t).Done():
		i.t.Fatalf("the server does not listen: %s", p.log())
	}
	return p
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.said, "\n")
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.dead
}

func (p *process) signal() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
}

// wait waits for the process to end, and returns its final state.
func (p *process) wait() *os.ProcessState {
	p.t.Helper()
	select {
	case <-p.dead:
	case <-waittest.Context(p.t).Done():
		p.t.Fatalf("the process does not end: %s", p.log())
	}
	return p.cmd.ProcessState
}

// stop asks the process to stop, and checks that it ends successfully.
func (p *process) stop() {
	p.t.Helper()
	p.signal()
	if s := p.wait(); !s.Success() {
		p.t.Errorf("the process ended with %s: %s", s, p.log())
	}
}

// ready reports whether a server takes calls.
func ready(ctx context.Context, addr string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+addr+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := probes.Do(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

var probes = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// call makes a REST call and returns its status and body.
func call(ctx context.Context, client *http.Client, key, method, url, body string,
	headers ...string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// refused reports whether nobody listened: the call was then not made at all.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
