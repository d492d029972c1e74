package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/agent"
	"loregate/internal/fault"
	"loregate/internal/game/player"
	"loregate/internal/model"
	"loregate/internal/proposal"
	"loregate/internal/safety"
	"loregate/internal/world/command"
	"loregate/internal/world/play"
)

// Model configures the language model that parts may ask. Without a provider no model is asked;
// rules and phrases take its place.
type Model struct {
	Provider        string        `yaml:"provider" doc:"Provider of the model: openai; compatible, for any endpoint with OpenAI's interface, such as Ollama, vLLM, LM Studio, llama.cpp or Gemini; or anthropic. Empty: no model; rules and fixed phrases are used instead. See docs/models.md."`
	URL             string        `yaml:"url" doc:"Base address of the endpoint with its version, such as http://127.0.0.1:11434/v1. It must use https, except on loopback. Empty: the provider's own."`
	Name            string        `yaml:"name" doc:"Name of the model, as the provider writes it."`
	KeyEnv          string        `yaml:"key_env" doc:"Name of the environment variable that contains the provider's key."`
	KeyFile         string        `yaml:"key_file" doc:"File that contains the provider's key. Use it instead of key_env."`
	Uses            []string      `yaml:"uses" default:"players,intents,commands,moderation,claims,repeats,ambience,places,quests,npcs" doc:"Uses of the model: players (the messages of AI players), commands (what a player typed, if the rules are unsure of it; a command waits at most 2.5 seconds), intents (utterances that the rules cannot classify with certainty, in classify-intent), moderation (texts of which the policy is unsure, in moderate-content), claims (texts whose claims the rules of the gates cannot settle; the model may only refuse them), repeats (hints that a waiting proposal may repeat a known text, if the rules are unsure; who reads the proposal waits at most 2.5 seconds), ambience (drafts of atmosphere), places (drafts of places behind pending exits), quests (drafts of quests by agent quest), npcs (lines by the agent npc), plans (plans of the studio, in plan_create; only if named here), narration (the words in which a player is told the results of its acts; see narration.patience; only if named here), gate (moderation of all proposals; while the model does not answer, no proposal is accepted)."`
	Trial           bool          `yaml:"trial" default:"true" doc:"Ask the model some questions whose answers are known before its answers to intents, commands, moderation, claims, repeats and plans are used, and one more now and then. A model that answers too many wrongly is not used for half an hour; rules take its place."`
	Timeout         time.Duration `yaml:"timeout" default:"30s" doc:"Time limit of a request with all its attempts, 1s to 10m."`
	Retries         int           `yaml:"retries" default:"2" doc:"Further attempts if the endpoint is busy or interrupts its answer, 0 to 10."`
	MaxTokens       int           `yaml:"max_tokens" default:"1024" doc:"Highest number of tokens in an answer, including its reasoning, 16 to 32768."`
	Concurrency     int           `yaml:"concurrency" default:"4" doc:"Concurrent requests, 1 to 256. Further requests wait."`
	PromptPrice     float64       `yaml:"prompt_price" doc:"Dollars per million tokens of prompts, for the costs in get-ai-usage."`
	CompletionPrice float64       `yaml:"completion_price" doc:"Dollars per million tokens of answers."`
	Cheap           CheapModel    `yaml:"cheap"`
}

// The uses of a model.
const (
	useForPlayers    = "players"
	useForIntents    = "intents"
	useForCommands   = "commands"
	useForModeration = "moderation"
	useForClaims     = "claims"
	useForRepeats    = "repeats"
	useForAmbience   = "ambience"
	useForPlaces     = "places"
	useForQuests     = "quests"
	useForPlans      = "plans"
	useForNarration  = "narration"
	useForNPCs       = "npcs"
	useForGate       = "gate"
)

var modelUses = []string{useForPlayers, useForIntents, useForCommands, useForModeration, useForClaims, useForRepeats,
	useForAmbience, useForPlaces, useForQuests, useForNPCs, useForPlans, useForNarration, useForGate}

