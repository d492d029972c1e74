package mcpd_test

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// board is a resource with a Watch.
type board struct {
	reads   atomic.Int64
	version atomic.Uint64
	unknown atomic.Bool

	mu sync.Mutex
	ch chan struct{} // guarded by mu
}

func (b *board) Version(string) (uint64, bool) { return b.version.Load(), !b.unknown.Load() }

func (b *board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ch
}

func (b *board) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.ch)
	b.ch = make(chan struct{})
}

func (b *board) change() {
	b.version.Add(1)
	b.ring()
}

func (b *board) surface() op.Surface {
	return op.Surface{Name: "board", Title: "Board", Doc: "a board", Resources: []*op.Resource{{
		Template: "board://{id}", Name: "board", Title: "Board", Doc: "A board", MIME: "text/plain",
		Surfaces: []string{"board"}, NoWorld: true, Watch: b,
		Read: func(_ context.Context, _ *op.Call, vars map[string]string) (op.Content, error) {
			b.reads.Add(1)
			if vars["id"] == "none" {
				return op.Content{}, fault.New(fault.NotFound, "no such board")
			}
			return op.Content{Text: "A board."}, nil
		}}}}
}

// TestWatchedChangesAreNotifiedWithoutReading runs in a synctest bubble, with fake time.
func TestWatchedChangesAreNotifiedWithoutReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{ch: make(chan struct{})}
		var heard atomic.Int64
		session, end := watching(t, b, func() { heard.Add(1) })
		defer end()
		for _, uri := range []string{"board://a", "board://none"} {
			if err := session.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
		}
		b.change()
		time.Sleep(40 * time.Millisecond)
		synctest.Wait()
		if heard.Load() != 1 {
			t.Errorf("%d notices of a change at once, want 1: what is absent has none", heard.Load())
		}
		for range 25 {
			b.change()
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := heard.Load(); n < 3 || n > 5 {
			t.Errorf("%d notices of 26 changes in 260 ms, want one per 100 ms", n)
		}
		before := heard.Load()
		b.ring() // nothing has changed
		time.Sleep(time.Second)
		if n, reads := heard.Load(), b.reads.Load(); n != before || reads != 2 {
			t.Errorf("%d notices of no change; %d readings, want the two of subscribing", n-before, reads)
		}
	})
}

func TestUnusedCapabilityIsNotDeclared(t *testing.T) {
	b := &board{ch: make(chan struct{})}
	session, end := watching(t, b, func() {})
	defer end()
	if caps := session.InitializeResult().Capabilities; caps.Tools != nil || caps.Prompts != nil || caps.Resources == nil {
		t.Errorf("the handshake declares %+v", caps)
	}
	if tools, err := session.ListTools(t.Context(), nil); err != nil || tools.Tools == nil || len(tools.Tools) != 0 {
		t.Errorf("%+v, %v; want an empty list of tools", tools, err)
	}
	if prompts, err := session.ListPrompts(t.Context(), nil); err != nil || prompts.Prompts == nil ||
		len(prompts.Prompts) != 0 {
		t.Errorf("%+v, %v; want an empty list of prompts", prompts, err)
	}
}

// watching connects a client, over a pipe, to a server that has only the board.
func watching(t *testing.T, b *board, notice func()) (*mcp.ClientSession, func()) {
	t.Helper()
	surface := b.surface()
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{surface},
		Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpd.New(t.Context(), mcpd.Config{Engine: engine, Surfaces: []*op.Surface{&surface}})
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.ServePipe(t.Context(), caller("user", access.RoleUser), nil, in, out); err != nil {
			t.Error(err)
		}
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { notice() }})
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer},
		&mcp.ClientSessionOptions{ProtocolVersion: older})
	if err != nil {
		t.Fatal(err)
	}
	return session, func() {
		_ = session.Close()
		_ = toServer.Close()
		_ = in.Close()
		<-done
		_ = fromServer.Close()
		server.Close()
	}
}
