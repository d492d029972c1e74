package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/model"
)

// Texts that no error may contain.
const (
	key    = "sk-planted-KEYMARK"
	asked  = "What of the PROMPTMARK?"
	leaked = "ANSWERMARK"
)

// server is an endpoint that answers from a list and then repeats the last answer.
type server struct {
	*httptest.Server
	answers []http.HandlerFunc

	mu   sync.Mutex
	seen []seen // guarded by mu
}

// seen is a recorded request.
type seen struct {
	path   string
	header http.Header
	body   map[string]any
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := seen{path: r.URL.Path, header: r.Header}
		if err := json.NewDecoder(r.Body).Decode(&one.body); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		n := min(len(s.seen), len(s.answers)-1)
		s.seen = append(s.seen, one)
		s.mu.Unlock()
		s.answers[n](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.seen...)
}

// say returns a handler that answers with a status, a body, and headers given in pairs.
func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// chat returns the body of a chat completion.
func chat(content, finish string) string {
	text, _ := json.Marshal(content)
	return `{"id":"c-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` + string(text) +
		`,"refusal":null},"finish_reason":"` + finish +
		`"}],"usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}`
}

// message returns the body of a message.
func message(content, stop string) string {
	text, _ := json.Marshal(content)
	return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":` + string(text) +
		`}],"stop_reason":"` + stop +
		`","stop_sequence":null,"usage":{"input_tokens":11,"cache_read_input_tokens":4,"output_tokens":3}}`
}

// client returns a client of a server. Pauses between attempts take no time and are recorded.
func client(t *testing.T, s *server, c model.Config) (*model.Client, *[]time.Duration) {
	t.Helper()
	if c.Provider == "" {
		c.Provider = model.Compatible
	}
	c.URL, c.Name, c.Key = s.URL+"/v1", "m-1", key
	pauses := &[]time.Duration{}
	c.Wait = func(ctx context.Context, d time.Duration) error {
		*pauses = append(*pauses, d)
		return ctx.Err()
	}
	made, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made, pauses
}

func complete(t *testing.T, c *model.Client, schema string) (agent.Completion, error) {
	t.Helper()
	r := agent.Request{Prompt: asked, MaxTokens: 200}
	if schema != "" {
		r.Schema = json.RawMessage(schema)
	}
	a, err := c.Complete(t.Context(), r)
	for e := err; e != nil; e = errors.Unwrap(e) {
		for _, mark := range []string{"KEYMARK", "PROMPTMARK", leaked} {
			if strings.Contains(e.Error(), mark) {
				t.Errorf("an error holds %s: %v", mark, e)
			}
		}
	}
	return a, err
}

const yesOrNo = `{"type":"object","properties":{"answer":{"type":"string","enum":["yes","no"]}},"required":["answer"],"additionalProperties":false}`

// Each provider gets requests in its own format, and its token counts are returned.
func TestRequestFormats(t *testing.T) {
	for _, tc := range []struct {
		provider, body, path, bound, form string
		header                            map[string]string
		tokens                            int
	}{
		{model.OpenAI, chat(`{"answer":"yes"}`, "stop"), "/v1/chat/completions", "max_completion_tokens", "response_format",
			map[string]string{"Authorization": "Bearer " + key}, 11},
		{model.Compatible, chat(`{"answer":"yes"}`, "stop"), "/v1/chat/completions", "max_tokens", "response_format",
			map[string]string{"Authorization": "Bearer " + key}, 11},
		{model.Anthropic, message(`{"answer":"yes"}`, "end_turn"), "/v1/messages", "max_tokens", "output_config",
			map[string]string{"X-Api-Key": key, "Anthropic-Version": "2023-06-01", "Authorization": ""}, 15},
	} {
		s := serve(t, say(200, tc.body))
		c, _ := client(t, s, model.Config{Provider: tc.provider, PromptPrice: 2, CompletionPrice: 10.5})
		a, err := complete(t, c, yesOrNo)
		cost := int64(2*tc.tokens + 32)
		if err != nil || a.Text != `{"answer":"yes"}` || a.TokensPrompt != tc.tokens || a.TokensCompletion != 3 ||
			a.CostMicroUSD != cost || a.Retries != 0 {
			t.Errorf("%s: %+v, %v", tc.provider, a, err)
		}
		got := s.requests()[0]
		for name, want := range tc.header {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q", tc.provider, name, got.header.Get(name))
			}
		}
		form, _ := json.Marshal(got.body[tc.form])
		said, _ := json.Marshal(got.body["messages"])
		if got.path != tc.path || got.body["model"] != "m-1" || got.body[tc.bound] != 200.0 ||
			!strings.Contains(string(form), `"json_schema"`) || !strings.Contains(string(form), `"enum":["yes","no"]`) ||
			string(said) != `[{"content":"`+asked+`","role":"user"}]` {
			t.Errorf("%s: asked %s %v", tc.provider, got.path, got.body)
		}
	}
}

