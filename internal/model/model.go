package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

// The providers, by protocol.
const (
	OpenAI     = "openai"     // OpenAI itself
	Compatible = "compatible" // other endpoints with OpenAI's protocol: Ollama, vLLM, LM Studio, llama.cpp, Gemini
	Anthropic  = "anthropic"  // Anthropic's messages
)

// Config configures a Client. Provider and Name are required, and URL if the provider is
// Compatible.
type Config struct {
	Provider string
	// URL is the endpoint's base with its version, such as http://127.0.0.1:11434/v1. It is https,
	// or http on loopback. "" is the provider's own.
	URL  string
	Name string // of the model
	Key  string // "" for none
	// Timeout bounds a call with all its attempts; 0 is 30 s.
	Timeout time.Duration
	// Retries is the number of attempts after the first, for failures that may be temporary; 0 is
	// none.
	Retries int
	// MaxTokens bounds an answer, also if a request asks for more; 0 is 1,024.
	MaxTokens int
	// Concurrency is the number of calls at the same time; others wait. 0 is 4.
	Concurrency int
	// PromptPrice and CompletionPrice are in dollars per million tokens, which is micro-dollars per
	// token.
	PromptPrice, CompletionPrice float64

	HTTP *http.Client                                     // nil: a client that follows no redirects
	Now  func() time.Time                                 // nil is time.Now
	Wait func(ctx context.Context, d time.Duration) error // between attempts; nil waits in real time
}

// Client sends prompts to one model. It is safe for concurrent use.
type Client struct {
	cfg        Config
	wire       wire
	endpoint   string
	host       string
	slots      chan struct{}
	breaker    wait.Breaker
	schemaless atomic.Bool // the endpoint does not support schemas
}

var _ agent.Provider = (*Client)(nil)

// Limits of a call, in bytes. maxPrompt is longer than most models accept.
const (
	maxPrompt = 512 << 10
	maxAnswer = 1 << 20
	maxText   = 64 << 10
)

// New returns a Client. It sends nothing yet. Its errors name the field of Config.
func New(c Config) (*Client, error) {
	w, ok := wires[c.Provider]
	if !ok {
		return nil, fmt.Errorf("provider: %q is not a provider; set %s, %s or %s", c.Provider, OpenAI, Compatible, Anthropic)
	}
	if c.Name == "" {
		return nil, errors.New("name: set the name of a model, as its provider writes it")
	}
	if c.URL == "" {
		c.URL = w.baseURL()
	}
	base, err := parseEndpoint(c.URL)
	if err != nil {
		return nil, err
	}
	c.setDefaults()
	return &Client{cfg: c, wire: w, endpoint: base.JoinPath(w.endpointPath()).String(), host: base.Host,
		slots: make(chan struct{}, c.Concurrency)}, nil
}

