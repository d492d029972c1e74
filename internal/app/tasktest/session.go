package tasktest

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// meteredTransport sends a key, unless it is "", and counts the bytes of bodies in both directions.
type meteredTransport struct {
	key   string
	bytes atomic.Int64
}

func (m *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if m.key != "" {
		r.Header.Set("Authorization", "Bearer "+m.key)
	}
	m.bytes.Add(max(r.ContentLength, 0))
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		res.Body = &meteredBody{res.Body, &m.bytes}
	}
	return res, err
}

type meteredBody struct {
	io.ReadCloser
	bytes *atomic.Int64
}

func (m *meteredBody) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	m.bytes.Add(int64(n))
	return n, err
}

// Session is a connection to an MCP server, whose bytes are counted.
type Session struct {
	Tools  []Tool
	Listed int64 // bytes up to the end of the list of tools

	client *mcp.ClientSession
	wire   *meteredTransport
}

// Connect connects to an address of a world with one of its keys, and lists the tools.
func (w *World) Connect(t testing.TB, path, key string) *Session {
	t.Helper()
	wire := &meteredTransport{key: w.Keys[key]}
	return connect(t, wire, &mcp.StreamableClientTransport{Endpoint: w.URL + path, MaxRetries: -1,
		DisableStandaloneSSE: true, HTTPClient: &http.Client{Transport: wire}})
}

// ConnectBy connects by a program that speaks MCP over its standard input and output, and reaches the
// world through the meter.
func ConnectBy(t testing.TB, m *Meter, program *exec.Cmd) *Session {
	t.Helper()
	return connect(t, m.wire, &mcp.CommandTransport{Command: program})
}

func connect(t testing.TB, wire *meteredTransport, over mcp.Transport) *Session {
	t.Helper()
	s := &Session{wire: wire}
	var err error
	s.client, err = mcp.NewClient(&mcp.Implementation{Name: "picker", Version: "1"}, nil).Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.client.Close() }) // a program that does not end is killed
	if s.Tools, err = listTools(t, s.client); err != nil {
		t.Fatal(err)
	}
	s.Listed = s.wire.bytes.Load()
	return s
}

// Meter is a proxy before a world that counts the bytes of bodies in both directions.
type Meter struct {
	URL  string
	wire *meteredTransport
}

// Meter puts a proxy before a world until the end of the test.
func (w *World) Meter(t testing.TB) *Meter {
	t.Helper()
	target, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	m := &Meter{wire: &meteredTransport{}}
	server := httptest.NewServer(&httputil.ReverseProxy{Transport: m.wire, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: log.New(io.Discard, "", 0)})
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// Bytes returns the bytes so far.
func (m *Meter) Bytes() int64 { return m.wire.bytes.Load() }

func listTools(t testing.TB, client *mcp.ClientSession) (list []Tool, err error) {
	for tool, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			return nil, err
		}
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			return nil, err
		}
		reads := tool.Annotations != nil && tool.Annotations.ReadOnlyHint
		list = append(list, Tool{tool.Name, tool.Description, schema, reads})
	}
	return list, nil
}

// Worked returns the bytes since the list of tools.
func (s *Session) Worked() int64 { return s.wire.bytes.Load() - s.Listed }

// Call calls a tool, as a Do.
func (s *Session) Call(t testing.TB, tool string, arguments map[string]any) (answer string, failed bool) {
	r, err := s.client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error(), true
	}
	return textOf(r), r.IsError
}

// textOf returns the texts of a result.
func textOf(r *mcp.CallToolResult) (text string) {
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			text += c.Text + "\n"
		}
	}
	return text
}
