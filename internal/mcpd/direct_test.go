package mcpd_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// The same messages go to two servers, one of which leaves everything to the SDK. Status, headers,
// bodies, access records and logs must be the same. The messages are realistic ones, changed at
// random in their text, their structure and their headers.

const (
	manyMessages = 1000
	directSeed   = 20260728
)

// request is a client's request over HTTP; on stdio only the body is used.
type request struct {
	body   string
	token  string
	header http.Header
}

func (r request) String() string {
	return fmt.Sprintf("as %s %v\n%s", r.token, r.header, strings.TrimSpace(r.body[:min(len(r.body), 2000)]))
}

// realMessages returns messages as clients of an era send them.
func realMessages(era string) (bodies []string) {
	meta := ""
	if era == modern {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern +
			`","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"roots":{"listChanged":true},"experimental":{"x":1}},` +
			`"io.modelcontextprotocol/clientInfo":{"name":"client","title":"A client","version":"1.0","icons":[{"src":"data:,","mimeType":"image/png","sizes":["any"]}]}`
	}
	with := func(more string) string {
		switch {
		case more == "" && meta == "":
			return ""
		case meta == "":
			return `,"_meta":{` + more + `}`
		case more == "":
			return meta + `}`
		}
		return meta + `,` + more + `}`
	}
	call := func(tool, args, meta string) {
		bodies = append(bodies, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+
			args+meta+`}}`)
	}
	other := func(id, method, params, meta string) {
		bodies = append(bodies, `{"jsonrpc":"2.0",`+id+`"method":"`+method+`","params":{`+
			strings.TrimPrefix(params+meta, ",")+`}}`)
	}
	call("get_page", `{"name":"mill"}`, with(""))
	call("get_page", `{"name":"mill","world":"main"}`,
		with(`"world":"main","progressToken":12,"client/callId":"toolu_01"`))
	call("get_page", `{"name":"crypt"}`, with(`"world":"elsewhere"`))
	call("long_page", `{"offset":3}`, with(""))
	call("whisper", `{"name":"crypt"}`, with(""))
	call("rest_only", `{"name":"mill"}`, with(""))
	call("touch", `{"name":"mill","idempotency_key":"k"}`, with(`"progressToken":"p"`))
	call("boom", `null`, with(""))
	call("slow", `{}`, with(`"progressToken":"p"`))
	call("walk", `{"name":"mill"}`, with(""))
	call("no_such_tool", `{}`, with(""))
	other(`"id":"read-1",`, "resources/read", `"uri":"book://page/mill"`, with(""))
	other(`"id":8,`, "resources/read", `"uri":"book://page/crypt#_from=%5B3%5D"`, with(`"world":"main"`))
	other(`"id":9,`, "tools/list", "", with(""))
	other(`"id":10,`, "prompts/get", `"name":"summarize","arguments":{"name":"mill"}`, with(""))
	other(`"id":11,`, "ping", "", with(""))
	other("", "notifications/cancelled", `"requestId":7,"reason":"enough"`, with(""))
	other("", "notifications/initialized", "", with(""))
	return bodies
}

// messages makes many messages of an era, the first ones unchanged.
func messages(era string) (all []request) {
	r := rand.New(rand.NewPCG(directSeed, uint64(len(era))))
	bodies := realMessages(era)
	for n := range manyMessages {
		// Each has its own id: the SDK cancels late, and would cancel the next call with the same
		// id.
		body := strings.Replace(bodies[n%len(bodies)], `"id":7,`, fmt.Sprintf(`"id":%d,`, 100+n), 1)
		m := request{token: []string{"user", "user", "gm"}[r.IntN(3)], header: headersOf(era, body)}
		if n >= 2*len(bodies) {
			for range 1 + r.IntN(3) {
				body = changeMessage(r, body)
			}
			if r.IntN(4) == 0 {
				changeHeader(r, m.header)
			} else if r.IntN(2) == 0 {
				m.header = headersOf(era, body) // headers that match the changed body
			}
		}
		m.body = body
		all = append(all, m)
	}
	return all
}