// validate returns an error for settings with invalid values.
func (c Model) validate() error {
	if c.Provider == "" {
		if c.URL+c.Name+c.KeyEnv+c.KeyFile != "" {
			return fmt.Errorf("model.provider: is missing, although another setting of model is set; set %s, %s or %s",
				model.OpenAI,
				model.Compatible, model.Anthropic)
		}
		return nil
	}
	if c.KeyEnv != "" && c.KeyFile != "" {
		return errors.New("model.key_file: set only one of key_env and key_file")
	}
	for _, use := range c.Uses {
		if !slices.Contains(modelUses, use) {
			return fmt.Errorf("model.uses: %q is not a use; name some of %s", use, strings.Join(modelUses, ", "))
		}
	}
	for _, b := range []struct {
		name            string
		is, least, most int
	}{{"retries", c.Retries, 0, 10}, {"max_tokens", c.MaxTokens, 16, 32768}, {"concurrency", c.Concurrency, 1, 256}} {
		if b.is < b.least || b.is > b.most {
			return fmt.Errorf("model.%s: %d is out of range; set a number from %d to %d", b.name, b.is, b.least, b.most)
		}
	}
	if c.Timeout < time.Second || c.Timeout > 10*time.Minute {
		return fmt.Errorf("model.timeout: %s is out of range; set 1s to 10m", c.Timeout)
	}
	if !(c.PromptPrice >= 0 && c.CompletionPrice >= 0 && c.PromptPrice+c.CompletionPrice < 1e6) {
		return errors.New("model.prompt_price, model.completion_price: set dollars per million tokens, 0 or more")
	}
	if _, err := c.newClient(""); err != nil {
		return err
	}
	return c.validateCheap()
}

// newClient creates the configured client; nil if no provider is configured.
func (c Model) newClient(key string) (*model.Client, error) {
	if c.Provider == "" {
		return nil, nil
	}
	m, err := model.New(model.Config{Provider: c.Provider, URL: c.URL, Name: c.Name, Key: key, Timeout: c.Timeout,
		Retries:   c.Retries,
		MaxTokens: c.MaxTokens, Concurrency: c.Concurrency, PromptPrice: c.PromptPrice, CompletionPrice: c.CompletionPrice})
	if err != nil {
		return nil, fmt.Errorf("model.%w", err)
	}
	return m, nil
}

// useModel gives agents the model for the uses that it is configured for.
func (a *App) useModel(c *agent.Config) {
	for _, v := range command.Verbs {
		c.Acts = append(c.Acts, string(v))
	}
	if a.model == nil {
		return
	}
	c.Answers, c.Trial = a.model, a.Config.Model.Trial
	c.AskIntents, c.AskModeration = a.modelFor(useForIntents), a.modelFor(useForModeration)
	c.AskPlaces, c.AskQuests, c.AskNPCs = a.modelFor(useForPlaces), a.modelFor(useForQuests), a.modelFor(useForNPCs)
	if a.modelFor(useForAmbience) {
		c.Provider = a.model
	}
}

// modelFor reports whether a model is configured for a use.
func (a *App) modelFor(use string) bool {
	return a.model != nil && slices.Contains(a.Config.Model.Uses, use)
}

// gateModerator returns the model as moderator of all proposals; nil if it is not configured for
// that.
func (a *App) gateModerator() safety.Moderator {
	if !a.modelFor(useForGate) {
		return nil
	}
	return gateModerator{a}
}

// gateModerator looks up the agents at each call, because they are created after the gates.
type gateModerator struct{ app *App }

func (m gateModerator) Moderate(ctx context.Context, p safety.Passage) ([]string, error) {
	return m.app.Agents.Moderate(ctx, p)
}

// claimReader returns the model as second reader of claims; nil if it is not configured for that.
func (a *App) claimReader() proposal.DoubtReader {
	if !a.modelFor(useForClaims) {
		return nil
	}
	return secondReader{a}
}

// repeatReader returns the model as second reader of hints at repeats; nil if it is not configured for that.
func (a *App) repeatReader() proposal.RepeatReader {
	if !a.modelFor(useForRepeats) {
		return nil
	}
	return secondReader{a}
}

// secondReader looks up the agents at each call, because they are created after the gates.
type secondReader struct{ app *App }

func (r secondReader) ReadRepeats(ctx context.Context, w access.WorldID, d proposal.RepeatDoubt) ([]int, error) {
	return r.app.Agents.ReadRepeats(ctx, w, d)
}

func (r secondReader) ReadDoubt(ctx context.Context, w access.WorldID, d proposal.Doubt) (proposal.Opinion, error) {
	return r.app.Agents.ReadDoubt(ctx, w, d)
}

// playerModel returns the model for the lines of AI players in a world; nil if they speak in
// phrases.
func (a *App) playerModel() func(access.WorldID) player.Model {
	if !a.modelFor(useForPlayers) {
		return nil
	}
	return func(w access.WorldID) player.Model { return playerModel{a, w} }
}

