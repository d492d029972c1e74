package boundstest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/wait"
)

// connections returns how many connections an attack opens: with BOUNDS as many as one address may have.
func connections() int {
	if os.Getenv("BOUNDS") == "" {
		return 40
	}
	return 500
}

// half is a request that is sent in half: its head, and half of the bytes that it announces.
type half struct {
	head string // lines without the announced length
	text string // beginning of the body
	size int64  // announced
}

func (h half) bytes(fill []byte) io.Reader {
	head := fmt.Sprintf("%s\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", h.head, h.size, h.text)
	body := io.LimitReader(&endless{fill}, h.size/2)
	return io.MultiReader(strings.NewReader(head), body)
}

// endless repeats bytes.
type endless struct{ fill []byte }

func (e *endless) Read(p []byte) (int, error) { return copy(p, e.fill), nil }

// ends counts the connections of an attack by their end.
type ends struct{ answered, cut atomic.Int64 }

// flood opens connections at once, sends a request on each, and waits until the server has answered or
// ended them all.
func (p *program) flood(n int, request func(i int) io.Reader) *ends {
	p.t.Helper()
	var all sync.WaitGroup
	e := new(ends)
	for i := range n {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.host())
			if err != nil {
				e.cut.Add(1)
				return
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * maxWait))
			go func() { _, _ = io.Copy(conn, request(i)) }() // ends with the connection
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
					p.t.Errorf("a connection that sends half a request is open after %s", 2*maxWait)
				}
				e.cut.Add(1)
				return
			}
			_ = res.Body.Close()
			e.answered.Add(1)
		})
	}
	all.Wait()
	return e
}

