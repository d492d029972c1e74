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
	// patience is the longest time that a call may take.
	patience = 30 * time.Second
	// maxTries is the number of tries for a write whose answers are lost, some ten seconds.
	maxTries = 40
	firstGap = 20 * time.Millisecond
	maxGap   = 300 * time.Millisecond
	// maxAnswer is the most that is read of an answer, in bytes.
	maxAnswer = 8 << 20
	// renew is the age at which a token is renewed; servers' tokens live fifteen minutes at least.
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
	return &sender{c: c, client: &http.Client{Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{MaxIdleConnsPerHost: c.Clients + c.Watchers,
			MaxConnsPerHost: c.Clients + c.Watchers + 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: patience}}}
}

// currentToken returns a token that stays valid for a while.
func (s *sender) currentToken(ctx context.Context, at int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" && time.Since(s.since) < renew {
		return s.token, nil
	}
	var last error
	for i := range s.c.URLs {
		body := mustJSON(map[string]string{"api_key": s.c.Key, "role": s.c.Role, "world": s.c.World})
		answer := s.sendOnce(ctx, at+i, "", call{method: http.MethodPost, path: "/api/mcp/auth", body: body})
		var out struct{ Token string }
		if last = answer.toError(); last == nil {
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

// answer is the result of one try of a call.
type answer struct {
	status int // 0 without an answer
	body   []byte
	code   string // code of the failure; "" for success
	says   string
	wait   time.Duration // waiting time that the server requested
	unsent bool          // no server was reached
	resent int           // number of times that the transport resent the request because its connection had ended
}

func (a answer) toError() error {
	if a.code == "" {
		return nil
	}
	return fmt.Errorf("%s: %s", a.code, a.says)
}

// isUnsure reports whether the effect of the call is unknown, or it had none and may be repeated.
func (a answer) isUnsure() bool {
	return a.status == 0 || a.status == http.StatusServiceUnavailable || a.status == http.StatusBadGateway
}

// sendOnce makes one try of a call on the server with index at.
func (s *sender) sendOnce(ctx context.Context, at int, token string, c call) (a answer) {
	ctx, sent := traceWrites(ctx)
	defer func() {
		a.resent = max(sent()-1, 0)
		if a.unsent && sent() > 0 { // it was sent and lost, and resending it reached no server
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
		return failedAnswer(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return failedAnswer(err)
	}
	return readAnswer(res, body)
}

// traceWrites counts how often a request is written: net/http resends a request whose connection
// ends before an answer begins, if it has an idempotency key or only reads.
func traceWrites(ctx context.Context) (context.Context, func() int) {
	var n atomic.Int32
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) {
		if w.Err == nil {
			n.Add(1)
		}
	}}), func() int { return int(n.Load()) }
}

func failedAnswer(err error) answer {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return answer{code: "no_connection", says: err.Error(), unsent: true}
	}
	if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() {
		return answer{code: "timeout", says: err.Error()}
	}
	return answer{code: "connection_lost", says: err.Error()}
}

func readAnswer(res *http.Response, body []byte) answer {
	a := answer{status: res.StatusCode, body: body}
	if res.StatusCode < 300 {
		return a
	}
	var e struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal(body, &e) // a body of another form has no code
	a.code, a.says = orDefault(strings.ToLower(e.Error.Code), "http_"+strconv.Itoa(res.StatusCode)),
		orDefault(e.Error.Message, http.StatusText(res.StatusCode))
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		a.wait = time.Duration(min(max(n, 0), 60)) * time.Second
	}
	return a
}

// outcome is the result of a call with all its tries.
type outcome struct {
	answer
	took    time.Duration // time of the answered try, or of the last
	lost    []string      // codes of the earlier tries whose answers were lost
	moved   int           // number of times that a server could not be reached and another was tried
	limited int           // number of times that the server requested a wait
	waited  time.Duration // total of the requested waits
}

// sendCall makes a call. If the server limits it, it waits as requested and tries again; if the
// answer was lost, it tries again on the next server.
func (s *sender) sendCall(ctx context.Context, at int, c call) (o outcome) {
	gap := firstGap
	for try := 1; ; try++ {
		token, err := s.currentToken(ctx, at)
		if err != nil {
			o.answer = answer{code: "no_token", says: err.Error()}
			return o
		}
		began := time.Now()
		o.answer = s.sendOnce(ctx, at, token, c)
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
		case o.isUnsure() && (c.isWrite() || c.method == http.MethodGet):
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
