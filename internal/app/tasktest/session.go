package tasktest

import (
	"encoding/json"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// meteredTransport sends a key, and counts the bytes of bodies in both directions.
type meteredTransport struct {
	key   string
	bytes atomic.Int64
}

func (m *meteredTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+m.key)
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
	s := &Session{wire: &meteredTransport{key: w.Keys[key]}}
	var err error
	s.client, err = mcp.NewClient(&mcp.Implementation{Name: "picker", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: w.URL + path, MaxRetries: -1, DisableStandaloneSSE: true,
			HTTPClient: &http.Client{Transport: s.wire}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Tools, err = listTools(t, s.client); err != nil {
		t.Fatal(err)
	}
	s.Listed = s.wire.bytes.Load()
	return s
}

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
