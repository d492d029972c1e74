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

// Config is the configuration of a store in a data folder, all else as it is by itself.
func Config(t testing.TB, data string) app.Config {
	t.Helper()
	c, err := app.LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = data
	return c
}

// Quiet are the options of a test that wants no limits and no log.
func Quiet() app.Options { return app.Options{Profile: access.ProfileNone} }

// Open opens the product, which keeps no log where the options name none. shut closes it,
// once however often it is called, and is called at the test's end.
func Open(t testing.TB, c app.Config, o app.Options) (a *app.App, shut func()) {
	t.Helper()
	o.Version = cmp.Or(o.Version, "1.0.0")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if path := filepath.Join(c.Data, app.StoreFile); c.Database == "" && !exists(path) {
		sqlitetest.WriteEmpty(t, path)
	}
	ctx := context.Background() // a test's own ends before what is done at its end
	a, err := app.Open(ctx, c, o)
	if err != nil {
		t.Fatal(err)
	}
	shut = sync.OnceFunc(func() { a.Close(ctx) })
	t.Cleanup(shut)
	return a, shut
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Serve serves the product on an address of this machine, on a free one for "". stop ends
// that, open streams too, and all that runs beside it; it may be called more than once, and
// is called at the test's end.
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
		_ = server.Close() // what is open is cut off
		<-done
		cancel()
	})
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}
