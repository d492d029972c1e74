package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/proposal/kind"
	"loregate/internal/world/play"
)

// Narration configures how players are told the results of their acts.
type Narration struct {
	Patience time.Duration `yaml:"patience" default:"2500ms" doc:"Time that a command waits for a model's narration, if model.uses has narration, 100ms to 30s. After it the rules' narration stands."`
}

func (n Narration) validate() error {
	if n.Patience < 100*time.Millisecond || n.Patience > 30*time.Second {
		return fmt.Errorf("narration.patience: %s is out of range; set 100ms to 30s", n.Patience)
	}
	return nil
}

// narrationTemplate is the prompt template for the results of acts, and narrationTokens bounds the answer.
const (
	narrationTemplate = "narration"
	narrationTokens   = 512
)

// turnNarrator returns the model as narrator of turns; nil if it is not configured for that.
func (a *App) turnNarrator() play.Narrator {
	if !a.modelFor(useForNarration) {
		return nil
	}
	return turnNarrator{a}
}

// turnNarrator asks the model for narrations, and charges their world. It looks up the agents and the gates at each
// call, because they are created after the world.
type turnNarrator struct{ app *App }

func (n turnNarrator) Phrase(ctx context.Context, w access.WorldID, r play.Told) (p play.Phrasing, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return p, err
	}
	answer, err := n.app.Agents.Ask(ctx, agent.Question{World: w, Purpose: "narration", Template: narrationTemplate,
		MaxTokens: narrationTokens, Schema: phrasingSchema, Values: map[string]string{"data": string(data)},
		Accept: func(answer string) (string, error) {
			_, err := readPhrasing(answer)
			return answer, err
		}})
	if err != nil {
		return p, err
	}
	p.By, p.Template = n.app.model.ModelFor("narration"), narrationTemplate
	p.Texts, err = readPhrasing(answer)
	return p, err
}

// maxPhrasing bounds the answer of a model, in bytes.
const maxPhrasing = 8 << 10

// readPhrasing returns the texts in a model's answer. One of them must be of the class kind.Result.
func readPhrasing(answer string) ([]play.Text, error) {
	var v struct {
		Texts []play.Text `json:"texts"`
	}
	if len(answer) > maxPhrasing || json.Unmarshal([]byte(answer), &v) != nil || !slices.ContainsFunc(v.Texts,
		func(t play.Text) bool { return t.Class == kind.Result }) {
		return nil, errNoPhrasing
	}
	return v.Texts, nil
}

var errNoPhrasing = fault.New(fault.Rule, "the model did not answer with a narration")

func (n turnNarrator) Vet(ctx context.Context, g access.Grant, t play.Text, of play.Told) error {
	payload, err := json.Marshal(struct {
		Class  kind.Class `json:"class"`
		Player uuid.UUID  `json:"playerId"`
		Place  uuid.UUID  `json:"locationId"`
		Text   string     `json:"text"`
		Known  string     `json:"sources"`
	}{t.Class, uuid.UUID(of.Player), uuid.UUID(of.Place), t.Text, of.Text + " " + string(of.Context)})
	if err != nil {
		return err
	}
	refused, err := n.app.Proposals.Vet(ctx, g, tellings, payload)
	if err == nil && refused != nil {
		err = fault.New(fault.Rule, "%s", refused.Message)
	}
	return err
}

// tellings is the kind by which the gates judge narrations.
var tellings = kind.TellingKind(draftWords())

// phrasingSchema is the form of a narration by a model.
var phrasingSchema = json.RawMessage(
	`{"type":"object","additionalProperties":false,"required":["texts"],"properties":` +
		`{"texts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["class","text"],` +
		`"properties":{"class":{"type":"string","enum":["narration","flavour","structural","hint","ambient"]},` +
		`"text":{"type":"string"}}}}}}`,
)