// An unusable answer is an error that names the remedy and contains no part of the answer.
func TestUnusableAnswers(t *testing.T) {
	refusal := strings.Replace(chat("", "stop"), `"refusal":null`, `"refusal":"`+leaked+`"`, 1)
	for _, tc := range []struct {
		name, provider, schema string
		answer                 http.HandlerFunc
		kind                   fault.Kind
		says                   string
		spent                  bool
	}{
		{"chat: cut off", model.OpenAI, "", say(200, chat(leaked, "length")), fault.Rule, "model.max_tokens", true},
		{"chat: refusal", model.OpenAI, "", say(200, refusal), fault.Rule, "refuses", true},
		{"chat: filtered", model.OpenAI, "", say(200, chat(leaked, "content_filter")), fault.Rule, "refuses", true},
		{"chat: no choices", model.OpenAI, "", say(200, `{"choices":[]}`), fault.Rule, "without a message", true},
		{"chat: not JSON", model.OpenAI, "", say(200, "<html>"+leaked), fault.Rule, "model.url", true},
		{"chat: JSON of another kind", model.OpenAI, "", say(200, `{"choices":"`+leaked+`"}`), fault.Rule,
			"model.provider", true},
		{"chat: another form", model.OpenAI, yesOrNo, say(200, chat(`{"answer":"`+leaked+`"}`, "stop")), fault.Rule,
			"form", true},
		{"chat: more than the form", model.OpenAI, yesOrNo, say(200, chat(`{"answer":"yes","`+leaked+`":1}`, "stop")),
			fault.Rule, "form", true},
		{"chat: prose in place of a form", model.OpenAI, yesOrNo, say(200, chat("Yes, "+leaked, "stop")), fault.Rule,
			"form", true},
		{"chat: two values", model.OpenAI, yesOrNo, say(200, chat(`{"answer":"yes"} {"answer":"no"}`, "stop")), fault.Rule,
			"form", true},
		{"chat: a long text", model.OpenAI, "", say(200, chat(strings.Repeat("x", 70<<10), "stop")), fault.Rule,
			"too long", true},
		{"chat: a huge answer", model.OpenAI, "", say(200, strings.Repeat(leaked, 200_000)), fault.Rule, "too long", true},
		{"chat: thinking without an end", model.Compatible, yesOrNo, say(200, chat("<think>"+leaked, "stop")), fault.Rule,
			"form", true},
		{"messages: cut off", model.Anthropic, "", say(200, message(leaked, "max_tokens")), fault.Rule,
			"model.max_tokens", true},
		{"messages: the window is full", model.Anthropic, "", say(200, message(leaked, "model_context_window_exceeded")),
			fault.Rule, "cut off", true},
		{"messages: refusal", model.Anthropic, "", say(200, message(leaked, "refusal")), fault.Rule, "refuses", true},
		{"messages: a chat completion", model.Anthropic, "", say(200, chat(leaked, "stop")), fault.Rule,
			"model.provider", true},
		{"a bad key", model.OpenAI, "", say(401, `{"error":{"message":"`+leaked+key+
			`","type":"invalid_request_error","code":"invalid_api_key"}}`), fault.Rule, "model.key_env", false},
		{"no such model", model.Anthropic, "", say(404, `{"type":"error","error":{"type":"not_found_error","message":"`+
			leaked+`"}}`), fault.Rule, "model.name", false},
		{"no money", model.OpenAI, "", say(429, `{"error":{"message":"`+leaked+`","code":"insufficient_quota"}}`), fault.Rule,
			"quota", false},
		{"a long prompt", model.OpenAI, "", say(400, `{"error":{"message":"`+leaked+`","code":"context_length_exceeded"}}`),
			fault.Rule, "too long for the model", false},
		{"a bad request", model.Compatible, "", say(400, `{"error":{"message":"`+leaked+`","code":400}}`), fault.Rule,
			"status 400", false},
		{"a status that is none", model.Compatible, "", say(501, leaked), fault.Rule, "status 501", false},
		{"told not to come back", model.OpenAI, "", say(500, leaked, "X-Should-Retry", "false"), fault.Rule,
			"status 500", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, tc.answer)
			c, _ := client(t, s, model.Config{Provider: tc.provider, Retries: 2})
			a, err := complete(t, c, tc.schema)
			if fault.KindOf(err) != tc.kind || err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want %v with %q", err, tc.kind, tc.says)
			}
			if n := len(s.requests()); n != 1 || a.Text != "" || (a.TokensPrompt > 0) != tc.spent {
				t.Errorf("%d requests, %+v", n, a)
			}
		})
	}
}

