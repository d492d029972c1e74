package prooftest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/canon"
)

func itoa(n int) string { return strconv.Itoa(n) }

// recordingTransport is an HTTP transport that keeps everything sent to a client.
type recordingTransport struct {
	key string
	got *syncBuffer
}

func (p recordingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+p.key)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	for name, values := range res.Header {
		_, _ = io.WriteString(p.got, name+": "+strings.Join(values, " ")+"\n") // a buffer never fails
	}
	res.Body = &teeBody{res.Body, io.TeeReader(res.Body, p.got)}
	return res, nil
}

type teeBody struct {
	io.Closer
	io.Reader
}

// runSessions connects real clients of both eras. They list, call, read and subscribe, while
// the keeper changes visible and hidden cards.
func (o *oracle) runSessions() {
	o.t.Helper()
	for _, era := range []string{older, modern} {
		for _, who := range []string{"user", "alice", "gm", "stranger"} {
			got := &syncBuffer{}
			o.runSession(era, who, got)
			o.checkAnswer(who, request{operation: "session " + era}, got.String())
		}
	}
}

func (o *oracle) runSession(era, who string, got *syncBuffer) {
	o.t.Helper()
	ctx, cancel := context.WithTimeout(o.t.Context(), time.Minute)
	defer cancel()
	notices := make(chan string, 100)
	client := mcp.NewClient(&mcp.Implementation{Name: "proof", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			notices <- r.Params.URI
		},
	})
	cs, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: o.url + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: recordingTransport{o.keys[who], got}}},
		&mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = cs.Close() }() // its stream is cut anyway
	n := 0
	for r, err := range cs.Resources(ctx, nil) {
		if n++; err == nil && n%stride() == 0 {
			_, _ = cs.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI}) // the answer is recorded
		}
	}
	search, _ := o.app.Ops.Find("search_cards")
	for _, e := range o.goodInputs(search) {
		_, _ = cs.CallTool(ctx, &mcp.CallToolParams{Name: search.Name, Arguments: e.input}) // recorded as well
	}
	if who != "stranger" {
		o.subscribe(ctx, cs, notices)
	}
}

// subscribe subscribes to visible and hidden cards, and changes both.
func (o *oracle) subscribe(ctx context.Context, cs *mcp.ClientSession, notices <-chan string) {
	o.t.Helper()
	hidden := o.putCard(canon.NewCard{Name: "Watched " + itoa(o.watched), Content: "x", Label: &forOthers})
	o.watched++
	uris := []string{"archive://card/" + url.PathEscape("~"+hidden.ID.String()), "archive://card/" +
		url.PathEscape(hidden.Name), "archive://card/New%20Ferry"}
	for _, uri := range uris {
		if err := cs.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
			o.t.Fatalf("subscribe %s: %v", uri, err)
		}
	}
	o.editCard(hidden.ID, o.finds.marks[0].word+" "+itoa(o.watched))
	// The feed checks in rounds. A wrong notice is at the latest in the round of the first right one.
	for round := range 2 {
		o.do(keeper, "update_card", map[string]any{"name": "New Ferry", "content": "ferry " + itoa(o.watched) + " " + itoa(round)})
		select {
		case uri := <-notices:
			if uri != uris[2] {
				o.t.Errorf("a notice of %s, which is hidden", uri)
			}
		case <-ctx.Done():
			o.t.Error("no notice of what changed in sight")
		}
	}
}
