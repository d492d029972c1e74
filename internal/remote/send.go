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
)

// Limits of repeated tries and of answers.
const (
	maxTries  = 4
	firstWait = 200 * time.Millisecond // doubled after each try
	maxWait   = 30 * time.Second       // if a server asks for a longer wait, the caller gets the error instead
	maxReply  = 64 << 20               // bytes of an answer: an attachment as base64 and more
)

// call is a request that needs no token.
type call struct {
	method, url string
	header      map[string]string
	body        []byte
}

// reply is the response to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// retryPause reports whether a failed call may succeed later, and how long to wait before the next
// try.
func retryPause(r *reply, err error, wait time.Duration) (time.Duration, bool) {
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

// doRequest makes one HTTP exchange.
func (e *Bridge) doRequest(ctx context.Context, method, address string, header map[string]string,
	body []byte) (*reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the call cannot be encoded as a request").Because(err)
	}
	req.Header.Set("Accept", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return nil, newUnreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // the body was only read
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err == nil && len(data) > maxReply {
		err = fmt.Errorf("the answer is longer than %d bytes", maxReply)
	}
	if err != nil {
		return nil, newUnreachable(err)
	}
	return &reply{resp.StatusCode, resp.Header, data}, nil
}

// newUnreachable returns the fault of a server that does not answer.
func newUnreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return fault.New(fault.Unavailable, "the call was cancelled").Because(err)
	}
	f := fault.New(fault.Unavailable, "the server does not respond; check its address, or try again")
	f.RetryAfter = time.Second
	return f.Because(err)
}
