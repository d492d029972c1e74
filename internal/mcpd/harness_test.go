package mcpd_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// book is a canon of named texts, each with a level.
type book struct {
	mu      sync.Mutex
	pages   map[string]page
	changed chan struct{}
}

type page struct {
	level access.Level
	text  string
}

func newBook() *book {
	return &book{pages: map[string]page{
		"mill":  {access.LevelUser, "A mill by the river."},
		"crypt": {access.LevelGM, "Under the mill."},
	}, changed: make(chan struct{})}
}

func (b *book) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

func (b *book) write(name string, level access.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[name] = page{level, text}
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *book) read(v access.View, name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, ok := b.pages[name]; ok && v.Sees(access.Label{Level: p.level}) {
		return p.text, nil
	}
	return "", fault.New(fault.NotFound, "no page %q", name)
}

// The operations of the tests.
type (
	nothingIn struct{}
	nameIn    struct {
		Name string `json:"name" jsonschema:"Name of a page"`
	}
	textOut struct {
		Text string `json:"text"`
	}
	longIn struct {
		Offset int `json:"offset,omitzero" jsonschema:"Where to begin"`
	}
)

type longOut struct {
	Text string `json:"text"`
	from int
}

func (l longOut) Cut(budget int) (any, map[string]any, bool) {
	if len(l.Text) <= budget {
		return nil, nil, false
	}
	return longOut{Text: l.Text[:budget]}, map[string]any{"offset": l.from + budget}, true
}

const longText = 100_000

// stage is a served book.
type stage struct {
	t       testing.TB
	book    *book
	auth    *doors
	server  *mcpd.Server
	http    *httptest.Server
	started chan struct{} // the tool slow has started
	stopped chan error    // the tool slow was cancelled, with the reason
	goOn    chan struct{} // lets the tool slow end
}

func (s *stage) surfaces() []op.Surface {
	archive, world := []string{"archive"}, []string{"world"}
	text := func(_ context.Context, c *op.Call, in nameIn) (textOut, error) {
		t, err := s.book.read(c.Grant.View(), in.Name)
		return textOut{t}, err
	}
	spec := func(name, doc string, effect access.Effect, least access.Role) op.Spec {
		return op.Spec{Name: name, Title: name, Doc: doc, Surfaces: archive, Effect: effect, MinRole: least}
	}
	waits := spec("slow", "Use it to wait.", access.Write, access.RoleUser)
	waits.Interactive = true
	slow := op.Define(waits, s.slow)
	walk := spec("walk", "Use it to walk.", access.Read, access.RoleUser)
	walk.Surfaces = world
	drop := spec("drop_page", "Use it to destroy a page.", access.Destroy, access.RoleAdmin)
	hidden := spec("rest_only", "Not for MCP.", access.Read, access.RoleUser)
	hidden.NoTool = true
	idle := spec("touch", "Use it to touch a page.", access.Write, access.RoleUser)
	idle.Idempotent = true
	return []op.Surface{{
		Name: "archive", Title: "Archive", Doc: "the wiki of cards: what is written about anything",
		Operations: []*op.Operation{
			op.Define(spec("get_page", "Use it to read a page.", access.Read, access.RoleUser), text),
			op.Define(spec("whisper", "Use it to read what only the game master knows.", access.Read, access.RoleGM), text),
			op.Define(drop, text), op.Define(hidden, text), op.Define(idle, text), slow,
			op.Define(spec("linger", "Use it to wait in silence.", access.Write, access.RoleUser), s.slow),
			op.Define(spec("long_page", "Use it to read much.", access.Read, access.RoleUser),
				func(_ context.Context, _ *op.Call, in longIn) (longOut, error) {
					return longOut{strings.Repeat("x", longText-in.Offset), in.Offset}, nil
				}),
			op.Define(spec("boom", "Use it to fail.", access.Read, access.RoleUser),
				func(context.Context, *op.Call, nothingIn) (textOut, error) {
					panic("boom: a secret detail")
				}),
		},
		Resources: []*op.Resource{{
			Template: "book://page/{name}", Name: "page", Title: "Page", Doc: "A page of the book", MIME: "text/plain",
			Surfaces: archive, MinRole: access.RoleUser, Read: s.readPage, List: s.listPages,
			Complete: func(_ context.Context, c *op.Call, _, prefix string) ([]string, error) {
				var names []string
				for _, n := range []string{"crypt", "mill"} {
					if _, err := s.book.read(c.Grant.View(), n); err == nil && strings.HasPrefix(n, prefix) {
						names = append(names, n)
					}
				}
				return names, nil
			},
		}},
		Prompts: []*op.Prompt{{
			Name: "summarize", Title: "Summarise", Doc: "Summarise a page", Surfaces: archive, MinRole: access.RoleUser,
			Args: []op.PromptArg{{Name: "name", Doc: "of the page", Required: true}},
			Render: func(_ context.Context, _ *op.Call, a map[string]string) (string, error) {
				return "Summarise " + a["name"], nil
			},
		}},
	}, {
		Name: "world", Title: "World", Doc: "places and ways between them",
		Operations: []*op.Operation{op.Define(walk, text)},
	}}
}

