package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"loregate/internal/telemetry"
)

const (
	apiKey  = "lg_abcdefghijklmnopqrstuvwxyz234567"
	invite  = "lgi_abcdefghijklmnopqrstuvwxyz234567"
	token   = "eyJhbGciOiJSUzI1NiJ9.eyJyb2xlIjoiZ20ifQ.c2lnbmF0dXJl"
	content = "the duke is the murderer"
)

type held struct{ Text string }

func TestLogsKeepSecretsAndContentOut(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		for _, open := range []bool{false, true} {
			var out bytes.Buffer
			l, err := telemetry.NewLogger(telemetry.LogConfig{Level: "debug", Format: format, Content: open, Out: &out})
			if err != nil {
				t.Fatal(err)
			}
			l = l.With("bound", "Bearer "+token)
			l.Debug("failed for "+apiKey, "token", "plain", "API_KEY", "plain", "Authorization", "plain",
				"error", fmt.Errorf("look up %s: %w", invite, errors.New("x")), "what", held{apiKey}, "raw", []byte(token),
				"took", 2*time.Second, slog.Group("request", "content", content, "query", content, "key", "plain", "operation", "get_card"))
			got := out.String()
			for _, secret := range []string{apiKey[3:], token, "plain"} {
				if strings.Contains(got, secret) {
					t.Errorf("%s, content %v: %q is in the log:\n%s", format, open, secret, got)
				}
			}
			if strings.Contains(got, content) != open {
				t.Errorf("%s, content %v:\n%s", format, open, got)
			}
			if !strings.Contains(got, "get_card") || !strings.Contains(got, "look up") || !strings.Contains(got, "2s") {
				t.Errorf("%s: what may be logged is gone:\n%s", format, got)
			}
		}
	}
}

