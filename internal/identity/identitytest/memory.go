package identitytest

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// Store is an identity.Store in memory. The zero Store is empty and ready.
type Store struct {
	mu          sync.Mutex // guards all fields below
	keys        []identity.Key
	signing     []identity.SigningKey // latest first
	invitations []identity.Invitation
	generation  uint64
	failure     error
	reads       int
}

var _ identity.Store = (*Store)(nil)

// Fail makes every method return err from now on; nil ends that.
func (s *Store) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// SigningReads returns the number of calls of SigningKeys.
func (s *Store) SigningReads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// withLock runs f under the lock, unless the store is set to fail.
func (s *Store) withLock(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure != nil {
		return s.failure
	}
	return f()
}

// Keys yields all keys by creation.
func (s *Store) Keys(context.Context) iter.Seq2[identity.Key, error] {
	return func(yield func(identity.Key, error) bool) {
		var all []identity.Key
		if err := s.withLock(func() error { all = slices.Clone(s.keys); return nil }); err != nil {
			yield(identity.Key{}, err)
			return
		}
		slices.SortStableFunc(all, func(a, b identity.Key) int { return a.Created.Compare(b.Created) })
		for _, k := range all {
			if !yield(k, nil) {
				return
			}
		}
	}
}

// KeyByID finds a key by its id.
func (s *Store) KeyByID(_ context.Context, id string) (identity.Key, bool, error) {
	return s.findKey(func(k identity.Key) bool { return k.ID == id })
}

// KeyByHash finds a key by its hash.
func (s *Store) KeyByHash(_ context.Context, h identity.Hash) (identity.Key, bool, error) {
	return s.findKey(func(k identity.Key) bool { return k.Hash == h })
}

func (s *Store) findKey(is func(identity.Key) bool) (k identity.Key, ok bool, err error) {
	err = s.withLock(func() error {
		if i := slices.IndexFunc(s.keys, is); i >= 0 {
			k, ok = s.keys[i], true
		}
		return nil
	})
	return k, ok, err
}

// AddKey stores a key.
func (s *Store) AddKey(_ context.Context, k identity.Key) error {
	return s.withLock(func() error {
		if slices.ContainsFunc(s.keys, func(o identity.Key) bool { return o.ID == k.ID || o.Hash == k.Hash }) {
			return identity.ErrExists
		}
		s.keys = append(s.keys, k)
		s.generation++
		return nil
	})
}

// RevokeKey marks a key as revoked.
func (s *Store) RevokeKey(_ context.Context, id string, at time.Time) (found bool, err error) {
	err = s.withLock(func() error {
		for i := range s.keys {
			if s.keys[i].ID != id {
				continue
			}
			found = true
			if s.keys[i].Revoked.IsZero() {
				s.keys[i].Revoked = at
				s.generation++
			}
		}
		return nil
	})
	return found, err
}

// DeleteKeys deletes keys.
func (s *Store) DeleteKeys(_ context.Context, ids []string) error {
	return s.withLock(func() error {
		before := len(s.keys)
		s.keys = slices.DeleteFunc(s.keys, func(k identity.Key) bool { return slices.Contains(ids, k.ID) })
		if len(s.keys) < before {
			s.generation++
		}
		return nil
	})
}

// SigningKeys returns all signing keys, latest first.
func (s *Store) SigningKeys(context.Context) (all []identity.SigningKey, err error) {
	err = s.withLock(func() error { s.reads++; all = slices.Clone(s.signing); return nil })
	return all, err
}

// AddSigningKey adds a key if the latest one is the given one.
func (s *Store) AddSigningKey(_ context.Context, k identity.SigningKey, after string,
	until time.Time) (added bool, err error) {
	err = s.withLock(func() error {
		latest := ""
		if len(s.signing) > 0 {
			latest = s.signing[0].KID
		}
		if latest != after {
			return nil
		}
		if latest != "" {
			s.signing[0].Until = until
		}
		s.signing = slices.DeleteFunc(s.signing, func(o identity.SigningKey) bool {
			return !o.Until.IsZero() && o.Until.Before(k.Created)
		})
		s.signing = slices.Insert(s.signing, 0, k)
		s.generation++
		added = true
		return nil
	})
	return added, err
}

