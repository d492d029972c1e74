package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans to a collector by OTLP over HTTP, in binary protobuf. The exporter of OpenTelemetry for this
// protocol brings all of gRPC along.
//
// Source: OTLP specification 1.7, "OTLP/HTTP". TracesData has the same encoding as ExportTraceServiceRequest.
type collector struct {
	url    string
	client *http.Client
}

// The limits of one delivery. A batch that is not taken by then is dropped.
const (
	deliveryTime = 10 * time.Second
	firstPause   = time.Second // between tries; it doubles
	maxAnswer    = 64 << 10    // bytes of an answer that are read, so that its connection is used again
)

func newCollector(url string) *collector {
	return &collector{url: url, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Start does nothing: a connection is made by the first delivery.
func (c *collector) Start(context.Context) error { return nil }

// Stop closes the idle connections.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. It tries again while the collector is busy.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("telemetry: spans: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	for pause := firstPause; ; pause *= 2 {
		wait, err := c.post(ctx, body)
		if err == nil || wait < 0 {
			return err
		}
		select {
		case <-time.After(max(wait, pause)):
		case <-ctx.Done():
			return err
		}
	}
}

// post sends a body once. wait is the least time after which to try again; negative if another try is of no use.
func (c *collector) post(ctx context.Context, body []byte) (wait time.Duration, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("telemetry: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("telemetry: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer)
	switch answer.StatusCode {
	case http.StatusOK:
		return 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil {
			wait = min(time.Duration(max(seconds, 0))*time.Second, deliveryTime)
		}
	default:
		wait = -1
	}
	return wait, fmt.Errorf("telemetry: the collector at %s answers %s", c.url, answer.Status)
}
