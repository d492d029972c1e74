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

// postMessage sends a message once, or twice if its token was refused. It relays the other messages
// of the response to the client, and returns the answer; nil if there was no answer.
func (r *relay) postMessage(ctx context.Context, m *message) (answer []byte, err error) {
	stale := ""
	for {
		token, err := r.currentToken(ctx, stale)
		if err != nil {
			return nil, err
		}
		res, err := r.doMessage(ctx, http.MethodPost, m, token)
		if err != nil {
			return nil, newUnreachable(err)
		}
		if res.StatusCode == http.StatusUnauthorized && stale == "" {
			stale = token // a 401 has no effect: any message may be sent again
			_ = res.Body.Close()
			continue
		}
		defer func() { _ = res.Body.Close() }() // the body was only read
		return r.readResponse(res, m)
	}
}

// readResponse reads a response and returns the answer in it.
func (r *relay) readResponse(res *http.Response, m *message) ([]byte, error) {
	if id := res.Header.Get("Mcp-Session-Id"); id != "" {
		r.mu.Lock()
		r.session = id
		r.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // an unreadable type is not a stream
	if kind == "text/event-stream" && res.StatusCode == http.StatusOK {
		return r.relayEvents(res.Body, m)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply+1))
	if err != nil || len(body) > maxReply {
		return nil, newUnreachable(err)
	}
	if isMessage(body) {
		return body, nil
	}
	if res.StatusCode > 299 {
		return nil, (&reply{res.StatusCode, res.Header, body}).toFault(isObject(body))
	}
	return nil, nil
}

func isMessage(body []byte) bool {
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return isObject(body) && json.Unmarshal(body, &m) == nil && m.Version == "2.0"
}

// relayEvents reads a stream of messages, relays them to the client, and returns the one that
// answers m.
func (r *relay) relayEvents(body io.Reader, m *message) (answer []byte, err error) {
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
		if isAnswer(data, m) {
			return data, nil
		}
		r.writeMessage(data)
		data = nil
	}
	if err := lines.Err(); err != nil {
		return nil, newUnreachable(err)
	}
	return nil, nil
}

// isAnswer reports whether a message of the server is the answer to a call.
func isAnswer(text []byte, m *message) bool {
	var got message
	return m.isCall() && json.Unmarshal(text, &got) == nil && got.Method == "" && bytes.Equal(got.ID, m.ID)
}

// followServer relays the server's unsolicited messages, in the older era, until the relay ends.
func (r *relay) followServer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.following || r.session == "" {
		return
	}
	r.following = true
	r.work.Go(func() {
		for stale := ""; r.ctx.Err() == nil; {
			token, err := r.currentToken(r.ctx, stale)
			if err == nil {
				var res *http.Response
				if res, err = r.doMessage(r.ctx, http.MethodGet, &message{}, token); err == nil {
					switch {
					case res.StatusCode == http.StatusUnauthorized:
						stale = token
					case res.StatusCode == http.StatusOK:
						_, _ = r.relayEvents(res.Body, &message{}) // the loop opens it again
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

// doMessage makes one HTTP exchange. A message of the modern era is sent with headers that describe
// it; one of the older era with its session.
func (r *relay) doMessage(ctx context.Context, method string, m *message, token string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.endpointURL(), bytes.NewReader(m.text))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the call cannot be encoded as a request").Because(err)
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
		if name := m.Params.Name + m.Params.URI; name != "" &&
			(m.Method == "tools/call" || m.Method == "prompts/get" || m.Method == "resources/read") {
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

// headerText encodes a text for a header as the protocol requires: unchanged if it is printable
// ASCII, else in base64 with markers.
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
