package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"loregate/internal/access"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/proposal"
	"loregate/internal/usage"
)

// Provider is a language model.
type Provider interface {
	// Model returns the exact name of the model.
	Model() string
	// Complete answers a prompt. It returns fault.Unavailable if a later attempt may succeed. The
	// Completion counts the tokens spent even if the error is not nil.
	Complete(ctx context.Context, r Request) (Completion, error)
}

// Tiered is a Provider of two tiers.
type Tiered interface {
	Provider
	// ModelFor returns the name of the model that serves a purpose, and TierOf its tier.
	ModelFor(purpose string) string
	TierOf(purpose string) Tier
}

// modelFor returns the name of the model that serves a purpose.
func modelFor(p Provider, purpose string) string {
	if t, ok := p.(Tiered); ok {
		return t.ModelFor(purpose)
	}
	return p.Model()
}

// Request is a prompt with the limits of its answer.
type Request struct {
	Purpose   string
	Prompt    string
	MaxTokens int // of the answer
	// Schema is the JSON Schema of the answer; nil: any text. Every object in it requires all its
	// members and allows no others. It does not limit lengths or numbers, since some endpoints
	// would refuse that.
	Schema json.RawMessage

	task *task // whose role pays, too; nil for none
}

// Completion is a model's answer. If the request had a Schema, Text is JSON that fits it.
type Completion struct {
	Text                           string
	TokensPrompt, TokensCompletion int
	CostMicroUSD                   int64
	Retries                        int    // failed attempts before this answer
	Model                          string // that answered; "" for that of the Provider
}

// Config configures Agents. Invoker and Prompts are required.
type Config struct {
	Invoker  op.Invoker // the same one that clients use
	Prompts  *prompt.Registry
	Provider Provider // writes drafts; nil: the composer of phrases writes
	// Answers is the model for questions; nil: rules work alone. With AskIntents it classifies
	// utterances that the rules are unsure of, with AskModeration it moderates texts that the
	// policy's terms do not block.
	Answers                   Provider
	AskIntents, AskModeration bool
	AskPlaces                 bool // it drafts places, in place of the composer
	AskQuests                 bool // it drafts quests, in place of the grammar of arcs
	AskNPCs                   bool // it writes the lines of characters
	// Assess judges the payload of a kind that is not proposed, with the rights of the caller. Required by the planner and
	// by dry runs.
	Assess func(ctx context.Context, c access.Caller, w access.WorldID, correlation, kind string,
		payload json.RawMessage) ([]proposal.Assessment, error)
	// SwitchedOff reports whether an agent was switched off in a world, which ends its runs. nil: none was.
	SwitchedOff func(ctx context.Context, w access.WorldID, role string) (bool, error)
	// States describes the roles in a world, and Switch switches one with the rights of a grant. Required by
	// ManageOperations, as is Usage.
	States func(ctx context.Context, w access.WorldID) ([]State, error)
	Switch func(ctx context.Context, g access.Grant, role string, on bool) error
	// Kept lists the texts that are kept at some places and characters, from an offset, and the number of all these
	// cards; VetKept judges one, and Audited is told of an audit. The first two are required by audits.
	Kept    func(ctx context.Context, g access.Grant, offset, limit int) ([]Kept, int, error)
	VetKept func(ctx context.Context, g access.Grant, k Kept) (*proposal.Rejection, error)
	Audited func(judged, drifted int)
	// Trial: the model must pass a trial before its answers to such questions are used.
	Trial bool
	Usage *usage.Recorder
	// Intents classifies an utterance by rules. It returns the intent, a confidence, and whether the rules are
	// unsure of it. Acts are all possible intents.
	Intents func(utterance string) (intent string, confidence float64, unsure bool)
	Acts    []string
	// Profile returns the safety profile of a grant's world.
	Profile func(ctx context.Context, g access.Grant) (string, error)

	Now    func() time.Time
	Logger *slog.Logger
}

// Agents run the tasks. They are safe for concurrent use.
type Agents struct {
	cfg    Config
	cache  *cache
	trials *trials
}

// New returns Agents.
func New(c Config) (*Agents, error) {
	if c.Invoker == nil || c.Prompts == nil {
		return nil, errors.New("agent: Invoker and Prompts must be set")
	}
	if c.Answers == nil {
		c.AskIntents, c.AskModeration, c.AskPlaces, c.AskQuests, c.AskNPCs = false, false, false, false, false
	}
	if c.SwitchedOff == nil {
		c.SwitchedOff = func(context.Context, access.WorldID, string) (bool, error) { return false, nil }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return &Agents{cfg: c, cache: newCache(cacheSize), trials: newTrials()}, nil
}

// recordUsage records a usage event if a recorder is configured.
func (a *Agents) recordUsage(w access.WorldID, e usage.Event) {
	if a.cfg.Usage != nil {
		a.cfg.Usage.Record(w, e)
	}
}

func toMilliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Operations returns the classification tools for the given surfaces.
func (a *Agents) Operations(surfaces ...string) []*op.Operation {
	spec := func(s op.Spec, id string) op.Spec {
		s.Surfaces, s.Effect, s.MinRole, s.Meta = surfaces, access.Read, access.RoleUser, map[string]any{"toolId": id}
		return s
	}
	return []*op.Operation{
		op.Define(spec(op.Spec{
			Name: "classify-intent", Title: "Classify an utterance", Route: "POST /api/classification/intent",
			Asked: []string{
				"a sentence want: move, look or talk", "kind of act in a player's words",
				"guess the purpose of an utterance", "sort of act is it", "is it a question, a threat or a move",
				"the speaker intend", "sort an utterance", "is it talk, movement or an attack", "kind of remark",
				"the aim of a sentence", "act, question or chatter",
			},
			Doc: "Classify the intent of a player's utterance, such as move, look or talk, with a confidence. To parse " +
				"a whole command with its objects, use parse-command.",
			Examples: []op.Example{{Title: "A step", Input: `{"utterance": "go north"}`}},
		}, "Classification-classifyIntent"), a.classifyIntent),
		op.Define(spec(op.Spec{
			Name: "moderate-content", Title: "Moderate a text", Route: "POST /api/classification/moderation",
			Asked: []string{
				"is this text allowed", "rude, violent or unsafe words", "would it be blocked",
				"may I say this here", "clean enough for players", "would this be held back",
				"could I show this to players", "is it too cruel, rude or dangerous",
				"may this be said at our table", "is the wording decent", "would the filter stop it",
				"does this break the rules of good taste", "would it pass the censor",
				"rude, hateful or violent words", "is the line too harsh", "check for insults and threats",
				"fit for children",
			},
			Doc: "Check if a text would be blocked or flagged in this world, and by which categories. Proposals are " +
				"judged by the same policy.",
			Examples: []op.Example{{Title: "A harmless line", Input: `{"text": "The tide comes in."}`}},
		}, "Classification-moderateContent"), a.moderateContent),
	}
}
