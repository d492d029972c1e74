// Package proposal takes what agents suggest and lets it become canon only through seven
// gates, in order: schema, safety, invariant, duplication, replay, rate, audit. The first
// that fails ends it. What passes is accepted at once or waits for a person, by the policy
// of its kind.
//
// Its invariant: no proposal changes the canon before its verdict is durable in the
// world's ledger of proposals, and then it does so once, by one commit with its author's
// rights that names the verdict as its cause. Any verdict can be made again from what is
// recorded.
//
// A world's ledger ("proposals:<world>") holds two types of event: Proposal.Judged, a
// proposal with the verdict of every gate it came to (see judged), and Proposal.Decided,
// what became of one that waited (see decided). Whether an accepted one is in the canon
// is told by the event there that bears its key, "proposal:<id>".
//
// The package knows no surface: each registers its kinds (see Kind), and the writes of
// advisory keys come in by Divert.
package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/op"
	"loregate/internal/prompt"
	"loregate/internal/safety"
)

// LedgerKind is the kind of ledger that proposals are kept in: one for each world, open
// to the grants of every surface, since any of them may divert a write.
const LedgerKind = "proposals"

// Contexts reads again what a context tool once answered, as of the position and view that
// the reference seals. A reference that nothing here sealed, or that is not the caller's, is
// fault.Invalid.
type Contexts interface {
	Reread(ctx context.Context, g access.Grant, ref string) (Reading, error)
}

// Reading is an answer that was read again.
type Reading struct {
	Answer json.RawMessage
	Level  access.Level // the highest level of what it holds
	At     canon.Seq    // the commit that it is read as of; 0 is now
}

// Authors gives the caller that somebody is today: with the rights that they have now,
// not those that they had when they proposed. Who is no more has none.
type Authors interface {
	Author(ctx context.Context, subject access.Subject, key string) (access.Caller, error)
}

// Meter is told of every proposal that was judged; see telemetry of the agents. It must
// not block.
type Meter interface {
	Judged(g access.Grant, m Measure)
}

// Measure is what a meter is told. It holds no content.
type Measure struct {
	Kind, Purpose, Model, Template string
	Status                         Status
	Gate                           Gate // that refused; "" for none
	Flagged                        bool
	TokensPrompt, TokensCompletion int
	Took                           time.Duration
	Grams                          []uint32 // hashes of the texts' three-word runs, for their variety
}

// Config is what a Service is made of. Canon, Guard, Prompts and Kinds are needed.
type Config struct {
	Canon   *canon.Canon // its Config.Ledgers names LedgerKind
	Guard   *access.Guard
	Prompts *prompt.Registry
	Kinds   []*Kind

	Policy    *safety.Policy   // nil: the one in force
	Moderator safety.Moderator // a further judge of texts; nil for none
	Contexts  Contexts         // nil: no reference can be opened
	Authors   Authors          // nil: nothing that waits can be approved
	Operation func(name string) (*op.Operation, bool)
	Meter     Meter // nil: none

	// Secret keys the hashes that callers are shown; processes on one store share it.
	Secret []byte

	Limits   Limits            // zero fields are the defaults
	Policies map[string]Policy // by kind, in place of the kind's own

	// TrustedImports are formats whose imports bring in the world's own text. What rests on
	// that of others waits for a person.
	TrustedImports []string

	Now   func() time.Time
	NewID func() uuid.UUID
}

// Service judges proposals. It is safe for concurrent use, beside any number of others on
// the same store.
type Service struct {
	cfg   Config
	kinds map[string]*Kind

	mu      sync.Mutex // guards ledgers
	ledgers map[access.WorldID]*ledger
}

