package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/programtest"
)

// Main runs a test binary's tests and then the after functions, and stops the server if one was
// started. TestMain calls it.
func Main(m *testing.M, after ...func()) {
	code := m.Run()
	for _, f := range after {
		f()
	}
	shared.stop()
	os.Exit(code)
}

var shared cluster

// cluster is a server. It is started at its first use.
type cluster struct {
	once   sync.Once
	err    error
	dir    string
	bin    string              // folder of PostgreSQL's programs
	runAs  *syscall.Credential // user that runs them; nil for the user that runs the tests
	safe   bool                // write durably, which is slower
	cmd    *exec.Cmd
	exited chan struct{}
	made   atomic.Int64

	mu       sync.Mutex // guards template
	template string     // "" until it is created
}

// errAbsent means that PostgreSQL is not installed.
var errAbsent = errors.New("PostgreSQL is not installed (looked in PG_BIN, on the path and in /usr/lib/postgresql)")

// Empty returns the address of a new, empty database.
func Empty(t testing.TB) string {
	t.Helper()
	return shared.lendDatabase(t, "template0")
}

// Database returns the address of a new database that is a copy of a template. prepare sets up the
// template once for all tests.
func Database(t testing.TB, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	shared.ensureStarted(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.template == "" {
		if err := shared.createDatabase("prepared", "template0"); err != nil {
			t.Fatal(err)
		}
		if err := prepare(t.Context(), shared.url("prepared")); err != nil {
			t.Fatal(err)
		}
		shared.template = "prepared"
	}
	return shared.lendDatabase(t, shared.template)
}

func (c *cluster) ensureStarted(t testing.TB) {
	t.Helper()
	c.once.Do(func() { c.err = c.startNew() })
	if errors.Is(c.err, errAbsent) {
		programtest.Absent(t, c.err.Error())
	}
	if c.err != nil {
		t.Fatal(c.err)
	}
}

func (c *cluster) lendDatabase(t testing.TB, template string) string {
	t.Helper()
	c.ensureStarted(t)
	name := fmt.Sprintf("test_%d", c.made.Add(1))
	if err := c.createDatabase(name, template); err != nil {
		t.Fatal(err)
	}
	return c.url(name)
}

func (c *cluster) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database,
		RawQuery: url.Values{"host": {c.dir}}.Encode()}
	return u.String()
}

func (c *cluster) createDatabase(name, template string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s", name, template))
	return err
}

// findBinaries returns the folder of the newest installed server.
func findBinaries() (string, error) {
	if dir := os.Getenv("PG_BIN"); dir != "" {
		return dir, nil
	}
	path, ok := programtest.Look("initdb", "/usr/lib/postgresql/*/bin/initdb", "initdb")
	if !ok {
		return "", errAbsent
	}
	return filepath.Dir(path), nil
}

func (c *cluster) startNew() (err error) {
	if c.bin, err = findBinaries(); err != nil {
		return err
	}
	if c.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	if c.runAs, err = serverOwner(c.dir); err != nil {
		return err
	}
	initdb := exec.Command(filepath.Join(c.bin, "initdb"), "-D", c.dataDir(), "-U", "postgres", "-A", "trust", "-E",
		"UTF8", "--locale=C.UTF-8", "--no-sync", "-N")
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: c.runAs}
	initdb.Dir = c.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return c.launchServer()
}

func (c *cluster) dataDir() string { return filepath.Join(c.dir, "data") }

// launchServer starts the server on its data and waits until it accepts connections.
func (c *cluster) launchServer() error {
	c.cmd = exec.Command(filepath.Join(c.bin, "postgres"),
		append([]string{"-D", c.dataDir(), "-k", c.dir}, serverSettings(c.safe)...)...)
	c.cmd.Dir = c.dir
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.runAs, Pdeathsig: syscall.SIGINT}
	log, err := os.Create(filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close() // the server has its own file handle
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if c.exited, err = Run(c.cmd); err != nil {
		return err
	}
	return c.awaitReady()
}

// serverSettings returns settings that make the server fast rather than durable. If safe is true or
// PGTEST_FSYNC is set, for measurements, it writes as a production server does.
func serverSettings(safe bool) []string {
	list := []string{"listen_addresses=", "max_connections=200", "shared_buffers=128MB", "jit=off"}
	if safe || os.Getenv("PGTEST_FSYNC") != "" {
		list = append(list, "autovacuum_naptime=5s")
	} else { // hundreds of databases, each for seconds, are looked after once a minute
		list = append(list, "fsync=off", "full_page_writes=off", "max_wal_size=1GB", "autovacuum_max_workers=1")
	}
	var args []string
	for _, s := range list {
		args = append(args, "-c", s)
	}
	return args
}

// serverOwner returns the user to run the server as and gives that user the folder: PostgreSQL
// refuses to run as root.
func serverOwner(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gerr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uerr, gerr, os.Chown(dir, int(uid), int(gid))); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("there is no user to run PostgreSQL as, which refuses root")
}

// Run starts a program, whose log tells why it ended, from a thread that lives as long as the program: the
// kernel signals the program when the thread dies, not when the process does. The thread stays alive
// afterwards, since other programs may have been started from it that would be signalled too. exited is
// closed when the program has ended.
func Run(cmd *exec.Cmd) (exited chan struct{}, err error) {
	exited = make(chan struct{})
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log tells why it ended
		}
	}()
	return exited, <-started
}

// awaitReady waits until the server accepts connections.
func (c *cluster) awaitReady() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.url("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-tick.C:
		case <-c.exited:
			log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
			return fmt.Errorf("the server ended: %w\n%s", err, log)
		case <-ctx.Done():
			return err
		}
	}
}

// stop ends the server at once and deletes its folder.
func (c *cluster) stop() {
	if c.cmd != nil && c.cmd.Process != nil {
		_ = c.cmd.Process.Signal(syscall.SIGQUIT)
		<-c.exited
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
}
