package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// How often and how patiently a call is sent again.
const (
	maxTries  = 4
	firstWait = 200 * time.Millisecond // doubled each time
	maxWait   = 30 * time.Second       // a server that asks for more is told of to the caller
	maxReply  = 64 << 20               // bytes of an answer: an attachment as base64 and more
)

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a call until it is answered: once more with a new token after a 401, and
// where that is safe again when the server or the way to it fails for now.
func (e *Engine) send(ctx context.Context, c *call) (*reply, error) {
	wait, renewed, stale := firstWait, false, ""
	for try := 1; ; try++ {
		token, err := e.bearer(ctx, stale)
		if err != nil {
			return nil, err
		}
		r, err := e.once(ctx, c, token)
		if err == nil && r.status == http.StatusUnauthorized && !renewed {
			renewed, stale = true, token // it did nothing: any call may be sent again
			continue
		}
		pause, again := retry(r, err, wait)
		if !again || !c.again || try == maxTries || pause > maxWait || ctx.Err() != nil {
			return r, err
		}
		if err := e.cfg.Sleep(ctx, pause); err != nil {
			return nil, unreachable(err)
		}
		wait *= 2
	}
}

// retry says whether a failure may pass, and when to try again.
func retry(r *reply, err error, wait time.Duration) (time.Duration, bool) {
	if err != nil {
		return wait, true
	}
	if r.status != http.StatusTooManyRequests && r.status < 500 {
		return 0, false
	}
	if after, ok := retryAfter(r.header); ok {
		return after, true
	}
	return wait, true
}

func retryAfter(h http.Header) (time.Duration, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || n < 0 || n > 86_400 {
		return 0, false
	}
	return time.Duration(n) * time.Second, true
}

// once sends a call one time.
func (e *Engine) once(ctx context.Context, c *call, token string) (*reply, error) {
	header := map[string]string{"Authorization": "Bearer " + token}
	for name, value := range c.header {
		header[name] = value
	}
	return e.do(ctx, c.method, c.url, header, c.body)
}

// do makes one HTTP exchange.
func (e *Engine) do(ctx context.Context, method, address string, header map[string]string, body []byte) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the call cannot be put into a request").Because(err)
	}
	req.Header.Set("Accept", op.PlainJSON)
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err == nil && len(data) > maxReply {
		err = fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	if err != nil {
		return nil, unreachable(err)
	}
	return &reply{resp.StatusCode, resp.Header, data}, nil
}

// unreachable is the fault of a server that does not answer.
func unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return fault.New(fault.Unavailable, "the call was cancelled").Because(err)
	}
	f := fault.New(fault.Unavailable, "the server does not answer; check its address, or try again")
	f.RetryAfter = time.Second
	return f.Because(err)
}
