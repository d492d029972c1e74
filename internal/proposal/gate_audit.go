package proposal

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

// checkAudit is the seventh gate. It lets every proposal through: it refuses only if the verdict
// cannot be stored, and then in answerUnavailable.
func (s *Service) checkAudit(_ context.Context, c *candidate) (outcome, error) {
	b, err := json.Marshal(c.rec.Verdicts)
	return outcome{input: hashOf(b)}, err
}

// storeVerdict takes a candidate through the gates that need the ledger and stores its verdict,
// while the store's writer is held. If the candidate repeats an earlier proposal, storeVerdict
// stores nothing and returns the earlier one. Otherwise it returns the receipt of the record.
func (s *Service) storeVerdict(ctx context.Context, c *candidate) (repeated *tracked, r canon.Receipt, err error) {
	before := c.rec
	r, err = s.updateLedger(ctx, c.grant, typeJudged, func(a *admission) (any, error) {
		j := *c
		j.rec, j.ledger, j.now = before, a, s.cfg.Now()
		j.rec.Verdicts = slices.Clone(before.Verdicts)
		var err error
		if repeated, err = a.findRepeated(s, &j); err != nil || repeated != nil {
			return nil, err
		}
		if err := s.walk(ctx, &j); err != nil {
			return nil, err
		}
		s.decideStatus(&j)
		c.rec = j.rec
		return &j.rec, nil
	})
	return repeated, r, err
}

// unstored is the message of a refusal because the verdict could not be stored.
const unstored = "the verdict could not be recorded, and so nothing was changed; try again shortly"

// answerUnavailable answers a proposal whose verdict could not be stored, or not be applied yet,
// because the store failed. It returns all other errors, and that of a full disk.
func (s *Service) answerUnavailable(ctx context.Context, c *candidate, err error, message string) (Result, error) {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Unavailable:
	default:
		return Result{}, err
	}
	if ctx.Err() != nil || fault.IsDiskFull(err) {
		return Result{}, err
	}
	s.cfg.Logger.ErrorContext(ctx, "the verdict of a proposal could not be stored or applied", "proposal", c.rec.ID,
		"error", err)
	s.refuse(c, GateAudit, outcome{refused: &Rejection{Message: message, Retryable: true, RetryAfterSeconds: 1}})
	return c.result(), nil
}
