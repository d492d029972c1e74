package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/safety"
	"loregate/internal/slicesx"
	"loregate/internal/usage"
)

// Limits of the pieces of a text that a model gets, in characters. They overlap, so that a passage
// at the end of a piece is not missed.
const (
	maxPiece = 12_000
	overlap  = 200
)

type moderateIn struct {
	Text string `json:"text" maxlen:"100000" jsonschema:"The text."`
}

type moderateOut struct {
	Flagged       bool     `json:"flagged" jsonschema:"True if the text would be blocked or flagged."`
	Categories    []string `json:"categories" jsonschema:"The categories that apply."`
	PolicyVersion string   `json:"policyVersion"`
	Skipped       string   `json:"modelSkipped,omitzero" jsonschema:"Reason why only the policy's terms judged, without the model: rate_limited (its budget is used up) or unavailable."`
}

// moderateContent judges a text by the policy. If the policy is unsure and a model is configured, the model decides: it
// may also clear the text.
func (a *Agents) moderateContent(ctx context.Context, c *op.Call, in moderateIn) (moderateOut, error) {
	started := a.cfg.Now()
	profile := ""
	if a.cfg.Profile != nil {
		var err error
		if profile, err = a.cfg.Profile(ctx, c.Grant); err != nil {
			return moderateOut{}, err
		}
	}
	j, by := safety.InUse().Judge(profile, in.Text), safety.Current
	out := moderateOut{j.Flagged(), j.Categories, safety.Current, ""}
	if a.cfg.AskModeration && j.Unsure {
		found, err := a.judgeTexts(ctx, c.Grant.World(), []string{in.Text}, true)
		if err != nil {
			out.Skipped = skipReason(err)
		} else {
			by += "+" + modelFor(a.cfg.Answers, "classification")
			out.Categories = a.orderCategories(a.filterByAction(profile, found, safety.Flag))
			out.Flagged = len(out.Categories) > 0
		}
	}
	a.recordUsage(c.Grant.World(), usage.Event{Name: usage.ContentModerated, Purpose: "classification", Model: by,
		Flagged:   out.Flagged,
		LatencyMS: toMilliseconds(a.cfg.Now().Sub(started))})
	return out, nil
}

// Moderate implements [safety.Moderator] with the model. The operator who gave it this office wants its judgement in
// any case, so no trial is asked of it: nothing passes without its answer.
func (a *Agents) Moderate(ctx context.Context, p safety.Passage) ([]string, error) {
	id, err := uuid.Parse(p.World)
	if err != nil {
		return nil, fault.New(fault.Internal, "agent: %q is not a world", p.World)
	}
	found, err := a.judgeTexts(ctx, access.WorldID(id), p.Texts, false)
	if err != nil {
		return nil, err
	}
	return a.filterByAction(p.Profile, found, safety.Block), nil
}

// filterByAction returns the categories that a profile treats at least as strictly as least.
func (a *Agents) filterByAction(profile string, categories []string, least safety.Action) []string {
	return slices.DeleteFunc(slices.Clone(categories), func(c string) bool {
		action := safety.InUse().Action(profile, c)
		return action == safety.Allow || least == safety.Block && action != safety.Block
	})
}

// orderCategories returns categories in the policy's order.
func (a *Agents) orderCategories(list []string) (all []string) {
	for _, c := range safety.InUse().Categories() {
		if slices.Contains(list, c.Name) {
			all = append(all, c.Name)
		}
	}
	return all
}

// judgeTexts asks a model for the categories of texts, piece by piece, up to the first piece with a
// category.
func (a *Agents) judgeTexts(ctx context.Context, world access.WorldID, texts []string, trial bool) ([]string, error) {
	rest := []rune(strings.Join(texts, "\n\n"))
	for len(rest) > 0 {
		n := min(len(rest), maxPiece)
		found, err := a.judgePiece(ctx, world, string(rest[:n]), trial)
		if err != nil || len(found) > 0 || n == len(rest) {
			return found, err
		}
		rest = rest[n-overlap:]
	}
	return nil, nil
}

func (a *Agents) judgePiece(ctx context.Context, world access.WorldID, text string, trial bool) ([]string, error) {
	judged, err := marshalData(map[string]string{"text": text})
	if err != nil {
		return nil, err
	}
	list := safety.InUse().Categories()
	categories, err := marshalData(list)
	if err != nil {
		return nil, err
	}
	names := slicesx.Map(list, func(c safety.Category) string { return c.Name })
	schema, err := json.Marshal(objectSchema(map[string]any{"categories": map[string]any{"type": "array",
		"items": map[string]any{"type": "string", "enum": names}}}))
	if err != nil {
		return nil, err
	}
	answer, err := a.Ask(ctx, Question{World: world, Purpose: "classification", Template: "moderation", MaxTokens: 512,
		Schema: schema, Trial: trial,
		Values: map[string]string{"categories": categories, "data": judged}, Accept: acceptCategories(names)})
	if err != nil {
		return nil, err
	}
	var v struct{ Categories []string }
	return v.Categories, json.Unmarshal([]byte(answer), &v)
}

// acceptCategories accepts categories that the policy has.
func acceptCategories(names []string) func(string) (string, error) {
	return func(text string) (string, error) {
		var v struct {
			Categories []string `json:"categories"`
		}
		if json.Unmarshal([]byte(text), &v) != nil || slices.ContainsFunc(v.Categories,
			func(c string) bool { return !slices.Contains(names, c) }) {
			return "", errNoCategory
		}
		return text, nil
	}
}

var errNoCategory = fault.New(fault.Rule, "the model named categories that the policy does not have")