func (s *stage) slow(ctx context.Context, c *op.Call, _ nothingIn) (textOut, error) {
	c.Progress(1, 2, "half")
	s.started <- struct{}{}
	select {
	case <-s.goOn:
		return textOut{"done"}, nil
	case <-ctx.Done():
		s.stopped <- context.Cause(ctx)
		return textOut{}, ctx.Err()
	}
}

func (s *stage) readPage(_ context.Context, c *op.Call, vars map[string]string) (op.Content, error) {
	text, err := s.book.read(c.Grant.View(), vars["name"])
	return op.Content{Text: text, Modified: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, err
}

func (s *stage) listPages(_ context.Context, c *op.Call) ([]op.Listed, error) {
	var all []op.Listed
	for _, n := range []string{"crypt", "mill"} {
		if t, err := s.book.read(c.Grant.View(), n); err == nil {
			all = append(all, op.Listed{URI: "book://page/" + n, Name: n, Size: int64(len(t))})
		}
	}
	return all, nil
}

// oneWorld is the only world.
type oneWorld struct{}

var theWorld = access.WorldID{1}

func (oneWorld) Resolve(_ context.Context, _ access.Caller, name string) (access.WorldID, error) {
	if name == "main" {
		return theWorld, nil
	}
	return access.WorldID{}, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
}

func (oneWorld) Names(context.Context, access.Caller) ([]string, error) { return []string{"main"}, nil }

// doors is an Authenticator: tokens are names of roles and can be revoked.
type doors struct {
	mu      sync.Mutex
	callers map[string]access.Caller // by token
	watches map[string][]chan struct{}
	down    error
}

func newDoors() *doors {
	d := &doors{callers: map[string]access.Caller{}, watches: map[string][]chan struct{}{}}
	for token, role := range map[string]access.Role{"user": access.RoleUser, "other": access.RoleUser, "gm": access.RoleGM,
		"admin": access.RoleAdmin} {
		d.callers[token] = caller(token, role)
	}
	return d
}

func caller(name string, role access.Role) access.Caller {
	return access.Caller{Subject: access.Subject(name), Key: "key-" + name, Actor: access.AI,
		Roles: map[access.WorldID]access.Role{theWorld: role}}
}

func (d *doors) Authenticate(_ context.Context, r *http.Request) (access.Caller, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.callers[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	switch {
	case d.down != nil:
		return c, d.down
	case !ok:
		return c, fault.New(fault.Unauthorized, "these credentials are not valid")
	}
	return c, nil
}

func (d *doors) Challenge(_ *http.Request, err error) string {
	if fault.KindOf(err) == fault.Denied {
		return `Bearer error="insufficient_scope", scope="gm"`
	}
	return `Bearer error="invalid_token", resource_metadata="https://example.test/.well-known/oauth-protected-resource/mcp"`
}

func (d *doors) Watch(_ context.Context, key string) (<-chan struct{}, func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ended := make(chan struct{})
	d.watches[key] = append(d.watches[key], ended)
	return ended, func() {}
}

func (d *doors) let(token string, c access.Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.callers[token] = c
}

// revoke revokes a token, and ends the streams opened with it.
func (d *doors) revoke(token string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.callers[token].Key
	delete(d.callers, token)
	for _, w := range d.watches[key] {
		close(w)
	}
	delete(d.watches, key)
}

type option func(*mcpd.Config)

// open serves a book over HTTP.
func open(t testing.TB, options ...option) *stage {
	t.Helper()
	s := openBubbled(t, options...)
	s.http = httptest.NewServer(s.server)
	t.Cleanup(func() { s.http.CloseClientConnections(); s.server.Close(); s.http.Close() })
	return s
}

// openBubbled opens a server without a network, for a bubble, whose clock stands still while a connection is read.
func openBubbled(t testing.TB, options ...option) *stage {
	t.Helper()
	s := &stage{t: t, book: newBook(), auth: newDoors(), started: make(chan struct{}, 1), stopped: make(chan error, 1),
		goOn: make(chan struct{})}
	surfaces := s.surfaces()
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: surfaces, Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	c := mcpd.Config{Engine: engine, Auth: s.auth, Changes: s.book, Version: "1.2.3", Website: "https://example.test",
		Worlds: func(context.Context, access.Caller) []string { return []string{"main"} },
		Random: func(b []byte) { clear(b) }, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }}
	for i := range surfaces {
		c.Surfaces = append(c.Surfaces, &surfaces[i])
	}
	for _, o := range options {
		o(&c)
	}
	if s.server, err = mcpd.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.server.Close)
	return s
}