// An endpoint that does not support schemas gets the request without one, then and later. Its
// answers are still validated.
func TestEndpointWithoutSchemaSupport(t *testing.T) {
	s := serve(t, say(400, leaked), say(200, chat(`{"answer":"yes"}`, "stop")), say(200, chat("Yes.", "stop")))
	c, _ := client(t, s, model.Config{})
	if a, err := complete(t, c, yesOrNo); err != nil || a.Text != `{"answer":"yes"}` || a.Retries != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := complete(t, c, yesOrNo); err == nil {
		t.Error("what has no form is taken")
	}
	for i, want := range []bool{true, false, false} {
		if _, ok := s.requests()[i].body["response_format"]; ok != want {
			t.Errorf("request %d names a form: %v", i, ok)
		}
	}
}

func TestAnswerWrappingIsStripped(t *testing.T) {
	for _, text := range []string{"```json\n{\"answer\":\"no\"}\n```", "```\n{\"answer\":\"no\"}```",
		" \n{\"answer\":\"no\"}\n", "<think>Should I?</think>\n{\"answer\":\"no\"}"} {
		c, _ := client(t, serve(t, say(200, chat(text, "stop"))), model.Config{})
		if a, err := complete(t, c, yesOrNo); err != nil || a.Text != `{"answer":"no"}` {
			t.Errorf("%q: %q, %v", text, a.Text, err)
		}
	}
	c, _ := client(t, serve(t, say(200, chat("", "stop"))), model.Config{})
	if a, err := complete(t, c, ""); err != nil || a.Text != "" {
		t.Errorf("silence is %q, %v", a.Text, err)
	}
}

// Missing or implausible token counts are replaced by estimates.
func TestInvalidTokenCountsAreEstimated(t *testing.T) {
	for _, usage := range []string{`{}`, `{"prompt_tokens":-5,"completion_tokens":-9}`,
		`{"prompt_tokens":999999999999,"completion_tokens":999999999999}`} {
		body := strings.Replace(chat("Twelve bytes", "stop"), `{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}`,
			usage, 1)
		c, _ := client(t, serve(t, say(200, body)), model.Config{})
		a, err := complete(t, c, "")
		if err != nil || a.TokensPrompt != len(asked)/4+1 || a.TokensCompletion != 4 {
			t.Errorf("%s: %+v, %v", usage, a, err)
		}
	}
}

