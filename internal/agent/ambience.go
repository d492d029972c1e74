package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/usage"
)

// Limits of a task.
const (
	MaxToolCalls = 6 // reads of the world
	maxRetries   = 2 // after a draft was refused
)

// ambienceTemplate is the id of the prompt template for ambience.
const ambienceTemplate = "ambience"

// Ambience is the result of keepAmbience.
type Ambience struct {
	Status     string              `json:"status"` // skipped, accepted, pending_review, duplicate or rejected
	Why        string              `json:"why,omitempty"`
	LocationID string              `json:"locationId,omitempty"`
	Text       string              `json:"text,omitempty"`
	ProposalID string              `json:"proposalId,omitempty"`
	EventID    string              `json:"eventId,omitempty"`
	Attempts   int                 `json:"attempts"`
	Rejection  *proposal.Rejection `json:"rejection,omitempty"` // of the last attempt
}

// task is one run of a pipeline: its caller, its world and the answers that it has read.
type task struct {
	agents  *Agents
	caller  access.Caller
	world   access.WorldID
	id      string   // correlation
	call    *op.Call // that the task is a part of; nil: none
	role    string   // whose budget pays, beside that of the purpose; "" for none
	dry     bool     // nothing is proposed
	calls   int
	spent   int // tokens
	refs    []string
	answers []json.RawMessage

	proposed []proposal.Result

	began time.Time
	trace []usage.RunCall
}

// errTooManyCalls ends a task that reads more often than allowed.
var errTooManyCalls = fault.New(fault.RateLimited, "the task reads more than %d times", MaxToolCalls)

// readContext calls a context tool and keeps its answer and contextRef for the provenance.
func (t *task) readContext(ctx context.Context, tool string, input any, out any) error {
	if t.calls++; t.calls > MaxToolCalls {
		return errTooManyCalls
	}
	answer, err := t.invokeTool(ctx, tool, input)
	if err != nil {
		return err
	}
	if ref, ok := answer.Reply.Meta["contextRef"].(string); ok {
		t.refs = append(t.refs, ref)
		t.answers = append(t.answers, Answer(answer.Output))
	}
	return json.Unmarshal(Answer(answer.Output), out)
}

func (t *task) invokeTool(ctx context.Context, tool string, input any) (*op.Answer, error) {
	b, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	r := op.Request{Operation: tool, Input: b, World: t.world.String(), Correlation: t.id, Transport: "agent"}
	if t.call != nil {
		r = t.call.PartOf(tool, b)
		r.IdempotencyKey = "" // the inputs of several parts differ
	}
	began := t.agents.cfg.Now()
	answer, err := t.agents.cfg.Invoker.Invoke(ctx, t.caller, r)
	size := 0
	if err == nil {
		size = len(answer.Output)
	}
	t.traceCall(tool, toMilliseconds(t.agents.cfg.Now().Sub(began)), size, 0, err)
	return answer, err
}

// Answer returns an output in the form that hashes and prompts use: without its contextRef. If the
// object has one other member, item or items, Answer returns that member.
func Answer(output json.RawMessage) json.RawMessage {
	output = proposal.WithoutRef(output)
	var one map[string]json.RawMessage
	if json.Unmarshal(output, &one) != nil || len(one) != 1 {
		return output
	}
	for _, name := range []string{"item", "items"} {
		if v, ok := one[name]; ok {
			return proposal.WithoutRef(v)
		}
	}
	return output
}

// locationContext is the part of get-location-context that the pipeline reads.
type locationContext struct {
	Location struct {
		ID, Name string
		Tags     []string
	}
	NarrativeTags []string
}

// atmosphere is the part of get-atmosphere that the pipeline reads.
type atmosphere struct {
	Tick      int64
	TimeOfDay string
	Weather   atmosphereLayer
	Ambient   atmosphereLayer
}

type atmosphereLayer struct {
	Present, Defaulted bool
	Value, ScopeID     string
}

// keepAmbience gives a place an ambient layer if it has none. It reads only through the context
// tools, writes a draft and proposes it. A refused draft is retried at most twice; then the place
// stays without a layer. location "" is the starter place.
func (t *task) keepAmbience(ctx context.Context, location string) (out Ambience, err error) {
	p, m, err := t.readPlace(ctx, location)
	if err != nil {
		return out, err
	}
	out.LocationID = p.Location.ID
	if m.Ambient.Present && m.Ambient.ScopeID == p.Location.ID { // a realm's layer applies where a place has none
		out.Status, out.Why = Skipped, "the place already has an active ambient layer"
		return out, nil
	}
	return t.proposeAmbience(ctx, out, p, m, setting{Layer: "ambient"})
}

func placeInput(location string) map[string]any {
	if location == "" {
		return map[string]any{}
	}
	return map[string]any{"locationId": location}
}

