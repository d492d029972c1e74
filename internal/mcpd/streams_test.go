package mcpd_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"loregate/internal/access"
)

// One account's streams are bounded: the oldest is ended.
func TestListeningStreamsAreBounded(t *testing.T) {
	s := open(t)
	listen := func(n int) *bufio.Scanner {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["book://page/mill"]},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"`+modern+
			`","io.modelcontextprotocol/clientCapabilities":{}}}}`, n)
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.http.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Content-Type": "application/json",
			"Accept":        "application/json, text/event-stream",
			"Authorization": "Bearer user", "Mcp-Protocol-Version": modern, "Mcp-Method": "subscriptions/listen"} {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() && !strings.Contains(lines.Text(), "acknowledged") {
			continue
		}
		return lines
	}
	first := listen(1)
	for n := range access.MostStreams {
		listen(n + 2)
	}
	for first.Scan() {
		_ = first.Text() // until the stream ends
	}
}
