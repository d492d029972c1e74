package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"loregate/internal/fault"
	"loregate/internal/wait"
)

// post sends a message once, or twice where the token it went with was refused. Of what
// comes back it hands on what the server says on the way, and gives the answer; nil where
// there was none.
func (r *relay) post(ctx context.Context, m *message) (answer []byte, err error) {
	stale := ""
	for {
		token, err := r.bearer(ctx, stale)
		if err != nil {
			return nil, err
		}
		res, err := r.request(ctx, http.MethodPost, m, token)
		if err != nil {
			return nil, unreachable(err)
		}
		if res.StatusCode == http.StatusUnauthorized && stale == "" {
			stale = token // it did nothing: any message may be sent again
			_ = res.Body.Close()
			continue
		}
		defer func() { _ = res.Body.Close() }() // it was only read
		return r.receive(res, m)
	}
}

// receive reads what came back.
func (r *relay) receive(res *http.Response, m *message) ([]byte, error) {
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		r.mu.Lock()
		r.session = id
		r.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // what cannot be read is no stream
	if kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		return r.events(res.Body, m)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil || len(body) > maxReply {
		return nil, unreachable(err)
	}
	if isMessage(body) {
		return body, nil
	}
	if res.StatusCode > 299 {
		return nil, (&reply{res.StatusCode, res.Header, body}).failure(isObject(body))
	}
	return nil, nil
}

func isMessage(body []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return isObject(body) && json.Unmarshal(body, &m) == nil && m.Version == "2.0"
}

// events reads a stream of messages, hands them on, and gives the one that answers m.
func (r *relay) events(body io.Reader, m *message) (answer []byte, err error) {
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 64<<10), maxReply)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimSpace(text)...)
			continue
		}
		if len(line) > 0 || len(data) == 0 {
			continue
		}
		if answers(data, m) {
			return data, nil
		}
		r.send(data)
		data = nil
	}
	if err := lines.Err(); err != nil {
		return nil, unreachable(err)
	}
	return nil, nil
}

// answers reports whether a message of the server is the answer to a call.
func answers(text []byte, m *message) bool {
	var got message
	return m.isCall() && json.Unmarshal(text, &got) == nil && got.Method == "" && bytes.Equal(got.ID, m.ID)
}

// follow hands on what the server sends unasked, in the older era, until the relay ends.
func (r *relay) follow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.following || r.session == "" {
		return
	}
	r.following = true
	r.work.Go(func() {
		for stale := ""; r.ctx.Err() == nil; {
			token, err := r.bearer(r.ctx, stale)
			if err == nil {
				var res *http.Response
				if res, err = r.request(r.ctx, http.MethodGet, &message{}, token); err == nil {
					switch {
					case res.StatusCode == http.StatusUnauthorized:
						stale = token
					case res.StatusCode == http.StatusOK:
						_, _ = r.events(res.Body, &message{}) // it is opened anew
					}
					_ = res.Body.Close()
					if res.StatusCode == http.StatusMethodNotAllowed || res.StatusCode == http.StatusNotFound {
						return
					}
				}
			}
			wait.For(r.ctx, time.Second)
		}
	})
}

// request makes one HTTP exchange. A message of the modern era travels with the headers that
// say what it holds; one of the older era with its session.
func (r *relay) request(ctx context.Context, method string, m *message, token string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.endpoint(), bytes.NewReader(m.text))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the call cannot be put into a request").Because(err)
	}
	h := req.Header
	h.Set("Authorization", "Bearer "+token)
	h.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		h.Set("Accept", "text/event-stream")
	}
	if method == http.MethodPost {
		h.Set("Content-Type", "application/json")
	}
	r.mu.Lock()
	session, version := r.session, r.version
	r.mu.Unlock()
	if m.Params.Meta.Version != "" {
		h.Set("Mcp-Protocol-Version", m.Params.Meta.Version)
		h.Set("Mcp-Method", m.Method)
		if name := m.Params.Name + m.Params.URI; name != "" && (m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read") {
			h.Set("Mcp-Name", headerText(name))
		}
		return r.stream.Do(req)
	}
	if session != "" {
		h.Set("Mcp-Session-Id", session)
	}
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	return r.stream.Do(req)
}

// headerText is a text as the protocol puts it into a header: as it is where it is plain,
// else in base64 with its marks.
func headerText(s string) string {
	plain := strings.TrimSpace(s) == s && !strings.HasPrefix(s, "=?base64?")
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
