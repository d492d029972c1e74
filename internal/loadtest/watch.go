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
	// watchGap is how long a watched card rests between writes, longer than notices of one
	// card are held together.
	watchGap = 250 * time.Millisecond
	// watchWait is how long a notice may take before it counts as missing.
	watchWait = 10 * time.Second
)

// watcher subscribes to one card on one server, and has it changed on the next one: where
// there are several, a notice crosses processes.
type watcher struct {
	d       *driver
	me      int
	session *mcp.ClientSession
	heard   chan time.Time
}

func (d *driver) subscribe(ctx context.Context) (list []*watcher, err error) {
	for i := range d.c.Watchers {
		if err = d.want(ctx, 0, call{kind: Write, method: http.MethodPost, path: "/api/mcp/cards", key: d.run + d.p.watched(i),
			body: mustJSON(map[string]any{"name": d.p.watched(i) + " " + d.run, "content": "0"})}); err == nil {
			var w *watcher
			if w, err = d.watch(ctx, i); err == nil {
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

// bearing adds the token to every request.
type bearing struct {
	s  *sender
	at int
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := b.s.bearer(r.Context(), b.at)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return b.s.client.Transport.RoundTrip(r)
}

func (d *driver) watch(ctx context.Context, i int) (*watcher, error) {
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
	w.session, err = client.Connect(context.WithoutCancel(ctx), &mcp.StreamableClientTransport{Endpoint: at + "/mcp?world=" + url.QueryEscape(d.c.World),
		HTTPClient: &http.Client{Transport: bearing{d.s, i}}}, nil)
	if err != nil {
		return nil, err
	}
	if err = w.session.Subscribe(ctx, &mcp.SubscribeParams{URI: "archive://card/" + url.PathEscape(w.name())}); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *watcher) name() string { return w.d.p.watched(w.me) + " " + w.d.run }

// close ends the session; what a server says to that does not matter.
func (w *watcher) close() { _ = w.session.Close() }

// work changes the card, and waits for the notice, again and again.
func (w *watcher) work(ctx context.Context) {
	for n := 1; wait.For(ctx, watchGap); n++ {
		for len(w.heard) > 0 {
			<-w.heard // of what came late
		}
		s := script{p: w.d.p, run: w.d.run + "-w", me: w.me, n: n}
		began := time.Now()
		o := w.d.s.send(ctx, w.me+1, update(w.name(), s.key(), s.key()))
		if ctx.Err() != nil {
			return
		}
		w.d.m.add(Write, o, 0)
		if o.code != "" {
			continue
		}
		answered := time.Now()
		if !w.await(ctx, began, answered) {
			return
		}
	}
}

// await measures from the answered write to its notice. One that came before the answer
// took no time.
func (w *watcher) await(ctx context.Context, began, answered time.Time) bool {
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
