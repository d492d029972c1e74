package mcpd_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// bubbled is a stdio server on pipes in memory.
type bubbled struct {
	*stage
	in  *io.PipeWriter
	out *buffer
	end chan error
}

// serve starts a stdio server for a user; no surfaces means all.
func serve(t testing.TB, surfaces ...string) *bubbled {
	t.Helper()
	s := &stage{t: t, book: newBook(), started: make(chan struct{}, 1), stopped: make(chan error, 1),
		goOn: make(chan struct{})}
	all := s.surfaces()
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: all, Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpd.New(t.Context(), mcpd.Config{Engine: engine, Changes: s.book,
		Surfaces: []*op.Surface{&all[0], &all[1]}, Version: "1.2.3", Website: "https://example.test",
		Random: func(b []byte) { clear(b) }, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.server = server
	in, w := io.Pipe()
	b := &bubbled{stage: s, in: w, out: newBuffer(), end: make(chan error, 1)}
	c := caller("user", access.RoleUser)
	c.Unlimited = true
	go func() { b.end <- mcpd.ServeLines(server, t.Context(), c, surfaces, in, b.out) }()
	t.Cleanup(func() { _ = w.Close(); server.Close() })
	return b
}

func bubble(t *testing.T) *bubbled {
	b := serve(t)
	t.Cleanup(func() { b.finish() })
	return b
}

func (b *bubbled) say(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(b.in, l+"\n"); err != nil {
			b.t.Fatal(err)
		}
	}
}

// finish ends the input and waits for the server.
func (b *bubbled) finish() string {
	b.t.Helper()
	if err := b.in.Close(); err != nil {
		b.t.Fatal(err)
	}
	if err := <-b.end; err != nil {
		b.t.Error(err)
	}
	b.end <- nil
	return b.out.String()
}

func (b *bubbled) heard(what string) int { return strings.Count(b.out.String(), what) }

func call(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id,
		tool, args)
}

func TestStdioAnswersCallsReadBeforeTheEnd(t *testing.T) { eachWait(t, answersBeforeTheEnd) }

func answersBeforeTheEnd(t *testing.T, tool string) {
	b := serve(t)
	b.say(initialize)
	b.out.wait(1)
	b.say(call(2, tool, "{}"))
	<-b.started
	if err := b.in.Close(); err != nil {
		t.Fatal(err)
	}
	close(b.goOn)
	if err := <-b.end; err != nil {
		t.Fatal(err)
	}
	wantContains(t, b.out.String(), `"id":2`, `{"text":"done"}`)
}

