package proposal

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// recordDecision stores a decision on a proposal that still waits.
func (s *Service) recordDecision(ctx context.Context, g access.Grant, d decidedEvent) error {
	_, err := s.recordDecisionFrom(ctx, g, d, Pending, func(*tracked, *admission) error { return nil })
	return err
}

// revokeAccepted stores that an accepted proposal cannot be applied.
func (s *Service) revokeAccepted(ctx context.Context, g access.Grant, d decidedEvent) error {
	_, err := s.recordDecisionFrom(ctx, g, d, Accepted, func(*tracked, *admission) error { return nil })
	return err
}

// recordDecisionFrom stores a decision on a proposal that has the status from. If an earlier
// attempt of the same call already decided, it returns the refusal only once the first decision is
// durable: see findEarlierDecision.
func (s *Service) recordDecisionFrom(ctx context.Context, g access.Grant, d decidedEvent, from Status,
	check func(*tracked, *admission) error) (canon.Receipt, error) {
	led := s.ledgerOf(g.World())
	var late error
	receipt, err := s.cfg.Canon.UpdateLedger(ctx, g, led.stream, func(t *canon.LedgerTx) ([]canon.Event, error) {
		led.admitMu.Lock()
		defer led.admitMu.Unlock()
		if err := led.admission.sync(s, t); err != nil {
			return nil, err
		}
		st := led.admission.byID[d.ID]
		if st == nil {
			return nil, noSuchProposal(d.ID.String())
		}
		late = nil
		if st.status != from {
			late = fault.New(fault.Conflict, "the proposal does not wait any more; it is %s", st.status).With("status",
				st.status)
			if st.decided.sameCall(d) {
				return nil, nil
			}
			return nil, late
		}
		if err := check(st, &led.admission); err != nil {
			return nil, err
		}
		e, err := eventOf(typeDecided, d)
		return []canon.Event{e}, err
	})
	return receipt, cmp.Or(err, late)
}

// findPending returns a proposal on which the caller may decide.
func (s *Service) findPending(ctx context.Context, g access.Grant, id string) (*ledgerEntry, error) {
	e, err := s.findVisible(ctx, g, id)
	if err != nil {
		return nil, err
	}
	switch {
	case e.judged.Author.isCaller(g.Caller()):
		return nil, fault.New(fault.Denied,
			"nobody decides on what they proposed; ask somebody else who may approve, or withdraw it")
	case !g.Caller().Approve:
		return nil, fault.New(fault.Denied, "deciding on proposals needs a key that may approve")
	case e.status() != Pending:
		return nil, fault.New(fault.Conflict, "the proposal does not wait any more; it is %s", e.status()).With("status",
			e.status())
	case s.cfg.Now().Sub(e.at) >= s.cfg.Limits.Life:
		return nil, fault.New(fault.Conflict,
			"the proposal waited too long and has expired; it must be proposed again").With("status", Expired)
	}
	return e, nil
}

// Approve accepts a pending proposal exactly as it was shown: hash is the one that get-proposal
// returns. The change is made with its author's current rights. If the data that the change rests
// on has changed, Approve refuses with fault.Stale and the proposal must be made again.
//
// The same approval again, under the idempotency key of the first, returns the first answer.
func (s *Service) Approve(ctx context.Context, g access.Grant, id, hash, note string) (Result, error) {
	r, err := s.approvePending(ctx, g, id, hash, note)
	if before := s.findEarlierDecision(ctx, g, id, Accepted, err); before != nil &&
		strings.EqualFold(hash, hex.EncodeToString(before.decided.Hash[:])) {
		return s.repeatApproval(ctx, g, before)
	}
	return r, err
}

func (s *Service) approvePending(ctx context.Context, g access.Grant, id, hash, note string) (Result, error) {
	e, err := s.findPending(ctx, g, id)
	if err != nil {
		return Result{}, err
	}
	j := e.judged
	if want := hex.EncodeToString(j.Expected[:]); !strings.EqualFold(hash, want) {
		return Result{}, s.wrongHashFault(j, hash)
	}
	k, draft, author, err := s.reopenDraft(ctx, g, j)
	if err != nil {
		return Result{}, err
	}
	if err := s.checkUnchanged(ctx, author, g.World(), k, draft, j); err != nil {
		return Result{}, s.recordOutdated(ctx, g, j, s.recordDecision, err)
	}
	d := decisionBy(g, j.ID, Accepted, note)
	d.Hash = j.Expected
	receipt, err := s.recordDecisionFrom(ctx, g, d, Pending,
		func(st *tracked, a *admission) error { return s.checkNew(author, g.World(), k, draft, j, st, a) })
	if err != nil {
		return Result{}, decisionFault(err)
	}
	e.decided, e.decisionID = &d, receipt.Change
	event, err := s.applyApproved(ctx, author, g.World(), k, draft, e)
	switch {
	case err != nil && isFinal(err):
		return Result{}, s.recordOutdated(ctx, g, j, s.revokeAccepted, err)
	case err != nil:
		return Result{}, decisionFault(err)
	}
	return approvalResult(k, draft, j, event), nil
}

