// Package agent is what speaks for a model: it classifies and moderates text, asks a
// provider where one is configured, and keeps places in atmosphere.
//
// Its invariant: an agent reads by the same operations that any client has, and writes
// nothing: it proposes. Everything here works without a model and without a network; then
// rules classify, a policy moderates, and a composer of phrases writes.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/safety"
	"loregate/internal/usage"
)

// Provider is a model.
type Provider interface {
	// Model is the exact name of what answers.
	Model() string
	// Complete answers a prompt. After an error that is fault.Unavailable it may be asked
	// again later. The Completion tells what was spent, also beside an error.
	Complete(ctx context.Context, r Request) (Completion, error)
}

// Request is a prompt and what it may cost.
type Request struct {
	Purpose   string
	Prompt    string
	MaxTokens int // of the answer
	// Schema is the JSON Schema of the answer's form; nil: text of any. Every object in it
	// names all its members as required and takes no others, and it bounds neither lengths
	// nor numbers: not every model's endpoint would take that.
	Schema json.RawMessage
}

// Completion is a model's answer. Where the request had a Schema, Text is JSON that fits it.
type Completion struct {
	Text                           string
	TokensPrompt, TokensCompletion int
	CostMicroUSD                   int64
	Retries                        int // attempts that failed before
}

// Config is what Agents are made of. Invoker and Prompts are needed.
type Config struct {
	Invoker  op.Invoker // the door that any client comes in by
	Prompts  *prompt.Registry
	Policy   *safety.Policy // nil: the one in force
	Provider Provider       // writes drafts; nil: the composer of phrases writes
	// Answers is the model that questions are put to; nil: rules do without. AskIntents
	// puts to it what rules are unsure of, AskModeration what the policy's terms let through.
	Answers                   Provider
	AskIntents, AskModeration bool
	Usage                     *usage.Recorder
	// Intents reads an utterance by rules: what it wants, and how sure that is. Acts are
	// all that it may want.
	Intents func(utterance string) (intent string, confidence float64)
	Acts    []string
	// Profile is the safety profile of a grant's world.
	Profile func(ctx context.Context, g access.Grant) (string, error)

	Now    func() time.Time
	Logger *slog.Logger
}

// Agents are the roles. They are safe for concurrent use.
type Agents struct {
	cfg   Config
	cache *cache
}

// New makes Agents.
func New(c Config) (*Agents, error) {
	if c.Invoker == nil || c.Prompts == nil {
		return nil, errors.New("agent: Invoker and Prompts are needed")
	}
	if c.Policy == nil {
		p, err := safety.Published(safety.Current)
		if err != nil {
			return nil, err
		}
		c.Policy = p
	}
	if c.Answers == nil {
		c.AskIntents, c.AskModeration = false, false
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return &Agents{cfg: c, cache: newCache(cacheSize)}, nil
}

// record keeps an event of usage, where there is somebody to keep it.
func (a *Agents) record(w access.WorldID, e usage.Event) {
	if a.cfg.Usage != nil {
		a.cfg.Usage.Record(w, e)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
