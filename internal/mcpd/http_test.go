package mcpd_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/mcpd"
	"loregate/internal/op"
)

func TestListsShowOnlyWhatTheCallerMayUse(t *testing.T) {
	s := open(t)
	rows := []struct{ token, path, want string }{
		{"user", "/mcp", "get_page touch slow linger long_page boom walk"},
		{"gm", "/mcp", "get_page whisper touch slow linger long_page boom walk"},
		{"admin", "/mcp", "get_page whisper drop_page touch slow linger long_page boom walk"},
		{"gm", "/mcp/archive", "get_page whisper touch slow linger long_page boom"},
		{"gm", "/mcp/world", "walk"},
	}
	eachEra(t, func(t *testing.T, era string) {
		for _, r := range rows {
			cs := s.connect(t, era, r.token, r.path, nil)
			var names []string
			for tool, err := range cs.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != r.want {
				t.Errorf("%s at %s sees %s; want %s", r.token, r.path, got, r.want)
			}
		}
	})
}

func TestListsTurnPages(t *testing.T) {
	s := open(t, func(c *mcpd.Config) { c.PageSize = 2 })
	cs := s.connect(t, older, "admin", "/mcp", nil)
	first, err := cs.ListTools(t.Context(), nil)
	if err != nil || len(first.Tools) != 2 || first.NextCursor == "" {
		t.Fatalf("first page: %v, %+v", err, first)
	}
	count := 0
	for _, err := range cs.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 9 {
		t.Errorf("%d tools over all pages, want 9", count)
	}
	_, err = s.connect(t, older, "gm", "/mcp", nil).ListTools(t.Context(), &mcp.ListToolsParams{Cursor: first.NextCursor})
	wantRPC(t, err, jsonrpc.CodeInvalidParams, "validation_error")
}

func wantRPC(t *testing.T, err error, code int64, word string) {
	t.Helper()
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("error %v, want code %d", err, code)
	}
	var shown fault.Envelope
	if err := json.Unmarshal(e.Data, &shown); err != nil || shown.Error.Code != word {
		t.Errorf("data %s, want the error object of %s", e.Data, word)
	}
}

func TestToolAnnotations(t *testing.T) {
	cs := open(t).connect(t, older, "admin", "/mcp", nil)
	want := map[string][3]bool{ // read-only, destructive, idempotent
		"get_page": {true, false, true}, "drop_page": {false, true, false},
		"touch": {false, false, true}, "slow": {false, false, false},
	}
	list, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		a := tool.Annotations
		if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v are incomplete", tool.Name, a)
			continue
		}
		if w, ok := want[tool.Name]; ok && w != [3]bool{a.ReadOnlyHint, *a.DestructiveHint, a.IdempotentHint} {
			t.Errorf("%s: %+v, want %v", tool.Name, a, w)
		}
	}
}

func TestResultIsTextAndStructure(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		cs := s.connect(t, era, "user", "/mcp", nil)
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_page",
			Arguments: map[string]any{"name": "mill", "wait_for_previous": true}, Meta: mcp.Meta{"world": "main"}})
		if err != nil {
			t.Fatal(err)
		}
		structured, err := json.Marshal(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if want := `{"text":"A mill by the river."}`; string(structured) != want || text(t, res) != want || res.IsError {
			t.Errorf("%s and %s (error: %v)", structured, text(t, res), res.IsError)
		}
	})
}

