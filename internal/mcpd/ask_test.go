package mcpd_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

// yard offers a tool that builds boats and asks the person for their details.
type yard struct {
	*stage
	built atomic.Int32
	now   atomic.Int64 // Unix seconds
}

var boatForm = op.Form{Key: "boat", Message: "What is the boat to be like?", Blanks: []op.Blank{
	{Name: "colour", Title: "Colour", Options: []string{"red", "blue"}},
	{Name: "name", Doc: "What is painted on it.", MaxLen: 10, Optional: true},
}}

func (y *yard) build(ctx context.Context, c *op.Call, in nameIn) (textOut, error) {
	said := in.Name
	for _, f := range []op.Form{boatForm, {Key: "crew", Message: "Who sails her?", Blanks: []op.Blank{{Name: "who"}}}} {
		r, err := c.Ask(ctx, f)
		if err != nil {
			return textOut{}, err
		}
		said += " " + string(r.Outcome)
		for _, b := range f.Blanks {
			said += ":" + r.Values[b.Name]
		}
		if r.Outcome != op.Answered {
			break
		}
	}
	y.built.Add(1)
	return textOut{said}, nil
}

func openYard(t *testing.T, options ...option) *yard {
	t.Helper()
	y := &yard{stage: &stage{t: t, book: newBook(), auth: newDoors()}}
	y.now.Store(1_800_000_000)
	surface := op.Surface{Name: "yard", Title: "Yard", Doc: "boats",
		Operations: []*op.Operation{op.Define(op.Spec{Name: "build_boat", Title: "Build", Doc: "Use it to build a boat.",
			Surfaces: []string{"yard"}, Effect: access.Write, MinRole: access.RoleUser, Interactive: true}, y.build)}}
	engine, err := op.NewLocal(op.Config{Guard: access.NewGuard(access.Config{}), Surfaces: []op.Surface{surface},
		Worlds: oneWorld{}})
	if err != nil {
		t.Fatal(err)
	}
	c := mcpd.Config{Engine: engine, Auth: y.auth, Surfaces: []*op.Surface{&surface},
		Now: func() time.Time { return time.Unix(y.now.Load(), 0) }}
	for _, o := range options {
		o(&c)
	}
	if y.server, err = mcpd.New(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	y.http = httptest.NewServer(y.server)
	t.Cleanup(func() { y.http.CloseClientConnections(); y.server.Close(); y.http.Close() })
	return y
}

// person answers forms like the client's user.
type person struct {
	mu    sync.Mutex
	seen  []*mcp.ElicitParams // guarded by mu
	reply func(p *mcp.ElicitParams) (*mcp.ElicitResult, error)
}

func (p *person) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		p.mu.Lock()
		p.seen = append(p.seen, r.Params)
		p.mu.Unlock()
		return p.reply(r.Params)
	}}
}

func accept(content map[string]any) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

func boatCall() *mcp.CallToolParams {
	return &mcp.CallToolParams{Name: "build_boat", Arguments: map[string]any{"name": "cog"}}
}

func TestHandlerAsksPersonBehindClient(t *testing.T) {
	y := openYard(t)
	eachEra(t, func(t *testing.T, era string) {
		before := y.built.Load()
		p := &person{reply: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if strings.Contains(p.Message, "sails") {
				return accept(map[string]any{"who": "  Ada\u202e "})
			}
			return accept(map[string]any{"colour": "red", "name": "Tern", "extra": 3})
		}}
		res, err := y.connect(t, era, "user", "/mcp", p.options()).CallTool(t.Context(), boatCall())
		if err != nil || res.IsError || !strings.Contains(text(t, res), `"cog answered:red:Tern answered:Ada"`) {
			t.Fatalf("%v, %+v", err, res)
		}
		schema, _ := json.Marshal(p.seen[0].RequestedSchema)
		if len(p.seen) != 2 || p.seen[0].Message != boatForm.Message || p.seen[0].Mode != "form" {
			t.Errorf("asked %+v", p.seen)
		}
		wantContains(t, string(schema), `"enum":["red","blue"]`, `"required":["colour"]`, `"maxLength":10`)
		if y.built.Load() != before+1 {
			t.Errorf("%d boats", y.built.Load()-before)
		}
	})
}