// headersOf returns the headers that match a message.
func headersOf(era, body string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {era}}
	if era == modern {
		value := func(member string) string {
			_, rest, _ := strings.Cut(body, `"`+member+`":"`)
			value, _, _ := strings.Cut(rest, `"`)
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7f {
					return -1
				}
				return r
			}, value)
		}
		h.Set("Mcp-Method", value("method"))
		_, params, _ := strings.Cut(body, `"params":`)
		if h.Set("Mcp-Name", value("uri")); strings.HasPrefix(params, `{"name"`) {
			h.Set("Mcp-Name", value("name"))
		}
	}
	return h
}

func changeHeader(r *rand.Rand, h http.Header) {
	values := map[string][]string{
		"Content-Type": {"", "application/json; charset=utf-8", "text/plain", "APPLICATION/JSON", "application/json;",
			"a;b;c"},
		"Accept": {"", "*/*", "application/json", "text/event-stream", "text/event-stream;q=1,application/json",
			"text/*, application/*", "APPLICATION/JSON, text/event-stream"},
		"Mcp-Protocol-Version": {"", older, modern, "2024-11-05", "2025-03-26", "1999-01-01", "2027-01-01", "x"},
		"Mcp-Method":           {"", "tools/list", "tools/call", "resources/read"},
		"Mcp-Name":             {"", "mill", "get_page", "book://page/mill", "=?base64?Z2V0X3BhZ2U=?="},
		"Mcp-Session-Id":       {"", "nobody's", "-"},
		"Last-Event-Id":        {"1", ""},
		"Origin":               {"https://evil.example"},
		"Mcp-Param-Name":       {"mill"},
	}
	name := pick(r, slices.Sorted(maps.Keys(values)))
	h[name] = []string{pick(r, values[name])}
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// oddities are replacements for values in messages.
var oddities = []string{
	`null`, `true`, `0`, `-0`, `7.0`, `1.5`, `1e3`, `1e999`, `-1e-999`, `123456789012345678901234567890`,
	`9007199254740993`, `999999999999999`,
	`""`, `"x"`, `"7"`, `"mill"`, `"get_page"`, `"tools/call"`, `"2.0"`, `"main"`, `"` + older + `"`, `"` + modern + `"`,
	`"2027-01-01"`,
	`"\u0067et_page"`, `"a\/b"`, `"\ud83d\ude00"`, `"\ud800"`, "\"\u2028\U0001F600é\"", "\"\x7f\"", "\"\xff\"", `"\u0000"`,
	`[]`, `{}`, `[[]]`, `{"a":{"b":[1,{"c":null}]}}`, `{"name":"mill"}`, `{"form":5}`, `{"listChanged":"yes"}`,
	`{"name":5,"version":null}`,
	strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70),
}

var oddMembers = []string{`"id":1`, `"x":null`, `"progressToken":3`, `"requestState":"s"`, `"inputResponses":{}`,
	`"task":{"ttl":1}`, `"_meta":{"world":"main"}`, `"arguments":{}`, `"uri":"book://page/mill"`,
	`"result":{}`, `"error":{"code":1,"message":"m"}`, `"jsonrpc":"2.0"`, `"Method":"ping"`, `"_from":[1]`,
	`"world":"main"`, `"traceparent":"00-0"`}