func TestFailuresAreTextOnly(t *testing.T) {
	s := open(t)
	rows := []struct {
		tool, code string
		args       map[string]any
		world      string
	}{
		{"get_page", "validation_error", map[string]any{"nome": "x"}, ""},
		{"get_page", "not_found", map[string]any{"name": "crypt"}, ""},
		{"get_page", "not_found", map[string]any{"name": "mill"}, "elsewhere"},
		{"boom", "internal_error", nil, ""},
	}
	eachEra(t, func(t *testing.T, era string) {
		cs := s.connect(t, era, "user", "/mcp", nil)
		for _, r := range rows {
			p := &mcp.CallToolParams{Name: r.tool, Arguments: r.args}
			if r.world != "" {
				p.Meta = mcp.Meta{"world": r.world}
			}
			res, err := cs.CallTool(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			var shown fault.Envelope
			if err := json.Unmarshal([]byte(text(t, res)), &shown); err != nil || shown.Error.Code != r.code {
				t.Errorf("%s: %s, want %s", r.tool, text(t, res), r.code)
			}
			if !res.IsError || res.StructuredContent != nil || strings.Contains(text(t, res), "secret") {
				t.Errorf("%s: %+v, %s", r.tool, res, text(t, res))
			}
		}
	})
}

func TestForbiddenToolIsReportedAsUnknown(t *testing.T) {
	s := open(t)
	for _, name := range []string{"whisper", "rest_only"} {
		body, headers := modernCall(name, `{"name":"crypt"}`)
		got := s.send("POST", "/mcp", "user", body, headers...)
		body, headers = modernCall(strings.Repeat("n", len(name)), `{"name":"crypt"}`)
		unknown := s.send("POST", "/mcp", "user", body, headers...)
		if want := strings.ReplaceAll(unknown.body, strings.Repeat("n", len(name)), name); got.body != want ||
			got.status != unknown.status {
			t.Errorf("forbidden: %d %s\nunknown:   %d %s", got.status, got.body, unknown.status, want)
		}
		for k := range got.header {
			if k != "Date" && k != "X-Correlation-Id" && got.header.Get(k) != unknown.header.Get(k) {
				t.Errorf("header %s: %q and %q", k, got.header.Get(k), unknown.header.Get(k))
			}
		}
		wantContains(t, got.body, `"code":-32602`, `"code":"not_found"`)
	}
	body, headers := modernCall("walk", `{"name":"mill"}`)
	if got := s.send("POST", "/mcp/archive", "user", body, headers...); got.status != http.StatusBadRequest {
		t.Errorf("a tool of another surface answers %d %s", got.status, got.body)
	}
}

func TestLongResultIsCutWithNextCall(t *testing.T) {
	cs := open(t).connect(t, modern, "user", "/mcp", nil)
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "long_page", Arguments: map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	notice, ok := res.Content[0].(*mcp.TextContent)
	if !ok || !strings.HasPrefix(notice.Text, "This answer is shortened") ||
		!strings.Contains(notice.Text, `"tool":"long_page"`) {
		t.Fatalf("the first line does not tell that it is cut: %+v", res.Content[0])
	}
	res.Content = res.Content[1:]
	var out struct {
		Text      string
		Truncated bool
		Next      struct {
			Tool      string
			Arguments map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text(t, res)), &out); err != nil {
		t.Fatal(err)
	}
	if n := len(text(t, res)); n > 32<<10 || !out.Truncated || out.Next.Tool != "long_page" {
		t.Fatalf("%d bytes, truncated %v, next %+v", n, out.Truncated, out.Next)
	}
	again, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: out.Next.Tool, Arguments: out.Next.Arguments})
	if err != nil || again.IsError {
		t.Fatalf("the next call: %v, %s", err, text(t, again))
	}
}

func TestPlainCallsAreJSONAndProgressIsAStream(t *testing.T) {
	s := open(t)
	body, headers := modernCall("get_page", `{"name":"mill"}`)
	if got := s.send("POST", "/mcp", "user", body, headers...); got.header.Get("Content-Type") != "application/json" ||
		got.status != 200 {
		t.Errorf("plain call: %d %v %s", got.status, got.header, got.body)
	}
	close(s.goOn)
	body, headers = modernCall("slow", `{}`)
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	got := s.send("POST", "/mcp", "user", body, headers...)
	if got.header.Get("Content-Type") != "text/event-stream" || got.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("call with progress: %v", got.header)
	}
	wantContains(t, got.body, `"method":"notifications/progress"`, `"progressToken":"p"`,
		`"structuredContent":{"text":"done"}`)
}

