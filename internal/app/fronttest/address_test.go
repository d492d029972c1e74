package fronttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/waittest"
)

// clientFrom returns a client that connects from an address of this machine.
func clientFrom(t *testing.T, address string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	transport := &http.Transport{DialContext: d.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}

// holdSockets opens n connections from an address and sends nothing. It returns the connections
// that the server kept open.
func (s *stage) holdSockets(address string, n int) (kept []net.Conn) {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	for range n {
		c, err := d.Dial("tcp", s.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = c.Close() })
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		if line, _ := bufio.NewReader(c).ReadString('\n'); line == "" {
			kept = append(kept, c)
		} else if !strings.Contains(line, "503") {
			s.t.Fatalf("turned away with %q", line)
		}
	}
	return kept
}

func TestOneAddressCannotTakeAllSockets(t *testing.T) {
	s := open(t, func(c *app.Config) { c.Limits.Connections = 40 })
	kept := s.holdSockets("127.0.0.2", 60)
	if len(kept) != 16 {
		t.Errorf("one address holds %d of 40 sockets, want 16", len(kept))
	}
	if a, err := s.sendFrom(clientFrom(t, "127.0.0.1"), "GET", "/healthz", "", ""); err != nil ||
		a.status != http.StatusOK {
		t.Errorf("another address: %d %v", a.status, err)
	}
	for _, c := range kept {
		_ = c.Close()
	}
	apptest.Eventually(t, "closed sockets are given back", waittest.Patience, func() bool {
		a, err := s.sendFrom(clientFrom(t, "127.0.0.2"), "GET", "/healthz", "", "")
		return err == nil && a.status == http.StatusOK
	})
}

// Behind a proxy all connections come from the proxy. Open streams are then counted by the
// forwarded address.
func TestStreamsAreSharedByForwardedAddress(t *testing.T) {
	s := open(t, func(c *app.Config) { c.BehindProxy, c.KeyAsBearer, c.Limits.PerAddress = true, "yes", 3 })
	s.change(func(p *canon.Plan) error {
		_, err := p.Create(canon.NewCard{Name: "Gate", Type: "Location", Root: true})
		return err
	})
	key, _ := s.key(access.RoleGM)
	var made struct {
		Token  string
		Player struct{ ID string }
	}
	s.object("POST", "/api/players", key, `{"name":"Ada"}`, &made)
	stream := func(forwarded string) (*http.Response, int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", s.url+"/api/players/"+made.Player.ID+"/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+made.Token)
		if forwarded != "" {
			r.Header.Set("X-Forwarded-For", forwarded)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res, res.StatusCode
	}
	var last *http.Response
	for i, row := range []struct {
		forwarded string
		want      int
	}{
		{"2001:db8::1", 200}, {"2001:db8::2", 200}, {"203.0.113.9, 2001:db8::3", 200},
		{"2001:db8::4", 429}, {"2001:db8:0:1::1", 200}, {"203.0.113.9", 200}, {"", 200},
	} {
		res, got := stream(row.forwarded)
		if got != row.want {
			b, _ := io.ReadAll(io.LimitReader(res.Body, 500))
			t.Errorf("%d: a stream of %q: %d, want %d; %s", i, row.forwarded, got, row.want, b)
		}
		if i == 2 {
			last = res
		}
		if got == 429 && res.Header.Get("Retry-After") == "" {
			t.Error("it is not said when to try again")
		}
	}
	_ = last.Body.Close()
	apptest.Eventually(t, "an ended stream is given back", waittest.Patience, func() bool {
		_, got := stream("2001:db8::4")
		return got == 200
	})
}

// Wrong keys and tokens are limited by address, counted over all routes; a valid key from the same
// address is never refused because of them.
func TestWrongCredentialsAreLimitedByAddress(t *testing.T) {
	s := open(t, func(c *app.Config) { c.Limits.Calls, c.Limits.CallsBurst = -1, -1 })
	key, _ := s.key(access.RoleGM)
	guesser, neighbour := clientFrom(t, "127.0.0.2"), clientFrom(t, "127.0.0.3")
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	ways := []struct{ method, path, body string }{
		{"GET", "/api/mcp/types", ""}, {"POST", "/mcp", ping}, {"GET", "/api/mcp/types", ""},
	}
	ask := func(c *http.Client, bearer string, n int) answer {
		t.Helper()
		way := ways[n%len(ways)]
		a, err := s.sendFrom(c, way.method, way.path, bearer, way.body)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	statuses := map[int]int{}
	for n := range 30 {
		wrong := fmt.Sprintf("lg_%032d", n)
		if n%3 == 2 {
			wrong = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.e30.x" + wrong
		}
		a := ask(guesser, wrong, n)
		statuses[a.status]++
		if a.status == 429 && (a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "auth")) {
			t.Errorf("refused with %v %s", a.header, a.body)
		}
		if good := ask(guesser, key, n); good.status == 429 || good.status == 401 {
			t.Fatalf("a good key of the same address was refused after %d wrong ones: %d %s", n+1, good.status, good.body)
		}
	}
	if statuses[401] < 10 || statuses[401] > 11 || statuses[429] < 19 {
		t.Errorf("thirty wrong keys: %v, want ten 401 and twenty 429", statuses)
	}
	login, err := s.sendFrom(guesser, "POST", "/api/mcp/auth", "", `{"api_key":"`+key+`","role":"gm"}`)
	if err != nil || login.status != http.StatusCreated {
		t.Errorf("a good login of the same address: %d %s", login.status, login.body)
	}
	if wrong, err := s.sendFrom(guesser, "POST", "/api/mcp/auth", "", `{"api_key":"lg_x","role":"gm"}`); err != nil ||
		wrong.status != 429 {
		t.Errorf("a wrong login counts by itself: %d %v", wrong.status, err)
	}
	if a := ask(neighbour, "lg_"+strings.Repeat("b", 32), 0); a.status != http.StatusUnauthorized {
		t.Errorf("another address: %d %s", a.status, a.body)
	}
}