// New makes a Service.
func New(c Config) (*Service, error) {
	if c.Canon == nil || c.Guard == nil || c.Prompts == nil {
		return nil, errors.New("proposal: Canon, Guard and Prompts are needed")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	if c.Policy == nil {
		p, err := safety.Published(safety.Current)
		if err != nil {
			return nil, err
		}
		c.Policy = p
	}
	c.Limits = c.Limits.orDefaults()
	s := &Service{cfg: c, kinds: map[string]*Kind{}, ledgers: map[access.WorldID]*ledger{}}
	for _, k := range append([]*Kind{s.canonChange()}, c.Kinds...) {
		if s.kinds[k.Name] != nil {
			return nil, errors.New("proposal: kind " + k.Name + " is registered twice")
		}
		s.kinds[k.Name] = k
	}
	for name := range c.Policies {
		if s.kinds[name] == nil {
			return nil, errors.New("proposal: a policy is set for kind " + name + ", which there is not")
		}
	}
	return s, nil
}

// Status is what a proposal's author is told of it.
type Status string

// The statuses. A result has one of the first four.
const (
	Accepted  Status = "accepted"
	Pending   Status = "pending_review"
	Rejected  Status = "rejected"
	Duplicate Status = "duplicate"
	Withdrawn Status = "withdrawn"
	Outdated  Status = "outdated" // what it read moved while it waited
	Expired   Status = "expired"
)

// Result is the answer to a proposal.
type Result struct {
	Status        Status          `json:"status" enum:"accepted,pending_review,rejected,duplicate"`
	ProposalID    string          `json:"proposalId"`
	EventID       string          `json:"eventId,omitempty" jsonschema:"The event in the world, once it is there."`
	Accepted      *bool           `json:"accepted,omitempty" jsonschema:"Of an event: whether it was accepted."`
	SanitizedText string          `json:"sanitizedText,omitempty" jsonschema:"The text as it is kept."`
	QuestDraft    json.RawMessage `json:"questDraft,omitempty"`
	Issues        []Issue         `json:"issues,omitempty" jsonschema:"What a person should look at, or what was wrong."`
	Rejection     *Rejection      `json:"rejection,omitempty"`
}

// Rejection says why a proposal was refused and what to do about it.
type Rejection struct {
	Gate              Gate           `json:"gate" enum:"schema,safety,invariant,duplication,replay,rate,audit,review"`
	Code              string         `json:"code"`
	Message           string         `json:"message"`
	Details           map[string]any `json:"details"`
	Retryable         bool           `json:"retryable"`
	RetryAfterSeconds int            `json:"retryAfterSeconds,omitempty"`
	Fallback          Fallback       `json:"fallback"`
}

// Fallback is what a reader may be told in place of what was refused.
type Fallback struct {
	Text string `json:"text"`
}

// Issue is one thing that is wrong with a payload, or worth a look.
type Issue struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

// Provenance says what an agent's text was made from.
type Provenance struct {
	Model           string         `json:"model,omitzero" maxlen:"100" jsonschema:"Which model wrote it."`
	TemplateID      string         `json:"templateId,omitzero" maxlen:"64" jsonschema:"Prompt template, where one was used; then with its version and hash."`
	TemplateVersion string         `json:"templateVersion,omitzero" maxlen:"20" jsonschema:"Its version."`
	TemplateHash    string         `json:"templateHash,omitzero" maxlen:"64" jsonschema:"Its hash."`
	ContextRefs     []string       `json:"contextRefs,omitzero" maxitems:"6" maxlen:"2048" jsonschema:"The contextRef of every context answer that was used, in order."`
	ContextHash     string         `json:"contextHash,omitzero" maxlen:"64" jsonschema:"SHA-256, in hexadecimal, of the JSON array of those answers in the canonical form of RFC 8785. Not needed: the server hashes what it showed. One that is given is checked."`
	Parameters      map[string]any `json:"parameters,omitzero" jsonschema:"Values of the template's variables, but for context, which is the array."`
}

// Common is what every proposal may say beside its payload.
type Common struct {
	ContextRef     string      `json:"contextRef,omitzero" maxlen:"2048" jsonschema:"The contextRef in the answer of the context tool that you read. With it an agent's text can go live; without it the text waits for a person."`
	Purpose        Purpose     `json:"purpose,omitzero" enum:"ambience,npc_dialogue,quest_seed,narration,classification,retrieval,planning" jsonschema:"What it is for, which budgets count by; the kind's own where it is not said."`
	Provenance     *Provenance `json:"provenance,omitzero" jsonschema:"More of what the text was made from. Not needed beside contextRef."`
	IdempotencyKey string      `json:"idempotencyKey,omitzero" maxlen:"255" jsonschema:"A text of your choice: proposing again with it gives the first answer."`
	CorrelationID  string      `json:"correlationId,omitzero" maxlen:"100" jsonschema:"An id of yours that follows the proposal into the event."`
}

// cited is the provenance with the context that stands beside it, first.
func (c Common) cited() *Provenance {
	if c.ContextRef == "" {
		return c.Provenance
	}
	var p Provenance
	if c.Provenance != nil {
		p = *c.Provenance
	}
	if !slices.Contains(p.ContextRefs, c.ContextRef) {
		p.ContextRefs = append([]string{c.ContextRef}, p.ContextRefs...)
	}
	return &p
}

// citesContext reports whether the provenance names any context.
func (p *Provenance) citesContext() bool { return p != nil && len(p.ContextRefs) > 0 }

// Purpose is what a text is for. Budgets count by it.
type Purpose string

// The purposes.
const (
	ForAmbience       Purpose = "ambience"
	ForDialogue       Purpose = "npc_dialogue"
	ForQuest          Purpose = "quest_seed"
	ForNarration      Purpose = "narration"
	ForClassification Purpose = "classification"
	ForRetrieval      Purpose = "retrieval"
	ForPlanning       Purpose = "planning"
)
