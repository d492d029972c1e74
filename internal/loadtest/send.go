package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loregate/internal/wait"
)

const (
	// patience is how long a call may take.
	patience = 30 * time.Second
	// maxTries is how often a write is asked for whose answer was lost, some ten seconds.
	maxTries = 40
	firstGap = 20 * time.Millisecond
	maxGap   = 300 * time.Millisecond
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 8 << 20
	// renew is how old a token may be; servers' live fifteen minutes at least.
	renew = 10 * time.Minute
)

// sender makes calls on servers of one store.
type sender struct {
	c      Config
	client *http.Client

	mu    sync.Mutex // guards token and since
	token string
	since time.Time
}

func newSender(c Config) *sender {
	return &sender{c: c, client: &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{MaxIdleConnsPerHost: c.Clients + c.Watchers, MaxConnsPerHost: c.Clients + c.Watchers + 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: patience}}}
}

// bearer is a token that is good for a while.
func (s *sender) bearer(ctx context.Context, at int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && time.Since(s.since) < renew {
		return s.token, nil
	}
	var last error
	for i := range s.c.URLs {
		body := mustJSON(map[string]string{"api_key": s.c.Key, "role": s.c.Role, "world": s.c.World})
		answer := s.once(ctx, at+i, "", call{method: http.MethodPost, path: "/api/mcp/auth", body: body})
		var out struct{ Token string }
		if last = answer.err(); last == nil {
			if last = json.Unmarshal(answer.body, &out); last == nil && out.Token != "" {
				s.token, s.since = out.Token, time.Now()
				return out.Token, nil
			}
		}
	}
	if last == nil {
		last = errors.New("the server gave no token")
	}
	return "", last
}

// answer is what a call came to.
type answer struct {
	status int // 0 where there was none
	body   []byte
	code   string // of the failure; "" for none
	says   string
	wait   time.Duration // what the server asks to wait
	unsent bool          // nothing reached a server
	resent int           // times that the transport sent it again by itself, for its connection had ended
}

func (a answer) err() error {
	if a.code == "" {
		return nil
	}
	return fmt.Errorf("%s: %s", a.code, a.says)
}

// unsure tells whether it is not known what the call did, or that it did nothing and may be
// asked for again.
func (a answer) unsure() bool {
	return a.status == 0 || a.status == http.StatusServiceUnavailable || a.status == http.StatusBadGateway
}

// once makes a call on the server at a place.
func (s *sender) once(ctx context.Context, at int, token string, c call) (a answer) {
	ctx, sent := traced(ctx)
	defer func() {
		a.resent = max(sent()-1, 0)
		if a.unsent && sent() > 0 { // sent, lost, and then nobody was there to send it to again
			a.unsent, a.code = false, "connection_lost"
		}
	}()
	r, err := http.NewRequestWithContext(ctx, c.method, s.c.URLs[at%len(s.c.URLs)]+c.path, bytes.NewReader(c.body))
	if err != nil {
		return answer{code: "transport", says: err.Error()}
	}
	r.Header.Set("Accept", "application/json")
	if len(c.body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if c.key != "" {
		r.Header.Set("Idempotency-Key", c.key)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return failed(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return failed(err)
	}
	return read(res, body)
}

// traced counts how often a request was written: net/http repeats one whose connection
// ends before an answer begins, where it bears an idempotency key or only reads.
func traced(ctx context.Context) (context.Context, func() int) {
	var n atomic.Int32
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) {
		if w.Err == nil {
			n.Add(1)
		}
	}}), func() int { return int(n.Load()) }
}

func failed(err error) answer {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return answer{code: "no_connection", says: err.Error(), unsent: true}
	}
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		return answer{code: "timeout", says: err.Error()}
	}
	return answer{code: "connection_lost", says: err.Error()}
}

func read(res *http.Response, body []byte) answer {
	a := answer{status: res.StatusCode, body: body}
	if res.StatusCode < 300 {
		return a
	}
	var e struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(body, &e) // what is no such object has no code
	a.code, a.says = or(strings.ToLower(e.Error.Code), "http_"+strconv.Itoa(res.StatusCode)), or(e.Error.Message, http.StatusText(res.StatusCode))
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		a.wait = time.Duration(min(max(n, 0), 60)) * time.Second
	}
	return a
}

// outcome is what a call came to with all that was done to have it answered.
type outcome struct {
	answer
	took    time.Duration // of the asking that was answered, or of the last
	lost    []string      // codes of askings before, whose answers were lost
	moved   int           // times that a server could not be reached and another was asked
	limited int           // times that the server said to wait
	waited  time.Duration // because it said so
}

// send makes a call. One that the server limits waits as it is told, and then is asked
// again; one whose answer was lost is asked again on the next server.
func (s *sender) send(ctx context.Context, at int, c call) (o outcome) {
	gap := firstGap
	for try := 1; ; try++ {
		token, err := s.bearer(ctx, at)
		if err != nil {
			o.answer = answer{code: "no_token", says: err.Error()}
			return o
		}
		began := time.Now()
		o.answer = s.once(ctx, at, token, c)
		o.took = time.Since(began)
		for range o.resent {
			o.lost = append(o.lost, "connection_lost")
		}
		switch {
		case ctx.Err() != nil || try == maxTries:
			return o
		case o.status == http.StatusTooManyRequests:
			o.limited++
			gap = max(o.wait, firstGap)
			o.waited += gap
		case o.unsent && len(s.c.URLs) > 1:
			o.moved++
			at++
		case o.unsure() && (c.changes() || c.method == http.MethodGet):
			o.lost = append(o.lost, o.code)
			at++
		default:
			return o
		}
		if !wait.For(ctx, gap) {
			return o
		}
		gap = min(2*gap, maxGap)
	}
}
