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

// decide stores what became of a proposal that waits, if it still does.
func (s *Service) decide(ctx context.Context, g access.Grant, d decided) error {
	_, err := s.decideOn(ctx, g, d, Pending, func(*standing, *admission) error { return nil })
	return err
}

// undo stores that a proposal which was accepted cannot be carried out.
func (s *Service) undo(ctx context.Context, g access.Grant, d decided) error {
	_, err := s.decideOn(ctx, g, d, Accepted, func(*standing, *admission) error { return nil })
	return err
}

// decideOn stores a decision on a proposal that has a status. Where that very call decided
// before, its refusal comes when the first decision is durable: see before.
func (s *Service) decideOn(ctx context.Context, g access.Grant, d decided, from Status, check func(*standing, *admission) error) (canon.Receipt, error) {
	led := s.ledger(g.World())
	var late error
	receipt, err := s.cfg.Canon.UpdateLedger(ctx, g, led.stream, func(t *canon.LedgerTx) ([]canon.Event, error) {
		led.admit.Lock()
		defer led.admit.Unlock()
		if err := led.admission.sync(s, t); err != nil {
			return nil, err
		}
		st := led.admission.byID[d.ID]
		if st == nil {
			return nil, absent(d.ID.String())
		}
		late = nil
		if st.status != from {
			late = fault.New(fault.Conflict, "the proposal does not wait any more; it is %s", st.status).With("status", st.status)
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

// waiting finds a proposal on which the caller may decide.
func (s *Service) waiting(ctx context.Context, g access.Grant, id string) (*entry, error) {
	e, err := s.find(ctx, g, id)
	if err != nil {
		return nil, err
	}
	switch {
	case e.judged.Author.is(g.Caller()):
		return nil, fault.New(fault.Denied, "nobody decides on what they proposed; ask somebody else who may approve, or withdraw it")
	case !g.Caller().Approve:
		return nil, fault.New(fault.Denied, "deciding on proposals needs a key that may approve")
	case e.status() != Pending:
		return nil, fault.New(fault.Conflict, "the proposal does not wait any more; it is %s", e.status()).With("status", e.status())
	case s.cfg.Now().Sub(e.at) >= s.cfg.Limits.Life:
		return nil, fault.New(fault.Conflict, "the proposal waited too long and has expired; it must be proposed again").With("status", Expired)
	}
	return e, nil
}

// Approve accepts a proposal that waits, exactly as it was shown: hash is the one that
// get-proposal gives. The change is made with its author's rights of today. Where what it
// rests on has moved it is refused with fault.Stale, and must be proposed again.
//
// The same approval again, under the idempotency key of the first, gives the first answer.
func (s *Service) Approve(ctx context.Context, g access.Grant, id, hash, note string) (Result, error) {
	r, err := s.approve(ctx, g, id, hash, note)
	if before := s.before(ctx, g, id, Accepted, err); before != nil && strings.EqualFold(hash, hex.EncodeToString(before.decided.Hash[:])) {
		return s.agreed(ctx, g, before)
	}
	return r, err
}

func (s *Service) approve(ctx context.Context, g access.Grant, id, hash, note string) (Result, error) {
	e, err := s.waiting(ctx, g, id)
	if err != nil {
		return Result{}, err
	}
	j := e.judged
	if want := hex.EncodeToString(j.Expected[:]); !strings.EqualFold(hash, want) {
		return Result{}, s.otherHash(j, hash)
	}
	k, draft, author, err := s.reopen(ctx, g, j)
	if err != nil {
		return Result{}, err
	}
	if err := s.unmoved(ctx, author, g.World(), k, draft, j); err != nil {
		return Result{}, s.outdate(ctx, g, j, s.decide, err)
	}
	d := decisionBy(g, j.ID, Accepted, note)
	d.Hash = j.Expected
	receipt, err := s.decideOn(ctx, g, d, Pending, func(st *standing, a *admission) error { return s.stillNew(author, g.World(), k, draft, j, st, a) })
	if err != nil {
		return Result{}, audited(err)
	}
	e.decided, e.agreed = &d, receipt.Change
	event, err := s.carryAgreed(ctx, author, g.World(), k, draft, e)
	switch {
	case err != nil && final(err):
		return Result{}, s.outdate(ctx, g, j, s.undo, err)
	case err != nil:
		return Result{}, audited(err)
	}
	return approved(k, draft, j, event), nil
}

// otherHash refuses an approval of something else than what would be done, and says what
// would be, and where its hash stands.
func (s *Service) otherHash(j *judged, hash string) error {
	where := fmt.Sprintf(`send the expectedHash that get-proposal {"proposalId":%q} answers (GET /api/proposals/%s)`, j.ID, j.ID)
	if b, err := hex.DecodeString(hash); err != nil || len(b) != len(j.Expected) {
		return fault.BadField("expectedHash", "is no hash of a change, which has %d hexadecimal digits; %s", 2*len(j.Expected), where)
	}
	what, change := s.line(j)
	return fault.New(fault.Stale, "expectedHash is of another change than the one that waits, which is %q: %s; look at it, and %s", what, change, where).
		With("what", what).With("change", change)
}

// approved is the answer to an approval.
func approved(k *Kind, draft Draft, j *judged, event uuid.UUID) Result {
	c := candidate{kind: k, draft: draft, rec: *j}
	c.rec.Status, c.rec.Issues = Accepted, nil
	r := c.result()
	r.EventID = event.String()
	return r
}

// agreed answers an approval that was made before, and ends what it began.
func (s *Service) agreed(ctx context.Context, g access.Grant, e *entry) (Result, error) {
	event, err := s.settle(ctx, g, e)
	if err != nil {
		return Result{}, audited(err)
	}
	k, draft, _, err := s.reopen(ctx, g, e.judged)
	return approved(k, draft, e.judged, event), err
}

// decisionBy is a decision of a grant's caller.
func decisionBy(g access.Grant, id uuid.UUID, status Status, note string) decided {
	c := g.Caller()
	return decided{ID: id, Status: status, By: c.Subject, Key: c.Key, Note: note, Idempotency: g.Request().IdempotencyKey}
}

// before finds the decision that a failed call made when it was sent for the first time,
// under the same idempotency key; nil where it made none.
func (s *Service) before(ctx context.Context, g access.Grant, id string, status Status, failed error) *entry {
	if failed == nil || g.Request().IdempotencyKey == "" {
		return nil
	}
	e, err := s.find(ctx, g, id)
	if err != nil || !e.decided.sameCall(decisionBy(g, e.judged.ID, status, "")) {
		return nil
	}
	return e
}

// sameCall reports whether two decisions are of one call, sent twice.
func (d *decided) sameCall(o decided) bool {
	return d != nil && d.Idempotency != "" && d.Idempotency == o.Idempotency && d.Status == o.Status && d.By == o.By && d.Key == o.Key
}

// audited is what a decision says that could not be stored or carried out for now.
func audited(err error) error {
	if err == nil {
		return nil
	}
	if k := fault.KindOf(err); k != fault.Internal && k != fault.Unavailable {
		return err
	}
	return fault.New(fault.Unavailable, "the decision could not be recorded or carried out yet; repeat it shortly").With("code", codes[GateAudit]).Because(err)
}

// reopen decodes a proposal again and finds its author as they are today.
func (s *Service) reopen(ctx context.Context, g access.Grant, j *judged) (*Kind, Draft, access.Caller, error) {
	k := s.kinds[kindName(j.Kind)]
	if k == nil || k.Schema() != j.Kind {
		return nil, nil, access.Caller{}, fault.New(fault.Conflict, "%s is not proposed in this form any more; it must be proposed again", j.Kind)
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return nil, nil, access.Caller{}, fault.New(fault.Conflict, "the proposal cannot be read any more; it must be proposed again").Because(err)
	}
	author, err := s.authorOf(ctx, g, j)
	return k, draft, author, err
}

// unmoved takes a proposal through the invariant gate again, and refuses where it would
// not do what was shown.
func (s *Service) unmoved(ctx context.Context, author access.Caller, w access.WorldID, k *Kind, draft Draft, j *judged) error {
	a, err := s.admit(ctx, author, w, j, k, draft)
	if err != nil {
		return err
	}
	seen, err := s.show(ctx, a.Grant, work{id: j.ID, kind: k, draft: draft, actor: j.Author.Actor})
	if err == nil && s.expected(j, seen) != j.Expected {
		err = movedOn(drifted(j.Preview, seen.items)...)
	}
	a.Done(ctx, 0, err)
	return err
}

// movedOn refuses a proposal whose ground has changed, and names the changes that would be
// others now.
func movedOn(others ...string) error {
	if len(others) == 0 {
		return fault.New(fault.Stale, "what the proposal rests on has changed since; it must be proposed again")
	}
	return fault.New(fault.Stale, "what the proposal rests on has changed since (%s); it must be proposed again", strings.Join(others, ", ")).With("changed", others)
}

// drifted names what a rehearsal would change otherwise than was shown.
func drifted(was, is []PreviewItem) (names []string) {
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(is):
			names = append(names, was[i].What)
		case i >= len(was) || was[i].Act != is[i].Act || was[i].What != is[i].What || was[i].Level != is[i].Level || was[i].Diff != is[i].Diff:
			names = append(names, is[i].What)
		}
	}
	return names[:min(len(names), 5)]
}

// stillNew takes a proposal through the duplication gate again.
func (s *Service) stillNew(author access.Caller, w access.WorldID, k *Kind, draft Draft, j *judged, st *standing, a *admission) error {
	if k.Repeats {
		return nil
	}
	view := access.View{Level: author.Role(w).Level(), Subject: author.Subject}
	for _, other := range a.byHash[j.Hash] {
		if other.id != st.id && other.status == Accepted && view.Sees(other.outcome) {
			return fault.New(fault.Conflict, "the same was accepted meanwhile; reject or withdraw this one").With("code", codes[GateDuplication])
		}
	}
	sig := signatureOf(draft.Texts())
	for _, key := range a.labels(recentPrefix(k.Name, st.scope)) {
		for _, other := range a.recent[key] {
			if view.Sees(other.outcome) && s.cfg.Now().Sub(other.at) <= s.cfg.Limits.Within && sig.like(other.sig, s.cfg.Limits) {
				return fault.New(fault.Conflict, "nearly the same was accepted meanwhile; reject or withdraw this one").With("code", codes[GateDuplication])
			}
		}
	}
	return nil
}

// outdate records that a proposal cannot be accepted any more because the world is
// otherwise, and gives the refusal. record is decide, or undo where it was accepted already.
func (s *Service) outdate(ctx context.Context, g access.Grant, j *judged, record func(context.Context, access.Grant, decided) error, why error) error {
	if !final(why) {
		return audited(why)
	}
	if fault.KindOf(why) == fault.Conflict && canon.Moved(why) {
		why = movedOn()
	}
	d := decided{ID: j.ID, Status: Outdated, By: g.Caller().Subject, Key: g.Caller().Key, Gate: GateInvariant}
	if err := record(ctx, g, d); err != nil && fault.KindOf(err) != fault.Conflict {
		return audited(err)
	}
	return why
}

// carryAgreed makes the very change that was agreed to, or none.
func (s *Service) carryAgreed(ctx context.Context, author access.Caller, w access.WorldID, k *Kind, draft Draft, e *entry) (uuid.UUID, error) {
	j := e.judged
	a, err := s.admit(ctx, author, w, j, k, draft)
	if err != nil {
		return uuid.Nil, err
	}
	event, err := s.commitAgreed(ctx, a.Grant, k, draft, e)
	a.Done(ctx, 0, err)
	if err == nil {
		s.ledger(w).settled(j.ID, event)
	}
	return event, err
}

func (s *Service) commitAgreed(ctx context.Context, g access.Grant, k *Kind, draft Draft, e *entry) (uuid.UUID, error) {
	seen, err := s.show(ctx, g, work{id: e.judged.ID, kind: k, draft: draft, actor: e.judged.Author.Actor, again: true})
	var done alreadyApplied
	if errors.As(err, &done) {
		return done.event, nil
	}
	if err != nil {
		return uuid.Nil, err
	}
	if s.expected(e.judged, seen) != e.judged.Expected {
		return uuid.Nil, movedOn(drifted(e.judged.Preview, seen.items)...)
	}
	seen.set.Cause = e.agreed
	receipt, err := s.cfg.Canon.Commit(ctx, g, seen.set)
	return receipt.Change, err
}

// Reject refuses a proposal that waits, for good. Repeated under its idempotency key it
// does nothing, and so does Withdraw.
func (s *Service) Reject(ctx context.Context, g access.Grant, id, note string) error {
	e, err := s.waiting(ctx, g, id)
	if err == nil {
		err = s.decide(ctx, g, decisionBy(g, e.judged.ID, Rejected, note))
	}
	if s.before(ctx, g, id, Rejected, err) != nil {
		return nil
	}
	return audited(err)
}

// Withdraw takes a proposal back that waits; only its author does.
func (s *Service) Withdraw(ctx context.Context, g access.Grant, id string) error {
	e, err := s.find(ctx, g, id)
	if err != nil {
		return err
	}
	if !e.judged.Author.is(g.Caller()) {
		return fault.New(fault.Denied, "only its author withdraws a proposal; reject it instead")
	}
	err = s.decide(ctx, g, decisionBy(g, e.judged.ID, Withdrawn, ""))
	if s.before(ctx, g, id, Withdrawn, err) != nil {
		return nil
	}
	return audited(err)
}
