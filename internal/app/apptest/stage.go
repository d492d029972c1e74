package apptest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/httpd"
	"loregate/internal/store/sqlite/sqlitetest"
)

// Config returns the default configuration for a store in a data folder.
func Config(t testing.TB, data string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = data
	return c
}

// Quiet returns the options of a test without limits; Open discards its log.
func Quiet() app.Options { return app.Options{Profile: access.ProfileNone} }

// Unlimited returns the environment of a program whose callers have no limits but those of connections.
func Unlimited() (env []string) {
	for _, limit := range []string{"CALLS", "CALLS_BURST", "RESOURCES", "LISTS", "LIST_PAGES", "TOOL_LISTS", "WRITES", "AUTH",
		"COMMANDS", "PLAYERS", "WORK", "GM_WORK"} {
		env = append(env, "LOREGATE_LIMITS_"+limit+"=-1")
	}
	return env
}

// Open opens the product; without a logger in the options the log is discarded. shut closes it. It
// may be called several times, and is called at the end of the test.
func Open(t testing.TB, c app.Config, o app.Options) (a *app.App, shut func()) {
	t.Helper()
	o.Version = cmp.Or(o.Version, "1.0.0")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if path := filepath.Join(c.Data, app.StoreFile); c.Database == "" && !fileExists(path) {
		sqlitetest.WriteEmpty(t, path)
	}
	ctx := context.Background() // the context of a test ends before its cleanup functions run
	a, err := app.Open(ctx, c, o)
	if err != nil {
		t.Fatal(err)
	}
	shut = sync.OnceFunc(func() { a.Close(ctx) })
	t.Cleanup(shut)
	return a, shut
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Serve serves the product on an address of this machine; "" picks a free one. stop ends serving,
// open streams included, and all background work. It may be called several times, and is called at
// the end of the test.
func Serve(t testing.TB, a *app.App, addr string) (at string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	handler, end, err := a.Handler(ctx)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		cancel()
		end()
		t.Fatal(err)
	}
	server := httpd.NewServer(listener.Addr().String(), handler)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() {
		end()
		_ = server.Close() // cuts open connections
		<-done
		cancel()
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}
