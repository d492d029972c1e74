package loadtest

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/wait"
)

const (
	// watchGap is the pause between writes of a watched card, longer than the server collects
	// notices of one card.
	watchGap = 250 * time.Millisecond
	// watchWait is the time after which a notice counts as missing.
	watchWait = 10 * time.Second
)

// watcher subscribes to one card on one server, and changes it on the next one: with several
// servers, a notice crosses processes.
type watcher struct {
	d       *driver
	me      int
	session *mcp.ClientSession
	heard   chan time.Time
}

func (d *driver) subscribeAll(ctx context.Context) (list []*watcher, err error) {
	for i := range d.c.Watchers {
		if err = d.mustSend(ctx, 0, call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards",
			key:  d.run + d.p.watchedName(i),
			body: mustJSON(map[string]any{"name": d.p.watchedName(i) + " " + d.run, "content": "0"})}); err == nil {
			var w *watcher
			if w, err = d.newWatcher(ctx, i); err == nil {
				list = append(list, w)
				continue
			}
		}
		for _, w := range list {
			w.close()
		}
		return nil, err
	}
	return list, nil
}

// tokenTransport adds the token to every request.
type tokenTransport struct {
	s  *sender
	at int
}

func (b tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := b.s.currentToken(r.Context(), b.at)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.s.client.Transport.RoundTrip(r)
}

func (d *driver) newWatcher(ctx context.Context, i int) (*watcher, error) {
	w := &watcher{d: d, me: i, heard: make(chan time.Time, 16)}
	client := mcp.NewClient(&mcp.Implementation{Name: "loregate-bench", Version: "1"}, &mcp.ClientOptions{
		ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) {
			select {
			case w.heard <- time.Now():
			default: // nobody waits for it
			}
		}})
	at := d.c.URLs[i%len(d.c.URLs)]
	var err error
	w.session, err = client.Connect(context.WithoutCancel(ctx),
		&mcp.StreamableClientTransport{Endpoint: at + "/mcp?world=" + url.QueryEscape(d.c.World),
			HTTPClient: &http.Client{Transport: tokenTransport{d.s, i}}}, nil)
	if err != nil {
		return nil, err
	}
	if err = w.session.Subscribe(ctx, &mcp.SubscribeParams{URI: "archive://card/" +
		url.PathEscape(w.cardName())}); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *watcher) cardName() string { return w.d.p.watchedName(w.me) + " " + w.d.run }

// close ends the session and ignores the server's answer.
func (w *watcher) close() { _ = w.session.Close() }

// runLoop changes the card and waits for the notice, repeatedly.
func (w *watcher) runLoop(ctx context.Context) {
	for n := 1; wait.For(ctx, watchGap); n++ {
		for len(w.heard) > 0 {
			<-w.heard // a late notice
		}
		s := script{p: w.d.p, run: w.d.run + "-w", me: w.me, n: n}
		began := time.Now()
		o := w.d.s.sendCall(ctx, w.me+1, updateCall(w.cardName(), s.writeKey(), s.writeKey()))
		if ctx.Err() != nil {
			return
		}
		w.d.m.add(Write, o, 0)
		if o.code != "" {
			continue
		}
		answered := time.Now()
		if !w.awaitNotice(ctx, began, answered) {
			return
		}
	}
}

// awaitNotice measures the time from the answered write to its notice. A notice before the answer
// counts as no time.
func (w *watcher) awaitNotice(ctx context.Context, began, answered time.Time) bool {
	t := time.NewTimer(watchWait)
	defer t.Stop()
	select {
	case at := <-w.heard:
		if at.Before(began) {
			at = answered
		}
		w.d.m.add(Notice, outcome{took: max(at.Sub(answered), 0)}, 0)
	case <-t.C:
		w.d.m.add(Notice, outcome{answer: answer{code: "no_notice"}, took: watchWait}, 0)
	case <-ctx.Done():
		return false
	}
	return true
}
