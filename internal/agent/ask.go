package agent

import (
	"cmp"
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

// Question is a question to a model: a template with values, and the world that pays for it.
type Question struct {
	World    access.WorldID
	Purpose  string // one of usage.Purposes
	Template string // its id; the latest version is used
	Values   map[string]string
	// Schema is the form of the answer; see [Request.Schema]. nil: plain text.
	Schema    json.RawMessage
	MaxTokens int // of the answer
	// Trial: the answer is used only if the model has passed the trial of the template, unless no trial is
	// configured.
	Trial bool
	// Accept returns the usable part of an answer, or an error if there is none; nil accepts the
	// answer as it is. A model's text is no more trustworthy than a stranger's.
	Accept func(text string) (string, error)

	task *task // that asks, and whose role pays; nil for none
}

// ErrNoModel is the error of Ask if no model is configured.
var ErrNoModel = errors.New("agent: no model is configured")

// Ask asks the model and returns the accepted answer. A repeated question gets the cached answer.
// The error is ErrNoModel, fault.RateLimited if the world's budget is used up, or an error if the
// model gave no usable answer, or did not pass the trial of the template. The caller then works without the model.
func (a *Agents) Ask(ctx context.Context, q Question) (string, error) {
	if a.cfg.Answers == nil {
		return "", ErrNoModel
	}
	q.Trial = q.Trial && a.cfg.Trial
	if q.Trial {
		if err := a.awaitTrial(ctx, q); err != nil {
			return "", err
		}
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
	event := usage.Event{Name: usage.ModelCalled, Purpose: q.Purpose, Model: modelFor(a.cfg.Answers, q.Purpose), Template: q.Template +
		"@" + template.Metadata.Version}
	known, hit := a.cache.get(key)
	event.CacheHit = &hit
	if hit {
		event.Name = usage.CacheAnswered
		a.recordUsage(q.World, event)
		return known, nil
	}
	answer, err := a.askModel(ctx, q, text, &event)
	if err == nil {
		a.cache.put(key, answer)
		if q.Trial {
			a.countAnswer(q)
		}
	}
	return answer, err
}

// askModel asks within the budget and records the result.
func (a *Agents) askModel(ctx context.Context, q Question, text string, event *usage.Event) (string, error) {
	done, refused, err := a.completeInBudget(ctx, a.cfg.Answers, q.World,
		Request{Purpose: q.Purpose, Prompt: text, MaxTokens: q.MaxTokens, Schema: q.Schema, task: q.task}, event)
	if refused != nil {
		return "", refused
	}
	used := ""
	if err == nil {
		used, err = q.acceptAnswer(done.Text)
	}
	switch {
	case err != nil:
		event.Outcome = usage.Rejected
		a.cfg.Logger.WarnContext(ctx, "the model gave no usable answer; rules and fixed phrases are used instead", "purpose",
			q.Purpose,
			"error", err)
	case used != done.Text:
		event.Outcome = usage.Modified
	default:
		event.Outcome = usage.Accepted
	}
	a.recordUsage(q.World, *event)
	return used, err
}

// completeInBudget asks a model within the budgets of a world and of the agent, which may refuse before anything is
// sent. Unspent tokens are returned, also after a failure or a canceled call. It writes the cost to event.
func (a *Agents) completeInBudget(ctx context.Context, p Provider, w access.WorldID, r Request,
	event *usage.Event) (done Completion, refused, err error) {
	most := TokensIn(r.Prompt) + r.MaxTokens
	taken := []string{}
	for _, budget := range r.budgets(p) {
		if a.cfg.Usage == nil {
			break
		}
		if err := a.cfg.Usage.Take(ctx, w, budget, most); err != nil {
			a.returnTokens(ctx, w, taken, most)
			return Completion{}, err, nil
		}
		taken = append(taken, budget)
	}
	started := a.cfg.Now()
	done, err = p.Complete(ctx, r)
	event.LatencyMS, event.Retries = toMilliseconds(a.cfg.Now().Sub(started)), event.Retries+done.Retries
	event.TokensPrompt, event.TokensCompletion, event.CostMicroUSD = done.TokensPrompt, done.TokensCompletion,
		done.CostMicroUSD
	event.Model = cmp.Or(done.Model, event.Model)
	spent := done.TokensPrompt + done.TokensCompletion
	if r.task != nil {
		r.task.spent += spent
		r.task.traceCall("model", event.LatencyMS, 0, spent, err)
	}
	a.returnTokens(ctx, w, taken, most-spent)
	return done, nil, err
}

// budgets returns the names of the budgets that pay for a request.
func (r Request) budgets(p Provider) []string {
	list := []string{r.Purpose}
	if t, ok := p.(Tiered); ok {
		list = append(list, TierBudget(t.TierOf(r.Purpose)))
	}
	if r.task != nil && r.task.role != "" {
		list = append(list, budgetOf(r.task.role))
	}
	return list
}

// returnTokens gives tokens back to budgets.
func (a *Agents) returnTokens(ctx context.Context, w access.WorldID, budgets []string, tokens int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), returnTimeout)
	defer cancel()
	for _, b := range budgets {
		if err := a.cfg.Usage.Return(ctx, w, b, tokens); err != nil {
			a.cfg.Logger.WarnContext(ctx, "unused tokens could not be given back to the budget", "budget", b, "error", err)
		}
	}
}

// returnTimeout bounds the return of unspent tokens after a call.
const returnTimeout = 5 * time.Second

// bytesPerToken is the approximate number of bytes in a token of English.
const bytesPerToken = 4

// TokensIn estimates the tokens of a text, for callers who cannot count them or have not sent the
// text yet.
func TokensIn(text string) int { return len(text) / bytesPerToken }

// acceptAnswer returns the usable part of an answer.
func (q Question) acceptAnswer(text string) (string, error) {
	if q.Schema == nil {
		text = markup.Clean(text)
	}
	if q.Accept == nil {
		return text, nil
	}
	return q.Accept(text)
}

// marshalData returns v as JSON for the place between a template's marks. json.Marshal escapes
// angle brackets, so the text cannot contain a mark.
func marshalData(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// skipReason returns the reason why no model answered: rate_limited if its budget is used up, else
// unavailable. It is "" if the model answered or none is configured.
func skipReason(err error) string {
	switch {
	case err == nil || errors.Is(err, ErrNoModel):
		return ""
	case fault.KindOf(err) == fault.RateLimited:
		return fault.RateLimited.Code()
	}
	return fault.Unavailable.Code()
}