func TestLogLevels(t *testing.T) {
	for level, want := range map[string]int{"": 3, "debug": 4, "info": 3, "warn": 2, "error": 1} {
		var out bytes.Buffer
		l, err := telemetry.NewLogger(telemetry.LogConfig{Level: level, Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		l.Debug("a")
		l.Info("b")
		l.Warn("c")
		l.Error("d")
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Errorf("%q logs %d lines, want %d", level, got, want)
		}
	}
	for _, c := range []telemetry.LogConfig{{Level: "loud"}, {Format: "xml"}} {
		if _, err := telemetry.NewLogger(c); err == nil || !strings.Contains(err.Error(), "; set ") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

var labels = telemetry.Labels{
	Operations: []string{"get_card"}, Surfaces: []string{"archive"}, Codes: []string{"ok", "not_found"},
	Limits: []string{"calls"}, Queues: []string{"jobs"}, Purposes: []string{"narrate"}, Runs: []string{"done"},
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	m := telemetry.NewMetrics(labels)
	m.Call("get_card", "archive", "ok", 3*time.Millisecond)
	m.Call("get_card", "archive", "ok", 3*time.Millisecond)
	m.Call("get_card", "archive", "not_found", time.Millisecond)
	m.Refusal("calls")
	m.Store("read", 30*time.Microsecond)
	m.Search(time.Millisecond)
	m.Budget("narrate", 120)
	m.Run("done")
	if err := errors.Join(m.Queue("jobs", func() int { return 7 }), m.AccessBuffer(func() int { return 9 })); err != nil {
		t.Fatal(err)
	}
	got := scrape(t, m)
	for _, line := range []string{
		`loregate_calls_total{code="ok",operation="get_card",surface="archive"} 2`,
		`loregate_calls_total{code="not_found",operation="get_card",surface="archive"} 1`,
		`loregate_call_seconds_count{operation="get_card"} 3`,
		`loregate_call_seconds_bucket{operation="get_card",le="0.0025"} 1`,
		`loregate_refusals_total{limit="calls"} 1`,
		`loregate_store_seconds_count{action="read"} 1`,
		`loregate_search_seconds_count 1`,
		`loregate_budget_used_total{purpose="narrate"} 120`,
		`loregate_runs_total{state="done"} 1`,
		`loregate_queue_depth{queue="jobs"} 7`,
		`loregate_access_buffer 9`,
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
}

func TestLabelsComeFromFixedSets(t *testing.T) {
	m := telemetry.NewMetrics(labels)
	for i := range 1000 {
		made := fmt.Sprint(content, i)
		m.Call(made, made, made, 0)
		m.Refusal(made)
		m.Store(made, 0)
		m.Budget(made, 1)
		m.Run(made)
		if err := m.Queue(made, func() int { return 0 }); err == nil {
			t.Fatal("a queue outside the set was taken")
		}
	}
	got := scrape(t, m)
	if strings.Contains(got, content) {
		t.Error("what a caller sent is a label")
	}
	if !strings.Contains(got, `loregate_calls_total{code="other",operation="other",surface="other"} 1000`) {
		t.Error("unknown calls are not counted as other")
	}
}

func TestNoMetricsCountNothing(t *testing.T) {
	var m *telemetry.Metrics
	m.Call("a", "b", "c", 0)
	m.Refusal("a")
	m.Store("read", 0)
	m.Search(0)
	m.Budget("a", 1)
	m.Run("a")
	if err := errors.Join(m.Queue("x", nil), m.AccessBuffer(nil)); err != nil {
		t.Error(err)
	}
}

func TestSpansNestAndCarryNoErrorText(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	ctx := context.Background()
	tracing, err := telemetry.NewTracing(ctx, telemetry.TraceConfig{Exporter: kept{spans}, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	callCtx, endCall := tracing.Root(ctx, "call", h)
	opCtx, endOp := telemetry.Start(callCtx, "get_card")
	_, endStore := telemetry.Start(opCtx, "store.read")
	endStore(nil)
	endOp(errors.New(content))
	endCall(nil)
	if err := tracing.Close(ctx); err != nil {
		t.Fatal(err)
	}
	got := spans.GetSpans()
	if len(got) != 3 || got[0].Name != "store.read" || got[1].Name != "get_card" || got[2].Name != "call" {
		t.Fatalf("%d spans", len(got))
	}
	if got[0].Parent.SpanID() != got[1].SpanContext.SpanID() || got[1].Parent.SpanID() != got[2].SpanContext.SpanID() ||
		got[2].SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
		t.Error("the spans do not nest")
	}
	if got[1].Status.Code != codes.Error || got[0].Status.Code == codes.Error ||
		strings.Contains(fmt.Sprintf("%+v", got), content) {
		t.Errorf("%+v", got[1].Status)
	}
}

// kept does not forget its spans when it is shut down.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

func TestTracingOff(t *testing.T) {
	ctx := context.Background()
	tracing, err := telemetry.NewTracing(ctx, telemetry.TraceConfig{})
	if err != nil || tracing != nil {
		t.Fatalf("%v, %v", tracing, err)
	}
	got, end := tracing.Root(ctx, "call", http.Header{})
	end(nil)
	if got != ctx {
		t.Error("the context changed")
	}
	if err := tracing.Close(ctx); err != nil {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, end := telemetry.Start(ctx, "op"); end(nil) }); n > 0 {
		t.Errorf("Start allocates %v times when off", n)
	}
}

func TestTracesGoToTheConfiguredCollector(t *testing.T) {
	paths := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
	defer collector.Close()
	tracing, err := telemetry.NewTracing(context.Background(), telemetry.TraceConfig{Endpoint: collector.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, end := tracing.Root(context.Background(), "call", nil)
	end(nil)
	if err := tracing.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := <-paths; got != "/v1/traces" {
		t.Errorf("traces went to %s", got)
	}
}

func TestAnAddressForTracesIsChecked(t *testing.T) {
	for _, bad := range []string{"127.0.0.1:4318", "ftp://x", "http://", ":"} {
		if _, err := telemetry.NewTracing(context.Background(), telemetry.TraceConfig{Endpoint: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func ExampleStart() {
	ctx, end := telemetry.Start(context.Background(), "store.read")
	var err error // the error of the work on ctx
	defer func() { end(err) }()
	fmt.Println(ctx.Err())
	// Output: <nil>
}

func BenchmarkStartOff(b *testing.B) {
	ctx := context.Background()
	for b.Loop() {
		_, end := telemetry.Start(ctx, "op")
		end(nil)
	}
}

func BenchmarkCall(b *testing.B) {
	m := telemetry.NewMetrics(labels)
	for b.Loop() {
		m.Call("get_card", "archive", "ok", time.Millisecond)
	}
}

// The share of different runs falls when texts repeat, and only the latest texts count.
func TestVarietyOfTexts(t *testing.T) {
	m := telemetry.NewMetrics(telemetry.Labels{})
	shares := func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		var list []string
		for line := range strings.Lines(w.Body.String()) {
			if rest, ok := strings.CutPrefix(line, `loregate_distinct_ratio{text="narration",words="`); ok {
				list = append(list, strings.Replace(strings.TrimSpace(rest), `"}`, "", 1))
			}
		}
		return strings.Join(list, ", ")
	}
	say := func(text string, times int) {
		for range times {
			m.Text("narration", telemetry.HashWords(text))
		}
	}
	if got := shares(); got != "1 0, 2 0, 3 0" {
		t.Error(got)
	}
	say("The tide comes in.", 1)
	if got := shares(); got != "1 1, 2 1, 3 1" {
		t.Error(got)
	}
	say("the TIDE comes in", 3)
	if got := shares(); got != "1 0.25, 2 0.25, 3 0.25" {
		t.Error(got)
	}
	say("one two two", 1000)
	if got := shares(); got != "1 0.0033333333333333335, 2 0.005, 3 0.005" {
		t.Error(got)
	}
	m.Text("letters", telemetry.HashWords("a kind that is not measured"))
	(*telemetry.Metrics)(nil).Text("narration", nil)
}
