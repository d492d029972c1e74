// Package model asks language models over the network: any endpoint that speaks OpenAI's
// chat completions, and Anthropic's messages. It is the [agent.Provider] of a program that
// has been given one; without it nothing here runs.
//
// Its invariant: what it is given goes to the configured endpoint and nowhere else, and
// nothing of a prompt, an answer or the key stands in an error. An answer is bounded, whole,
// and fits its schema where it was asked for one, or it is an error: what an endpoint says is
// never believed. What is asked, of whom it may be asked, and what becomes of the text is
// its caller's matter.
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

// The providers, by what they speak.
const (
	OpenAI     = "openai"     // OpenAI itself
	Compatible = "compatible" // who speaks as OpenAI does: Ollama, vLLM, LM Studio, llama.cpp, Gemini
	Anthropic  = "anthropic"  // Anthropic's messages
)

// Config is what a Client is made of. Provider and Name are needed, and URL where the
// provider is Compatible.
type Config struct {
	Provider string
	// URL is the endpoint's base with its version, such as http://127.0.0.1:11434/v1: https,
	// or http on loopback. "" is the provider's own.
	URL  string
	Name string // of the model
	Key  string // "" for none
	// Timeout is how long a call may take with all its attempts; 0 is 30 s.
	Timeout time.Duration
	// Retries are attempts after the first, where a failure may pass; 0 is none.
	Retries int
	// MaxTokens bounds an answer, whatever a request asks for; 0 is 1,024.
	MaxTokens int
	// Concurrency is how many calls go on at once; others wait. 0 is 4.
	Concurrency int
	// PromptPrice and CompletionPrice are dollars for a million tokens, which is
	// micro-dollars for one.
	PromptPrice, CompletionPrice float64

	HTTP *http.Client                                     // nil: one that is fit for this
	Now  func() time.Time                                 // nil is time.Now
	Wait func(ctx context.Context, d time.Duration) error // between attempts; nil waits in real time
}

// Client asks one model. It is safe for concurrent use.
type Client struct {
	cfg      Config
	wire     wire
	endpoint string
	host     string
	slots    chan struct{}
	rest     rest
	formless atomic.Bool // the endpoint was found to know of no forms
}

var _ agent.Provider = (*Client)(nil)

// Bounds of a call, in bytes. A prompt of the first is longer than most models take.
const (
	maxPrompt = 512 << 10
	maxAnswer = 1 << 20
	maxText   = 64 << 10
)

// New makes a Client. Nothing is asked yet. Its errors name the field of Config.
func New(c Config) (*Client, error) {
	w, ok := wires[c.Provider]
	if !ok {
		return nil, fmt.Errorf("provider: %q is none; use %s, %s or %s", c.Provider, OpenAI, Compatible, Anthropic)
	}
	if c.Name == "" {
		return nil, errors.New("name: the name of a model is needed, as its provider writes it")
	}
	if c.URL == "" {
		c.URL = w.home()
	}
	base, err := endpoint(c.URL)
	if err != nil {
		return nil, err
	}
	c.defaults()
	return &Client{cfg: c, wire: w, endpoint: base.JoinPath(w.path()).String(), host: base.Host, slots: make(chan struct{}, c.Concurrency)}, nil
}

func (c *Config) defaults() {
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
		c.Wait = lapse
	}
}

// Model is the configured name.
func (c *Client) Model() string { return c.cfg.Name }

// Host is who is asked, for people to read.
func (c *Client) Host() string { return c.host }

