package rollingtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/app/apptest"
)

// balancer is a client-side load balancer. It sends each request to the next server that is
// ready; requests of a session of the older protocol go to the same server while that is ready.
// It repeats a call only if nobody listened.
type balancer struct {
	servers []string
	next    atomic.Uint64
	mu      sync.Mutex
	well    []string // servers that are ready. Guarded by mu
}

func newBalancer(t testing.TB, servers ...string) *balancer {
	b := &balancer{servers: servers}
	b.checkServers(t.Context())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			b.checkServers(ctx)
			<-tick.C
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return b
}

func (b *balancer) checkServers(ctx context.Context) {
	var well []string
	for _, s := range b.servers {
		if ready(ctx, s) {
			well = append(well, s)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.well = well
}

// serverOrder returns the servers to try for a request, best first.
func (b *balancer) serverOrder(r *http.Request) []string {
	b.mu.Lock()
	well := slices.Clone(b.well)
	b.mu.Unlock()
	if len(well) == 0 {
		well = slices.Clone(b.servers)
	}
	first := b.next.Add(1)
	if id := r.Header.Get("Mcp-Session-Id"); id != "" {
		h := fnv.New64a()
		_, _ = io.WriteString(h, id)
		first = h.Sum64()
	}
	at := int(first % uint64(len(well)))
	return append(well[at:], well[:at]...)
}

// RoundTrip sends a request to the first server that listens.
func (b *balancer) RoundTrip(r *http.Request) (res *http.Response, err error) {
	for _, server := range b.serverOrder(r) {
		c := r.Clone(r.Context())
		c.URL.Host = server
		if r.GetBody != nil {
			if c.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		if res, err = http.DefaultTransport.RoundTrip(c); !refused(err) {
			return res, err
		}
	}
	return nil, err
}

// keyed adds a key to each request.
type keyed struct {
	key  string
	next http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

// traffic is the load of clients during an operator's work: people who write over REST, and
// programs of both eras that call tools. No client repeats a call.
type traffic struct {
	t       testing.TB
	url     string
	client  *http.Client
	key     string
	stop    chan struct{}
	clients sync.WaitGroup
	done    atomic.Int64
	mu      sync.Mutex
	lost    []string // guarded by mu
	written []string // guarded by mu
}

// The two eras of MCP, by their protocol versions.
const (
	older  = "2025-11-25"
	modern = "2026-07-28"
)

func newTraffic(t testing.TB, url, key string, way http.RoundTripper) *traffic {
	t.Helper()
	f := &traffic{t: t, url: url, key: key, client: &http.Client{Transport: keyed{key, way}}, stop: make(chan struct{})}
	for i := range 3 {
		f.go_(func(n int) error { return f.write(fmt.Sprintf("Card %d-%d", i, n)) })
	}
	for _, era := range []string{older, modern} {
		cs := f.connect(era)
		f.go_(func(n int) error { return f.tool(cs, fmt.Sprintf("Tool %s-%d", era[:4], n)) })
	}
	return f
}

func (f *traffic) go_(one func(n int) error) {
	f.clients.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-f.stop:
				return
			default:
			}
			err := one(n)
			f.done.Add(1)
			if err != nil {
				f.mu.Lock()
				f.lost = append(f.lost, err.Error())
				f.mu.Unlock()
			}
		}
	})
}

func (f *traffic) wrote(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written = append(f.written, name)
}

func (f *traffic) write(name string) error {
	status, body, err := call(f.t.Context(), f.client, f.key, "POST", f.url+"/api/mcp/cards",
		fmt.Sprintf(`{"name":%q,"content":"x"}`, name))
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("%s: %d %s %v", name, status, body, err)
	}
	f.wrote(name)
	return nil
}

func (f *traffic) connect(era string) *mcp.ClientSession {
	f.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "traffic", Version: "1"}, nil)
	cs, err := client.Connect(f.t.Context(), &mcp.StreamableClientTransport{Endpoint: f.url + "/mcp",
		HTTPClient: f.client}, &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		f.t.Fatal(err)
	}
	if got := cs.InitializeResult().ProtocolVersion; got != era {
		f.t.Fatalf("negotiated %s, want %s", got, era)
	}
	f.t.Cleanup(func() { _ = cs.Close() })
	return cs
}

func (f *traffic) tool(cs *mcp.ClientSession, name string) error {
	res, err := cs.CallTool(f.t.Context(), &mcp.CallToolParams{Name: "create_card",
		Arguments: map[string]any{"name": name, "content": "x"}})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if res.IsError {
		return fmt.Errorf("%s: %+v", name, res.Content[0])
	}
	f.wrote(name)
	return nil
}

// waitForCalls waits until 20 more calls have been made.
func (f *traffic) waitForCalls() {
	f.t.Helper()
	until := f.done.Load() + 20
	apptest.Eventually(f.t, "calls are made", patience, func() bool { return f.done.Load() >= until })
}

// end stops the traffic, and checks that every call was answered and every acknowledged card
// exists.
func (f *traffic) end() {
	f.t.Helper()
	close(f.stop)
	f.clients.Wait()
	for i, l := range f.lost {
		if i < 5 {
			f.t.Errorf("lost: %s", l)
		}
	}
	for _, name := range f.written {
		status, body, err := call(f.t.Context(), f.client, f.key, "GET", f.url+"/api/mcp/cards/"+
			strings.ReplaceAll(name, " ", "%20"), "")
		if err != nil || status != http.StatusOK {
			f.t.Errorf("%s was acknowledged: %d %s %v", name, status, body, err)
			return
		}
	}
	f.t.Logf("%d calls, %d cards, %d lost", f.done.Load(), len(f.written), len(f.lost))
}
