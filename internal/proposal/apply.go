package proposal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// eventKey returns the key of the event that a proposal becomes. An event with this key shows that
// the proposal is in the canon.
func eventKey(id uuid.UUID) string { return "proposal:" + id.String() }

// alreadyApplied stops a plan whose proposal is already in the canon.
type alreadyApplied struct{ event uuid.UUID }

func (alreadyApplied) Error() string { return "proposal: applied already" }

// admitAuthor admits the author of a proposal for the change that it asks for. The grant covers
// only rights that the author has at the time of applying.
func (s *Service) admitAuthor(ctx context.Context, w authoredChange) (*access.Admission, error) {
	req := access.Request{Operation: w.kind.Tool.Name, Surface: w.rec.Author.Surface, Effect: access.Write,
		Class: access.ClassFree, MinRole: access.RoleUser, World: w.world, Correlation: w.rec.Correlation}
	if w.rec.Expected != (canon.Hash{}) { // the agreed change is committed as it was shown; the key detects a repetition
		req.IdempotencyKey, req.InputHash = eventKey(w.rec.ID), w.rec.Hash
	}
	if d, ok := w.draft.(changeDraft); ok {
		o := d.operation
		req.Operation, req.MinRole, req.Operator, req.Surface = o.Name, max(s.leastRole(o, w.world), access.RoleUser),
			o.Operator, surfaceOf(w.author, o)
	}
	return s.cfg.Guard.Admit(ctx, w.author.Approved(), req)
}

func (s *Service) leastRole(o *op.Operation, w access.WorldID) access.Role {
	if s.cfg.LeastRole == nil {
		return o.MinRole
	}
	return s.cfg.LeastRole(o, w)
}

// surfaceOf returns the first surface on which a caller may use an operation, or else the
// operation's first surface.
func surfaceOf(c access.Caller, o *op.Operation) string {
	if i := slices.IndexFunc(o.Surfaces, func(s string) bool { return c.MayUse(s, o.Name) }); i >= 0 {
		return o.Surfaces[i]
	}
	return o.Surfaces[0]
}

// applyChange makes a proposal's change and returns its event. If the change was made before, it
// returns the event of that commit.
func (s *Service) applyChange(ctx context.Context, w authoredChange) (uuid.UUID, error) {
	a, err := s.admitAuthor(ctx, w)
	if err != nil {
		return uuid.Nil, err
	}
	receipt, err := s.commitChange(ctx, a.Grant, w)
	if done, ok := errors.AsType[alreadyApplied](err); ok {
		receipt.Change, err = done.event, nil
	}
	a.Done(ctx, 0, err)
	if err != nil {
		return uuid.Nil, err
	}
	s.ledgerOf(w.world).recordApplied(w.rec.ID, receipt.Change)
	return receipt.Change, nil
}

// commitChange commits a proposal's change under a grant of its author.
func (s *Service) commitChange(ctx context.Context, g access.Grant, w authoredChange) (canon.Receipt, error) {
	_, byOperation := w.draft.(changeDraft)
	switch {
	case w.seen != nil:
		set := *w.seen
		set.Cause = w.cause
		return s.cfg.Canon.Commit(ctx, g, set)
	case w.shown:
		seen, err := s.previewShown(ctx, g, w)
		if err != nil {
			return canon.Receipt{}, err
		}
		return s.cfg.Canon.Commit(ctx, g, seen.set)
	case byOperation:
		run, err := s.dryRunChange(ctx, g, w)
		if err != nil {
			return canon.Receipt{}, err
		}
		return s.cfg.Canon.Commit(ctx, g, run.Set)
	}
	return s.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error { return w.planDraft(ctx, p) })
}

