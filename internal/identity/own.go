package identity

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Own holds the credentials that a session may list and end: those of its person that open nothing beyond the session.
// A session that names worlds, such as that of a link which the admin of a world made, therefore neither learns of the
// person's other credentials nor ends them.
type Own struct {
	Session  Key
	Sessions []Key
	Passkeys []Key
	Grants   []Key // of clients
}

// FollowsMemberships reports whether the session opens all worlds of which its person is a member.
func (o Own) FollowsMemberships() bool {
	k := o.Session
	return len(k.Worlds) == 0 && !k.Operator && k.MadeWith == "" && k.Actor == access.Person
}

// OwnOf returns the credentials that a session may list and end, each list by creation, without hashes.
func (s *Service) OwnOf(ctx context.Context, session string) (o Own, err error) {
	if o.Session, err = s.openSession(ctx, session); err != nil {
		return o, err
	}
	for _, kind := range []struct {
		into *[]Key
		list func(context.Context, access.Subject) ([]Key, error)
	}{{&o.Sessions, s.Sessions}, {&o.Passkeys, s.Passkeys}, {&o.Grants, s.Grants}} {
		all, err := kind.list(ctx, o.Session.Subject)
		if err != nil {
			return o, err
		}
		*kind.into = slices.DeleteFunc(all, func(k Key) bool { return !k.Within(o.Session.KeySpec) })
	}
	return o, nil
}

// EndOwn ends a credential that a session may end, and returns it. Any other id, whether it exists or not, ends
// nothing.
func (s *Service) EndOwn(ctx context.Context, session, id string) (ended Key, err error) {
	o, err := s.OwnOf(ctx, session)
	if err != nil {
		return Key{}, err
	}
	for _, k := range slices.Concat([]Key{o.Session}, o.Sessions, o.Passkeys, o.Grants) {
		if k.ID == id {
			return k, s.RevokeKey(ctx, id)
		}
	}
	return Key{}, nil
}

// EndOtherSessions ends all sessions that a session may end, but itself.
func (s *Service) EndOtherSessions(ctx context.Context, session string) error {
	o, err := s.OwnOf(ctx, session)
	if err != nil {
		return err
	}
	for _, k := range o.Sessions {
		if k.ID == session {
			continue
		}
		if err := s.RevokeKey(ctx, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// openSession returns the session with an id, without its hash.
func (s *Service) openSession(ctx context.Context, session string) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, session)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !ok || k.Audience != AudienceConsole || !k.Good(s.cfg.Now()) {
		return Key{}, fault.New(fault.Unauthorized, "this session has ended; sign in again")
	}
	k.Hash = Hash{}
	return k, nil
}