// wrongHashFault refuses an approval whose hash is not that of the waiting change. It describes
// that change and names the call that returns its hash.
func (s *Service) wrongHashFault(j *judgedEvent, hash string) error {
	where := fmt.Sprintf(`send the expectedHash that get-proposal {"proposalId":%q} answers (GET /api/proposals/%s)`,
		j.ID, j.ID)
	if b, err := hex.DecodeString(hash); err != nil || len(b) != len(j.Expected) {
		return fault.BadField("expectedHash", "is no hash of a change, which has %d hexadecimal digits; %s",
			2*len(j.Expected), where)
	}
	what, change := s.describeProposal(j)
	return fault.New(fault.Stale,
		"expectedHash is of another change than the one that waits, which is %q: %s; look at it, and %s", what,
		change, where).
		With("what", what).With("change", change)
}

// approvalResult returns the answer to an approval.
func approvalResult(k *Kind, draft Draft, j *judgedEvent, event uuid.UUID) Result {
	c := candidate{kind: k, draft: draft, rec: *j}
	c.rec.Status, c.rec.Issues = Accepted, nil
	r := c.result()
	r.EventID = event.String()
	return r
}

// repeatApproval answers an approval that was already made, and applies it if that is still to do.
func (s *Service) repeatApproval(ctx context.Context, g access.Grant, e *ledgerEntry) (Result, error) {
	event, err := s.finishAccepted(ctx, g, e)
	if err != nil {
		return Result{}, decisionFault(err)
	}
	k, draft, _, err := s.reopenDraft(ctx, g, e.judged)
	return approvalResult(k, draft, e.judged, event), err
}

// decisionBy returns a decision of a grant's caller.
func decisionBy(g access.Grant, id uuid.UUID, status Status, note string) decidedEvent {
	c := g.Caller()
	return decidedEvent{ID: id, Status: status, By: c.Subject, Key: c.Key, Note: note,
		Idempotency: g.Request().IdempotencyKey}
}

// findEarlierDecision returns the proposal with the decision that an earlier attempt of a failed
// call made under the same idempotency key; nil if there is none.
func (s *Service) findEarlierDecision(ctx context.Context, g access.Grant, id string, status Status,
	failed error) *ledgerEntry {
	if failed == nil || g.Request().IdempotencyKey == "" {
		return nil
	}
	e, err := s.findVisible(ctx, g, id)
	if err != nil || !e.decided.sameCall(decisionBy(g, e.judged.ID, status, "")) {
		return nil
	}
	return e
}

// sameCall reports whether two decisions are from the same call, sent twice.
func (d *decidedEvent) sameCall(o decidedEvent) bool {
	return d != nil && d.Idempotency != "" && d.Idempotency == o.Idempotency && d.Status == o.Status && d.By == o.By &&
		d.Key == o.Key
}

// decisionFault returns the error of a decision. If it could not be stored or applied for now, the
// error asks to repeat it.
func decisionFault(err error) error {
	if err == nil {
		return nil
	}
	if k := fault.KindOf(err); k != fault.Internal && k != fault.Unavailable {
		return err
	}
	return fault.New(fault.Unavailable,
		"the decision could not be recorded or carried out yet; repeat it shortly").With("code",
		refusalCodes[GateAudit]).Because(err)
}

// reopenDraft decodes a proposal again and returns its author with their current rights.
func (s *Service) reopenDraft(ctx context.Context, g access.Grant,
	j *judgedEvent) (*Kind, Draft, access.Caller, error) {
	k := s.kinds[kindName(j.Kind)]
	if k == nil || k.Schema() != j.Kind {
		return nil, nil, access.Caller{}, fault.New(fault.Conflict,
			"%s is not proposed in this form any more; it must be proposed again", j.Kind)
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return nil, nil, access.Caller{}, fault.New(fault.Conflict,
			"the proposal cannot be read any more; it must be proposed again").Because(err)
	}
	author, err := s.currentAuthor(ctx, g, j)
	return k, draft, author, err
}

// checkUnchanged dry-runs a proposal again and refuses it if its change differs from the change
// that was shown.
func (s *Service) checkUnchanged(ctx context.Context, author access.Caller, w access.WorldID, k *Kind, draft Draft,
	j *judgedEvent) error {
	a, err := s.admitAuthor(ctx, author, w, j, k, draft)
	if err != nil {
		return err
	}
	seen, err := s.previewChange(ctx, a.Grant, applyJob{id: j.ID, kind: k, draft: draft, actor: j.Author.Actor})
	if err == nil && s.expectedHash(j, seen) != j.Expected {
		err = staleFault(changedNames(j.Preview, seen.items)...)
	}
	a.Done(ctx, 0, err)
	return err
}

// staleFault refuses a proposal whose basis has changed. others names the changes that would differ
// now.
func staleFault(others ...string) error {
	if len(others) == 0 {
		return fault.New(fault.Stale, "what the proposal rests on has changed since; it must be proposed again")
	}
	return fault.New(fault.Stale, "what the proposal rests on has changed since (%s); it must be proposed again",
		strings.Join(others, ", ")).With("changed", others)
}

