package benchtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	protocol2025 = "2025-06-18"
	protocol2026 = "2026-07-28"
	// clients is the number of concurrent calls in a closed loop.
	clients = 32
	round   = 2 * time.Second
)

// BenchmarkGetCard calls get_card and a bare echo tool of the same SDK in turns: first in a closed
// loop, then in an open loop at half the rate that get_card reached. The echo answers 1,000 bytes,
// as much as a card holds, or 64, and does nothing else.
func BenchmarkGetCard(b *testing.B) {
	requireBench(b)
	s := serve(b, worldFolder(b, 100_000))
	for _, era := range []string{protocol2025, protocol2026} {
		for _, size := range []int{1000, 64} {
			b.Run(fmt.Sprintf("%s/echo%dB", era, size), func(b *testing.B) {
				bare := httptest.NewServer(echo(era == protocol2026, strings.Repeat("x", size)))
				b.Cleanup(bare.Close)
				theirs := mcpTarget(b, bare.Listener.Addr().String(), "/", "none", era, "get_card",
					func(int64) string { return `{"name":"mill"}` })
				ours := mcpTarget(b, s.server.Listener.Addr().String(), "/mcp", s.token, era, "get_card", func(n int64) string {
					return fmt.Sprintf(`{"name":%q}`, cardName(s.p, int(n*7919%100_000)))
				})
				compare(b, theirs, ours)
			})
		}
	}
}

func compare(b *testing.B, theirs, ours *target) {
	m := medians{}
	for b.Loop() {
		echo, card := theirs.closedLoop(b, clients, round), ours.closedLoop(b, clients, round)
		idle := theirs.openLoop(b, 2*clients, card.rate()/2, round)
		steady := ours.openLoop(b, 2*clients, card.rate()/2, round)
		m.add("echo/s", echo.rate())
		m.add("card/s", card.rate())
		m.add("rate-ratio", card.rate()/echo.rate())
		m.add("echo-cpu-us", float64(echo.cpu.Microseconds())/float64(echo.calls))
		m.add("card-cpu-us", float64(card.cpu.Microseconds())/float64(card.calls))
		m.add("echo-p99-ms", ms(echo.at(99)))
		m.add("card-p99-ms", ms(card.at(99)))
		m.add("p99-ratio", ms(card.at(99))/ms(echo.at(99)))
		m.add("echo-open-p99-ms", ms(idle.at(99)))
		m.add("open-p50-ms", ms(steady.at(50)))
		m.add("open-p99-ms", ms(steady.at(99)))
	}
	m.report(b)
}

type echoIn struct {
	Name string `json:"name"`
}

type echoOut struct {
	Text string `json:"text"`
}

// echo is the smallest server of the SDK: one typed tool, plain JSON.
func echo(stateless bool, text string) http.Handler {
	srv := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	mcp.AddTool(srv, &mcp.Tool{Name: "get_card", Description: "Echo"},
		func(context.Context, *mcp.CallToolRequest, echoIn) (*mcp.CallToolResult, echoOut, error) {
			return nil, echoOut{text}, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv },
		&mcp.StreamableHTTPOptions{Stateless: stateless, JSONResponse: true})
}

// mcpTarget calls a tool. In protocol2025, all its calls share one session.
func mcpTarget(b *testing.B, addr, path, token, era, tool string, args func(n int64) string) *target {
	headers := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Authorization: Bearer " + token}
	meta := ""
	if era == protocol2026 {
		headers = append(headers, "Mcp-Protocol-Version: "+protocol2026, "Mcp-Method: tools/call", "Mcp-Name: "+tool)
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + protocol2026 +
			`","io.modelcontextprotocol/clientCapabilities":{}}`
	} else {
		headers = append(headers, "Mcp-Session-Id: "+handshake(b, "http://"+addr+path, token))
	}
	h := head("POST "+path, addr, headers...)
	return &target{addr: addr, call: func(c *client, n int64) error {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, n, tool,
			args(n), meta)
		status, answer, err := c.do(h, body)
		if err == nil && (status != http.StatusOK || !bytes.Contains(answer, []byte(`"structuredContent"`))) {
			err = fmt.Errorf("status %d: %.300s", status, answer)
		}
		return err
	}}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + protocol2025 +
	`","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// handshake starts a session and returns its id.
func handshake(b *testing.B, url, token string) (session string) {
	b.Helper()
	for _, body := range []string{hello, `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		r, err := http.NewRequestWithContext(b.Context(), "POST", url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		if err := res.Body.Close(); err != nil || res.StatusCode >= 300 {
			b.Fatal(res.Status, err)
		}
		if session == "" {
			session = res.Header.Get("Mcp-Session-Id")
		}
	}
	return session
}