// AddInvitation stores an invitation.
func (s *Store) AddInvitation(_ context.Context, i identity.Invitation) error {
	return s.withLock(func() error {
		if slices.ContainsFunc(s.invitations, func(o identity.Invitation) bool { return o.ID == i.ID || o.Hash == i.Hash }) {
			return identity.ErrExists
		}
		s.invitations = append(s.invitations, i)
		s.generation++
		return nil
	})
}

// InvitationByHash finds an invitation by its hash.
func (s *Store) InvitationByHash(_ context.Context, h identity.Hash) (i identity.Invitation, ok bool, err error) {
	err = s.withLock(func() error {
		if n := slices.IndexFunc(s.invitations, func(o identity.Invitation) bool { return o.Hash == h }); n >= 0 {
			i, ok = s.invitations[n], true
		}
		return nil
	})
	return i, ok, err
}

// Invitations lists a world's invitations, by creation.
func (s *Store) Invitations(_ context.Context, w access.WorldID) (all []identity.Invitation, err error) {
	err = s.withLock(func() error {
		for _, i := range s.invitations {
			if i.World == w {
				all = append(all, i)
			}
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b identity.Invitation) int { return a.Created.Compare(b.Created) })
	return all, err
}

// ClaimInvitation assigns an invitation to a subject.
func (s *Store) ClaimInvitation(_ context.Context, id string, to access.Subject) (mine bool, err error) {
	err = s.updateOpen(id, func(i *identity.Invitation) {
		if mine = i.Subject == "" || i.Subject == to; mine {
			i.Subject = to
		}
	})
	return mine, err
}

// CloseInvitation ends an open invitation.
func (s *Store) CloseInvitation(_ context.Context, id string, as identity.InvitationState,
	at time.Time) (open bool, err error) {
	err = s.updateOpen(id, func(i *identity.Invitation) { open, i.State, i.Closed = true, as, at })
	return open, err
}

func (s *Store) updateOpen(id string, f func(*identity.Invitation)) error {
	return s.withLock(func() error {
		for n := range s.invitations {
			if i := &s.invitations[n]; i.ID == id && i.State == identity.InvitationOpen {
				f(i)
				s.generation++
			}
		}
		return nil
	})
}

// Generation changes with every write.
func (s *Store) Generation(context.Context) (g uint64, err error) {
	err = s.withLock(func() error { g = s.generation; return nil })
	return g, err
}

// Worlds is an identity.Worlds and identity.Joiner in memory. The zero Worlds has no worlds.
type Worlds struct {
	mu      sync.Mutex // guards all fields below
	slugs   map[string]access.WorldID
	members []identity.Membership
	failure error
}

// Fail makes every method return err from now on; nil ends that.
func (w *Worlds) Fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
}

// Add adds a world.
func (w *Worlds) Add(slug string, id access.WorldID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.slugs == nil {
		w.slugs = map[string]access.WorldID{}
	}
	w.slugs[slug] = id
}

// Memberships returns a subject's memberships.
func (w *Worlds) Memberships(_ context.Context, s access.Subject) (all []identity.Membership, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.members {
		if m.Subject == s {
			all = append(all, m)
		}
	}
	return all, w.failure
}

// FindWorld finds a world by its slug or UUID.
func (w *Worlds) FindWorld(_ context.Context, text string) (access.WorldID, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id, ok := w.slugs[text]; ok {
		return id, true, w.failure
	}
	for _, id := range w.slugs {
		if id.String() == text {
			return id, true, w.failure
		}
	}
	return access.WorldID{}, false, w.failure
}

// Join adds or replaces a membership.
func (w *Worlds) Join(_ context.Context, m identity.Membership, _ access.Subject) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		return w.failure
	}
	w.members = slices.DeleteFunc(w.members, func(o identity.Membership) bool {
		return o.World == m.World && o.Subject == m.Subject
	})
	w.members = append(w.members, m)
	return nil
}
