package pgtest

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Standby starts a standby of the server, to which the server replicates synchronously.
func (s *Server) Standby() *Server {
	s.t.Helper()
	b := s.Clone(func(data string) {
		s.Run("pg_basebackup", "-h", s.c.dir, "-U", "postgres", "-D", data, "-R", "-c", "fast", "--no-sync")
	})
	s.Exec("ALTER SYSTEM SET synchronous_standby_names = '*'")
	s.Exec("SELECT pg_reload_conf()")
	return b
}

// Clone starts a server on a folder of data that fill creates.
func (s *Server) Clone(fill func(data string)) *Server {
	s.t.Helper()
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		s.t.Fatal(err)
	}
	b := &Server{t: s.t, c: cluster{safe: true, bin: s.c.bin, dir: dir}}
	s.t.Cleanup(b.c.stop)
	if b.c.runAs, err = serverOwner(dir); err != nil {
		s.t.Fatal(err)
	}
	fill(b.c.dataDir())
	if err := b.c.launchServer(); err != nil {
		s.t.Fatal(err)
	}
	return b
}

// Run runs a program of PostgreSQL or of the path as the server's user.
func (s *Server) Run(name string, args ...string) {
	s.t.Helper()
	if path := filepath.Join(s.c.bin, name); exists(path) {
		name = path
	}
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: s.c.runAs}, s.c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Dir returns the folder of the server's socket, and of its data, data. The server's user may write to it.
func (s *Server) Dir() string { return s.c.dir }

// Promote makes a standby the primary.
func (s *Server) Promote() {
	s.t.Helper()
	s.Exec("SELECT pg_promote()")
}

// Exec runs a statement as superuser.
func (s *Server) Exec(sql string) {
	s.t.Helper()
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.c.url("postgres"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close(ctx)
	if _, err := c.Exec(ctx, sql); err != nil {
		s.t.Fatal(err)
	}
}

// At returns the address of the same database on this server.
func (s *Server) At(address string) string {
	return editQuery(s.t, address, func(q url.Values) { q.Set("host", s.c.dir) })
}

// Join returns the address of a database on several servers.
func Join(t testing.TB, addresses ...string) string {
	t.Helper()
	var hosts, ports []string
	for _, address := range addresses {
		editQuery(t, address, func(q url.Values) {
			hosts, ports = append(hosts, q.Get("host")), append(ports, cmp.Or(q.Get("port"), "5432"))
		})
	}
	return editQuery(t, addresses[0], func(q url.Values) {
		q.Set("host", strings.Join(hosts, ","))
		q.Set("port", strings.Join(ports, ","))
		q.Set("target_session_attrs", "read-write")
	})
}

func editQuery(t testing.TB, address string, edit func(url.Values)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	edit(q)
	u.RawQuery = q.Encode()
	return u.String()
}

// Pause stops all processes of the server, and Resume continues them.
func (s *Server) Pause() { s.signalAll(syscall.SIGSTOP) }

// Resume continues a paused server.
func (s *Server) Resume() { s.signalAll(syscall.SIGCONT) }

func (s *Server) signalAll(sig syscall.Signal) {
	s.t.Helper()
	server := s.Pid()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", server, server))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, field := range append(strings.Fields(string(children)), strconv.Itoa(server)) {
		pid, err := strconv.Atoi(field)
		if err == nil {
			err = syscall.Kill(pid, sig)
		}
		if err != nil && err != syscall.ESRCH { // it ended meanwhile
			s.t.Fatal(err)
		}
	}
}
