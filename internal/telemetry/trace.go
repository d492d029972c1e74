package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// TraceConfig configures the export of traces. Without an Endpoint or an Exporter there is none.
type TraceConfig struct {
	Endpoint string  // URL of an OTLP/HTTP collector: "http://127.0.0.1:4318"; without a path, /v1/traces
	Sample   float64 // share of calls that are traced; 0 means all
	Version  string  // of the program
	// Exporter replaces the one for Endpoint, for tests.
	Exporter sdktrace.SpanExporter
}

// Tracing starts traces. A nil *Tracing starts none.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

const tracerName = "loregate"

// NewTracing returns a Tracing, or nil if none is configured. The caller must Close it.
func NewTracing(ctx context.Context, c TraceConfig) (*Tracing, error) {
	exporter := c.Exporter
	if exporter == nil {
		if c.Endpoint == "" {
			return nil, nil
		}
		address, err := collectorURL(c.Endpoint)
		if err != nil {
			return nil, err
		}
		if exporter, err = otlptrace.New(ctx, newCollector(address)); err != nil {
			return nil, fmt.Errorf("telemetry: traces to %s: %w", address, err)
		}
	}
	if c.Sample <= 0 {
		c.Sample = 1
	}
	p := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(c.Sample))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "loregate"), attribute.String("service.version", c.Version))),
	)
	return &Tracing{provider: p, tracer: p.Tracer(tracerName)}, nil
}

// collectorURL checks an endpoint. It adds the path that OTLP prescribes if the endpoint has none.
func collectorURL(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("telemetry: %q is not an address for traces; write it as http://127.0.0.1:4318", endpoint)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u.String(), nil
}

// Close sends the remaining spans; ctx bounds the time.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Root starts the span of an incoming call. It continues the trace in the caller's headers (W3C
// traceparent); nil headers start a new one. name must come from the program, never from a caller.
func (t *Tracing) Root(ctx context.Context, name string, h http.Header) (context.Context, func(error)) {
	if t == nil {
		return ctx, endNothing
	}
	if h != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
	}
	return beginSpan(ctx, t.tracer, name)
}

// Start starts a span within the span in ctx. It returns the context for the work in the span and a
// function that ends it. Without a trace in ctx it does nothing and allocates nothing. name must
// come from the program, never from a caller.
func Start(ctx context.Context, name string) (context.Context, func(err error)) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return ctx, endNothing
	}
	return beginSpan(ctx, span.TracerProvider().Tracer(tracerName), name)
}

func endNothing(error) {}

func beginSpan(ctx context.Context, tracer trace.Tracer, name string) (context.Context, func(error)) {
	ctx, span := tracer.Start(ctx, name)
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, "") // the text of an error may hold content
		}
		span.End()
	}
}
