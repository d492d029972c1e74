package pgtest

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// Server is a PostgreSQL server of one test's own, which it may end and start again. It
// writes as one in use does. It goes with the test.
type Server struct {
	t testing.TB
	c cluster
}

// Start starts a server for a test alone.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, c: cluster{safe: true}}
	s.c.ensureStarted(t)
	t.Cleanup(s.c.stop)
	return s
}

// Empty gives the address of a new, empty database.
func (s *Server) Empty() string {
	s.t.Helper()
	return s.c.lendDatabase(s.t, "template0")
}

// Socket is the path of the socket that the server listens on.
func (s *Server) Socket() string { return s.c.dir + "/.s.PGSQL.5432" }

// Kill ends the server as a crash does: by kill -9. Its helpers end when they miss it.
func (s *Server) Kill() { s.endServer(syscall.SIGKILL) }

// Drop ends the server at once, as pg_ctl stop -m immediate does.
func (s *Server) Drop() { s.endServer(syscall.SIGQUIT) }

func (s *Server) endServer(how os.Signal) {
	_ = s.c.cmd.Process.Signal(how) // one that has ended is what is asked for
	<-s.c.exited
}

// Again starts the server on what it left, once those who served the one before are gone.
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
