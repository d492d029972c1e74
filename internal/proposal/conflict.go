package proposal

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Reviewer is a Draft whose claims can be compared with a canon that its audience does not see.
type Reviewer interface {
	// Conflicts returns the claims that the canon of a state denies.
	Conflicts(ctx context.Context, s State) ([]Issue, error)
}

// findConflicts returns the claims of a proposal that hidden canon denies, for a reader who sees more than the readers
// of its result. Neither its author's answer nor its status depends on them.
func (s *Service) findConflicts(ctx context.Context, snap *canon.Snapshot, j *judgedEvent) ([]Issue, error) {
	k := s.kinds[kindName(j.Kind)]
	if k == nil || j.Status == Rejected || snap.View().Level <= max(access.LevelUser, j.Outcome.Level) {
		return nil, nil
	}
	draft, err := k.decode(j.Payload)
	if err != nil {
		return nil, nil // its form is no longer known
	}
	r, ok := draft.(Reviewer)
	if !ok {
		return nil, nil
	}
	return r.Conflicts(ctx, State{Snapshot: snap})
}
