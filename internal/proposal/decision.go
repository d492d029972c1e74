package proposal

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// recordDecision stores a decision on a proposal that has the status from and passes check. If an
// earlier attempt of the same call already decided, it returns the refusal only once the first
// decision is durable: see findEarlierDecision.
func (s *Service) recordDecision(ctx context.Context, g access.Grant, d decidedEvent, from Status,
	check func(*admission) error) (canon.Receipt, error) {
	var late error
	receipt, err := s.updateLedger(ctx, g, typeDecided, func(a *admission) (any, error) {
		st := a.byID[d.ID]
		if st == nil {
			return nil, noSuchProposal(d.ID.String())
		}
		late = nil
		if st.status != from {
			late = fault.New(fault.Conflict, "the proposal is no longer waiting; it is %s", st.status).With("status",
				st.status)
			if st.decided.sameCall(d) {
				return nil, nil
			}
			return nil, late
		}
		if check != nil {
			if err := check(a); err != nil {
				return nil, err
			}
		}
		return d, nil
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
			"you cannot decide on your own proposal; ask another person who may approve, or withdraw it")
	case !g.Caller().Approve:
		return nil, fault.New(fault.Denied, "deciding on proposals needs a key that may approve")
	case !g.MayDecide():
		return nil, fault.New(fault.Denied, "you suggest changes in this world; somebody who may make them decides")
	case e.status() != Pending:
		return nil, fault.New(fault.Conflict, "the proposal is no longer waiting; it is %s", e.status()).With("status",
			e.status())
	case s.cfg.Now().Sub(e.at) >= s.cfg.Limits.Life:
		return nil, fault.New(fault.Conflict,
			"the proposal waited too long and has expired; it must be proposed again").With("status", Expired)
	}
	return e, nil
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
		"the decision could not be recorded or applied yet; repeat it shortly").With("code",
		codeUnavailable).Because(err)
}

// Reject refuses a pending proposal for good. Like Withdraw, it does nothing when it is repeated
// under its idempotency key.
func (s *Service) Reject(ctx context.Context, g access.Grant, id, note string) error {
	e, err := s.findPending(ctx, g, id)
	if err == nil {
		_, err = s.recordDecision(ctx, g, decisionBy(g, e.judged.ID, Rejected, note), Pending, nil)
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
		return fault.New(fault.Denied, "only its author can withdraw a proposal; reject it instead")
	}
	_, err = s.recordDecision(ctx, g, decisionBy(g, e.judged.ID, Withdrawn, ""), Pending, nil)
	if s.findEarlierDecision(ctx, g, id, Withdrawn, err) != nil {
		return nil
	}
	return decisionFault(err)
}
