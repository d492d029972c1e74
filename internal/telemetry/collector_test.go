package telemetry

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// answers is a collector that gives one status after the other, and keeps the last body.
type answers struct {
	statuses []int
	tries    int
	body     []byte
}

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	a.body = body
	status := a.statuses[min(a.tries, len(a.statuses)-1)]
	a.tries++
	return &http.Response{StatusCode: status, Status: http.StatusText(status),
		Header: http.Header{"Retry-After": {"3"}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// TestSpansAreSentAgainWhileTheCollectorIsBusy delivers to a collector that refuses some tries.
func TestSpansAreSentAgainWhileTheCollectorIsBusy(t *testing.T) {
	spans := []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "call"}}}}}}
	for name, row := range map[string]struct {
		statuses []int
		tries    int
		took     time.Duration
		fails    bool
	}{
		"taken":       {statuses: []int{200}, tries: 1},
		"busy once":   {statuses: []int{503, 200}, tries: 2, took: 3 * time.Second},
		"refused":     {statuses: []int{400}, tries: 1, fails: true},
		"busy always": {statuses: []int{429}, tries: 4, took: deliveryTime, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &answers{statuses: row.statuses}
				c := &collector{url: "http://127.0.0.1/v1/traces", client: &http.Client{Transport: a}}
				start := time.Now()
				err := c.UploadTraces(context.Background(), spans)
				if (err != nil) != row.fails || a.tries != row.tries || time.Since(start) != row.took {
					t.Errorf("%v after %d tries and %s", err, a.tries, time.Since(start))
				}
				var got tracepb.TracesData
				if err := proto.Unmarshal(a.body, &got); err != nil ||
					got.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName() != "call" {
					t.Errorf("sent %v, %v", &got, err)
				}
			})
		})
	}
}
