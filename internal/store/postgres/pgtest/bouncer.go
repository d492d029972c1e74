package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"loregate/internal/programtest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// Bouncer starts PgBouncer in transaction mode before the server of a database, for one test, and
// returns the database's address there. connectQuery is run in each session.
func Bouncer(t testing.TB, address, connectQuery string) string {
	t.Helper()
	program := programtest.Find(t, "PgBouncer", "pgbouncer", "/usr/sbin/pgbouncer")
	if connectQuery != "" {
		connectQuery = "connect_query='" + connectQuery + "'"
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := cluster{dir: dir}
	if c.runAs, err = serverOwner(dir); err != nil {
		t.Fatal(err)
	}
	// One connection for each of few transactions at a time, so that sessions do change hands.
	port := strconv.Itoa(freePort(t))
	text := fmt.Sprintf(`[databases]
%s = host=%s port=5432 user=postgres %s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 6
max_client_conn = 200
`, strings.TrimPrefix(u.Path, "/"), u.Query().Get("host"), connectQuery, port, dir)
	config := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil { // read by the servers' user
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the program has its own file handle
	c.cmd = exec.Command(program, config)
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, log, log
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.runAs, Pdeathsig: syscall.SIGINT}
	if c.exited, err = Run(c.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	u.RawQuery = url.Values{"host": {dir}, "port": {port}}.Encode()
	socket := filepath.Join(dir, ".s.PGSQL."+port)
	for ctx := waittest.Context(t); !listens(socket); {
		if !wait.For(ctx, 20*time.Millisecond) {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("PgBouncer does not listen: %s", said)
		}
	}
	return u.String()
}

// listens reports whether a program listens at a socket, which has a file some time before.
func listens(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
