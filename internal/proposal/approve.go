package proposal

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

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
	w, err := s.reopenChange(ctx, g, j)
	if err != nil {
		return Result{}, err
	}
	if w.seen, err = s.dryRunAgain(ctx, w); err != nil {
		return Result{}, s.recordOutdated(ctx, g, j, Pending, err)
	}
	d := decisionBy(g, j.ID, Accepted, note)
	d.Hash = j.Expected
	receipt, err := s.recordDecision(ctx, g, d, Pending,
		func(a *admission) error { return s.checkStillNew(w, a) })
	if err != nil {
		return Result{}, decisionFault(err)
	}
	w.cause = receipt.Change
	event, err := s.applyChange(ctx, w)
	switch {
	case err != nil && isFinal(err):
		return Result{}, s.recordOutdated(ctx, g, j, Accepted, err)
	case err != nil:
		return Result{}, decisionFault(err)
	}
	return w.approvalResult(event), nil
}

// wrongHashFault refuses an approval whose hash is not that of the waiting change. It describes
// that change and names the call that returns its hash.
func (s *Service) wrongHashFault(j *judgedEvent, hash string) error {
	where := fmt.Sprintf(`send the expectedHash that get-proposal {"proposalId":%q} returns (GET /api/proposals/%s)`,
		j.ID, j.ID)
	if b, err := hex.DecodeString(hash); err != nil || len(b) != len(j.Expected) {
		return fault.BadField("expectedHash", "is not a hash, which has %d hexadecimal digits; %s",
			2*len(j.Expected), where)
	}
	what, change := s.describeProposal(j)
	return fault.New(fault.Stale,
		"expectedHash belongs to another change than the waiting one, which is %q: %s; read it, and %s", what,
		change, where).
		With("what", what).With("change", change)
}

// approvalResult returns the answer to an approval.
func (w authoredChange) approvalResult(event uuid.UUID) Result {
	c := candidate{kind: w.kind, draft: w.draft, rec: *w.rec}
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
	w, err := s.reopenChange(ctx, g, e.judged)
	if err != nil {
		return Result{}, err
	}
	return w.approvalResult(event), nil
}

// reopenChange decodes a waiting proposal again and looks up its author's current rights.
func (s *Service) reopenChange(ctx context.Context, g access.Grant, j *judgedEvent) (authoredChange, error) {
	k := s.kinds[kindName(j.Kind)]
	if k == nil || k.Schema() != j.Kind {
		return authoredChange{}, fault.New(fault.Conflict,
			"proposals of the form %s are no longer accepted; it must be proposed again", j.Kind)
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return authoredChange{}, fault.New(fault.Conflict,
			"the stored proposal can no longer be decoded; it must be proposed again").Because(err)
	}
	author, err := s.currentAuthor(ctx, g, j)
	return authoredChange{rec: j, kind: k, draft: draft, author: author, world: g.World()}, err
}

// dryRunAgain dry-runs a waiting proposal again, under a grant of its author. It refuses the proposal
// if its change differs from the change that was shown.
func (s *Service) dryRunAgain(ctx context.Context, w authoredChange) (*canon.ChangeSet, error) {
	a, err := s.admitAuthor(ctx, w)
	if err != nil {
		return nil, err
	}
	seen, err := s.previewShown(ctx, a.Grant, w)
	a.Done(ctx, 0, err)
	return &seen.set, err
}

// previewShown dry-runs a proposal and refuses it if its change differs from the change that was
// shown.
func (s *Service) previewShown(ctx context.Context, g access.Grant, w authoredChange) (changePreview, error) {
	seen, err := s.previewChange(ctx, g, w)
	if err == nil && s.expectedHash(w.rec, seen) != w.rec.Expected {
		err = staleFault(changedNames(w.rec.Preview, seen.items)...)
	}
	return seen, err
}

// staleFault refuses a proposal whose basis has changed. others names the changes that would differ
// now.
func staleFault(others ...string) error {
	if len(others) == 0 {
		return fault.New(fault.Stale, "the data that the proposal is based on has changed; it must be proposed again")
	}
	return fault.New(fault.Stale, "the data that the proposal is based on has changed (%s); it must be proposed again",
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

// recordOutdated records that a proposal with the status from cannot be accepted any more because
// the world has changed, and returns the refusal.
func (s *Service) recordOutdated(ctx context.Context, g access.Grant, j *judgedEvent, from Status, why error) error {
	if !isFinal(why) {
		return decisionFault(why)
	}
	if fault.KindOf(why) == fault.Conflict && canon.Moved(why) {
		why = staleFault()
	}
	d := decidedEvent{ID: j.ID, Status: Outdated, By: g.Caller().Subject, Key: g.Caller().Key, Gate: GateInvariant}
	if _, err := s.recordDecision(ctx, g, d, from, nil); err != nil && fault.KindOf(err) != fault.Conflict {
		return decisionFault(err)
	}
	return why
}
