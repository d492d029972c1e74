package identity

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// CallerOf gives the caller that a key's holder is today, for what was asked for with it
// before and is done now. Its error is fault.Denied where the key is gone, revoked or
// expired.
func (s *Service) CallerOf(ctx context.Context, keyID string) (access.Caller, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, keyID)
	if err != nil {
		return access.Caller{}, unavailable(err)
	}
	if !ok || !k.Good(s.cfg.Now()) {
		return access.Caller{}, fault.New(fault.Denied, "the key that asked for this is not good any more; it must be asked for anew")
	}
	return s.caller(ctx, k, nil)
}
