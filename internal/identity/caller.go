package identity

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// CallerOf returns the caller of a key's holder as of today, for work that was requested with the
// key earlier and runs now. The error is fault.Denied if the key does not exist, is revoked or has
// expired.
func (s *Service) CallerOf(ctx context.Context, keyID string) (access.Caller, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, keyID)
	if err != nil {
		return access.Caller{}, newUnavailable(err)
	}
	if !ok || !k.Good(s.cfg.Now()) {
		return access.Caller{},
			fault.New(fault.Denied, "the key that asked for this is no longer valid; ask again with a valid key")
	}
	return s.callerOfKey(ctx, k, nil)
}
