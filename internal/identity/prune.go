package identity

import (
	"context"
	"slices"
	"time"
)

// Bounds of the secrets that have ended. They are kept so that a second use is recognised.
const (
	// ReplayWindow is the time for which a spent code or refresh token ends its grant if it comes again.
	ReplayWindow = 7 * 24 * time.Hour
	// maxSpent is the number of spent refresh tokens of a grant that are kept. A client that refreshes every
	// hour leaves 168 in the window.
	maxSpent    = 1000
	deleteBatch = 500 // keys deleted in one transaction
)

// prunedAudiences are those of secrets that open nothing after their end. Grants stay: they show that a client
// was let in.
var prunedAudiences = []string{audienceCode, audienceRefresh, audienceSignIn, AudienceConsole}

// Prune deletes codes, refresh tokens, sign-in codes and sessions that ended before the ReplayWindow. Any
// process may call it at any time. It returns the number of deleted keys.
func (s *Service) Prune(ctx context.Context) (deleted int, err error) {
	before := s.cfg.Now().Add(-ReplayWindow)
	var old []string
	spent := map[string][]string{} // ids by grant, by creation
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return 0, newUnavailable(err)
		}
		if !slices.Contains(prunedAudiences, k.Audience) {
			continue
		}
		if endedBefore(k, before) {
			old = append(old, k.ID)
		} else if k.Audience == audienceRefresh && !k.Revoked.IsZero() {
			spent[k.MadeWith] = append(spent[k.MadeWith], k.ID)
		}
	}
	for _, ids := range spent {
		old = append(old, ids[:max(0, len(ids)-maxSpent)]...)
	}
	for batch := range slices.Chunk(old, deleteBatch) {
		if err := s.cfg.Store.DeleteKeys(ctx, batch); err != nil {
			return deleted, newUnavailable(err)
		}
		deleted += len(batch)
	}
	return deleted, nil
}

// endedBefore reports whether a key was revoked or expired before a time.
func endedBefore(k Key, at time.Time) bool {
	return !k.Revoked.IsZero() && k.Revoked.Before(at) || !k.Expires.IsZero() && k.Expires.Before(at)
}
