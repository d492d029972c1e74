package mcpd_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/cputest"
	"loregate/internal/mcpd"
)

// BenchmarkAgainstBare alternately drives our server and a bare echo tool of the same SDK. It
// reports the ratio of their rates, which the product promises to be at least 0.6, and the 99th
// percentile of a call. Server and clients share the processors.
//
//	go test -run - -bench AgainstBare -benchtime 1x ./internal/mcpd
func BenchmarkAgainstBare(b *testing.B) {
	for _, era := range []string{older, modern} {
		for _, size := range []struct {
			name string
			text string
		}{{"64B", strings.Repeat("x", 64)}, {"8KB", strings.Repeat("A mill by the \"river\".\n", 8192/23)}} {
			b.Run(era+"/"+size.name, func(b *testing.B) { againstBare(b, era, size.text) })
		}
	}
}

func againstBare(b *testing.B, era, text string) {
	s := open(b)
	s.book.pages["mill"] = page{1, text}
	bare := httptest.NewServer(bareServer(era == modern, text))
	b.Cleanup(bare.Close)
	ours := newLoad(b, s.http.URL+"/mcp", era)
	theirs := newLoad(b, bare.URL, era)
	var rates, bareRates []float64
	var p99, bareP99 time.Duration
	for b.Loop() {
		for range 3 {
			bareRates = append(bareRates, theirs.run(time.Second, &bareP99))
			rates = append(rates, ours.run(time.Second, &p99))
		}
	}
	slices.Sort(rates)
	slices.Sort(bareRates)
	mid := len(rates) / 2
	b.ReportMetric(rates[mid], "ours/s")
	b.ReportMetric(bareRates[mid], "bare/s")
	b.ReportMetric(rates[mid]/bareRates[mid], "ratio")
	b.ReportMetric(float64(p99.Microseconds()), "p99-us")
	b.ReportMetric(float64(bareP99.Microseconds()), "bare-p99-us")
}

// bareServer uses the least of the SDK: one typed tool, plain JSON.
func bareServer(stateless bool, text string) http.Handler {
	srv := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(srv, &mcp.Tool{Name: "get_page", Description: "Echo"},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Name string `json:"name"`
		}) (*mcp.CallToolResult, textOut, error) {
			return nil, textOut{text}, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv },
		&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true})
}

// load calls get_page in a closed loop.
type load struct {
	b       *testing.B
	client  *http.Client
	request *http.Request
	body    string
}

// loops is the number of concurrent calls.
const loops = 32

func newLoad(b *testing.B, url, era string) *load {
	l := &load{b: b, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loops}}}
	var err error
	if l.request, err = http.NewRequestWithContext(b.Context(), "POST", url, nil); err != nil {
		b.Fatal(err)
	}
	h := l.request.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set("Authorization", "Bearer user")
	if era == modern {
		var headers []string
		l.body, headers = modernCall("get_page", `{"name":"mill"}`)
		for _, v := range headers {
			name, value, _ := strings.Cut(v, ": ")
			h.Set(name, value)
		}
		return l
	}
	l.body = initialize
	header, _ := l.once()
	h.Set("Mcp-Session-Id", header.Get("Mcp-Session-Id"))
	l.body = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	l.once()
	l.body = ""
	return l
}

// calls makes every id unique: a session accepts an id only once at a time.
var calls atomic.Int64

func (l *load) once() (http.Header, []byte) {
	body := l.body
	if body == "" {
		body = call(int(calls.Add(1)), "get_page", `{"name":"mill"}`)
	}
	r := *l.request
	r.ContentLength, r.Body = int64(len(body)), io.NopCloser(strings.NewReader(body))
	res, err := l.client.Do(&r)
	if err != nil {
		l.b.Error(err)
		return nil, nil
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		l.b.Error(err, res.StatusCode, string(answer))
	}
	return res.Header, answer
}

// run returns the rate, and sets the 99th percentile of a call.
func (l *load) run(d time.Duration, p99 *time.Duration) float64 {
	if _, answer := l.once(); !bytes.Contains(answer, []byte("structuredContent")) {
		l.b.Fatalf("answer %s", answer)
	}
	runtime.GC()
	var mu sync.Mutex
	var took []time.Duration
	var work sync.WaitGroup
	began := time.Now()
	for range loops {
		work.Go(func() {
			var own []time.Duration
			for time.Since(began) < d {
				t := time.Now()
				l.once()
				own = append(own, time.Since(t))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
		})
	}
	work.Wait()
	slices.Sort(took)
	*p99 = took[len(took)*99/100]
	return float64(len(took)) / time.Since(began).Seconds()
}

// BenchmarkCall makes one call after another, without sockets, to measure the cost of a call
// answered directly and through the SDK. Run it with GOGC set to see the collector's share.
func BenchmarkCall(b *testing.B) {
	for _, era := range []string{older, modern} {
		b.Run(era+"/direct", func(b *testing.B) { benchmarkCall(b, era, open(b)) })
		b.Run(era+"/sdk", func(b *testing.B) {
			s := open(b)
			mcpd.ViaSDK(s.server)
			benchmarkCall(b, era, s)
		})
	}
}

func benchmarkCall(b *testing.B, era string, s *stage) {
	l := newLoad(b, s.http.URL+"/mcp", era)
	b.ReportAllocs()
	began := cputest.Used()
	for b.Loop() {
		body := l.body
		if body == "" {
			body = call(int(calls.Add(1)), "get_page", `{"name":"mill"}`)
		}
		r := l.request.Clone(b.Context())
		r.ContentLength, r.Body = int64(len(body)), io.NopCloser(strings.NewReader(body))
		w := httptest.NewRecorder()
		s.server.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
	b.ReportMetric(float64(cputest.Used()-began)/float64(b.N), "cpu-ns/op")
}

// BenchmarkStdio makes one call after another over stdio.
func BenchmarkStdio(b *testing.B) {
	for _, path := range []string{"direct", "sdk"} {
		b.Run(path, func(b *testing.B) {
			s := serve(b)
			if path == "sdk" {
				mcpd.ViaSDK(s.server)
			}
			s.say(initialize)
			s.out.wait(1)
			b.ReportAllocs()
			began := cputest.Used()
			for b.Loop() {
				s.out.take()
				s.say(call(2, "get_page", `{"name":"mill"}`))
				s.out.wait(1)
			}
			b.ReportMetric(float64(cputest.Used()-began)/float64(b.N), "cpu-ns/op")
			s.finish()
		})
	}
}

// BenchmarkStartStdio measures the time from start to the answered initialize, without the store.
// The product promises 150 ms including the store.
func BenchmarkStartStdio(b *testing.B) {
	for b.Loop() {
		s := serve(b)
		s.say(initialize)
		s.out.wait(1)
		s.finish()
	}
}