// Temporary failures are retried after the time that the endpoint asks for.
func TestRetries(t *testing.T) {
	good := say(200, chat("Good.", "stop"))
	broken := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5000")
		_, _ = io.WriteString(w, chat(leaked, "stop"))
	}
	for _, tc := range []struct {
		name    string
		answers []http.HandlerFunc
		pauses  []time.Duration // the least of each
	}{
		{"busy, with seconds", []http.HandlerFunc{say(429, leaked, "Retry-After", "3"), good},
			[]time.Duration{3 * time.Second}},
		{"overloaded, with milliseconds", []http.HandlerFunc{say(529, leaked, "Retry-After-Ms", "1500"), good},
			[]time.Duration{1500 * time.Millisecond}},
		{"down twice", []http.HandlerFunc{say(503, leaked), say(500, leaked, "Retry-After", "soon"), good},
			[]time.Duration{500 * time.Millisecond, time.Second}},
		{"broken off", []http.HandlerFunc{broken, good}, []time.Duration{500 * time.Millisecond}},
		{"hung up", []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, good},
			[]time.Duration{500 * time.Millisecond}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, pauses := client(t, serve(t, tc.answers...), model.Config{Retries: 2})
			a, err := complete(t, c, "")
			if err != nil || a.Text != "Good." || a.Retries != len(tc.pauses) || len(*pauses) != len(tc.pauses) {
				t.Fatalf("%+v, %v after %v", a, err, *pauses)
			}
			for i, least := range tc.pauses {
				if got := (*pauses)[i]; got < least || got > least+least/4 {
					t.Errorf("pause %d is %v, want %v", i, got, least)
				}
			}
		})
	}
	s := serve(t, say(503, leaked))
	c, _ := client(t, s, model.Config{Retries: 2})
	if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable || len(s.requests()) != 3 {
		t.Errorf("%v after %d requests", err, len(s.requests()))
	}
}

func TestRetryAfterDate(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := serve(t, say(429, "", "Retry-After", now.Add(7*time.Second).Format(http.TimeFormat)),
		say(200, chat("Good.", "stop")))
	c, pauses := client(t, s, model.Config{Retries: 1, Now: func() time.Time { return now }, Timeout: 100_000 * time.Hour})
	if _, err := complete(t, c, ""); err != nil || len(*pauses) != 1 || (*pauses)[0] != 7*time.Second {
		t.Errorf("%v, %v", *pauses, err)
	}
}

// A pause that would outlast the call is not waited for.
func TestPauseBeyondTimeoutIsNotWaited(t *testing.T) {
	s := serve(t, say(429, "", "Retry-After", "3600"))
	c, pauses := client(t, s, model.Config{Retries: 5, Timeout: time.Minute})
	if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable || len(*pauses) != 0 ||
		len(s.requests()) != 1 {
		t.Errorf("%v, pauses %v, %d requests", err, *pauses, len(s.requests()))
	}
}

func TestTimeoutAndCanceledCaller(t *testing.T) {
	gone := make(chan struct{})
	slow := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); gone <- struct{}{} }
	c, _ := client(t, serve(t, slow), model.Config{Timeout: 20 * time.Millisecond, Retries: 3})
	if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-gone
	ctx, cancel := context.WithCancel(t.Context())
	c, _ = client(t, serve(t, func(w http.ResponseWriter, r *http.Request) { cancel(); slow(w, r) }), model.Config{})
	if _, err := c.Complete(ctx, agent.Request{Prompt: asked}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-gone
}

// An endpoint that failed three calls in a row gets no calls for half a minute.
func TestBreakerOpensAfterThreeFailures(t *testing.T) {
	now := time.Now()
	s := serve(t, say(503, ""), say(503, ""), say(503, ""), say(200, chat("Back.", "stop")))
	c, _ := client(t, s, model.Config{Now: func() time.Time { return now }})
	for n := range 6 {
		if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("call %d: %v", n, err)
		}
	}
	if n := len(s.requests()); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
	now = now.Add(31 * time.Second)
	if a, err := c.Complete(t.Context(), agent.Request{Prompt: asked}); err != nil || a.Text != "Back." {
		t.Errorf("%+v, %v", a, err)
	}
}