// whileServing makes calls of others while an attack runs: each must be served.
func (p *program) whileServing(attack func()) {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.t.Context())
	var all sync.WaitGroup
	served := 0
	all.Go(func() {
		client := http.Client{Timeout: maxWait}
		tick := time.NewTicker(1500 * time.Millisecond) // within the limits of a caller
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := p.callAsOther(&client, served); err != nil {
				p.t.Errorf("another caller was not served: %v", err)
			}
			served++
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	attack()
	stop()
	all.Wait()
	p.t.Logf("%d calls of others were served meanwhile", served)
}

// callAsOther reads a list as the admin, or writes a card.
func (p *program) callAsOther(client *http.Client, n int) error {
	method, body := http.MethodGet, ""
	if n%4 == 3 {
		method, body = http.MethodPost, fmt.Sprintf(`{"name": "Note %d of %p", "content": "Some words."}`, n, client)
	}
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/api/mcp/cards", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+p.admin)
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode > 299 {
		text, _ := io.ReadAll(res.Body) // the status tells enough
		return fmt.Errorf("%s: %s", res.Status, text)
	}
	return nil
}

// One caller's half-sent bodies of every kind are bounded and ended, and others are served. With BOUNDS each kind is
// an attack of its own; the server takes half a minute to end one.
func TestBoundsOfHalfSentBodies(t *testing.T) {
	fill := bytes.Repeat([]byte("Half of this is never sent. "), 2400)
	base64 := bytes.Repeat([]byte("SGFs"), 16<<10)
	onEachStore(t, func(t *testing.T, p *program) {
		session := p.signIn(p.gm)
		form := func(path string) half {
			return half{"POST " + path + " HTTP/1.1\r\nCookie: " + session + "\r\nOrigin: http://localhost\r\n" +
				"Content-Type: multipart/form-data; boundary=b",
				"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n\r\n", 60 << 20}
		}
		shapes := []struct {
			name string
			half half
			fill []byte
		}{
			{"uploads", half{"POST /api/mcp/cards/Map/file HTTP/1.1\r\nContent-Type: image/png\r\nAuthorization: Bearer " +
				p.player, "", 20 << 20}, fill},
			{"uploads in JSON", half{"POST /api/mcp/cards/Map/file HTTP/1.1\r\nContent-Type: application/json\r\n" +
				"Authorization: Bearer " + p.player, `{"data": "`, 30 << 20}, base64},
			{"cards", half{"POST /api/mcp/cards HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer " +
				p.player, `{"content": "`, 4 << 20}, fill},
			{"messages of MCP", half{"POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, " +
				"text/event-stream\r\nAuthorization: Bearer " + p.player, `{"jsonrpc": "`, 4 << 20}, fill},
			{"imports", half{"POST /api/imports HTTP/1.1\r\nContent-Type: application/zip\r\nAuthorization: Bearer " +
				p.gm, "", 60 << 20}, fill},
			{"pictures on pages", form("/attach/main"), fill},
			{"imports on pages", form("/import/main"), fill},
			{"forms on pages", half{"POST /new/main HTTP/1.1\r\nCookie: " + session + "\r\nOrigin: http://localhost\r\n" +
				"Content-Type: application/x-www-form-urlencoded", "name=", 4 << 20}, fill},
			{"keys of nobody", half{"POST /api/mcp/auth HTTP/1.1\r\nContent-Type: application/json", `{"api_key": "`, 16 << 10},
				fill},
			{"forms of nobody", half{"POST /sign-in HTTP/1.1\r\nOrigin: http://localhost\r\n" +
				"Content-Type: application/x-www-form-urlencoded", "secret=", 4 << 20}, fill},
			{"clients of nobody", half{"POST /oauth/register HTTP/1.1\r\nContent-Type: application/json", `{"client_name": "`,
				16 << 10}, fill},
		}
		heads := func() io.Reader {
			return io.MultiReader(strings.NewReader("GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: "),
				bytes.NewReader(fill[:60<<10]))
		}
		attack := func(name string, request func(int) io.Reader) {
			p.attack(fmt.Sprintf("%d half-sent %s", connections(), name), func() {
				p.whileServing(func() { p.flood(connections(), request) })
			})
		}
		if os.Getenv("BOUNDS") == "" {
			attack("requests of all kinds", func(i int) io.Reader {
				if i %= len(shapes) + 1; i < len(shapes) {
					return shapes[i].half.bytes(shapes[i].fill)
				}
				return heads()
			})
			return
		}
		for _, a := range shapes {
			attack(a.name, func(int) io.Reader { return a.half.bytes(a.fill) })
		}
		attack("heads", func(int) io.Reader { return heads() })
	})
}

// Many callers together are bounded too.
func TestBoundsOfManyCallers(t *testing.T) {
	programtest.Long(t)
	if os.Getenv("BOUNDS") == "" {
		t.Skip("twenty keys take long to create; make proof does so")
	}
	const callers, each = 20, 30
	fill := bytes.Repeat([]byte("Half of this is never sent. "), 2400)
	onEachStore(t, func(t *testing.T, p *program) {
		keys := make([]string, callers)
		for i := range keys {
			keys[i], _, _ = strings.Cut(p.run(p.env, "key", "create", fmt.Sprintf("caller-%d", i), "--role", "user"), "\t")
		}
		for name, h := range map[string]half{
			"uploads": {"POST /api/mcp/cards/Map/file HTTP/1.1\r\nContent-Type: image/png", "", 20 << 20},
			"cards":   {"POST /api/mcp/cards HTTP/1.1\r\nContent-Type: application/json", `{"content": "`, 4 << 20},
		} {
			p.attack(fmt.Sprintf("%d callers with %d half-sent %s each", callers, each, name), func() {
				p.whileServing(func() {
					p.flood(callers*each*4/5, func(i int) io.Reader {
						h := h
						h.head += "\r\nAuthorization: Bearer " + keys[i%callers]
						return h.bytes(fill)
					})
				})
			})
		}
	})
}

// signIn opens a session on the pages and returns its cookie.
func (p *program) signIn(key string) string {
	p.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.PostForm(p.url+"/sign-in", url.Values{"secret": {key}})
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	for _, c := range res.Cookies() {
		return c.Name + "=" + c.Value
	}
	p.t.Fatalf("no session: %s", res.Status)
	return ""
}

// Clients that request a large answer and do not read it are bounded and ended.
func TestBoundsOfSlowReaders(t *testing.T) {
	programtest.Long(t)
	onEachStore(t, func(t *testing.T, p *program) {
		file := bytes.Repeat([]byte("A large file. "), 20<<20/14)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/mcp/cards/Large/file",
			bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.gm)
		r.Header.Set("Content-Type", "application/octet-stream")
		var answer []byte
		p.attack("one file of 20 MiB", func() {
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ = io.ReadAll(res.Body) // shown if it fails
			if err := res.Body.Close(); err != nil || res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
				t.Fatalf("%s: %s", res.Status, answer)
			}
		})
		p.attack(fmt.Sprintf("%d readers of 20 MiB who do not read", connections()), func() {
			p.whileServing(func() { p.askWithoutReading(connections(), "/api/mcp/cards/Large/file") })
		})
		if status, answer := apptest.Send(t, "GET", p.url+"/api/mcp/cards?limit=1", p.gm, ""); status != http.StatusOK {
			t.Errorf("%d: %s", status, answer)
		}
	})
}

// askWithoutReading requests a path on many connections as the player, reads nothing, and waits until the server has
// ended them.
func (p *program) askWithoutReading(n int, path string) {
	p.t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.host())
			if err != nil {
				return
			}
			defer conn.Close()
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			_ = conn.SetDeadline(time.Now().Add(2 * maxWait))
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, p.player)
			p.waitForEnd(conn)
		})
	}
	all.Wait()
}

// waitForEnd waits until the server has ended a connection. Nothing is read before, so that its buffers stay full.
func (p *program) waitForEnd(conn net.Conn) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	for more := true; more; more = wait.For(ctx, 500*time.Millisecond) {
		if _, err := conn.Write([]byte("\r\n")); err != nil {
			return
		}
	}
	if _, err := io.Copy(io.Discard, conn); err == nil {
		return // the server sent the rest of the answer, and closed
	}
}