func TestClientWithoutFormsIsNotAsked(t *testing.T) {
	y := openYard(t)
	eachEra(t, func(t *testing.T, era string) {
		for name, o := range map[string]*mcp.ClientOptions{
			"no capability": nil,
			"addresses only": {Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					t.Error("it was asked")
					return accept(nil)
				}},
		} {
			res, err := y.connect(t, era, "user", "/mcp", o).CallTool(t.Context(), boatCall())
			if err != nil || !strings.Contains(text(t, res), `"cog :`) {
				t.Errorf("%s: %v, %+v", name, err, res)
			}
		}
	})
}

func TestRefusedAndInvalidAnswers(t *testing.T) {
	y := openYard(t)
	eachEra(t, func(t *testing.T, era string) {
		for _, row := range []struct {
			name   string
			result *mcp.ElicitResult
			want   string // text of the result, or field of the error
			failed bool
		}{
			{"declined", &mcp.ElicitResult{Action: "decline"}, "cog declined:", false},
			{"dismissed", &mcp.ElicitResult{Action: "cancel", Content: map[string]any{"colour": "red"}},
				"cog dismissed::", false},
			{"wrong choice", &mcp.ElicitResult{Action: "accept", Content: map[string]any{"colour": "HOSTILEMARK"}},
				"answer.colour", true},
			{"wrong type", &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"colour": map[string]any{"HOSTILEMARK": 1}}}, "answer.colour", true},
			{"nothing", &mcp.ElicitResult{Action: "accept"}, "answer.colour", true},
			{"too long", &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"colour": "red", "name": strings.Repeat("HOSTILEMARK", 100_000)}}, "answer.name", true},
			{"no action", &mcp.ElicitResult{Action: "HOSTILEMARK"}, "action", true},
		} {
			before := y.built.Load()
			res := y.answering(t, era, row.result)
			if got := text(t, res); res.IsError != row.failed || !strings.Contains(got, row.want) ||
				strings.Contains(got, "HOSTILEMARK") {
				t.Errorf("%s: %s", row.name, got)
			}
			if built := y.built.Load() - before; (built == 0) != row.failed {
				t.Errorf("%s: %d boats", row.name, built)
			}
		}
	})
}

