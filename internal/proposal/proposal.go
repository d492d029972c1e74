package proposal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
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

// LedgerKind is the kind of ledger that holds proposals, one ledger for each world. Grants of every
// surface may write to it, since any surface may divert a write.
const LedgerKind = "proposals"

// Contexts repeats the answer of an earlier call of a context tool, as of the position and view
// that the reference seals. A reference that was not sealed here or belongs to another caller is
// fault.Invalid.
type Contexts interface {
	Reread(ctx context.Context, g access.Grant, ref string) (Reading, error)
}

// Reading is a context answer that was read again.
type Reading struct {
	Answer json.RawMessage
	Level  access.Level // the highest level of its content
	At     canon.Seq    // the commit that it is read as of; 0 is now
}

// Authors returns the current caller of an author, with the rights that they have now and not those
// that they had when they proposed. An author who no longer exists has no rights.
type Authors interface {
	Author(ctx context.Context, subject access.Subject, key string) (access.Caller, error)
}

// Meter receives a Measure of every judged proposal; see the telemetry of the agents. It must not
// block.
type Meter interface {
	Judged(g access.Grant, m Measure)
}

// Measure is the telemetry of one judged proposal. It holds no content.
type Measure struct {
	Kind, Purpose, Model, Template string
	Status                         Status
	Gate                           Gate // that refused; "" if no gate did
	Flagged                        bool
	TokensPrompt, TokensCompletion int
	Took                           time.Duration
	Grams                          []uint32 // hashes of the texts' three-word runs, for their variety
	Words                          []uint32 // hashes of the texts' words, in order
}

// Config configures a Service. Canon, Guard, Prompts and Kinds are required.
type Config struct {
	Canon   *canon.Canon // canon.Config.Ledgers must name LedgerKind
	Guard   *access.Guard
	Prompts *prompt.Registry
	Kinds   []*Kind

	Moderator safety.Moderator // a further judge of texts; nil for none
	Doubts    DoubtReader      // a second reader of claims; nil for none
	Repeats   RepeatReader     // a second reader of hints at repeats; nil for none
	Contexts  Contexts         // nil: no reference can be opened
	Authors   Authors          // nil: no waiting proposal can be approved
	Operation func(name string) (*op.Operation, bool)
	// LeastRole returns the lowest role that may call an operation in a world; nil: its MinRole.
	LeastRole func(o *op.Operation, w access.WorldID) access.Role
	Meter     Meter // nil: none

	// Secret keys the hashes that callers are shown. All processes on one store share it.
	Secret []byte

	Limits   Limits            // zero fields have their defaults
	Policies map[string]Policy // by kind, in place of the kind's own

	// TrustedImports are the formats whose imports contain the world's own text. A proposal that
	// rests on text of other imports waits for a person.
	TrustedImports []string

	Logger *slog.Logger // nil: slog.Default at New
	Now    func() time.Time
	NewID  func() uuid.UUID
}

// Service judges proposals. It is safe for concurrent use, and several Services may run on the same
// store.
type Service struct {
	cfg   Config
	kinds map[string]*Kind

	mu      sync.Mutex // guards ledgers
	ledgers map[access.WorldID]*ledger
}

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.Canon == nil || c.Guard == nil || c.Prompts == nil {
		return nil, errors.New("proposal: Canon, Guard and Prompts are needed")
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
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
			return nil, errors.New("proposal: a policy is set for the unknown kind " + name)
		}
	}
	return s, nil
}

// Status is the state of a proposal, as shown to its author.
type Status string

// The statuses. A Result has one of the first four.
const (
	Accepted  Status = "accepted"
	Pending   Status = "pending_review"
	Rejected  Status = "rejected"
	Duplicate Status = "duplicate"
	Withdrawn Status = "withdrawn"
	Outdated  Status = "outdated" // the canon it rests on changed while it waited
	Expired   Status = "expired"
)