// Redirects are not followed: they would forward the key and the prompt.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := serve(t, say(200, chat(leaked, "stop")))
	for _, status := range []int{301, 302, 303, 307, 308} {
		c, _ := client(t, serve(t, say(status, "", "Location", elsewhere.URL)), model.Config{Retries: 2})
		if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Rule || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("%d: %v", status, err)
		}
	}
	if n := len(elsewhere.requests()); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestCallsWaitForASlot(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	enter, leave := make(chan struct{}), make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		enter <- struct{}{}
		<-leave
		mu.Lock()
		now--
		mu.Unlock()
		say(200, chat("x", "stop"))(w, r)
	})
	c, _ := client(t, s, model.Config{Concurrency: 2})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := c.Complete(t.Context(), agent.Request{Prompt: asked}); err != nil {
				t.Error(err)
			}
		})
	}
	for range 6 {
		<-enter
		leave <- struct{}{}
	}
	all.Wait()
	if most > 2 {
		t.Errorf("%d at once, want 2 at most", most)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct {
		c    model.Config
		want string
	}{
		{model.Config{Provider: "openai", Name: "m"}, ""},
		{model.Config{Provider: "anthropic", Name: "m"}, ""},
		{model.Config{Provider: "compatible", Name: "m", URL: "http://127.0.0.1:11434/v1"}, ""},
		{model.Config{Provider: "compatible", Name: "m", URL: "http://[::1]:11434/v1"}, ""},
		{model.Config{Provider: "compatible", Name: "m", URL: "http://localhost:1234/v1"}, ""},
		{model.Config{Provider: "compatible", Name: "m"}, "url:"},
		{model.Config{Provider: "gemini", Name: "m"}, "provider:"},
		{model.Config{Provider: "openai"}, "name:"},
		{model.Config{Provider: "compatible", Name: "m", URL: "http://model.example/v1"}, "unencrypted"},
		{model.Config{Provider: "compatible", Name: "m", URL: "http://127.0.0.1.example/v1"}, "unencrypted"},
		{model.Config{Provider: "compatible", Name: "m", URL: "https://me:" + key + "@model.example/v1"}, "key_env"},
		{model.Config{Provider: "compatible", Name: "m", URL: "https://model.example/v1?key=" + key}, "key_env"},
		{model.Config{Provider: "compatible", Name: "m", URL: "file:///etc/passwd"}, "url:"},
		{model.Config{Provider: "compatible", Name: "m", URL: "https://" + key + "\x7f"}, "url:"},
	} {
		_, err := model.New(tc.c)
		if (err == nil) != (tc.want == "") || err != nil &&
			(!strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "KEYMARK")) {
			t.Errorf("%+v: %v, want %q", tc.c.URL, err, tc.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		good   bool
	}{{200, chat("ready", "stop"), true}, {200, chat("", "length"), true}, {401, "", false}, {503, "", false}} {
		c, _ := client(t, serve(t, say(tc.status, tc.body)), model.Config{})
		if err := c.Check(t.Context()); (err == nil) != tc.good {
			t.Errorf("%s: %v", strconv.Itoa(tc.status), err)
		}
	}
	nobody := serve(t, say(200, ""))
	c, _ := client(t, nobody, model.Config{})
	nobody.Close()
	if err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "check that it is running") {
		t.Error(err)
	}
}

// FuzzAnswer feeds arbitrary answers to a client.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(chat("x", "stop")), true)
	f.Add([]byte(message("x", "end_turn")), false)
	f.Add([]byte(`{"choices":[null]}`), true)
	f.Add([]byte(`{"type":"message","content":[{}]}`), false)
	f.Fuzz(func(t *testing.T, body []byte, openai bool) {
		provider := model.Anthropic
		if openai {
			provider = model.Compatible
		}
		c, err := model.New(model.Config{Provider: provider, URL: "http://127.0.0.1/v1", Name: "m",
			HTTP: &http.Client{Transport: canned(body)}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.Complete(t.Context(), agent.Request{Prompt: "x", Schema: json.RawMessage(yesOrNo)})
		if err == nil && a.Text == "" || err != nil && a.Text != "" || a.TokensPrompt < 0 || a.TokensCompletion < 0 {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// canned answers every request with the same body.
type canned []byte

func (c canned) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(c)))}, nil
}
