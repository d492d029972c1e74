package proposal

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// MaxPayload is the largest payload of a proposal, in bytes of JSON.
const MaxPayload = 128 << 10

// Submission is a proposal to be judged.
type Submission struct {
	Kind    string
	Payload json.RawMessage
	Common
	Diverted bool // made from an advisory key's write
	// Transport is the transport of the proposing call. A wrapped operation is judged as a call
	// over the same transport.
	Transport string

	beside error // the faults of the members beside the payload
}

// candidate is a proposal on its way through the gates.
type candidate struct {
	kind     *Kind
	grant    access.Grant
	view     access.View // the author's
	common   Common
	rec      judgedEvent
	recorded *ledgerEntry // the record of a proposal that is judged again; nil for a new one
	asOf     canon.Seq    // the world's commit that it is judged on; 0 is now

	beside    error      // the faults of the members beside the payload
	malformed error      // the faults of the payload
	draft     Draft      // nil if the payload is malformed
	input     canon.Hash // of the payload
	texts     []Text     // the draft's
	sig       signature  // of the texts
	profile   string     // of the world's safety policy
	unproven  bool       // the world lets agents propose it without a context
	live      bool       // the world lets its kind pass without a person
	flagged   bool       // the safety gate found something
	sources   sources
	finding   Finding
	imported  bool          // it rests on imported text
	seen      changePreview // the dry run; zero if it was not needed

	ledger *admission // while the store's writer is held
	now    time.Time  // when it was taken
}

// Submit takes a proposal through the gates and, if it is accepted, into the canon. A refusal by a
// gate is a Result, not an error.
func (s *Service) Submit(ctx context.Context, g access.Grant, in Submission) (Result, error) {
	started := s.cfg.Now()
	k := s.kinds[in.Kind]
	if k == nil {
		return Result{}, fault.New(fault.Internal, "there is no kind of proposal %q", in.Kind)
	}
	if len(in.Payload) > MaxPayload {
		return Result{}, fault.New(fault.TooLarge, "a proposal may have at most %d bytes; propose it in parts",
			MaxPayload).With("limit_bytes", MaxPayload)
	}
	c := s.newCandidate(g, k, in)
	result, err := s.judge(ctx, c)
	if err == nil {
		s.meterResult(c, result, started)
	}
	return result, err
}

func (s *Service) newCandidate(g access.Grant, k *Kind, in Submission) *candidate {
	req := g.Request()
	in.Provenance = in.citedProvenance()
	c := &candidate{kind: k, grant: g, view: g.View(), common: in.Common, beside: in.beside}
	c.rec = judgedEvent{ID: s.cfg.NewID(), Kind: k.Schema(), Author: authorOf(g), Payload: in.Payload,
		Purpose: in.Purpose, Provenance: in.Provenance, Diverted: in.Diverted,
		Correlation: req.Correlation, Idempotency: req.IdempotencyKey, Input: req.InputHash}
	c.rec.Author.Transport = in.Transport
	c.rec.Purpose = cmp.Or(c.rec.Purpose, k.Purpose)
	c.rec.Correlation = cmp.Or(in.CorrelationID, c.rec.Correlation)
	return c
}

// judge takes a new candidate through the gates, stores its verdict, and applies it if it is
// accepted.
func (s *Service) judge(ctx context.Context, c *candidate) (Result, error) {
	err := s.openCandidate(ctx, c)
	if err == nil {
		err = s.walk(ctx, c)
	}
	if err != nil && fault.KindOf(err) == fault.Unavailable {
		return s.answerUnavailable(ctx, c, err, unstored)
	}
	if err != nil {
		return Result{}, err
	}
	repeated, receipt, err := s.storeVerdict(ctx, c)
	switch {
	case err != nil:
		return s.answerUnavailable(ctx, c, err, unstored)
	case repeated != nil:
		return s.answerRepeated(ctx, c, *repeated)
	case c.rec.Status != Accepted:
		return c.result(), nil
	}
	return s.applyAccepted(ctx, c, receipt.Change)
}

