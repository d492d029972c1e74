package proposal

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// renewOp is the operation that makes a proposal again.
func (s *Service) renewOp() *op.Operation {
	return op.Define(op.Spec{
		Name: "renew-proposal", Title: "Make a proposal again", Surfaces: []string{Surface},
		Route: "POST /api/proposals/{proposalId}/renew", Target: "proposalId", Effect: access.Propose,
		MinRole: access.RoleUser,
		Asked: []string{
			"make an outdated suggestion again", "renew my expired offer", "hand in the same text once more",
			"the page has changed since, suggest it again", "repeat a suggestion that came too late",
			"resubmit an outdated entry", "offer the same edit on the present page",
		},
		Doc: "Propose the payload of an outdated or expired proposal again, as a new proposal of yours on the present canon. " +
			"For its author and game masters. The old proposal stays as it is.",
		Examples: []op.Example{{Title: "By id", Input: `{"proposalId": "01900000-0000-7000-8000-000000000000"}`}},
	}, func(ctx context.Context, c *op.Call, in proposalIn) (Result, error) {
		return s.Renew(ctx, c.Grant, in.ProposalID)
	})
}

// Renew submits the payload of an outdated or expired proposal as a new proposal of the caller, who is its author or a
// game master. Passages that were hidden from the caller since are left out. It refuses others with
// fault.Denied, and a proposal with another status with fault.Conflict.
func (s *Service) Renew(ctx context.Context, g access.Grant, id string) (Result, error) {
	e, err := s.findVisible(ctx, g, id)
	if err != nil {
		return Result{}, err
	}
	j, status := e.judged, e.status()
	if status == Pending && s.cfg.Now().Sub(e.at) >= s.cfg.Limits.Life {
		status = Expired
	}
	k := s.kinds[kindName(j.Kind)]
	switch {
	case !j.Author.isCaller(g.Caller()) && g.View().Level < access.LevelGM:
		return Result{}, fault.New(fault.Denied, "only its author or a game master can make a proposal again")
	case status != Outdated && status != Expired:
		return Result{}, fault.New(fault.Conflict,
			"the proposal is %s; only one that is outdated or expired can be made again", status).With("status", status)
	case k == nil || k.Schema() != j.Kind:
		return Result{}, fault.New(fault.Conflict,
			"proposals of the form %s are no longer accepted; propose it in the present form", j.Kind)
	}
	shown, err := s.withoutHidden(ctx, g, j)
	if err != nil {
		return Result{}, err
	}
	return s.Submit(ctx, g, Submission{Kind: k.Name, Payload: shown.Payload, Diverted: j.Diverted,
		Transport: j.Author.Transport, Common: Common{Purpose: j.Purpose, Provenance: j.Provenance}})
}