// Complete answers a prompt. Its error is fault.Unavailable where asking again later may
// help, fault.TooLarge where the prompt is too long, and fault.Rule where the endpoint
// answered with what cannot be used, or refuses to. The Completion says what was spent, also
// beside an error.
func (c *Client) Complete(ctx context.Context, r agent.Request) (agent.Completion, error) {
	if len(r.Prompt) > maxPrompt {
		return agent.Completion{}, fault.New(fault.TooLarge, "the prompt has %d bytes; a model is sent %d at most", len(r.Prompt), maxPrompt)
	}
	check, err := validator(r.Schema)
	if err != nil {
		return agent.Completion{}, err
	}
	if r.MaxTokens <= 0 || r.MaxTokens > c.cfg.MaxTokens {
		r.MaxTokens = c.cfg.MaxTokens
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	answer, retries, err := c.formed(ctx, r)
	done := c.spent(r, answer)
	done.Retries = retries
	if err == nil {
		done.Text, err = check(answer.text)
	}
	return done, err
}

// formed asks for the form that the request wants, and for an answer of any form where
// the endpoint refuses such a request: not all know of forms. What comes is checked anyhow,
// and a prompt says what it wants.
func (c *Client) formed(ctx context.Context, r agent.Request) (reply, int, error) {
	if r.Schema == nil || c.formless.Load() {
		r.Schema = nil
		return c.ask(ctx, r)
	}
	answer, retries, err := c.ask(ctx, r)
	if !errors.Is(err, errBadRequest) {
		return answer, retries, err
	}
	r.Schema = nil
	answer, more, again := c.ask(ctx, r)
	if again != nil {
		return answer, retries + more, err
	}
	c.formless.Store(true)
	return answer, retries + more + 1, nil
}

// ask tries until there is an answer, or nothing more is worth trying.
func (c *Client) ask(ctx context.Context, r agent.Request) (answer reply, retries int, err error) {
	body, err := c.wire.request(c.cfg.Name, r)
	if err != nil {
		return answer, 0, err
	}
	if left := c.rest.left(c.cfg.Now()); left > 0 {
		return answer, 0, resting(left)
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return answer, 0, late(ctx)
	}
	for ; ; retries++ {
		var pause time.Duration
		answer, pause, err = c.try(ctx, body)
		if err == nil || fault.KindOf(err) != fault.Unavailable || ctx.Err() != nil || retries >= c.cfg.Retries {
			break
		}
		if waitErr := c.pause(ctx, retries, pause); waitErr != nil {
			break
		}
	}
	c.rest.note(ctx, c.cfg.Now(), err)
	return answer, retries, err
}

// pause waits before another attempt: as long as the endpoint said, else longer each
// time. It is an error where the call would be over by then.
func (c *Client) pause(ctx context.Context, retries int, said time.Duration) error {
	d := said
	if d <= 0 {
		d = min(firstPause<<retries, maxPause)
		d += time.Duration(c.cfg.Now().UnixNano() % int64(d/4)) // so that many do not come back at once
	}
	if end, ok := ctx.Deadline(); ok && c.cfg.Now().Add(d).After(end) {
		return context.DeadlineExceeded
	}
	return c.cfg.Wait(ctx, d)
}

// The first pause and the longest that was not asked for.
const (
	firstPause = 500 * time.Millisecond
	maxPause   = 8 * time.Second
)

// lapse lets time pass; the error is the context's, where that ends first.
func lapse(ctx context.Context, d time.Duration) error {
	if !wait.For(ctx, d) {
		return ctx.Err()
	}
	return nil
}

// spent is what an answer cost. An endpoint that counts nothing, or nonsense, is counted for.
func (c *Client) spent(r agent.Request, a reply) agent.Completion {
	if !a.came {
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

// Check asks the model for one word, and says what is wrong where it does not answer. An
// answer that was cut off, or is another word, is one.
func (c *Client) Check(ctx context.Context) error {
	_, err := c.Complete(ctx, agent.Request{Purpose: "check", Prompt: "Answer with the one word: ready", MaxTokens: 16})
	if errors.Is(err, errCutOff) || errors.Is(err, errRefused) {
		return nil
	}
	return err
}

// endpoint reads a base address.
func endpoint(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	switch {
	case err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("url: must be an https address with its version, as https://api.openai.com/v1")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("url: holds more than a host and a path; a key belongs in key_env or key_file")
	case base.Scheme == "http" && !loopback(base.Hostname()):
		return nil, fmt.Errorf("url: %s would be sent keys and texts in the clear; use https, or a tunnel that ends on 127.0.0.1", base.Hostname())
	}
	return base, nil
}
