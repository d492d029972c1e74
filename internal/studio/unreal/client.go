package unreal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loregate/internal/markup"
	"loregate/internal/studio"
)

// client speaks Remote Control, one request at a time: the editor handles requests on its game
// thread, where parallel ones would only wait.
type client struct {
	base string
	http *http.Client
	turn chan struct{}
}

// answerLimit bounds the size of a reply, in bytes.
const answerLimit = 32 << 20

// splitAddress returns the parts of an address: the server, and the path of Epic's MCP server if there is one.
func splitAddress(address string) (base, path string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" || strings.Count(u.Path, "/") > 1 {
		return "", "", fmt.Errorf("studio.unreal: %q is not an address like http://127.0.0.1:30010 or "+
			"http://127.0.0.1:8000/mcp", address)
	}
	return u.Scheme + "://" + u.Host, strings.TrimSuffix(u.Path, "/"), nil
}

func newClient(base string, transport http.RoundTripper) *client {
	return &client{base: base, turn: make(chan struct{}, 1), http: newHTTPClient(transport)}
}

// newHTTPClient makes a client that follows no redirects.
func newHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("unreal: redirects are not followed")
	}}
}

// plainTransport connects to an editor over one connection, without a proxy.
func plainTransport() http.RoundTripper {
	return &http.Transport{DialContext: (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		ResponseHeaderTimeout: 10 * time.Minute, MaxConnsPerHost: 1}
}

// sendRequest sends one request and decodes its reply into out. Its errors are failures.
func (c *client) sendRequest(ctx context.Context, method, path string, in, out any) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.turn }()
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return studio.Fail(studio.TargetGone,
			"no Unreal editor answers at studio.unreal; start it with the Remote Control API plugin enabled").Because(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, answerLimit))
	if err != nil {
		return studio.Fail(studio.TargetGone, "the Unreal editor stopped answering").Because(err)
	}
	return decodeAnswer(path, res.StatusCode, b, out)
}

// decodeAnswer decodes a reply into out, or returns a failure.
func decodeAnswer(path string, status int, b []byte, out any) error {
	if status/100 != 2 {
		var said struct {
			Message string `json:"errorMessage"`
		}
		_ = json.Unmarshal(b, &said) // a reply without a message has no further detail
		if status == http.StatusServiceUnavailable {
			return studio.Fail(studio.TargetGone, "the Unreal editor is busy; try again")
		}
		return studio.Fail(studio.ExecFailed, "the Unreal editor refused %s: %s", path,
			markup.Clip(said.Message, 200)).Because(fmt.Errorf("unreal: status %d", status))
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return studio.Fail(studio.ExecFailed, "the Unreal editor's answer to %s does not follow its documentation",
			path).Because(err)
	}
	return nil
}

// objectCall is a call of an object's function.
type objectCall struct {
	Object      string         `json:"objectPath"`
	Function    string         `json:"functionName"`
	Parameters  map[string]any `json:"parameters,omitempty"`
	Transaction bool           `json:"generateTransaction,omitempty"`
}

// route is one route that the editor serves.
type route struct {
	Path string `json:"path"`
	Verb string `json:"verb"`
}

// info is the editor's reply to /remote/info.
type info struct {
	Routes []route `json:"httpRoutes"`
}
