package studio_test

import (
	"context"
	"slices"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/studio"
	"loregate/internal/telemetry"
)

// kept keeps its spans when tracing is closed.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

var _ sdktrace.SpanExporter = kept{}

// A traced call shows how long each step of its run took, under the trace id that the run records.
// No object name appears in it.
func TestEachStepHasASpan(t *testing.T) {
	d := newDesk(t)
	spans := kept{tracetest.NewInMemoryExporter()}
	tracing, err := telemetry.NewTracing(t.Context(), telemetry.TraceConfig{Exporter: spans, Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := tracing.Root(t.Context(), "call", nil)
	plan := `{"plan": {"name": "p", "seed": 1, "calls": [{"tool": "add_object", "with": {"object_type": "cube", "name": "Secret", "location": [0,0,0]}}, {"tool": "export_asset", "with": {"format": "glb"}}]}}`
	answer, err := d.ops.Invoke(ctx, d.caller(access.RoleGM),
		op.Request{Operation: "plan_execute", Surface: studio.Surface, Input: []byte(plan), Transport: "mcp"})
	if err != nil {
		t.Fatal(err)
	}
	end(nil)
	if err := tracing.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range spans.GetSpans() {
		names = append(names, s.Name)
		if head := answer.Reply.Meta["loregate/envelope"].(studio.Head); s.SpanContext.TraceID().String() != head.TraceID {
			t.Errorf("%s is of another trace than the run records", s.Name)
		}
	}
	for _, want := range []string{"studio.open", "studio.step add_object", "studio.adapter blender",
		"studio.step export_asset", "studio.commit"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no span %q: %q", want, names)
		}
	}
}
