package gametest

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
)

// Environment variables of a process that serves a house for a test.
const (
	apartData = "GAMETEST_APART_DATA"
	apartAddr = "GAMETEST_APART_ADDR"
)

// TestMain runs the tests, or serves a house for one of them.
func TestMain(m *testing.M) {
	if os.Getenv(apartData) == "" {
		os.Exit(m.Run())
	}
	if err := serveApart(os.Getenv(apartData), os.Getenv(apartAddr)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serveApart(dir, addr string) error {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		return err
	}
	c.Data, c.Addr = dir, addr
	ctx := context.Background()
	a, err := app.Open(ctx, c, app.Options{Version: "1.0.0", Profile: access.ProfileNone,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer a.Close(ctx)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return a.Serve(ctx, listener, func(string) { fmt.Println("ready") })
}

// serveApart moves the serving of the house into another process, which can be killed.
func (h *house) serveApart() {
	h.t.Helper()
	h.stop()
	h.spawn()
}

// killAndRestart kills that process, as a loss of power does, and starts another on the same
// data.
func (h *house) killAndRestart() {
	h.t.Helper()
	h.stop()
	h.spawn()
}

func (h *house) spawn() {
	h.t.Helper()
	program, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), apartData+"="+h.dir, apartAddr+"="+h.addr)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.stop = func() {
		_ = cmd.Process.Kill() // SIGKILL: the process cannot clean up
		_ = cmd.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		h.t.Fatalf("the process apart says %q, not that it is ready", lines.Text())
	}
}
