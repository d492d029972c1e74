package identity

import (
	"context"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Bounds of what a key may say.
const (
	maxName       = 100 // characters
	maxWorlds     = 1000
	maxSurfaces   = 32
	maxOperations = 256
	maxWord       = 64 // characters of a surface, operation or rate class
	maxSeat       = 100
)

// SeatSurface is the one surface that a key bound to a seat opens.
const SeatSurface = "alignment"

// CreateKey makes a key and gives its secret, which nothing can show again. Its errors
// are fault.Invalid with every fault, and fault.Rule where an AI would get a capability
// that only people have.
func (s *Service) CreateKey(ctx context.Context, spec KeySpec) (Key, string, error) {
	now := s.cfg.Now().UTC()
	spec = spec.tidy()
	if err := spec.check(now); err != nil {
		return Key{}, "", err
	}
	secret, err := newSecret(keyPrefix, s.cfg.Random)
	if err != nil {
		return Key{}, "", err
	}
	hash, _ := secretHash(keyPrefix, secret)
	if err := s.bindToMaker(ctx, &spec); err != nil {
		return Key{}, "", err
	}
	k := Key{ID: s.cfg.NewID(), Hash: hash, KeySpec: spec, Created: now}
	if err := s.cfg.Store.AddKey(ctx, k); err != nil {
		return Key{}, "", unavailable(err)
	}
	return k, secret, nil
}

// Keys lists all keys, by creation, without their hashes. Those behind play tokens are
// not among them.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	var all []Key
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return nil, unavailable(err)
		}
		if k.Audience != "" {
			continue
		}
		k.Hash = Hash{}
		all = append(all, k)
	}
	return all, nil
}

// RevokeKey ends a key, its tokens, the play tokens and keys that were made with it, and
// the streams that watch any of them: here before it returns, in other processes within a
// second. An id that names no key is
// fault.NotFound; a key that is revoked already is no error.
func (s *Service) RevokeKey(ctx context.Context, id string) error {
	found, err := s.cfg.Store.RevokeKey(ctx, id, s.cfg.Now().UTC())
	if err != nil {
		return unavailable(err)
	}
	if !found {
		return fault.New(fault.NotFound, "no key has this id; `loregate key list` shows them")
	}
	s.epoch.Add(1)
	s.watch.end(id)
	return nil
}

// Binding is what a key is bound to.
type Binding struct {
	Player uuid.UUID // zero for none
	Seat   string    // "" for none
}

// Binding tells what the caller's key is bound to. The zero Binding is for keys that
// are not, and for callers without a key.
func (s *Service) Binding(ctx context.Context, c access.Caller) (Binding, error) {
	if c.Key == "" {
		return Binding{}, nil
	}
	k, ok, err := s.cfg.Store.KeyByID(ctx, c.Key)
	if err != nil {
		return Binding{}, unavailable(err)
	}
	if !ok || !k.Good(s.cfg.Now()) {
		return Binding{}, refused(ErrInvalid, "the key is revoked or expired")
	}
	if err := s.checkMaker(ctx, k); err != nil {
		return Binding{}, err
	}
	return Binding{Player: k.Player, Seat: k.Seat}, nil
}

// tidy gives the spec its one form, and copies what it holds.
func (k KeySpec) tidy() KeySpec {
	k.Worlds = maps.Clone(k.Worlds)
	k.Surfaces = sorted(k.Surfaces)
	k.Operations = sorted(k.Operations)
	if k.Actor == "" {
		k.Actor = access.AI
	}
	if !k.Expires.IsZero() {
		k.Expires = k.Expires.UTC()
	}
	if k.Seat != "" && len(k.Surfaces) == 0 {
		k.Surfaces = []string{SeatSurface}
	}
	return k
}

func sorted(s []string) []string {
	c := slices.Clone(s)
	slices.Sort(c)
	return slices.Compact(c)
}

func (k KeySpec) check(now time.Time) error {
	var f faults
	f.name("name", k.Name)
	f.because("subject", access.CheckSubject(k.Subject))
	f.unless(k.Actor == access.Person || k.Actor == access.AI, "actor", "is person or ai")
	f.unless(k.MaxRole >= access.RoleUser && k.MaxRole <= access.RoleAdmin, "max_role", "is user, gm or admin")
	f.unless(len(k.Worlds) <= maxWorlds, "worlds", "a key names at most 1,000 worlds")
	for w, r := range k.Worlds {
		f.unless(!w.IsZero(), "worlds", "the zero id is no world")
		f.unless(r >= access.RoleUser && r <= k.MaxRole, "worlds", "a world's role is user up to max_role")
	}
	f.words("surfaces", k.Surfaces, maxSurfaces)
	f.words("operations", k.Operations, maxOperations)
	f.unless(k.RateClass == "" || isWord(k.RateClass), "rate_class", "is the name of a limits profile")
	f.unless(k.Expires.IsZero() || k.Expires.After(now), "expires", "lies in the past")
	f.unless(k.Audience == "", "audience", "play tokens are issued, not created")
	f.unless(k.Seat == "" || isSeat(k.Seat), "seat", "is game/player, at most 100 characters")
	f.unless(k.Seat == "" || slices.Equal(k.Surfaces, []string{SeatSurface}), "surfaces", "a key bound to a seat opens the surface alignment only")
	f.unless(k.Seat == "" || !k.Operator && !k.Approve, "seat", "a key bound to a seat has no other capability")
	if err := f.err(); err != nil {
		return err
	}
	if k.Actor == access.AI && (k.Approve || k.Operator) {
		return fault.New(fault.Rule, "a key for an AI never gets approve or operator; make it for a person, or leave them out")
	}
	return nil
}

// faults collects what is wrong with an input.
type faults []fault.Field

func (f *faults) unless(ok bool, field, why string) {
	if !ok {
		*f = append(*f, fault.Field{Field: field, Error: why})
	}
}

func (f *faults) because(field string, err error) {
	if err != nil {
		f.unless(false, field, err.Error())
	}
}

func (f *faults) name(field, s string) {
	n := utf8.RuneCountInString(s)
	f.unless(n >= 1 && n <= maxName, field, "has 1 to 100 characters")
	for _, r := range s {
		if !unicode.IsPrint(r) {
			f.unless(false, field, "holds characters that cannot be printed")
			return
		}
	}
}

func (f *faults) words(field string, words []string, most int) {
	f.unless(len(words) <= most, field, "has too many entries")
	for _, w := range words {
		if !isWord(w) {
			f.unless(false, field, "entries are letters, digits, ., - and _")
			return
		}
	}
}

func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	e := fault.BadField(f[0].Field, "%s", f[0].Error)
	e.Fields = f
	return e
}

func isWord(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return s != "" && len(s) <= maxWord
}

func isSeat(s string) bool {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f {
			return false
		}
	}
	return len(s) <= maxSeat
}
