package proposal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// The types of a ledger's events.
const (
	typeJudged  = "Proposal.Judged"
	typeDecided = "Proposal.Decided"
)

// judgedEvent is the payload of a Proposal.Judged event: the proposal and the gates' verdicts.
type judgedEvent struct {
	ID         uuid.UUID       `json:"id"`
	Kind       string          `json:"kind"` // with the schema's version: "ambience/1"
	Author     author          `json:"author"`
	Payload    json.RawMessage `json:"payload"` // as it was sent
	Hash       canon.Hash      `json:"hash"`    // of the kind and the canonical payload
	Purpose    Purpose         `json:"purpose"`
	Player     string          `json:"player,omitempty"`
	Scope      string          `json:"scope,omitempty"`
	About      string          `json:"about,omitempty"` // names of the cards in the scope, as the author saw them
	Provenance *Provenance     `json:"provenance,omitempty"`
	Diverted   bool            `json:"diverted,omitempty"` // made from an advisory key's write
	Tokens     int             `json:"tokens,omitempty"`

	World    canon.Seq      `json:"world_seq"`       // the world's commit that it was judged on
	Basis    []canon.CardID `json:"basis,omitempty"` // cards that the kind's check found by search
	Outcome  access.Label   `json:"outcome,omitzero"`
	Verdicts []Verdict      `json:"verdicts"`
	Status   Status         `json:"status"` // accepted, pending_review or rejected
	Issues   []Issue        `json:"issues,omitempty"`
	Refused  *Rejection     `json:"rejection,omitempty"`
	Prompt   string         `json:"prompt_hash,omitempty"` // of the prompt that was rendered again

	Standing uuid.UUID      `json:"standing,omitzero"` // the standing approval that let it through
	Preview  []PreviewItem  `json:"preview,omitempty"` // of a pending proposal
	Expected canon.Hash     `json:"expected,omitzero"` // the hash that an approval names
	Cards    []canon.CardID `json:"cards,omitempty"`   // that the dry run changes

	Correlation string     `json:"correlation_id,omitempty"`
	Idempotency string     `json:"idempotency_key,omitempty"`
	Input       canon.Hash `json:"input_hash,omitzero"` // of the call that sent the key
}

// author is the author of a proposal at the time of proposing.
type author struct {
	Subject access.Subject `json:"subject"`
	Key     string         `json:"key,omitempty"`
	Actor   access.Actor   `json:"actor,omitempty"`
	Level   access.Level   `json:"level"`   // of the view; the proposal is visible to this level and above
	Account string         `json:"account"` // the account that idempotency keys count by
	Surface string         `json:"surface,omitempty"`
	// Transport is the transport of the call that proposed. The wrapped operation runs as a call over it, because
	// the form of a text that names none depends on it.
	Transport string `json:"transport,omitempty"`
}

func authorOf(g access.Grant) author {
	c := g.Caller()
	return author{Subject: c.Subject, Key: c.Key, Actor: c.Actor, Level: g.View().Level, Account: c.Account(),
		Surface: g.Request().Surface}
}

// isCaller reports whether a caller is the author: the same subject, or the same key.
func (a author) isCaller(c access.Caller) bool {
	return a.Subject == c.Subject || a.Key != "" && a.Key == c.Key
}

// decidedEvent is the payload of a Proposal.Decided event.
type decidedEvent struct {
	ID     uuid.UUID      `json:"id"`
	Status Status         `json:"status"` // accepted, rejected, withdrawn or outdated
	By     access.Subject `json:"by"`
	Key    string         `json:"key,omitempty"`
	Note   string         `json:"note,omitempty"`
	Hash   canon.Hash     `json:"hash,omitzero"` // the expected hash of the approved change
	Gate   Gate           `json:"gate,omitempty"`
	Issues []Issue        `json:"issues,omitempty"` // of an accepted proposal that could not be applied

	Idempotency string `json:"idempotency_key,omitempty"` // of the call that decided
}

// Verdict is the result of one gate.
type Verdict struct {
	Gate    Gate       `json:"gate"`
	Version string     `json:"version"` // of its rules
	Input   canon.Hash `json:"input"`   // SHA-256 of the gate's input
	Passed  bool       `json:"passed"`
	Code    string     `json:"code,omitempty"`
	Flags   []string   `json:"flags,omitempty"`
	Opinion *Opinion   `json:"opinion,omitempty"` // a replay uses it again
}

// ledgerEntry is one decoded record of a ledger. At most one of the event pointers is set by
// entryOf.
type ledgerEntry struct {
	seq     canon.Seq
	change  uuid.UUID
	at      time.Time
	judged  *judgedEvent
	decided *decidedEvent
	granted *standingApproval
	ended   *standingEnd

	decisionID uuid.UUID // of the record that decided it, if that was read as well
	decidedAt  time.Time
}

func entryOf(rec canon.Record) (e ledgerEntry, err error) {
	e = ledgerEntry{seq: rec.Seq, change: rec.ID, at: rec.At}
	if rec.Event == nil {
		return e, nil
	}
	into, known := map[string]any{typeJudged: &e.judged, typeDecided: &e.decided, typeGranted: &e.granted,
		typeEnded: &e.ended}[rec.Event.Type]
	if known {
		err = json.Unmarshal(rec.Event.Payload, into)
	}
	if err != nil {
		err = fmt.Errorf("proposal: %s/%d: %w", rec.Stream, rec.Seq, err)
	}
	return e, err
}