// applyAccepted applies a candidate whose verdict is stored.
func (s *Service) applyAccepted(ctx context.Context, c *candidate, verdict uuid.UUID) (Result, error) {
	w := c.change()
	w.cause = verdict
	if c.rec.Standing != uuid.Nil { // a standing approval covers exactly the change of the dry run
		w.seen = &c.seen.set
	}
	event, err := s.applyChange(ctx, w)
	if err == nil {
		r := c.result()
		r.EventID = event.String()
		return r, nil
	}
	if !isFinal(err) {
		return s.answerUnavailable(ctx, c, fault.New(fault.Unavailable, "not applied yet").Because(err),
			"the proposal is accepted but could not be applied yet; it will be applied shortly, and sending it again is safe")
	}
	issues := issuesOf(err)
	if err := s.revokeAccepted(ctx, c.grant, &c.rec, issues); err != nil {
		return Result{}, err
	}
	return s.refuseUnfit(c, issues), nil
}

// refuseUnfit answers an accepted proposal that cannot be applied.
func (s *Service) refuseUnfit(c *candidate, issues []Issue) Result {
	s.refuse(c, GateInvariant, outcome{issues: issues, refused: &Rejection{
		Message: "it no longer fits the world (" + issues[0].Error + "); read its current state and propose again",
		Details: map[string]any{"issues": issues}}})
	return c.result()
}

// isFinal reports whether trying again cannot help, because the world is not as the gates found it.
func isFinal(err error) bool {
	switch fault.KindOf(err) {
	case fault.Internal, fault.Unavailable, fault.RateLimited:
		return false
	}
	return true
}

// revokeAccepted records that an accepted proposal cannot be applied.
func (s *Service) revokeAccepted(ctx context.Context, g access.Grant, j *judgedEvent, issues []Issue) error {
	_, err := s.recordDecision(ctx, g, decidedEvent{ID: j.ID, Status: Rejected, By: j.Author.Subject,
		Gate: GateInvariant, Issues: issues}, Accepted, nil)
	return err
}

// finishAccepted returns the event of an accepted proposal. If the proposal was not applied, for
// example because the process was killed, finishAccepted applies it.
func (s *Service) finishAccepted(ctx context.Context, g access.Grant, e *ledgerEntry) (uuid.UUID, error) {
	j := e.judged
	if event, ok := s.ledgerOf(g.World()).appliedEvent(j.ID); ok {
		return event, nil
	}
	if e.status() != Accepted {
		return uuid.Nil, nil
	}
	k := s.kinds[kindName(j.Kind)]
	if k == nil || s.cfg.Authors == nil && !j.Author.isCaller(g.Caller()) {
		return uuid.Nil, nil
	}
	author, err := s.currentAuthor(ctx, g, j)
	if err != nil {
		return uuid.Nil, err
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return uuid.Nil, fmt.Errorf("proposal: payload of %s: %w", j.ID, err)
	}
	w := authoredChange{rec: j, kind: k, draft: draft, author: author, world: g.World(), cause: e.change, again: true,
		shown: e.decided != nil || j.Standing != uuid.Nil}
	if e.decided != nil {
		w.cause = e.decisionID
	}
	return s.applyChange(ctx, w)
}

// currentAuthor returns a proposal's author with their current rights.
func (s *Service) currentAuthor(ctx context.Context, g access.Grant, j *judgedEvent) (access.Caller, error) {
	if c := g.Caller(); j.Author.Subject == c.Subject && j.Author.Key == c.Key {
		return c, nil
	}
	if s.cfg.Authors == nil {
		return access.Caller{}, fault.New(fault.Unavailable, "this server cannot look up authors")
	}
	return s.cfg.Authors.Author(ctx, j.Author.Subject, j.Author.Key)
}

// Resume applies the accepted proposals in the ledger of the grant's world that were not applied,
// for example because a process was killed. It continues after a failure and returns the first one.
func (s *Service) Resume(ctx context.Context, g access.Grant) (n int, err error) {
	list, err := s.listUnapplied(ctx, g)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		event, failed := s.finishAccepted(ctx, g, e)
		switch {
		case failed != nil && isFinal(failed):
			failed = s.revokeAccepted(ctx, g, e.judged, issuesOf(failed))
		case failed == nil && event != uuid.Nil:
			n++
		}
		if err == nil {
			err = failed
		}
	}
	return n, err
}