// openCandidate reads the world's settings and decodes the payload, after replacing the codenames
// in that of a new proposal.
func (s *Service) openCandidate(ctx context.Context, c *candidate) error {
	return s.cfg.Canon.Read(ctx, c.grant, func(snap *canon.Snapshot) (err error) {
		settings := snap.World().Settings
		c.profile, c.unproven = settings.Extra[ProfileSetting], slices.Contains(Unproven(settings), c.kind.Name)
		c.live = c.kind.Live != "" && settings.Extra[c.kind.Live] == SettingLive
		if c.recorded == nil {
			if c.rec.Payload, err = c.kind.replaceCodenames(ctx, snap, c.rec.Payload); err != nil {
				return err
			}
			c.rec.Hash, c.rec.World = payloadHash(c.kind, c.rec.Payload), snap.Now()
		}
		c.input = hashOf(c.rec.Payload)
		if c.draft, c.malformed = c.kind.decode(c.rec.Payload); c.malformed != nil || c.beside != nil {
			return nil
		}
		c.texts = c.draft.Texts()
		c.sig = signatureOf(c.texts)
		if c.recorded != nil {
			return nil
		}
		c.rec.Scope, c.rec.Player, c.rec.Tokens = c.draft.Scope(), c.draft.Player(), tokensOf(c.texts)
		c.rec.About, err = namesIn(ctx, snap, c.rec.Scope)
		return err
	})
}

// result returns the answer to the author of a judged candidate.
func (c *candidate) result() Result {
	r := Result{Status: c.rec.Status, ProposalID: c.rec.ID.String(), Issues: c.rec.Issues, Rejection: c.rec.Refused}
	if c.kind.Event {
		r.Accepted = new(c.rec.Status == Accepted)
	}
	if c.rec.Status == Rejected {
		return r
	}
	if d, ok := c.draft.(Sanitizer); ok {
		r.SanitizedText = d.Sanitized()
	}
	if d, ok := c.draft.(Drafter); ok {
		r.QuestDraft = d.QuestDraft()
	}
	return r
}

// answerRepeated answers a proposal that repeats an earlier one. With the same idempotency key it
// returns the first answer; with the same payload it returns a duplicate.
func (s *Service) answerRepeated(ctx context.Context, c *candidate, st tracked) (Result, error) {
	e, err := s.readEntry(ctx, c.grant, st.id)
	if err != nil {
		return Result{}, err
	}
	shown, err := s.withoutHidden(ctx, c.grant, e.judged)
	if err != nil {
		return Result{}, err
	}
	c.rec = *shown
	r := Result{Status: Duplicate, ProposalID: st.id.String()}
	if c.rec.Author.isCaller(c.grant.Caller()) && c.grant.View().Level < c.rec.Author.Level {
		return Result{}, fault.New(fault.Denied, "this was proposed with a higher role; propose it again under a new key")
	}
	if c.rec.Idempotency != "" && c.rec.Idempotency == c.grant.Request().IdempotencyKey &&
		c.rec.Author.Account == c.grant.Caller().Account() {
		if r = c.result(); e.decided != nil && len(e.decided.Issues) > 0 {
			r = s.refuseUnfit(c, e.decided.Issues)
		}
		r.repeated = true
	} else if c.kind.Event {
		r.Accepted = new(false)
	}
	if st.status != Accepted {
		return r, nil
	}
	done, err := s.finishAccepted(ctx, c.grant, e)
	if err != nil {
		return Result{}, err
	}
	if done != uuid.Nil {
		r.EventID = done.String()
	}
	return r, nil
}

func (s *Service) meterResult(c *candidate, r Result, started time.Time) {
	if s.cfg.Meter == nil {
		return
	}
	m := Measure{Kind: c.kind.Name, Purpose: string(c.rec.Purpose), Status: r.Status, Flagged: c.flagged,
		TokensCompletion: c.rec.Tokens, Took: s.cfg.Now().Sub(started)}
	if r.Rejection != nil {
		m.Gate = r.Rejection.Gate
	}
	if p := c.common.Provenance; p != nil {
		m.Model, m.Template = p.Model, p.TemplateID+"@"+p.TemplateVersion
	}
	for _, h := range c.sig.shingles[:min(len(c.sig.shingles), 64)] {
		m.Grams = append(m.Grams, uint32(h))
	}
	m.Words = hashWords(c.texts)
	s.cfg.Meter.Judged(c.grant, m)
}
