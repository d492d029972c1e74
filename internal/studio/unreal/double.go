package unreal

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Exchange is one request and its reply, documented or recorded.
type Exchange struct {
	Verb string `json:"verb"`
	Path string `json:"path"`
	// the least content of a matching request; "*" matches any value, and a final * any ending
	Match  json.RawMessage `json:"match,omitempty"`
	Status int             `json:"status"`
	Answer json.RawMessage `json:"answer"`
	Source string          `json:"source"` // origin of the exchange
}

//go:embed exchanges.json
var documentedExchanges []byte

// Double answers requests from a list of exchanges, executes nothing, and refuses every other
// request.
type Double struct {
	exchanges []Exchange
	mu        sync.Mutex // guards asked
	asked     int
}

// NewDouble makes a double of the documented exchanges.
func NewDouble() (*Double, error) {
	d := &Double{}
	if err := json.Unmarshal(documentedExchanges, &d.exchanges); err != nil {
		return nil, fmt.Errorf("unreal: exchanges: %w", err)
	}
	return d, nil
}

// RoundTrip answers a request.
func (d *Double) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	d.asked++
	n := d.asked
	d.mu.Unlock()
	for _, e := range d.exchanges {
		if e.Verb == r.Method && e.Path == r.URL.Path && matchesBody(body, e.Match) {
			answer := bytes.ReplaceAll(e.Answer, []byte("#"), []byte(strconv.Itoa(n)))
			return newResponse(r, e.Status, answer), nil
		}
	}
	return newResponse(r, http.StatusNotFound,
		[]byte(`{"errorMessage":"the protocol double has no answer to this request"}`)), nil
}

func newResponse(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1,
		ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body))}
}

// matchesBody reports whether a body contains everything in a pattern.
func matchesBody(body, pattern []byte) bool {
	if len(pattern) == 0 {
		return true
	}
	var b, p any
	return json.Unmarshal(body, &b) == nil && json.Unmarshal(pattern, &p) == nil && matchesValue(b, p)
}

func matchesValue(b, p any) bool {
	switch p := p.(type) {
	case string:
		s, ok := b.(string)
		return p == "*" || ok && (s == p || strings.HasSuffix(p, "*") && strings.HasPrefix(s, strings.TrimSuffix(p, "*")))
	case map[string]any:
		m, ok := b.(map[string]any)
		if !ok {
			return false
		}
		for k, v := range p {
			if got, there := m[k]; !there || !matchesValue(got, v) {
				return false
			}
		}
		return true
	}
	return fmt.Sprint(b) == fmt.Sprint(p)
}

// Recorder passes requests on to an editor and writes each exchange as one JSON object per line, so
// that owners of an Unreal editor can report its real replies.
type Recorder struct {
	Next http.RoundTripper
	Out  io.Writer
	mu   sync.Mutex // guards Out
}

// RoundTrip passes a request on and records the exchange.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := r.Next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err = firstError(err, res.Body.Close()); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(answer))
	e := Exchange{Verb: req.Method, Path: req.URL.Path, Status: res.StatusCode, Source: "recorded"}
	if json.Valid(body) {
		e.Match = body
	}
	if json.Valid(answer) {
		e.Answer = answer
	}
	line, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.Out.Write(append(line, '\n'))
	return res, err
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