// Result is the answer to a proposal.
type Result struct {
	Status        Status          `json:"status" enum:"accepted,pending_review,rejected,duplicate"`
	ProposalID    string          `json:"proposalId"`
	EventID       string          `json:"eventId,omitempty" jsonschema:"Id of the event in the world, once it exists."`
	Accepted      *bool           `json:"accepted,omitempty" jsonschema:"For an event: whether it was accepted."`
	SanitizedText string          `json:"sanitizedText,omitempty" jsonschema:"The text as it is stored."`
	QuestDraft    json.RawMessage `json:"questDraft,omitempty"`
	Issues        []Issue         `json:"issues,omitempty" jsonschema:"Points that a person should check, or the faults of a refused proposal."`
	Rejection     *Rejection      `json:"rejection,omitempty"`

	repeated bool // the answer is the first one again
}

// Rejection describes why a proposal was refused and how to react.
type Rejection struct {
	Gate              Gate           `json:"gate" enum:"schema,safety,invariant,duplication,replay,rate,audit,review"`
	Code              string         `json:"code"`
	Message           string         `json:"message"`
	Details           map[string]any `json:"details"`
	Retryable         bool           `json:"retryable"`
	RetryAfterSeconds int            `json:"retryAfterSeconds,omitempty"`
	Fallback          Fallback       `json:"fallback"`
}

// Fallback is a sentence to show to a reader instead of the refused text.
type Fallback struct {
	Text string `json:"text"`
}

// Issue is a fault of a payload, or a point that a person should check.
type Issue struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

// Provenance describes the inputs of an agent's text.
type Provenance struct {
	Model           string         `json:"model,omitzero" maxlen:"100" jsonschema:"Model that wrote the text."`
	TemplateID      string         `json:"templateId,omitzero" maxlen:"64" jsonschema:"Id of the prompt template, if one was used. Send its version and hash as well."`
	TemplateVersion string         `json:"templateVersion,omitzero" maxlen:"20" jsonschema:"Version of the template."`
	TemplateHash    string         `json:"templateHash,omitzero" maxlen:"64" jsonschema:"Hash of the template."`
	ContextRefs     []string       `json:"contextRefs,omitzero" maxitems:"6" maxlen:"2048" jsonschema:"The contextRef of every context answer that was used, in order."`
	ContextHash     string         `json:"contextHash,omitzero" maxlen:"64" jsonschema:"SHA-256, in hexadecimal, of the JSON array of those answers in the canonical form of RFC 8785. Not needed, since the server computes it. If you send it, it is checked."`
	Parameters      map[string]any `json:"parameters,omitzero" jsonschema:"Values of the template's variables, except context, which is the array."`
	Opinions        []DraftOpinion `json:"opinions,omitzero" maxitems:"10" jsonschema:"If the author chose among several drafts: its own judges' opinions on each. They decide nothing here."`
}

// DraftOpinion is the opinion of one judge of a committee on one draft, as the author of the proposal states it.
type DraftOpinion struct {
	Draft  int    `json:"draft" min:"1" max:"5" jsonschema:"Number of the draft."`
	Title  string `json:"title" maxlen:"200" jsonschema:"Title of the draft."`
	By     string `json:"by" maxlen:"64" jsonschema:"The judge, such as canonicality or safety."`
	Passed bool   `json:"passed"`
	Risk   int    `json:"risk,omitzero" min:"0" max:"1000" jsonschema:"Number of points that a person should check."`
	Why    string `json:"why,omitzero" maxlen:"2000" jsonschema:"Reason of a refusal."`
}

// Common holds the members that every proposal may have beside its payload.
type Common struct {
	ContextRef     string      `json:"contextRef,omitzero" maxlen:"2048" jsonschema:"The contextRef in the answer of the context tool that you read. With it an agent's text can go live; without it the text waits for a person."`
	Purpose        Purpose     `json:"purpose,omitzero" enum:"ambience,npc_dialogue,quest_seed,narration,classification,retrieval,planning" jsonschema:"Use of the text, by which budgets count. Default: the purpose of the kind."`
	Provenance     *Provenance `json:"provenance,omitzero" jsonschema:"More about the sources of the text. Not needed beside contextRef."`
	IdempotencyKey string      `json:"idempotencyKey,omitzero" maxlen:"255" jsonschema:"A text of your choice. Proposing again with the same key returns the first answer."`
	CorrelationID  string      `json:"correlationId,omitzero" maxlen:"100" jsonschema:"An id of your choice, which the event gets as well."`
}

// citedProvenance returns the provenance with the common contextRef as its first reference.
func (c Common) citedProvenance() *Provenance {
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

// Purpose is the use of a text. Budgets count by purpose.
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