// changeMessage makes one change to a message.
func changeMessage(r *rand.Rand, body string) string {
	switch r.IntN(12) {
	case 0: // any byte
		at := r.IntN(len(body) + 1)
		return body[:at] + pick(r, []string{"\xff", " ", "\t", "\r", "\"", "}", "{", "[", ",", "\\", "0", "\x00",
			"\u00a0"}) + body[at:]
	case 1:
		if at := r.IntN(len(body) + 1); at < len(body) {
			return body[:at] + body[at+1:]
		}
	case 2:
		return pick(r, []string{"[" + body + "]", "[" + body + "," + body + "]", "[]", "[" + body, body + body, body + " ",
			"\ufeff" + body, body + strings.Repeat(" ", 70_000), ""})
	}
	n, ok := parseNode(body)
	if !ok {
		return body
	}
	all := n.all(nil)
	at := pick(r, all)
	switch r.IntN(7) {
	case 0:
		at.put(pick(r, oddities))
	case 1:
		if len(at.kids) > 0 {
			i := r.IntN(len(at.kids))
			at.kids = slices.Delete(at.kids, i, i+1)
		}
	case 2:
		if len(at.kids) > 0 {
			at.kids = append(at.kids, pick(r, at.kids)) // duplicate name
		}
	case 3:
		r.Shuffle(len(at.kids), func(i, j int) { at.kids[i], at.kids[j] = at.kids[j], at.kids[i] })
	case 4:
		if at.open == '{' {
			at.kids = append(at.kids, &node{raw: pick(r, oddMembers)})
		}
	case 5:
		if len(at.key) > 2 {
			at.key = pick(r, []string{strings.ToUpper(at.key), `"` + fmt.Sprintf(`\u%04x`, at.key[1]) + at.key[2:], `" ` +
				at.key[1:], at.key[:len(at.key)-1] + `s"`})
		}
	case 6:
		at.space = pick(r, []string{" ", "\r\n\t ", "  "})
	}
	return n.String()
}

// node is a JSON value that keeps its order and may become invalid.
type node struct {
	key   string // quoted; "" if it is not a member
	raw   string // of a value without kids
	open  byte   // '{' or '[' of an object or array
	kids  []*node
	space string // before and after it
}

func (n *node) put(raw string) { n.raw, n.open, n.kids = raw, 0, nil }

func (n *node) all(list []*node) []*node {
	list = append(list, n)
	for _, k := range n.kids {
		list = k.all(list)
	}
	return list
}

func (n *node) String() string {
	s := n.space
	if n.key != "" {
		s += n.key + n.space + ":" + n.space
	}
	if n.open == 0 {
		return s + n.raw + n.space
	}
	var parts []string
	for _, k := range n.kids {
		parts = append(parts, k.String())
	}
	return s + string(n.open) + strings.Join(parts, ",") + string(n.open+2) + n.space
}

func parseNode(text string) (*node, bool) {
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return parseValue(d)
}

func parseValue(d *jsontext.Decoder) (*node, bool) {
	open := byte(d.PeekKind())
	if open != '{' && open != '[' {
		v, err := d.ReadValue()
		return &node{raw: string(v)}, err == nil
	}
	n := &node{open: open}
	_, err := d.ReadToken()
	for err == nil && byte(d.PeekKind()) != open+2 {
		key := ""
		if open == '{' {
			var v jsontext.Value
			if v, err = d.ReadValue(); err != nil {
				return nil, false
			}
			key = string(v)
		}
		kid, ok := parseValue(d)
		if !ok {
			return nil, false
		}
		kid.key = key
		n.kids = append(n.kids, kid)
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return n, err == nil
}

// witness keeps the access records and log lines of a server.
type witness struct {
	mu   sync.Mutex
	seen []string
}

func (w *witness) Reserve() error { return nil }

func (w *witness) Record(r access.Record) {
	r.At, r.Duration = time.Time{}, 0
	_, _ = fmt.Fprintf(w, "%+v", r)
}

func (w *witness) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, string(p))
	return len(p), nil
}

func (w *witness) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	slices.Sort(seen)
	return seen
}

// openWitnessed opens a stage with a witness; with viaSDK its server leaves everything to the SDK.
func openWitnessed(t *testing.T, viaSDK bool) (*stage, *witness) {
	w := new(witness)
	s := open(t, func(c *mcpd.Config) {
		var surfaces []op.Surface
		for _, f := range c.Surfaces {
			surfaces = append(surfaces, *f)
		}
		engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{Recorder: w}), Surfaces: surfaces,
			Worlds: oneWorld{}})
		if err != nil {
			t.Fatal(err)
		}
		c.Engine, c.MaxBody = engine, 64<<10
		c.Logger = slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == "time" || a.Key == "error" { // the trace of a panic differs between the two routes
					return slog.Attr{}
				}
				return a
			}}))
	})
	if viaSDK {
		mcpd.ViaSDK(s.server)
	}
	freeSlow(t, s)
	return s, w
}

