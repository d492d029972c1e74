package agent

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/usage"
)

// unknownIntent is the intent of an utterance that has none.
const unknownIntent = "unknown"

type classifyIn struct {
	Utterance string `json:"utterance" maxlen:"2000" jsonschema:"The words of the player."`
}

type classifyOut struct {
	Intent     string  `json:"intent" jsonschema:"The intent; unknown if none fits."`
	Confidence float64 `json:"confidence" jsonschema:"From 0 to 1."`
	Skipped    string  `json:"modelSkipped,omitzero" jsonschema:"Reason why rules answered instead of the model: rate_limited (its budget is used up) or unavailable."`
}

// classifyIntent classifies an utterance by rules, and asks a model if they are unsure and a model
// is configured.
func (a *Agents) classifyIntent(ctx context.Context, c *op.Call, in classifyIn) (classifyOut, error) {
	started := a.cfg.Now()
	out, by, unsure := classifyOut{Intent: unknownIntent}, "rules", true
	if a.cfg.Intents != nil {
		var intent string
		if intent, out.Confidence, unsure = a.cfg.Intents(in.Utterance); intent != "" {
			out.Intent = intent
		}
	}
	if a.cfg.AskIntents && unsure && strings.TrimSpace(in.Utterance) != "" {
		if found, err := a.askIntent(ctx, c, in.Utterance); err != nil {
			out.Skipped = skipReason(err)
		} else {
			out, by = found, modelFor(a.cfg.Answers, "classification")
		}
	}
	a.recordUsage(c.Grant.World(), usage.Event{Name: usage.IntentClassified, Purpose: "classification", Model: by,
		LatencyMS: toMilliseconds(a.cfg.Now().Sub(started))})
	return out, nil
}

// askIntent asks a model for the intent of an utterance.
func (a *Agents) askIntent(ctx context.Context, c *op.Call, utterance string) (out classifyOut, err error) {
	typed, err := marshalData(map[string]string{"utterance": utterance})
	if err != nil {
		return out, err
	}
	acts := append(slices.Clone(a.cfg.Acts), unknownIntent)
	schema, err := json.Marshal(objectSchema(map[string]any{
		"intent": map[string]any{"type": "string", "enum": acts}, "confidence": map[string]any{"type": "number"}}))
	if err != nil {
		return out, err
	}
	text, err := a.Ask(ctx, Question{World: c.Grant.World(), Purpose: "classification", Template: "intent", MaxTokens: 512,
		Schema: schema, Trial: true,
		Values: map[string]string{"data": typed, "acts": strings.Join(a.cfg.Acts, ", ")}, Accept: acceptIntent(acts)})
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal([]byte(text), &out)
}

// acceptIntent accepts a known intent with a confidence from 0 to 1.
func acceptIntent(acts []string) func(string) (string, error) {
	return func(text string) (string, error) {
		var v struct {
			Intent     string  `json:"intent"`
			Confidence float64 `json:"confidence"`
		}
		if json.Unmarshal([]byte(text), &v) != nil || !slices.Contains(acts, v.Intent) || v.Confidence < 0 ||
			v.Confidence > 1 {
			return "", errNoIntent
		}
		return text, nil
	}
}

var errNoIntent = fault.New(fault.Rule, "the model named no intent, or a confidence out of range")

// objectSchema returns the schema of an object with exactly these members.
func objectSchema(members map[string]any) map[string]any {
	names := slices.Sorted(maps.Keys(members))
	return map[string]any{"type": "object", "properties": members, "required": names, "additionalProperties": false}
}