// playerModel asks the model for lines of AI players, and charges their world.
type playerModel struct {
	app   *App
	world access.WorldID
}

// commandReader returns the model as reader of commands; nil if it is not configured for that.
func (a *App) commandReader() play.Reader {
	if !a.modelFor(useForCommands) {
		return nil
	}
	return commandReader{a}
}

// commandReader asks the model for readings of commands, and charges their world.
type commandReader struct{ app *App }

// maxReading is the number of tokens of a reading.
const maxReading = 512

func (r commandReader) ReadCommand(ctx context.Context, w access.WorldID, text string) (out command.Parsed, err error) {
	typed, err := json.Marshal(map[string]string{"command": text})
	if err != nil {
		return out, err
	}
	answer, err := r.app.Agents.Ask(ctx, agent.Question{World: w, Purpose: "classification", Template: "command",
		MaxTokens: maxReading, Schema: readingSchema, Trial: true,
		Values: map[string]string{"data": string(typed), "acts": joinNames(command.Verbs),
			"directions": joinNames(command.Directions)},
		Accept: func(answer string) (string, error) {
			_, err := r.parseReading(text, answer)
			return answer, err
		}})
	if err != nil {
		return out, err
	}
	return r.parseReading(text, answer)
}

// parseReading returns the reading in a model's answer.
func (r commandReader) parseReading(text, answer string) (command.Parsed, error) {
	var v struct {
		Acts    []command.Act `json:"acts"`
		Unclear string        `json:"unclear"`
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		return command.Parsed{}, errNoReading
	}
	return command.ReadAs(text, v.Acts, v.Unclear, "model:"+r.app.model.ModelFor("classification"))
}

var errNoReading = fault.New(fault.Rule, "the model did not answer with acts")

// joinNames lists names in one line.
func joinNames[T ~string](names []T) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = string(n)
	}
	return strings.Join(list, ", ")
}

// maxLine is the longest answer that is accepted as a line, in bytes. The game itself shortens
// lines.
const maxLine = 4000

func (m playerModel) Generate(ctx context.Context, a player.Ask) (string, error) {
	text, err := m.app.Agents.Ask(ctx, agent.Question{World: m.world, Purpose: "npc_dialogue", Template: "alignment-line",
		MaxTokens: m.app.Config.Model.MaxTokens,
		Values:    map[string]string{"table": a.Table, "task": a.Task, "voice": a.Voice}, Accept: acceptLine})
	if fault.KindOf(err) == fault.RateLimited {
		return "", errors.Join(player.ErrSpent, err)
	}
	return text, err
}

// acceptLine accepts an answer that is one message in plain text. A lone dash means silence.
func acceptLine(text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "-":
		return "", nil
	case len(text) > maxLine, strings.Contains(text, "<<<"), strings.Contains(text, "```"),
		strings.Contains(text, `"your_player_id"`):
		return "", errNoLine
	}
	return text, nil
}

var errNoLine = fault.New(fault.Rule, "the model did not answer with one line")

// checkModel asks the configured model for a test answer.
func (d *doctor) checkModel(ctx context.Context, c Model) {
	if c.Provider == "" {
		d.printCheck("model", nil, "none is configured; rules and fixed phrases are used instead")
		return
	}
	d.checkAnswer(ctx, "model", c)
	if c.Cheap.Name != "" {
		d.checkAnswer(ctx, "cheap model", c.cheapConfig())
	}
}

// checkAnswer asks one model for a test answer.
func (d *doctor) checkAnswer(ctx context.Context, title string, c Model) {
	m, err := c.openClient()
	if err != nil {
		d.printCheck(title, err, "")
		return
	}
	started := time.Now()
	err = m.Check(ctx)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		err = errors.New(f.Message) // the message tells the person how to mend it; the code is for programs
	}
	d.printCheck(title, err, "%s at %s answers, in %s", m.Model(), m.Host(), time.Since(started).Round(time.Millisecond))
}

// readingSchema is the form of a reading of a command.
var readingSchema = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["acts","unclear"],` +
	`"properties":{"unclear":{"type":"string","enum":["","verb","direction","object","target","pronoun"]},` +
	`"acts":{"type":` +
	`"array","items":{"type":"object","additionalProperties":false,"required":["verb","direction","object","targets"],` +
	`"properties":{"verb":{"type":"string"},"direction":{"type":"string"},"object":{"type":"string"},"targets":{"type":` +
	`"array","items":{"type":"string"}}}}}}}`)
