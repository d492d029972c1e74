package canon

import (
	"context"
	"encoding/json"
	"fmt"

	"loregate/internal/markup"
)

// maxTouchCommits is the number of commits that Touched scans. A store writes fewer than that
// between two calls.
const maxTouchCommits = 2048

// Touched reports whether a commit after since wrote a card of a type, hidden cards included. It is
// for system code that asks often and rarely has to read more. It also returns true if there are
// more than maxTouchCommits commits.
func (s *Snapshot) Touched(ctx context.Context, since Seq, typ string) (bool, error) {
	now, key := s.Now(), markup.KeyOf(typ)
	if since > now || now-since > maxTouchCommits {
		return true, nil
	}
	for commit, err := range s.r.Commits(ctx, WorldStream(s.world.ID), since+1) {
		if err != nil {
			return false, err
		}
		var rec struct { // part of a Record, which takes twice as long to decode
			Changes []struct{ Card *struct{ Type string } }
		}
		if err := json.Unmarshal(commit.Body, &rec); err != nil {
			return false, fmt.Errorf("canon: commit %s/%d: %w", commit.Stream, commit.Seq, err)
		}
		for _, ch := range rec.Changes {
			if ch.Card != nil && markup.KeyOf(ch.Card.Type) == key {
				return true, nil
			}
		}
	}
	return false, nil
}