func (c *Config) setDefaults() {
	for _, d := range []struct {
		field    *int
		fallback int
	}{{&c.MaxTokens, 1024}, {&c.Concurrency, 4}} {
		if *d.field <= 0 {
			*d.field = d.fallback
		}
	}
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.HTTP == nil {
		c.HTTP = newHTTP()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Wait == nil {
		c.Wait = sleepFor
	}
}

// Model returns the configured name.
func (c *Client) Model() string { return c.cfg.Name }

// Host returns the host of the endpoint, for display.
func (c *Client) Host() string { return c.host }

// Complete answers a prompt. The error is fault.Unavailable if asking again later may help,
// fault.TooLarge if the prompt is too long, and fault.Rule if the endpoint's answer is unusable or
// a refusal. The Completion counts the tokens spent, also beside an error.
func (c *Client) Complete(ctx context.Context, r agent.Request) (agent.Completion, error) {
	if len(r.Prompt) > maxPrompt {
		return agent.Completion{}, fault.New(fault.TooLarge, "the prompt has %d bytes; at most %d are sent to a model",
			len(r.Prompt), maxPrompt)
	}
	check, err := newValidator(r.Schema)
	if err != nil {
		return agent.Completion{}, err
	}
	if r.MaxTokens <= 0 || r.MaxTokens > c.cfg.MaxTokens {
		r.MaxTokens = c.cfg.MaxTokens
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer, retries, err := c.askWithSchema(ctx, r)
	done := c.costOf(r, answer)
	done.Retries = retries
	if err == nil {
		done.Text, err = check(answer.text)
	}
	return done, err
}

// askWithSchema sends the request with its schema. If the endpoint refuses it with a bad request,
// askWithSchema sends it without, since not all endpoints support schemas. The answer is validated
// in both cases, and the prompt itself describes the form.
func (c *Client) askWithSchema(ctx context.Context, r agent.Request) (reply, int, error) {
	if r.Schema == nil || c.schemaless.Load() {
		r.Schema = nil
		return c.askWithRetries(ctx, r)
	}
	answer, retries, err := c.askWithRetries(ctx, r)
	if !errors.Is(err, errBadRequest) {
		return answer, retries, err
	}
	r.Schema = nil
	answer, more, again := c.askWithRetries(ctx, r)
	if again != nil {
		return answer, retries + more, err
	}
	c.schemaless.Store(true)
	return answer, retries + more + 1, nil
}

// askWithRetries makes attempts until one succeeds or no further attempt is worthwhile.
func (c *Client) askWithRetries(ctx context.Context, r agent.Request) (answer reply, retries int, err error) {
	body, err := c.wire.buildRequest(c.cfg.Name, r)
	if err != nil {
		return answer, 0, err
	}
	if left := c.breaker.Left(c.cfg.Now()); left > 0 {
		return answer, 0, breakerOpenError(left)
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer, 0, timeoutError(ctx)
	}
	for ; ; retries++ {
		var pause time.Duration
		answer, pause, err = c.sendOnce(ctx, body)
		if err == nil || fault.KindOf(err) != fault.Unavailable || ctx.Err() != nil || retries >= c.cfg.Retries {
			break
		}
		if waitErr := c.waitToRetry(ctx, retries, pause); waitErr != nil {
			break
		}
	}
	c.noteResult(ctx, err)
	return answer, retries, err
}

// waitToRetry waits before another attempt: as long as the endpoint asked for, or else longer each
// time. It returns an error if the call's time would be over by then.
func (c *Client) waitToRetry(ctx context.Context, retries int, said time.Duration) error {
	d := said
	if d <= 0 {
		d = min(firstPause<<retries, maxPause)
		d += time.Duration(c.cfg.Now().UnixNano() % int64(d/4)) // so that many callers do not retry at once
	}
	if end, ok := ctx.Deadline(); ok && c.cfg.Now().Add(d).After(end) {
		return context.DeadlineExceeded
	}
	return c.cfg.Wait(ctx, d)
}

// The first pause, and the longest pause that the endpoint did not ask for.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 8 * time.Second
)

// sleepFor waits in real time. It returns the context's error if that ends first.
func sleepFor(ctx context.Context, d time.Duration) error {
	if !wait.For(ctx, d) {
		return ctx.Err()
	}
	return nil
}

// costOf returns the cost of an answer. Missing or implausible token counts are replaced by
// estimates.
func (c *Client) costOf(r agent.Request, a reply) agent.Completion {
	if !a.received {
		return agent.Completion{}
	}
	d := agent.Completion{TokensPrompt: a.promptTokens, TokensCompletion: a.completionTokens}
	if d.TokensPrompt <= 0 || d.TokensPrompt > maxPrompt {
		d.TokensPrompt = agent.TokensIn(r.Prompt) + 1
	}
	if d.TokensCompletion < 0 || d.TokensCompletion > maxAnswer || d.TokensCompletion == 0 && a.text != "" {
		d.TokensCompletion = agent.TokensIn(a.text) + 1
	}
	d.CostMicroUSD = int64(math.Ceil(float64(d.TokensPrompt)*c.cfg.PromptPrice + float64(d.TokensCompletion)*c.cfg.CompletionPrice))
	return d
}

// Check sends a short prompt and returns an error if the model does not answer. An answer that was
// cut off, is a refusal or has another text is fine.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Complete(ctx, agent.Request{Purpose: "check", Prompt: "Answer with the one word: ready", MaxTokens: 16})
	if errors.Is(err, errCutOff) || errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// parseEndpoint parses and checks a base address.
func parseEndpoint(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("url: must be an https address with its version, such as https://api.openai.com/v1")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("url: must contain only a host and a path; put a key into key_env or key_file")
	case base.Scheme == "http" && !isLoopback(base.Hostname()):
		return nil, fmt.Errorf("url: keys and texts would be sent to %s unencrypted; use https, or a tunnel that ends on "+
			"127.0.0.1", base.Hostname())
	}
	return base, nil
}
