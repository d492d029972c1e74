package usage

import (
	"encoding/json"
	"fmt"
	"time"
)

// Name is the name of an event. Recorder.Record refuses an Event without one of the names below.
type Name uint8

// The names, as Area.Thing.Verb.
const (
	ModelCalled Name = iota + 1
	CacheAnswered
	ProposalJudged
	ContentModerated
	IntentClassified
	LoreRetrieved
	BudgetWarned
	BudgetRefused
)

var names = [...]string{
	ModelCalled: "AI.Model.Called", CacheAnswered: "AI.Cache.Answered", ProposalJudged: "AI.Proposal.Judged",
	ContentModerated: "AI.Content.Moderated",
	IntentClassified: "AI.Intent.Classified", LoreRetrieved: "AI.Lore.Retrieved", BudgetWarned: "AI.Budget.Warned",
	BudgetRefused: "AI.Budget.Refused",
}

// String returns the stored and displayed name; "" if n is not valid.
func (n Name) String() string {
	if int(n) >= len(names) {
		return ""
	}
	return names[n]
}

// MarshalText returns a name's JSON form.
func (n Name) MarshalText() ([]byte, error) {
	if n.String() == "" {
		return nil, fmt.Errorf("usage: %d is not a name", n)
	}
	return []byte(n.String()), nil
}

// UnmarshalText parses a name.
func (n *Name) UnmarshalText(b []byte) error {
	for i, s := range names {
		if s == string(b) && s != "" {
			*n = Name(i)
			return nil
		}
	}
	return fmt.Errorf("usage: %q is not a name", b)
}

// Outcome is the result of validating a model's text.
type Outcome string

// The outcomes; "" if nothing was validated.
const (
	Accepted Outcome = "accepted"
	Rejected Outcome = "rejected"
	Modified Outcome = "modified"
)

// Purposes are the purposes of calls. Events, budgets and proposals use the same words.
var purposes = []string{"ambience", "npc_dialogue", "quest_seed", "narration", "classification", "retrieval",
	"planning"}

// Purposes returns all purposes.
func Purposes() []string { return append([]string(nil), purposes...) }

// Event is one call. The JSON names are the names of the dimensions.
type Event struct {
	Name             Name      `json:"name"`
	At               time.Time `json:"at"`
	Model            string    `json:"ai.model,omitempty"`
	Purpose          string    `json:"ai.purpose"`
	TokensPrompt     int       `json:"ai.tokens.prompt,omitempty"`
	TokensCompletion int       `json:"ai.tokens.completion,omitempty"`
	LatencyMS        float64   `json:"ai.latency.total_ms"`
	ToolCalls        int       `json:"ai.toolCalls.count,omitempty"`
	Outcome          Outcome   `json:"ai.validation.outcome,omitempty"`
	Flagged          bool      `json:"ai.moderation.flagged,omitempty"`
	CacheHit         *bool     `json:"ai.cache.hit,omitempty"`
	Retries          int       `json:"ai.retry.count,omitempty"`
	Template         string    `json:"ai.version.template,omitempty"`
	CostMicroUSD     int64     `json:"ai.cost.micro_usd,omitempty"`
	Gate             string    `json:"ai.validation.gate,omitempty"`  // that refused
	Grams            []uint32  `json:"ai.text.grams,omitempty"`       // hashes of three-word runs
	Recall           *float64  `json:"ai.retrieval.recall,omitempty"` // of a retrieval with a known answer
}

// batch is the payload of a record: events that were written together.
type batch struct {
	Events []Event `json:"events"`
}

// eventType is the type of a ledger's events.
const eventType = "AI.Usage"

// validate refuses events that aggregates could not count.
func (e Event) validate() error {
	if e.Name.String() == "" {
		return fmt.Errorf("usage: event without a name")
	}
	for _, p := range purposes {
		if p == e.Purpose {
			return nil
		}
	}
	return fmt.Errorf("usage: %s: %q is not a purpose", e.Name, e.Purpose)
}

func decodeBatch(payload json.RawMessage) ([]Event, error) {
	var b batch
	err := json.Unmarshal(payload, &b)
	return b.Events, err
}