func TestStdioSkipsInvalidMessages(t *testing.T) {
	b := serve(t)
	b.say(initialize, `{"jsonrpc":`, `[]`, `{"id":1}`, `{"jsonrpc":"2.0","id":3,"id":4,"method":"ping"}`, "",
		`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	out := b.finish()
	wantContains(t, out, `"code":-32700`, `"code":-32600`, `{"jsonrpc":"2.0","id":9,"result":{}}`)
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestStdioOffersOnlyItsSurfaces(t *testing.T) {
	b := serve(t, "world")
	b.say(initialize, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, call(3, "get_page", `{"name":"mill"}`),
		call(4, "walk", `{"name":"mill"}`))
	out := b.finish()
	if strings.Contains(out, `"name":"get_page"`) {
		t.Errorf("a tool of another surface is listed: %s", out)
	}
	wantContains(t, out, `"name":"walk"`, `unknown tool \"get_page\"`, "A mill by the river.")
	if err := (&mcpd.Server{}).ServeStdio(t.Context(), access.Caller{}, []string{"nowhere"}, nil, nil); err == nil {
		t.Error("an unknown surface is served")
	}
}

func TestStdioCancelsACall(t *testing.T) {
	eachWait(t, func(t *testing.T, tool string) {
		b := serve(t)
		b.say(initialize)
		b.out.wait(1)
		b.say(strings.Replace(call(2, tool, "{}"), `"id":2`, `"id":"a call"`, 1))
		<-b.started
		b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a call"}}`)
		<-b.stopped
		b.out.wait(2)
		wantContains(t, b.finish(), `"id":"a call"`, "the call was cancelled")
	})
}

// When the client has gone, the server ends, on both routes.
func TestStdioEndsWhenClientStopsReading(t *testing.T) {
	eachWait(t, func(t *testing.T, tool string) {
		s := open(t)
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- mcpd.ServeLines(s.server, t.Context(), caller("user", access.RoleUser), nil, in, out)
		}()
		_, _ = io.WriteString(toServer, initialize+"\n")
		_, _ = bufio.NewReader(fromServer).ReadString('\n')
		_, _ = io.WriteString(toServer, call(2, tool, "{}")+"\n")
		<-s.started
		_ = fromServer.Close()
		close(s.goOn)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// ends waits for a server on a real pipe that stays open.
func ends(t *testing.T, how func(cancel func())) {
	eachWait(t, func(t *testing.T, tool string) { endsWhile(t, tool, how) })
}

func endsWhile(t *testing.T, tool string, how func(cancel func())) {
	b := serve(t)
	in, keep, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keep.Close(); _ = in.Close() }()
	surfaces := b.surfaces()
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: surfaces, Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	server, err := mcpd.New(t.Context(), mcpd.Config{Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done, out := make(chan error, 1), newBuffer()
	go func() { done <- server.ServeStdio(ctx, caller("user", access.RoleUser), nil, in, out) }()
	if _, err := io.WriteString(keep, initialize+"\n"); err != nil {
		t.Fatal(err)
	}
	out.wait(1)
	if _, err := io.WriteString(keep, call(2, tool, "{}")+"\n"); err != nil {
		t.Fatal(err)
	}
	<-b.started
	how(cancel)
	if err := <-done; err != nil {
		t.Error(err)
	}
	<-b.stopped
}

func TestStdioEndsWithItsContext(t *testing.T) { ends(t, func(cancel func()) { cancel() }) }

func TestStdioEndsWithASignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ends(t, func(func()) {
			if err := syscall.Kill(os.Getpid(), sig); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStdioWithARealClient speaks both eras over real pipes.
func TestStdioWithARealClient(t *testing.T) {
	eachEra(t, func(t *testing.T, era string) {
		s := open(t)
		fromClient, toServer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fromServer, toClient, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			done <- s.server.ServeStdio(t.Context(), caller("user", access.RoleUser), nil, fromClient, toClient)
			_ = toClient.Close()
		}()
		l := newListener(t, era)
		l.ClientSession, err = l.client().Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer},
			&mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.InitializeResult().ProtocolVersion; got != era {
			t.Errorf("negotiated %s", got)
		}
		res, err := l.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_page", Arguments: map[string]any{"name": "mill"}})
		if err != nil || res.IsError {
			t.Fatal(err, res)
		}
		l.follow(mill)
		s.book.write("mill", access.LevelUser, "Burnt.")
		l.hears(mill)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestTranscripts compares the protocol with its transcripts: each file holds a client's messages
// and the answers to them.
func TestTranscripts(t *testing.T) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern +
		`","io.modelcontextprotocol/clientCapabilities":{}}`
	request := func(id int, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
	}
	rows := map[string][]string{
		"initialize": {initialize, `{"jsonrpc":"2.0","id":2,"method":"ping"}`,
			request(3, "tools/list", ""), request(4, "resources/list", ""), request(5, "resources/templates/list", ""),
			request(6, "prompts/list", ""),
			call(7, "get_page", `{"name":"mill"}`), call(8, "get_page", `{"name":"crypt"}`),
			call(9, "whisper", `{"name":"crypt"}`),
			request(10, "resources/read", `"uri":"book://page/mill"`),
			request(11, "resources/read", `"uri":"book://page/crypt"`),
			request(12, "prompts/get", `"name":"summarize","arguments":{"name":"mill"}`),
			request(13, "completion/complete",
				`"ref":{"type":"ref/resource","uri":"book://page/{name}"},"argument":{"name":"name","value":"m"}`),
			request(14, "resources/subscribe", `"uri":"book://page/crypt"`),
			request(15, "resources/unsubscribe", `"uri":"book://page/crypt"`),
			request(16, "logging/setLevel", `"level":"info"`), request(17, "none/such", "")},
		"discover": {request(1, "server/discover", meta), request(2, "tools/list", meta),
			request(3, "tools/call", `"name":"get_page","arguments":{"name":"mill"},`+meta),
			request(4, "tools/call", `"name":"get_page","arguments":{},`+meta),
			request(5, "tools/call", `"name":"whisper","arguments":{"name":"crypt"},`+meta),
			request(6, "resources/read", `"uri":"book://page/mill",`+meta), request(7, "resources/list", meta),
			request(8, "prompts/get", `"name":"nope",`+meta),
			request(9, "resources/subscribe", `"uri":"book://page/mill",`+meta)},
	}
	for name, lines := range rows {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			b := serve(t)
			for n, line := range lines {
				fmt.Fprintf(&got, "> %s\n", line)
				before := b.out.String()
				b.say(line)
				b.out.wait(n + 1)
				fmt.Fprintf(&got, "< %s", strings.TrimPrefix(b.out.String(), before))
			}
			b.finish()
			golden(t, name+".txt", got.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; with -update it becomes\n%s", path, got)
	}
}
