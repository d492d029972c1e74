package proposal

import (
	"context"
	"encoding/json"
	"log/slog"
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
	Reason   string
	Diverted bool // made from an advisory key's write
	// Transport is the transport of the proposing call. A wrapped operation is judged as a call
	// over the same transport.
	Transport string
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
		return Result{}, fault.New(fault.TooLarge, "a proposal holds at most %d bytes; propose it in parts",
			MaxPayload).With("limit_bytes", MaxPayload)
	}
	payload, err := s.replaceCodenames(ctx, g, k, in.Payload)
	if err != nil {
		return Result{}, err
	}
	in.Payload = payload
	c := s.newCandidate(g, k, in)
	through, err := s.checkStateless(ctx, c)
	if fault.KindOf(err) == fault.Unavailable && err != nil {
		return s.auditUnavailable(ctx, c, err)
	}
	if err != nil {
		return Result{}, err
	}
	result, err := s.judgeCandidate(ctx, c, through)
	if err != nil {
		return Result{}, err
	}
	s.meterResult(c, result, started)
	return result, nil
}

func (s *Service) newCandidate(g access.Grant, k *Kind, in Submission) *candidate {
	req := g.Request()
	in.Provenance = in.citedProvenance()
	c := &candidate{kind: k, grant: g, common: in.Common, transport: in.Transport}
	c.rec = judgedEvent{ID: s.cfg.NewID(), Kind: k.Schema(), Author: authorOf(g), Payload: in.Payload,
		Hash:    payloadHash(k, in.Payload),
		Purpose: in.Purpose, Provenance: in.Provenance, Diverted: in.Diverted, Reason: in.Reason,
		Correlation: req.Correlation, Idempotency: req.IdempotencyKey, Input: req.InputHash}
	if c.rec.Purpose == "" {
		c.rec.Purpose = k.Purpose
	}
	if in.CorrelationID != "" {
		c.rec.Correlation = in.CorrelationID
	}
	return c
}

// judgeCandidate runs the gates that need the ledger, stores the verdict, and applies an accepted
// candidate.
func (s *Service) judgeCandidate(ctx context.Context, c *candidate, through bool) (Result, error) {
	led := s.ledgerOf(c.grant.World())
	var earlier *tracked
	receipt, err := s.cfg.Canon.UpdateLedger(ctx, c.grant, led.stream, func(t *canon.LedgerTx) ([]canon.Event, error) {
		led.admitMu.Lock()
		defer led.admitMu.Unlock()
		if err := led.admission.sync(s, t); err != nil {
			return nil, err
		}
		j := *c // the callback may run again
		j.rec.Verdicts = append([]Verdict(nil), c.rec.Verdicts...)
		var err error
		if earlier, err = s.checkLedger(&j, &led.admission, through); err != nil || earlier != nil {
			return nil, err
		}
		e, err := eventOf(typeJudged, &j.rec)
		c.rec = j.rec
		return []canon.Event{e}, err
	})
	if err != nil {
		return s.auditUnavailable(ctx, c, err)
	}
	if earlier != nil {
		return s.answerRepeated(ctx, c, *earlier)
	}
	if c.rec.Status != Accepted {
		return c.result(), nil
	}
	return s.applyAccepted(ctx, c, receipt.Change)
}