// freeSlow lets the waiting tool continue at once.
func freeSlow(t *testing.T, s *stage) {
	close(s.goOn)
	ctx := t.Context()
	go func() {
		for ctx.Err() == nil {
			select {
			case <-s.started:
			case <-ctx.Done():
			}
		}
	}()
}

func TestDirectAnswersMatchSDK(t *testing.T) {
	eachEra(t, func(t *testing.T, era string) {
		ours, ourWitness := openWitnessed(t, false)
		theirs, theirWitness := openWitnessed(t, true)
		sessions := func(s *stage) map[string]string {
			if era == modern {
				return nil
			}
			return map[string]string{"user": s.begin("user", "/mcp"), "gm": s.begin("gm", "/mcp")}
		}
		here, there := sessions(ours), sessions(theirs)
		ourWitness.take()
		theirWitness.take()
		direct := 0
		for n, m := range messages(era) {
			got, want := m.sendTo(ours, here), m.sendTo(theirs, there)
			if got != want {
				t.Errorf("message %d %v\nis answered %s\nthe SDK has %s", n, m, got, want)
			}
			if got, want := ourWitness.take(), theirWitness.take(); !slices.Equal(got, want) {
				t.Errorf("message %d %v\nis recorded\n%s\nby way of the SDK\n%s", n, m, got, want)
			}
			if e, ok := mcpd.ReadEnvelope([]byte(m.body)); ok && e.OfOneEra {
				direct++
			}
			if t.Failed() && n > 100 {
				t.FailNow()
			}
		}
		t.Logf("%d of %d messages may be answered directly", direct, manyMessages)
		if direct < manyMessages/5 || direct > manyMessages*4/5 {
			t.Errorf("%d of %d messages may be answered directly: too few, or too many, to compare", direct, manyMessages)
		}
	})
}

// Only one open call of a session can have an id; after the answer the id can be used again.
func TestOpenDirectCallIDsAreUnique(t *testing.T) {
	s := open(t)
	session := "Mcp-Session-Id: " + s.begin("user", "/mcp")
	first := make(chan answer, 1)
	go func() { first <- s.send("POST", "/mcp", "user", call(5, "linger", "{}"), session) }()
	<-s.started
	got := s.send("POST", "/mcp", "user", call(5, "get_page", `{"name":"mill"}`), session)
	if want := `{"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"duplicate in-flight request ID 5"}}`; got.status != 400 || got.body != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.send("POST", "/mcp", "user", strings.Replace(call(5, "get_page", `{"name":"mill"}`), `:5`, `:"5"`, 1),
		session); got.status != 200 {
		t.Errorf("the text 5 is another id: %d %s", got.status, got.body)
	}
	close(s.goOn)
	if got := <-first; got.status != 200 || !strings.Contains(got.body, "done") {
		t.Errorf("the first: %d %s", got.status, got.body)
	}
	for range 50 {
		if got := s.send("POST", "/mcp", "user", call(5, "long_page", `{}`), session); got.status != 200 {
			t.Fatalf("again: %d %s", got.status, got.body)
		}
	}
}

// In the older era a broken connection does not cancel the client's call.
func TestOlderCallOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openBubbled(t)
		ctx, hangUp := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", "/mcp", strings.NewReader(call(5, "linger", "{}")))
		r.Header = headersOf(older, "")
		r.Header.Set("Authorization", "Bearer user")
		r.Header.Set("Mcp-Session-Id", s.begin("user", "/mcp"))
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			s.server.ServeHTTP(w, r)
			close(done)
		}()
		<-s.started
		hangUp()
		synctest.Wait()
		select {
		case err := <-s.stopped:
			t.Fatalf("the call was stopped: %v", err)
		default:
		}
		s.goOn <- struct{}{}
		<-done
		wantContains(t, w.Body.String(), `{"text":"done"}`)
	})
}

