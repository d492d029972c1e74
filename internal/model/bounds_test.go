package model_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/model"
)

// carrier answers requests without a network and counts them.
type carrier struct {
	answer func(r *http.Request) (*http.Response, error)

	mu    sync.Mutex
	count int // guarded by mu
}

func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	c.mu.Lock()
	c.count++
	c.mu.Unlock()
	return c.answer(r)
}

func (c *carrier) requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// carried returns a client whose requests go through a transport.
func carried(t *testing.T, by http.RoundTripper, c model.Config) *model.Client {
	t.Helper()
	c.Provider, c.URL, c.Name, c.HTTP = model.Compatible, "https://model.example/v1", "m-1", &http.Client{Transport: by}
	made, err := model.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func response(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// No request asks for a longer answer than the configuration allows.
func TestMaxTokensIsBoundedByConfig(t *testing.T) {
	for _, tc := range []struct{ configured, asked, sent int }{
		{0, 0, 1024}, {0, -7, 1024}, {0, 1, 1}, {0, 1024, 1024}, {0, 1025, 1024}, {0, 1 << 40, 1024},
		{50, 200, 50}, {50, 51, 50}, {50, 50, 50}, {50, 0, 50}, {1, 2, 1}, {-3, 9999, 1024},
	} {
		s := serve(t, say(200, chat("x", "stop")))
		c, _ := client(t, s, model.Config{MaxTokens: tc.configured})
		if _, err := c.Complete(t.Context(), agent.Request{Prompt: asked, MaxTokens: tc.asked}); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[0].body["max_tokens"]; got != float64(tc.sent) {
			t.Errorf("%d asked for, %d configured: sent %v, want %d", tc.asked, tc.configured, got, tc.sent)
		}
	}
}

// The longest prompt is sent, and a prompt with one byte more is not.
func TestLongestPrompt(t *testing.T) {
	const longest = 512 << 10
	s := serve(t, say(200, chat("x", "stop")))
	c, _ := client(t, s, model.Config{})
	if _, err := c.Complete(t.Context(), agent.Request{Prompt: strings.Repeat("x", longest)}); err != nil {
		t.Errorf("the longest: %v", err)
	}
	if _, err := c.Complete(t.Context(), agent.Request{Prompt: strings.Repeat("x",
		longest+1)}); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("a byte more: %v", err)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

func TestLongestAnswer(t *testing.T) {
	const longestText, longestBody = 64 << 10, 1 << 20
	padded := func(size int) string {
		body := chat("x", "stop")
		return body + strings.Repeat(" ", size-len(body))
	}
	for _, tc := range []struct {
		name, provider, body string
		taken                bool
	}{
		{"chat: the longest text", model.Compatible, chat(strings.Repeat("x", longestText), "stop"), true},
		{"chat: a byte more", model.Compatible, chat(strings.Repeat("x", longestText+1), "stop"), false},
		{"messages: the longest text", model.Anthropic, message(strings.Repeat("x", longestText), "end_turn"), true},
		{"messages: a byte more", model.Anthropic, message(strings.Repeat("x", longestText+1), "end_turn"), false},
		{"the longest body", model.Compatible, padded(longestBody), true},
		{"a longer body", model.Compatible, padded(longestBody + 1), false},
	} {
		c, _ := client(t, serve(t, say(200, tc.body)), model.Config{Provider: tc.provider})
		a, err := complete(t, c, "")
		if (err == nil) != tc.taken || (a.Text != "") != tc.taken || !tc.taken && !strings.Contains(err.Error(), "too long") {
			t.Errorf("%s: %d bytes, %v", tc.name, len(a.Text), err)
		}
	}
}

// Without a key no authorization header is sent, and without a schema no member for it.
func TestOptionalPartsAreNotSent(t *testing.T) {
	for provider, body := range map[string]string{model.Compatible: chat("x", "stop"),
		model.Anthropic: message("x", "end_turn")} {
		s := serve(t, say(200, body))
		c, err := model.New(model.Config{Provider: provider, URL: s.URL + "/v1", Name: "m-1"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := complete(t, c, ""); err != nil {
			t.Fatal(err)
		}
		got := s.requests()[0]
		for _, name := range []string{"Authorization", "X-Api-Key"} {
			if v, there := got.header[name]; there {
				t.Errorf("%s: %s is %q without a key", provider, name, v)
			}
		}
		for _, name := range []string{"response_format", "output_config"} {
			if v, there := got.body[name]; there {
				t.Errorf("%s: %s is %v where no form was asked for", provider, name, v)
			}
		}
		if got.header.Get("Content-Type") != "application/json" || got.header.Get("Accept") != "application/json" {
			t.Errorf("%s: %v", provider, got.header)
		}
	}
}

// The error codes of both protocols are understood.
func TestProviderErrorCodes(t *testing.T) {
	for _, tc := range []struct {
		name, provider string
		status         int
		body, says     string
	}{
		{"no money", model.Anthropic, 403, `{"type":"error","error":{"type":"billing_error","message":"` + leaked + `"}}`,
			"cannot pay"},
		{"a key that may not", model.Compatible, 403, `{"error":{"message":"` + leaked + `"}}`, "model.key_env"},
		{"fields that are not taken", model.Compatible, 422, leaked, "check that the model accepts chat messages"},
		{"nothing, and well", model.Compatible, 204, "", "status 204"},
		{"a turn that goes on", model.Anthropic, 200, message(leaked, "pause_turn"), "cut off"},
	} {
		s := serve(t, say(tc.status, tc.body))
		c, _ := client(t, s, model.Config{Provider: tc.provider, Retries: 2})
		if a, err := complete(t, c, ""); fault.KindOf(err) != fault.Rule || !strings.Contains(err.Error(), tc.says) ||
			a.Text != "" || len(s.requests()) != 1 {
			t.Errorf("%s: %+v, %v after %d requests; want %q", tc.name, a, err, len(s.requests()), tc.says)
		}
	}
}

// Only the text blocks of a message are used, not its thinking.
func TestThinkingIsNotPartOfAnswer(t *testing.T) {
	body := strings.Replace(message("Said.", "end_turn"), `"thinking":"hm"`, `"text":"`+leaked+`"`, 1)
	c, _ := client(t, serve(t, say(200, body)), model.Config{Provider: model.Anthropic})
	if a, err := complete(t, c, ""); err != nil || a.Text != "Said." {
		t.Errorf("%q, %v", a.Text, err)
	}
}

// An empty answer costs no completion tokens, and counts from one token on are trusted.
func TestCostOfEmptyAnswer(t *testing.T) {
	body := strings.Replace(chat("", "stop"), `"prompt_tokens":11,"completion_tokens":3`,
		`"prompt_tokens":1,"completion_tokens":0`, 1)
	c, _ := client(t, serve(t, say(200, body)), model.Config{PromptPrice: 7, CompletionPrice: 1000})
	if a, err := complete(t, c, ""); err != nil || a.TokensPrompt != 1 || a.TokensCompletion != 0 || a.CostMicroUSD != 7 {
		t.Errorf("%+v, %v", a, err)
	}
}

// An endpoint that also refuses the request without a schema is not recorded as lacking schemas.
func TestRefusalWithoutSchemaKeepsSchemas(t *testing.T) {
	s := serve(t, say(400, leaked), say(400, leaked), say(200, chat(`{"answer":"yes"}`, "stop")))
	c, _ := client(t, s, model.Config{})
	if a, err := complete(t, c, yesOrNo); fault.KindOf(err) != fault.Rule || a.Text != "" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := complete(t, c, yesOrNo); err != nil || a.Text != `{"answer":"yes"}` {
		t.Errorf("%+v, %v", a, err)
	}
	for i, want := range []bool{true, false, true} {
		if _, ok := s.requests()[i].body["response_format"]; ok != want {
			t.Errorf("request %d names a form: %v", i, ok)
		}
	}
}

// Pauses grow up to a limit and depend on the clock, so that many callers do not retry at once.
func TestPausesGrowWithJitter(t *testing.T) {
	pausesAt := func(nanos int64) []time.Duration {
		now := time.Unix(1_800_000_000, nanos)
		c, pauses := client(t, serve(t, say(503, "")), model.Config{Retries: 7, Now: func() time.Time { return now },
			Timeout: 100_000 * time.Hour})
		if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		return *pauses
	}
	even, odd := pausesAt(0), pausesAt(1_000_000)
	for i, least := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
		8 * time.Second, 8 * time.Second, 8 * time.Second} {
		if even[i] != least || odd[i] != least+time.Millisecond {
			t.Errorf("pause %d is %v and a moment later %v, want %v", i, even[i], odd[i], least)
		}
	}
}

// An invalid wait time is ignored.
func TestInvalidRetryAfterIsIgnored(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for _, header := range [][]string{
		{"Retry-After", "-5"}, {"Retry-After", "0"}, {"Retry-After", "NaN"}, {"Retry-After", "1e300"}, {"Retry-After", "1e6"},
		{"Retry-After", "Inf"},
		{"Retry-After-Ms", "-5"}, {"Retry-After-Ms", "0"}, {"Retry-After-Ms", "NaN"}, {"Retry-After-Ms", "1e300"},
		{"Retry-After-Ms", "1e9"},
		{"Retry-After", now.Add(-time.Hour).UTC().Format(http.TimeFormat)},
	} {
		c, pauses := client(t, serve(t, say(503, "", header...), say(200, chat("x", "stop"))),
			model.Config{Retries: 1, Now: func() time.Time { return now }, Timeout: 100_000 * time.Hour})
		if _, err := complete(t, c, ""); err != nil || len(*pauses) != 1 || (*pauses)[0] != 500*time.Millisecond {
			t.Errorf("%v: %v, %v", header, *pauses, err)
		}
	}
}

// The default wait takes real time and ends with its context.
func TestRealPauseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		by := &carrier{}
		by.answer = func(*http.Request) (*http.Response, error) {
			if by.requests() == 1 {
				return response(503, ""), nil
			}
			return response(200, chat("x", "stop")), nil
		}
		c := carried(t, by, model.Config{Retries: 1})
		begun := time.Now()
		if _, err := complete(t, c, ""); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took < 500*time.Millisecond || took > 625*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		by = &carrier{answer: func(*http.Request) (*http.Response, error) { return response(503, ""), nil }}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			time.Sleep(100 * time.Millisecond)
			cancel()
		}()
		begun = time.Now()
		_, err := carried(t, by, model.Config{Retries: 5}).Complete(ctx, agent.Request{Prompt: asked})
		if took := time.Since(begun); fault.KindOf(err) != fault.Unavailable || took != 100*time.Millisecond ||
			by.requests() != 1 {
			t.Errorf("after %v and %d requests: %v", took, by.requests(), err)
		}
	})
}