// changedNames names the changes of a dry run that differ from the preview, at most five.
func changedNames(was, is []PreviewItem) (names []string) {
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			names = append(names, was[i].What)
		case i >= len(was) || was[i].Act != is[i].Act || was[i].What != is[i].What || was[i].Level != is[i].Level ||
			was[i].Diff != is[i].Diff:
			names = append(names, is[i].What)
		}
	}
	return names[:min(len(names), 5)]
}

// checkNew runs the duplication gate again for a proposal.
func (s *Service) checkNew(author access.Caller, w access.WorldID, k *Kind, draft Draft, j *judgedEvent, st *tracked,
	a *admission) error {
	if k.Repeats {
		return nil
	}
	view := access.View{Level: author.Role(w).Level(), Subject: author.Subject}
	for _, other := range a.byHash[j.Hash] {
		if other.id != st.id && other.status == Accepted && view.Sees(other.outcome) {
			return fault.New(fault.Conflict, "the same was accepted meanwhile; reject or withdraw this one").With("code",
				refusalCodes[GateDuplication])
		}
	}
	sig := signatureOf(draft.Texts())
	for _, key := range a.recentKeysUnder(recentPrefix(k.Name, st.scope)) {
		for _, other := range a.recent[key] {
			if view.Sees(other.outcome) && s.cfg.Now().Sub(other.at) <= s.cfg.Limits.Within &&
				sig.isLike(other.sig, s.cfg.Limits) {
				return fault.New(fault.Conflict, "nearly the same was accepted meanwhile; reject or withdraw this one").With("code",
					refusalCodes[GateDuplication])
			}
		}
	}
	return nil
}

// recordOutdated records that a proposal cannot be accepted any more because the world has changed,
// and returns the refusal. record is recordDecision, or revokeAccepted if it was already accepted.
func (s *Service) recordOutdated(ctx context.Context, g access.Grant, j *judgedEvent,
	record func(context.Context, access.Grant, decidedEvent) error, why error) error {
	if !isFinal(why) {
		return decisionFault(why)
	}
	if fault.KindOf(why) == fault.Conflict && canon.Moved(why) {
		why = staleFault()
	}
	d := decidedEvent{ID: j.ID, Status: Outdated, By: g.Caller().Subject, Key: g.Caller().Key, Gate: GateInvariant}
	if err := record(ctx, g, d); err != nil && fault.KindOf(err) != fault.Conflict {
		return decisionFault(err)
	}
	return why
}

// applyApproved makes exactly the change that was approved, or none.
func (s *Service) applyApproved(ctx context.Context, author access.Caller, w access.WorldID, k *Kind, draft Draft,
	e *ledgerEntry) (uuid.UUID, error) {
	j := e.judged
	a, err := s.admitAuthor(ctx, author, w, j, k, draft)
	if err != nil {
		return uuid.Nil, err
	}
	event, err := s.commitApproved(ctx, a.Grant, k, draft, e)
	a.Done(ctx, 0, err)
	if err == nil {
		s.ledgerOf(w).recordApplied(j.ID, event)
	}
	return event, err
}

func (s *Service) commitApproved(ctx context.Context, g access.Grant, k *Kind, draft Draft,
	e *ledgerEntry) (uuid.UUID, error) {
	seen, err := s.previewChange(ctx, g, applyJob{id: e.judged.ID, kind: k, draft: draft, actor: e.judged.Author.Actor,
		again: true})
	var done alreadyApplied
	if errors.As(err, &done) {
		return done.event, nil
	}
	if err != nil {
		return uuid.Nil, err
	}
	if s.expectedHash(e.judged, seen) != e.judged.Expected {
		return uuid.Nil, staleFault(changedNames(e.judged.Preview, seen.items)...)
	}
	seen.set.Cause = e.decisionID
	receipt, err := s.cfg.Canon.Commit(ctx, g, seen.set)
	return receipt.Change, err
}

// Reject refuses a pending proposal for good. Like Withdraw, it does nothing when it is repeated
// under its idempotency key.
func (s *Service) Reject(ctx context.Context, g access.Grant, id, note string) error {
	e, err := s.findPending(ctx, g, id)
	if err == nil {
		err = s.recordDecision(ctx, g, decisionBy(g, e.judged.ID, Rejected, note))
	}
	if s.findEarlierDecision(ctx, g, id, Rejected, err) != nil {
		return nil
	}
	return decisionFault(err)
}

// Withdraw takes back a pending proposal. Only its author may do that.
func (s *Service) Withdraw(ctx context.Context, g access.Grant, id string) error {
	e, err := s.findVisible(ctx, g, id)
	if err != nil {
		return err
	}
	if !e.judged.Author.isCaller(g.Caller()) {
		return fault.New(fault.Denied, "only its author withdraws a proposal; reject it instead")
	}
	err = s.recordDecision(ctx, g, decisionBy(g, e.judged.ID, Withdrawn, ""))
	if s.findEarlierDecision(ctx, g, id, Withdrawn, err) != nil {
		return nil
	}
	return decisionFault(err)
}