// answering makes a call with a client on which the SDK does not check the user's answer: in the
// older era a middleware replaces the answer, in the modern one the rounds are made by hand.
func (y *yard) answering(t *testing.T, era string, result *mcp.ElicitResult) *mcp.CallToolResult {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"},
		&mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return accept(nil) }})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "elicitation/create" {
				return result, nil
			}
			return next(ctx, method, req)
		}
	})
	cs, err := client.Connect(t.Context(), y.transport("user", "/mcp"), &mcp.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cs.Close() }()
	res, err := cs.CallTool(t.Context(), boatCall())
	if err == nil && res.NeedsInput() {
		again := boatCall()
		again.InputResponses, again.RequestState = mcp.InputResponseMap{"boat": result}, res.RequestState
		res, err = cs.CallTool(t.Context(), again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// In the older era a call waits only for AskWait, and ends when its client cancels it.
func TestUnansweredQuestionTimesOut(t *testing.T) {
	y := openYard(t, func(c *mcpd.Config) { c.AskWait = time.Millisecond })
	never := make(chan struct{})
	defer close(never)
	silent := &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		select {
		case <-never:
		case <-ctx.Done():
		}
		return nil, context.Canceled
	}}
	res, err := y.connect(t, older, "user", "/mcp", silent).CallTool(t.Context(), boatCall())
	if err != nil || !strings.Contains(text(t, res), "cog unanswered:") {
		t.Fatalf("%v, %+v", err, res)
	}
	y = openYard(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := &mcp.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	if _, err := y.connect(t, older, "user", "/mcp", gone).CallTool(ctx, boatCall()); err == nil {
		t.Error("a call that its client gave up was answered")
	}
	y.server.Close() // waits for running calls
	if y.built.Load() != 0 {
		t.Error("a boat was built for nobody")
	}
}

// A client that declares elicitation and then fails counts as not answering.
func TestClientThatFailsToAsk(t *testing.T) {
	y := openYard(t)
	p := &person{reply: func(*mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return nil, fault.New(fault.Internal, "no window")
	}}
	res, err := y.connect(t, older, "user", "/mcp", p.options()).CallTool(t.Context(), boatCall())
	if err != nil || !strings.Contains(text(t, res), "cog unanswered:") {
		t.Fatalf("%v, %+v", err, res)
	}
}

// round makes a call of the modern era by hand, as a client that takes forms.
func (y *yard) round(token, name, more string) answer {
	body, headers := modernCall("build_boat", `{"name":"`+name+`"}`)
	body = strings.Replace(body, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{"form":{}}}`, 1)
	return y.send("POST", "/mcp", token, strings.Replace(body, `"arguments"`, more+`"arguments"`, 1), headers...)
}

// A request state is accepted only from this server, for the same call and caller, and until it
// expires.
func TestRequestStateIsBoundToCall(t *testing.T) {
	y := openYard(t)
	first := y.round("user", "cog", "")
	var got struct {
		Result struct {
			ResultType    string
			RequestState  string
			InputRequests map[string]struct {
				Method string
				Params mcp.ElicitParams
			}
			Content, StructuredContent json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(first.body), &got); err != nil {
		t.Fatal(err)
	}
	r := got.Result
	if r.ResultType != "input_required" || r.InputRequests["boat"].Method != "elicitation/create" || r.Content != nil ||
		r.StructuredContent != nil || first.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s", first.body)
	}
	answers := `"inputResponses":{"boat":{"action":"accept","content":{"colour":"red"}}},`
	state := func(s string) string { return `"requestState":"` + s + `",` }
	bad := []byte(r.RequestState)
	bad[len(bad)/2] ^= 1
	for _, row := range []struct{ name, token, boat, more, want string }{
		{"as it was asked", "user", "cog", answers + state(r.RequestState), `"Who sails her?"`},
		{"without its state nothing was asked", "user", "cog", answers, boatForm.Message},
		{"an answer to another question", "user", "cog",
			strings.Replace(answers, `"boat"`, `"crew"`, 1) + state(r.RequestState), boatForm.Message},
		{"no answer", "user", "cog", state(r.RequestState), boatForm.Message},
		{"another kind of answer", "user", "cog", strings.Replace(answers, `"action":"accept"`, `"roots":[]`,
			1) + state(r.RequestState), "inputResponses.boat"},
		{"for another call", "user", "hulk", answers + state(r.RequestState), "does not belong to this call"},
		{"of another caller", "other", "cog", answers + state(r.RequestState), "does not belong to this call"},
		{"changed", "user", "cog", answers + state(string(bad)), "does not belong to this call"},
		{"of no kind", "user", "cog", answers + state("x"), "does not belong to this call"},
	} {
		if got := y.round(row.token, row.boat, row.more); !strings.Contains(got.body, row.want) {
			t.Errorf("%s: %s", row.name, got.body)
		}
	}
	y.now.Add(int64(time.Hour/time.Second) + 1)
	if got := y.round("user", "cog", answers+state(r.RequestState)); !strings.Contains(got.body, "has expired") {
		t.Errorf("late: %s", got.body)
	}
	if y.built.Load() != 0 {
		t.Error("a boat was built")
	}
}

// Over stdio the same clients are asked, and a waiting call does not outlive its client.
func TestStdioAsks(t *testing.T) {
	eachEra(t, func(t *testing.T, era string) {
		y := openYard(t)
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		done := make(chan error, 1)
		go func() {
			done <- y.server.ServePipe(t.Context(), caller("user", access.RoleUser), nil, fromClient, toClient)
			_ = toClient.Close()
		}()
		p := &person{reply: func(p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			if strings.Contains(p.Message, "sails") {
				return accept(map[string]any{"who": "Bo"})
			}
			return accept(map[string]any{"colour": "blue"})
		}}
		cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, p.options()).Connect(t.Context(),
			&mcp.IOTransport{Reader: fromServer, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: era})
		if err != nil {
			t.Fatal(err)
		}
		res, err := cs.CallTool(t.Context(), boatCall())
		if err != nil || !strings.Contains(text(t, res), "answered:blue: answered:Bo") {
			t.Errorf("%v, %+v", err, res)
		}
		_ = cs.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	y, out := openYard(t), newBuffer()
	in, say := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- y.server.ServePipe(t.Context(), caller("user", access.RoleUser), nil, in, out) }()
	for _, line := range []string{strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1),
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, call(2, "build_boat", `{"name":"cog"}`)} {
		if _, err := io.WriteString(say, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	out.wait(2)
	wantContains(t, out.String(), `"method":"elicitation/create"`, boatForm.Message)
	_ = say.Close()
	if err := <-done; err != nil || y.built.Load() != 0 {
		t.Errorf("%v, %d boats", err, y.built.Load())
	}
}