// Exactly as many calls as configured run at the same time.
func TestConcurrencyIsLimited(t *testing.T) {
	for configured, want := range map[int]int{0: 4, 1: 1, 2: 2, 6: 6} {
		synctest.Test(t, func(t *testing.T) {
			leave := make(chan struct{})
			by := &carrier{answer: func(*http.Request) (*http.Response, error) {
				<-leave
				return response(200, chat("x", "stop")), nil
			}}
			c := carried(t, by, model.Config{Concurrency: configured})
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if _, err := c.Complete(t.Context(), agent.Request{Prompt: asked}); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			if n := by.requests(); n != want {
				t.Errorf("%d configured: %d at once, want %d", configured, n, want)
			}
			close(leave)
			all.Wait()
		})
	}
}

// Only consecutive failures to get an answer open the breaker. An answer between them resets the
// count, also one that refuses, and a canceled call does not count.
func TestBreakerStaysClosed(t *testing.T) {
	down, good, denied := say(503, ""), say(200, chat("x", "stop")), say(401, "")
	for name, answers := range map[string][]http.HandlerFunc{
		"an answer between":  {down, down, good, down, down, good},
		"a refusal between":  {down, down, denied, down, down, good},
		"refusals in a row":  {denied, denied, denied, denied, denied, good},
		"two, and no third":  {down, down, good},
		"a rest is not over": {denied, down, down, good},
	} {
		s := serve(t, answers...)
		c, _ := client(t, s, model.Config{})
		for range answers[1:] {
			_, _ = complete(t, c, "")
		}
		if _, err := complete(t, c, ""); err != nil || len(s.requests()) != len(answers) {
			t.Errorf("%s: %v after %d requests", name, err, len(s.requests()))
		}
	}
	by := &carrier{}
	c := carried(t, by, model.Config{})
	for range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		by.answer = func(*http.Request) (*http.Response, error) {
			cancel()
			return nil, ctx.Err()
		}
		if _, err := c.Complete(ctx, agent.Request{Prompt: asked}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	by.answer = func(*http.Request) (*http.Response, error) { return response(200, chat("x", "stop")), nil }
	if _, err := complete(t, c, ""); err != nil {
		t.Errorf("after four callers who went: %v", err)
	}
}

// The error of an open breaker contains the time to wait.
func TestOpenBreakerReturnsRetryAfter(t *testing.T) {
	now := time.Now()
	c, _ := client(t, serve(t, say(503, "")), model.Config{Now: func() time.Time { return now }})
	for range 3 {
		_, _ = complete(t, c, "")
	}
	now = now.Add(10 * time.Second)
	_, err := complete(t, c, "")
	var e *fault.Error
	if !errors.As(err, &e) || e.RetryAfter != 20*time.Second || !strings.Contains(err.Error(), "20 s") {
		t.Errorf("%v", err)
	}
}

// Connection errors are reported in this package's own words.
func TestConnectionErrors(t *testing.T) {
	for says, with := range map[string]error{
		"is not found":             &net.OpError{Op: "dial", Err: &net.DNSError{Err: leaked, Name: leaked}},
		"check that it is running": &net.OpError{Op: "dial", Err: errors.New(leaked)},
		"interrupted":              &net.OpError{Op: "read", Err: errors.New(leaked)},
		"the certificate":          &tls.CertificateVerificationError{Err: errors.New(leaked)},
		"interrupted its ans":      errors.New(leaked),
	} {
		c := carried(t, &carrier{answer: func(*http.Request) (*http.Response, error) { return nil, with }}, model.Config{})
		if _, err := complete(t, c, ""); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want %q", err, says)
		}
	}
	unknown := httptest.NewTLSServer(say(200, chat(leaked, "stop")))
	defer unknown.Close()
	c, err := model.New(model.Config{Provider: model.Compatible, URL: unknown.URL, Name: "m", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := complete(t, c, ""); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody vouches for: %v", err)
	}
}

// A key is sent without encryption to this machine only, and an address has only a host and a path.
func TestInvalidAddresses(t *testing.T) {
	for _, address := range []string{
		"http://10.0.0.1/v1", "http://192.168.1.1/v1", "http://0.0.0.0/v1", "http://[fe80::1]/v1",
		"http://[::ffff:10.0.0.1]/v1", "http://169.254.169.254/v1", "http://1.2.3.4/v1",
		"ftp://model.example/v1", "ws://127.0.0.1/v1", "//127.0.0.1/v1", "127.0.0.1:80", "https:///v1", "https://:443/v1",
		"https://model.example/v1#x", "https://me@model.example/v1",
	} {
		if _, err := model.New(model.Config{Provider: model.Compatible, Name: "m", URL: address}); err == nil ||
			!strings.HasPrefix(err.Error(), "url:") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A model that answers with a refusal is available.
func TestCheckAcceptsRefusal(t *testing.T) {
	c, _ := client(t, serve(t, say(200, chat("", "content_filter"))), model.Config{})
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
}
