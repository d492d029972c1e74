package pgtest

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// Server is a PostgreSQL server for one test, which may stop and restart it. It writes as durably
// as a production server and ends with the test.
type Server struct {
	t testing.TB
	c cluster
}

// Start starts a server for one test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, c: cluster{safe: true}}
	s.c.ensureStarted(t)
	t.Cleanup(s.c.stop)
	return s
}

// Empty returns the address of a new, empty database.
func (s *Server) Empty() string {
	s.t.Helper()
	return s.c.lendDatabase(s.t, "template0")
}

// Pid returns the process id of the server, whose other processes are its children.
func (s *Server) Pid() int { return s.c.cmd.Process.Pid }

// Kill ends the server with kill -9, as a crash does. Its helper processes end when they notice.
func (s *Server) Kill() { s.endServer(syscall.SIGKILL) }

// Drop ends the server at once, as pg_ctl stop -m immediate does.
func (s *Server) Drop() { s.endServer(syscall.SIGQUIT) }

func (s *Server) endServer(how os.Signal) {
	_ = s.c.cmd.Process.Signal(how) // an error means that it has ended already
	<-s.c.exited
}

// Again restarts the server on its data, once the helper processes of the previous run are gone.
func (s *Server) Again() {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	err := errors.New("not tried")
	for end := time.Now().Add(30 * time.Second); err != nil && time.Now().Before(end); <-tick.C {
		err = s.c.launchServer()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