// checkLedger runs the gates from duplication on, while the writer is held. If the candidate
// repeats an earlier proposal, it returns that proposal.
func (s *Service) checkLedger(c *candidate, a *admission, through bool) (*tracked, error) {
	now := s.cfg.Now()
	if u := a.used[c.rec.Author.Account+"\x00"+c.rec.Idempotency]; c.rec.Idempotency != "" && u != nil &&
		now.Sub(u.at) < keyLife {
		if u.input != c.rec.Input {
			return nil, fault.New(fault.Conflict, "this idempotency key was used for another request; use a new key")
		}
		same := *a.byID[u.id]
		return &same, nil
	}
	if !through {
		return nil, nil
	}
	// The record's position in the ledger identifies the ledger's state. A hash of that state here
	// would reveal to the author that others had proposed.
	o := outcome{input: hashOf(c.rec.Hash[:])}
	if st := a.findRepeated(s, c, now); st != nil {
		same := *st
		return &same, nil
	}
	if !c.kind.Repeats && a.hasNearDuplicate(s, c, now) {
		o.refused = &Rejection{Message: "nearly the same was accepted before; say something new, or leave what is there"}
	}
	if !c.addVerdict(GateDuplication, "duplication/1", o) || !c.addVerdict(GateReplay, replayRules, c.replay) ||
		!c.addVerdict(GateRate, "rate/1", a.checkRate(s, c, now)) {
		return nil, nil
	}
	b, err := json.Marshal(c.rec.Verdicts)
	if err != nil {
		return nil, err
	}
	c.addVerdict(GateAudit, "audit/1", outcome{input: hashOf(b)})
	c.rec.Status = Accepted
	why := s.reviewReason(c)
	if why != "" && s.exceptionReason(c) == "" {
		if g, ok := a.findStandingApproval(c, now); ok {
			c.rec.Standing, why = g.ID, ""
		}
	}
	if why != "" {
		c.rec.Status, c.rec.Issues = Pending, []Issue{{Error: why}}
	}
	return nil, nil
}

// reviewReason returns why a person must look at a candidate, or "" if it needs no review.
func (s *Service) reviewReason(c *candidate) string {
	if s.policyOf(c.kind) == Review || c.rec.Diverted {
		return "waits for a person, as every " + c.kind.Name + " does"
	}
	return s.exceptionReason(c)
}

// exceptionReason returns why a person must look at a candidate regardless of the policy of its
// kind, or "" for no reason.
func (s *Service) exceptionReason(c *candidate) string {
	agent := c.grant.Caller().Actor != access.Person
	seen := c.rec.Author.Level > access.LevelUser && agent
	bare := !c.common.Provenance.citesContext()
	switch {
	case c.finding.Review != "":
		return c.finding.Review
	case c.foreign:
		return "waits for a person: it rests on text that was imported"
	case c.context > max(access.LevelUser, c.finding.Label.Level):
		return "waits for a person: its context held more than its readers see"
	case seen && bare && c.finding.Label.Level < c.rec.Author.Level:
		return "waits for a person: its author sees more than its readers do, and does not show what it was made from"
	case agent && bare && !c.unproven && s.policyOf(c.kind) == Auto && !c.rec.Diverted:
		return "waits for a person: it cites no context; what cites the contextRef of a context tool's answer need not wait"
	}
	return ""
}

// auditUnavailable is the answer if the verdict could not be stored or carried out for now.
func (s *Service) auditUnavailable(ctx context.Context, c *candidate, err error) (Result, error) {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Unavailable:
	default:
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, err
	}
	slog.ErrorContext(ctx, "a verdict could not be stored", "proposal", c.rec.ID, "error", err)
	c.addVerdict(GateAudit, "audit/1", outcome{refused: &Rejection{
		Message: "the verdict could not be recorded, and so nothing was changed; try again shortly", Retryable: true,
		RetryAfterSeconds: 1}})
	return c.result(), nil
}

// result returns the answer to the author of a judged candidate.
func (c *candidate) result() Result {
	r := Result{Status: c.rec.Status, ProposalID: c.rec.ID.String(), Issues: c.rec.Issues, Rejection: c.rec.Refused}
	if c.kind.Event {
		yes := c.rec.Status == Accepted
		r.Accepted = &yes
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
	c.rec = *e.judged
	r := Result{Status: Duplicate, ProposalID: st.id.String()}
	if c.rec.Author.isCaller(c.grant.Caller()) && c.grant.View().Level < c.rec.Author.Level {
		return Result{}, fault.New(fault.Denied, "this was proposed with a higher role; propose it anew under a new key")
	}
	if c.rec.Idempotency != "" && c.rec.Idempotency == c.grant.Request().IdempotencyKey &&
		c.rec.Author.Account == c.grant.Caller().Account() {
		r = c.result()
	} else if c.kind.Event {
		no := false
		r.Accepted = &no
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
	m := Measure{Kind: c.kind.Name, Purpose: string(c.rec.Purpose), Status: r.Status, Flagged: len(c.flags) > 0,
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
	s.cfg.Meter.Judged(c.grant, m)
}
