package failovertest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/app/patronitest"
	"loregate/internal/wait"
)

// listener follows a stream as a browser does: when it ends, it opens it again after the last message.
type listener struct {
	t          *testing.T
	url, token string

	mu       sync.Mutex // guards all below
	opened   int        // times that the stream was opened
	messages []message
}

type message struct{ id, event, data string }

// listen follows a stream until the test ends.
func (n *night) listen(path, token string) *listener {
	l := &listener{t: n.t, url: n.url + path, token: token}
	ctx, cancel := context.WithCancel(n.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for more := true; more; more = wait.For(ctx, 300*time.Millisecond) {
			l.follow(ctx)
		}
	})
	n.t.Cleanup(func() { cancel(); running.Wait() })
	return l
}

// follow reads the stream until it ends.
func (l *listener) follow(ctx context.Context) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url, nil)
	if err != nil {
		l.t.Error(err)
		return
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	q.Header.Set("Accept", "text/event-stream")
	if last := l.lastID(); last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if res.StatusCode != http.StatusServiceUnavailable && ctx.Err() == nil {
			l.t.Errorf("a stream is answered %s", res.Status)
		}
		return
	}
	l.mu.Lock()
	l.opened++
	l.mu.Unlock()
	var m message
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data = value
		case "":
			if m.id != "" {
				l.mu.Lock()
				l.messages = append(l.messages, m)
				l.mu.Unlock()
			}
			m = message{}
		}
	}
}

func (l *listener) lastID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.messages) == 0 {
		return ""
	}
	return l.messages[len(l.messages)-1].id
}

func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.messages)
}

func (l *listener) openedTimes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened
}

// told returns how often each text is told by the messages of an act's result, or by the events of a narrator.
func (l *listener) told(texts []string) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := map[string]int{}
	for _, m := range l.messages {
		if m.event != "result" && m.event != "event" {
			continue
		}
		for _, text := range texts {
			if strings.Contains(m.data, text) {
				times[text]++
			}
		}
	}
	return times
}

// wantOnce waits until each text was told, and reports those that were told more than once.
func (l *listener) wantOnce(texts []string) {
	l.t.Helper()
	apptest.Eventually(l.t, "all acts are told", patronitest.Patience,
		func() bool { return len(l.told(texts)) == len(texts) })
	for text, times := range l.told(texts) {
		if times != 1 {
			l.t.Errorf("%q is told %d times", text, times)
		}
	}
}

// wantNoGap compares the positions of a narrator's events.
func (l *listener) wantNoGap() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	first := 0
	for i, m := range l.messages {
		var e struct {
			Position int `json:"position"`
		}
		if err := json.Unmarshal([]byte(m.data), &e); err != nil {
			l.t.Fatal(err)
		}
		if i == 0 {
			first = e.Position
		}
		if e.Position != first+i {
			l.t.Errorf("message %d has position %d after %d", i, e.Position, first)
			return
		}
	}
}