// do sends a request over the network, if there is one.
func (s *stage) do(r *http.Request) (*http.Response, error) {
	if s.http != nil {
		return http.DefaultClient.Do(r)
	}
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return w.Result(), nil
}

// bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// The two eras, as versions that a client requests.
const (
	older  = "2025-11-25"
	modern = "2026-07-28"
)

// eachWait runs a test with a tool that waits and reports progress, which the SDK answers, and with
// one that only waits, which is answered directly.
func eachWait(t *testing.T, test func(t *testing.T, tool string)) {
	for _, tool := range []string{"slow", "linger"} {
		t.Run(tool, func(t *testing.T) { test(t, tool) })
	}
}

func eachEra(t *testing.T, test func(t *testing.T, era string)) {
	for _, era := range []string{older, modern} {
		t.Run(era, func(t *testing.T) { test(t, era) })
	}
}

// connect connects a real client of an era.
func (s *stage) connect(t *testing.T, era, token, path string, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	cs, err := s.tryConnect(t, era, token, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cs.Close() })
	if got := cs.InitializeResult().ProtocolVersion; got != era {
		t.Fatalf("negotiated %s, want %s", got, era)
	}
	return cs
}

func (s *stage) tryConnect(t *testing.T, era, token, path string, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	return client.Connect(t.Context(), s.transport(token, path), &mcp.ClientSessionOptions{ProtocolVersion: era})
}

func (s *stage) transport(token, path string) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: s.http.URL + path, HTTPClient: &http.Client{Transport: bearer(token)},
		MaxRetries: -1}
}

// answer is a response over HTTP.
type answer struct {
	status int
	header http.Header
	body   string
}

// send sends one request unchanged. Headers are "Name: value".
func (s *stage) send(method, path, token, body string, headers ...string) answer {
	s.t.Helper()
	base := "http://localhost"
	if s.http != nil {
		base = s.http.URL
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := s.do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

// modernCall returns a tools/call of the modern era, and its headers.
func modernCall(tool, args string) (body string, headers []string) {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern +
			`","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		[]string{"Mcp-Protocol-Version: " + modern, "Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	if len(r.Content) != 1 {
		t.Fatalf("%d contents, want 1", len(r.Content))
	}
	return r.Content[0].(*mcp.TextContent).Text
}

func wantContains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("%q is not in\n%s", w, got)
		}
	}
}

// buffer is a bytes.Buffer for several goroutines that can wait for lines.
type buffer struct {
	mu   sync.Mutex
	more *sync.Cond
	b    bytes.Buffer
}

func newBuffer() *buffer {
	b := new(buffer)
	b.more = sync.NewCond(&b.mu)
	return b
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.more.Broadcast()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// take returns the text written since the last take.
func (b *buffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.b.Reset()
	return b.b.String()
}

// wait waits until there are n lines.
func (b *buffer) wait(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bytes.Count(b.b.Bytes(), []byte("\n")) < n {
		b.more.Wait()
	}
}

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the engine logs failures that tests cause on purpose
	os.Exit(m.Run())
}