// proposeAmbience drafts and proposes until a draft is accepted or enough drafts were refused.
func (t *task) proposeAmbience(ctx context.Context, out Ambience, p locationContext, m atmosphere,
	s setting) (Ambience, error) {
	d, err := t.newDrafter(p, m, s)
	if err != nil {
		return out, err
	}
	for out.Attempts = 1; ; out.Attempts++ {
		text, err := d.writeDraft(ctx, out.Attempts)
		if err != nil {
			return out, err
		}
		payload := map[string]any{"locationId": p.Location.ID, "layerType": s.Layer, "text": text}
		if s.ToTick > 0 {
			payload["toTick"] = s.ToTick
		}
		r, err := t.submitDraft(ctx, draft{"ambience", "propose-ambience", payload, d.provenance})
		if err != nil {
			return out, err
		}
		out.Status, out.Text, out.ProposalID, out.EventID, out.Rejection = string(r.Status), text, r.ProposalID, r.EventID,
			r.Rejection
		d.recordResult(r)
		if r.Rejection == nil || out.Attempts > maxRetries || r.Rejection.Gate == proposal.GateRate {
			break
		}
	}
	if out.Rejection != nil {
		out.Why = out.Rejection.Message
	}
	return out, nil
}

func (t *task) submitProposal(ctx context.Context, tool string, input any) (r proposal.Result, err error) {
	answer, err := t.invokeTool(ctx, tool, input)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(answer.Output, &r)
}

// drafter writes drafts for one task.
type drafter struct {
	task       *task
	setting    setting
	prompt     string
	key        cacheKey
	provenance proposal.Provenance
	model      string
	last       usage.Event
}

func (t *task) newDrafter(p locationContext, m atmosphere, s setting) (*drafter, error) {
	template, err := t.agents.cfg.Prompts.Get(ambienceTemplate, "")
	if err != nil {
		return nil, err
	}
	array, err := proposal.ContextArray(t.answers)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(array)
	s.Place, s.TimeOfDay, s.Weather = p.Location.Name, m.TimeOfDay, m.Weather.Value
	s.Tags = append(p.Location.Tags, p.NarrativeTags...)
	d := &drafter{task: t, setting: s, model: composerModel}
	if m.Weather.Defaulted {
		d.setting.Weather = ""
	}
	d.setting.Terrain = terrainOf(d.setting.Tags)
	if t.agents.cfg.Provider != nil {
		d.model = modelFor(t.agents.cfg.Provider, "ambience")
	}
	d.provenance = proposal.Provenance{Model: d.model, TemplateID: template.Metadata.ID,
		TemplateVersion: template.Metadata.Version, TemplateHash: template.Hash(),
		ContextRefs: t.refs, ContextHash: hex.EncodeToString(sum[:])}
	d.key = cacheKey{t.world.String(), "ambience", d.provenance.ContextHash, template.Hash()}
	return d, d.renderPrompt(template, array)
}

// composerModel is the model name of texts that the composer wrote.
const composerModel = "phrases/1.0"

func (d *drafter) renderPrompt(template *prompt.Template, array []byte) (err error) {
	d.prompt, err = proposal.Render(template, nil, array)
	return err
}

// terrainOf returns the terrain among tags.
func terrainOf(tags []string) string {
	for _, t := range tags {
		if _, ok := terrainPhrases[t]; ok && t != "" {
			return t
		}
	}
	return ""
}

// writeDraft writes the n-th draft, from 1. The first comes from the cache if the same was asked
// before; all others are generated.
func (d *drafter) writeDraft(ctx context.Context, n int) (string, error) {
	a, started := d.task.agents, d.task.agents.cfg.Now()
	d.last = usage.Event{Name: usage.ModelCalled, Purpose: "ambience", Model: d.model, ToolCalls: d.task.calls,
		Retries:  n - 1,
		Template: d.provenance.TemplateID + "@" + d.provenance.TemplateVersion}
	if text, ok := a.cache.get(d.key); ok && n == 1 {
		hit := true
		d.last.Name, d.last.CacheHit = usage.CacheAnswered, &hit
		return text, nil
	}
	text, err := d.generateText(ctx, n)
	d.last.LatencyMS = toMilliseconds(a.cfg.Now().Sub(started))
	if err == nil {
		a.cache.put(d.key, text)
	}
	return text, err
}

func (d *drafter) generateText(ctx context.Context, n int) (string, error) {
	a := d.task.agents
	if a.cfg.Provider == nil {
		return Compose(d.setting, fmt.Sprintf("%s/%s/%d", d.setting.Place, d.provenance.ContextHash, n)), nil
	}
	ctx, cancel := context.WithTimeout(ctx, modelTimeout)
	defer cancel()
	answer, refused, err := a.completeInBudget(ctx, a.cfg.Provider, d.task.world,
		Request{Purpose: "ambience", Prompt: d.prompt, MaxTokens: 800, task: d.task}, &d.last)
	if refused != nil {
		return "", refused
	}
	if err != nil {
		a.cfg.Logger.WarnContext(ctx, "the model did not answer; fixed phrases are used instead", "error", err)
		return Compose(d.setting, fmt.Sprintf("%s/%s/%d", d.setting.Place, d.provenance.ContextHash, n)), nil
	}
	return strings.TrimSpace(answer.Text), nil
}

// modelTimeout bounds one call of a model.
const modelTimeout = 60 * time.Second

// recordResult records the outcome of a draft and removes a refused one from the cache.
func (d *drafter) recordResult(r proposal.Result) {
	d.last.Outcome = usage.Accepted
	if r.Rejection != nil {
		d.last.Outcome, d.last.Gate = usage.Rejected, string(r.Rejection.Gate)
		d.task.agents.cache.removeKey(d.key)
	}
	d.task.agents.recordUsage(d.task.world, d.last)
}
