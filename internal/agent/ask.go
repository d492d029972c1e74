package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/usage"
)

// Question is what a model is asked: a template with values, in the name of a world that
// pays for it.
type Question struct {
	World    access.WorldID
	Purpose  string // one of usage.Purposes
	Template string // its id; the latest version is used
	Values   map[string]string
	// Schema is the form of the answer; see [Request.Schema]. nil: plain text.
	Schema    json.RawMessage
	MaxTokens int // of the answer
	// Accept gives what of an answer is used, or an error where it cannot be; nil takes it
	// as it is. What a model writes is no more to be trusted than what a stranger writes.
	Accept func(text string) (string, error)
}

// ErrNoModel is the error of asking where no model is configured.
var ErrNoModel = errors.New("agent: no model is configured")

// HasModel reports whether there is a model to ask.
func (a *Agents) HasModel() bool { return a.cfg.Answers != nil }

// Ask asks the model, and gives what Accept let through. The same question gets the same
// answer while it is remembered. Its error is ErrNoModel, fault.RateLimited where the
// world's budget is used up, or that the model gave nothing of use; its caller then does
// without.
func (a *Agents) Ask(ctx context.Context, q Question) (string, error) {
	if a.cfg.Answers == nil {
		return "", ErrNoModel
	}
	template, err := a.cfg.Prompts.Get(q.Template, "")
	if err != nil {
		return "", err
	}
	text, err := template.Render(q.Values)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	key := cacheKey{q.World.String(), q.Purpose, hex.EncodeToString(sum[:]), template.Hash()}
	event := usage.Event{Name: usage.ModelCalled, Purpose: q.Purpose, Model: a.cfg.Answers.Model(), Template: q.Template + "@" + template.Metadata.Version}
	known, hit := a.cache.get(key)
	event.CacheHit = &hit
	if hit {
		event.Name = usage.CacheAnswered
		a.record(q.World, event)
		return known, nil
	}
	answer, err := a.call(ctx, q, text, &event)
	if err == nil {
		a.cache.put(key, answer)
	}
	return answer, err
}

// call asks, within the budget, and records what came of it.
func (a *Agents) call(ctx context.Context, q Question, text string, event *usage.Event) (string, error) {
	done, refused, err := a.complete(ctx, a.cfg.Answers, q.World, Request{Purpose: q.Purpose, Prompt: text, MaxTokens: q.MaxTokens, Schema: q.Schema}, event)
	if refused != nil {
		return "", refused
	}
	used := ""
	if err == nil {
		used, err = q.accept(done.Text)
	}
	switch {
	case err != nil:
		event.Outcome = usage.Rejected
		a.cfg.Logger.WarnContext(ctx, "the model gave no answer of use; rules and phrases do without", "purpose", q.Purpose, "error", err)
	case used != done.Text:
		event.Outcome = usage.Modified
	default:
		event.Outcome = usage.Accepted
	}
	a.record(q.World, *event)
	return used, err
}

// complete asks a model within a world's budget, which refuses before anything is asked.
// What the model did not spend is given back, also where it failed or nobody waits any
// more. The event is told what it cost.
func (a *Agents) complete(ctx context.Context, p Provider, w access.WorldID, r Request, event *usage.Event) (done Completion, refused, err error) {
	most := TokensIn(r.Prompt) + r.MaxTokens
	if a.cfg.Usage != nil {
		if err := a.cfg.Usage.Take(ctx, w, r.Purpose, most); err != nil {
			return Completion{}, err, nil
		}
	}
	started := a.cfg.Now()
	done, err = p.Complete(ctx, r)
	event.LatencyMS, event.Retries = milliseconds(a.cfg.Now().Sub(started)), event.Retries+done.Retries
	event.TokensPrompt, event.TokensCompletion, event.CostMicroUSD = done.TokensPrompt, done.TokensCompletion, done.CostMicroUSD
	if a.cfg.Usage != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), givenBackWithin)
		defer cancel()
		if err := a.cfg.Usage.Return(ctx, w, r.Purpose, most-done.TokensPrompt-done.TokensCompletion); err != nil {
			a.cfg.Logger.WarnContext(ctx, "tokens that were not spent stay counted", "purpose", r.Purpose, "error", err)
		}
	}
	return done, nil, err
}

// givenBackWithin is how long giving tokens back may take once its call is over.
const givenBackWithin = 5 * time.Second

// perToken is about how many bytes a token of English has.
const perToken = 4

// TokensIn is about how many tokens a text has, for who cannot count or has yet to send it.
func TokensIn(text string) int { return len(text) / perToken }

// accept gives what of an answer is used.
func (q Question) accept(text string) (string, error) {
	if q.Schema == nil {
		text = markup.Clean(text)
	}
	if q.Accept == nil {
		return text, nil
	}
	return q.Accept(text)
}

// data is text for a place between a template's marks: JSON in which no angle bracket
// stands as such, so that it can hold no mark.
func data(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// skipped says why a model was not heard: rate_limited where its budget is used up,
// unavailable else; "" where it was, or where there is none.
func skipped(err error) string {
	switch {
	case err == nil || errors.Is(err, ErrNoModel):
		return ""
	case fault.KindOf(err) == fault.RateLimited:
		return fault.RateLimited.Code()
	}
	return fault.Unavailable.Code()
}