func TestProgressReachesTheClient(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		heard := make(chan string, 4)
		cs := s.connect(t, era, "user", "/mcp", &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { heard <- r.Params.Message }})
		done := make(chan error, 1)
		go func() {
			p := &mcp.CallToolParams{Name: "slow", Arguments: map[string]any{}}
			p.SetProgressToken("token")
			_, err := cs.CallTool(t.Context(), p)
			done <- err
		}()
		<-s.started
		if got := <-heard; got != "half" {
			t.Errorf("heard %q", got)
		}
		s.goOn <- struct{}{}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestCancelledCallStops(t *testing.T) {
	s := open(t)
	eachWait(t, func(t *testing.T, tool string) {
		eachEra(t, func(t *testing.T, era string) {
			cs := s.connect(t, era, "user", "/mcp", nil)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}})
				done <- err
			}()
			<-s.started
			cancel()
			<-s.stopped
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
		})
	})
}

func TestDisconnectStopsTheModernCall(t *testing.T) { eachWait(t, disconnectStops) }

func disconnectStops(t *testing.T, tool string) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	body, headers := modernCall(tool, `{}`)
	r, err := http.NewRequestWithContext(ctx, "POST", s.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream",
		"Authorization: Bearer user") {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	go func() {
		<-s.started
		cancel()
	}()
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Fatal("the call was answered")
	}
	<-s.stopped
}

// breaking is an engine with a panic that op does not catch.
type breaking struct{ mcpd.Engine }

func (breaking) Invoke(context.Context, access.Caller, op.Request) (*op.Answer, error) {
	panic("a secret detail")
}

func (breaking) AdmitList(context.Context, access.Caller, op.ListCall) error {
	panic("a secret detail")
}

func TestPanicEndsTheCallOnly(t *testing.T) {
	s := open(t, func(c *mcpd.Config) { c.Engine = breaking{c.Engine} })
	eachEra(t, func(t *testing.T, era string) {
		cs := s.connect(t, era, "user", "/mcp", nil)
		res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_page", Arguments: map[string]any{"name": "mill"}})
		if err != nil || !res.IsError || strings.Contains(text(t, res), "secret") {
			t.Errorf("%v, %+v", err, res)
		}
		_, err = cs.ListTools(t.Context(), nil)
		wantRPC(t, err, jsonrpc.CodeInternalError, "internal_error")
	})
}

func TestResourcesPromptsAndCompletions(t *testing.T) {
	s := open(t)
	eachEra(t, func(t *testing.T, era string) {
		user, gm := s.connect(t, era, "user", "/mcp", nil), s.connect(t, era, "gm", "/mcp", nil)
		list, err := user.ListResources(t.Context(), nil)
		if err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "book://page/mill" ||
			list.Resources[0].Size == 0 {
			t.Fatalf("%v, %+v", err, list)
		}
		if list, err := gm.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 2 {
			t.Fatalf("%v, %+v", err, list)
		}
		read, err := user.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "book://page/mill"})
		if err != nil || read.Contents[0].Text != "A mill by the river." || read.Contents[0].MIMEType != "text/plain" {
			t.Fatalf("%v, %+v", err, read)
		}
		for _, uri := range []string{"book://page/crypt", "book://page/nope", "else://where"} {
			_, err = user.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			wantRPC(t, err, jsonrpc.CodeInvalidParams, "not_found")
		}
		prompt, err := user.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summarize",
			Arguments: map[string]string{"name": "mill"}})
		if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Summarise mill" {
			t.Fatalf("%v, %+v", err, prompt)
		}
		_, err = user.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "summarize"})
		wantRPC(t, err, jsonrpc.CodeInvalidParams, "validation_error")
		for cs, want := range map[*mcp.ClientSession]string{user: "", gm: "crypt"} {
			got, err := cs.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource",
				URI: "book://page/{name}"},
				Argument: mcp.CompleteParamsArgument{Name: "name", Value: "c"}})
			if err != nil || strings.Join(got.Completion.Values, " ") != want {
				t.Errorf("%v, %+v, want %q", err, got, want)
			}
		}
	})
}