// Calls keep a session open on both routes, and it ends when there are no more calls.
func TestSessionLivesWhileItIsUsed(t *testing.T) {
	const timeout = time.Minute
	for _, tool := range []string{"get_page", "slow"} {
		t.Run(tool, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := openBubbled(t, func(c *mcpd.Config) { c.SessionTimeout = timeout })
				freeSlow(t, s)
				session := "Mcp-Session-Id: " + s.begin("user", "/mcp")
				ended := make(chan struct{})
				go func() {
					s.send("GET", "/mcp", "user", "", session) // until the stream ends, with its session
					close(ended)
				}()
				for n := range 12 {
					if got := s.send("POST", "/mcp", "user", call(n, tool, `{}`), session); got.status != 200 {
						t.Fatalf("%d %s", got.status, got.body)
					}
					time.Sleep(timeout / 6)
					select {
					case <-ended:
						t.Fatal("the session ended while it was used")
					default:
					}
				}
				unused := time.Now()
				<-ended
				if took := time.Since(unused); took > 2*timeout {
					t.Errorf("it ended %s after its last call", took)
				}
			})
		})
	}
}

// FuzzEnvelope compares the envelope read from a message with the reading of the SDK's own decoder.
func FuzzEnvelope(f *testing.F) {
	for _, era := range []string{older, modern} {
		for _, body := range realMessages(era) {
			f.Add(body)
		}
	}
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1e999}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"w\u006frld":"main"}}}`,
		" {\"id\" : \"x\\\"\" ,\n\"jsonrpc\":\"2.0\"} ",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		e, ok := mcpd.ReadEnvelope([]byte(body))
		if !ok {
			return
		}
		m, err := jsonrpc.DecodeMessage([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		r, ok := m.(*jsonrpc.Request)
		if !ok || r.ID != e.ID || !r.IsCall() || r.Method != e.Method {
			t.Fatalf("%+v, the SDK reads %+v", e, m)
		}
		var p struct {
			Name, URI string
			Arguments json.RawMessage
			Meta      map[string]any `json:"_meta"`
		}
		if err := json.Unmarshal(r.Params, &p); err != nil {
			t.Fatal(err)
		}
		target := map[string]string{"tools/call": p.Name, "resources/read": p.URI}[r.Method]
		world, _ := p.Meta["world"].(string)
		version, _ := p.Meta[mcp.MetaKeyProtocolVersion].(string)
		if e.Target != target || e.World != world || e.Version != version || e.Method == "tools/call" &&
			string(e.Input) != string(p.Arguments) {
			t.Errorf("%+v, the SDK reads %s", e, r.Params)
		}
	})
}

// sendTo returns all parts of an answer that must match.
func (m request) sendTo(s *stage, sessions map[string]string) string {
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/mcp", strings.NewReader(m.body))
	maps.Copy(r.Header, m.header)
	if id, ok := sessions[m.token]; ok && r.Header["Mcp-Session-Id"] == nil {
		r.Header.Set("Mcp-Session-Id", id)
	}
	r.Header.Set("Authorization", "Bearer "+m.token)
	r.Header.Set("X-Correlation-Id", "one")
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	h := w.Result().Header
	h.Del("Connection")
	h.Del("Content-Length")
	if h.Get("Mcp-Session-Id") != "" {
		h.Set("Mcp-Session-Id", "one")
	}
	return fmt.Sprintf("%d %v %s", w.Code, h, w.Body)
}

func TestStdioDirectAnswersMatchSDK(t *testing.T) {
	eachEra(t, func(t *testing.T, era string) {
		said := func(viaSDK bool) (answers []string) {
			synctest.Test(t, func(t *testing.T) {
				b := serve(t)
				if viaSDK {
					mcpd.ViaSDK(b.server)
				}
				freeSlow(t, b.stage)
				hello := initialize
				if era == modern {
					hello = realMessages(era)[0]
				}
				for _, m := range append([]request{{body: hello}}, messages(era)...) {
					b.out.take()
					b.say(strings.NewReplacer("\n", " ", "\r", " ").Replace(m.body))
					synctest.Wait()
					lines := strings.Split(strings.TrimSpace(b.out.take()), "\n")
					slices.Sort(lines)
					answers = append(answers, m.body+"\n"+strings.Join(lines, "\n"))
				}
				b.finish()
				b.server.Close()
			})
			return answers
		}
		ours, theirs := said(false), said(true)
		for n := range ours {
			if ours[n] != theirs[n] {
				t.Errorf("message %d is answered\n%s\nthe SDK has\n%s", n, ours[n], theirs[n])
			}
		}
	})
}
