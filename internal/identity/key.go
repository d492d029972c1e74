package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Bounds of a key's fields.
const (
	maxName       = 100 // characters
	maxWorlds     = 1000
	maxSurfaces   = 32
	maxOperations = 256
	maxWord       = 64 // characters of a surface, operation or rate class
	maxSeat       = 100
)

// SeatSurface and PlaySurface are the only surfaces that a key bound to a seat can open: the first
// shows the table, the second also acts in the seat.
const (
	SeatSurface = "alignment"
	PlaySurface = "alignment-play"
)

// CreateKey creates a key and returns its secret, which cannot be shown again. The errors are
// fault.Invalid, which lists every invalid field, and fault.Rule if an AI would get a capability
// that only people have. If KeySpec.Once repeats, the key is the first one and the secret is empty; the error is
// fault.Conflict if that key has ended.
func (s *Service) CreateKey(ctx context.Context, spec KeySpec) (Key, string, error) {
	now := s.cfg.Now().UTC()
	spec = spec.normalize()
	if err := spec.checkFields(now); err != nil {
		return Key{}, "", err
	}
	if err := s.bindToMaker(ctx, &spec); err != nil {
		return Key{}, "", err
	}
	k, secret, err := s.addSecret(ctx, keyPrefix, s.newIDOnce(spec.Once), spec)
	if spec.Once == "" || !errors.Is(err, ErrExists) {
		return k, secret, err
	}
	first, ok, err := s.cfg.Store.KeyByID(ctx, s.newIDOnce(spec.Once))
	if err != nil {
		return Key{}, "", newUnavailable(err)
	}
	if !ok || !first.Good(now) {
		return Key{}, "", errRepeated
	}
	first.Hash = Hash{}
	return first, "", nil
}

var errRepeated = fault.New(fault.Conflict,
	"this idempotency key was used for something that has ended; use a new key")

// newIDOnce returns the id of the record that a request makes, which for a named request is always the same.
func (s *Service) newIDOnce(once string) string {
	if once == "" {
		return s.cfg.NewID()
	}
	sum := sha256.Sum256([]byte(once))
	return "o-" + hex.EncodeToString(sum[:16])
}

// Keys lists all API keys and passkeys, by creation, without their hashes. It leaves out the keys behind
// sessions, play tokens and grants.
func (s *Service) Keys(ctx context.Context) ([]Key, error) {
	return s.listKeys(ctx, "", audiencePasskey)
}

// listKeys lists the keys of some audiences by creation, without their hashes.
func (s *Service) listKeys(ctx context.Context, audiences ...string) (all []Key, err error) {
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return nil, newUnavailable(err)
		}
		if slices.Contains(audiences, k.Audience) {
			k.Hash = Hash{}
			all = append(all, k)
		}
	}
	return all, nil
}

// KeysOfWorld lists the keys and grants that open a world by its name, by creation, without their hashes.
func (s *Service) KeysOfWorld(ctx context.Context, w access.WorldID) (all []Key, err error) {
	all, err = s.listKeys(ctx, "", AudienceGrant)
	return slices.DeleteFunc(all, func(k Key) bool {
		_, opens := k.Worlds[w]
		return !opens || !k.Good(s.cfg.Now())
	}), err
}

// KeyOf returns a key or a grant by its id, without its hash. Keys behind sessions, codes and play tokens
// are not found.
func (s *Service) KeyOf(ctx context.Context, id string) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !ok || k.Audience != "" && k.Audience != AudienceGrant {
		return Key{}, errNoKey
	}
	k.Hash = Hash{}
	return k, nil
}

// The values of KeySpec.May.
const (
	MayRead    = "read"
	MayPropose = "propose"
	MayWrite   = "write"
)

// May returns the most that a key may do in a world: read, propose changes, or write.
func (k KeySpec) May() string {
	switch {
	case k.ReadOnly:
		return MayRead
	case k.Advisory:
		return MayPropose
	}
	return MayWrite
}

// RotateKey replaces the secret of a key: a new key has its rights, and the old one ends.
func (s *Service) RotateKey(ctx context.Context, id string) (Key, string, error) {
	old, err := s.KeyOf(ctx, id)
	if err != nil {
		return Key{}, "", err
	}
	if !old.Good(s.cfg.Now()) || old.Audience != "" {
		return Key{}, "", fault.New(fault.Rule, "this key has ended or has no secret; create a new one")
	}
	k, secret, err := s.addSecret(ctx, keyPrefix, s.cfg.NewID(), old.KeySpec)
	if err != nil {
		return Key{}, "", err
	}
	k.Hash = Hash{}
	return k, secret, s.RevokeKey(ctx, id)
}

var errNoKey = fault.New(fault.NotFound, "no key has this id; `loregate key list` shows them")

// RevokeKey ends a key, its tokens, the play tokens and keys that were made with it, and the
// streams that watch any of them: in this process before it returns, in others within a second. An
// id that names no key is fault.NotFound; revoking a revoked key is no error.
func (s *Service) RevokeKey(ctx context.Context, id string) error {
	found, err := s.cfg.Store.RevokeKey(ctx, id, s.cfg.Now().UTC())
	if err != nil {
		return newUnavailable(err)
	}
	if !found {
		return errNoKey
	}
	s.epoch.Add(1)
	s.watch.endKey(id)
	return nil
}

// normalize returns the spec with defaults filled in and lists sorted. The result shares no map or
// slice with k.
func (k KeySpec) normalize() KeySpec {
	k.Worlds = maps.Clone(k.Worlds)
	k.Surfaces = sortedUnique(k.Surfaces)
	k.Operations = sortedUnique(k.Operations)
	k.Actor = cmp.Or(k.Actor, access.AI)
	if !k.Expires.IsZero() {
		k.Expires = k.Expires.UTC()
	}
	if k.Seat != "" && len(k.Surfaces) == 0 {
		k.Surfaces = []string{SeatSurface}
	}
	return k
}

func sortedUnique(s []string) []string {
	c := slices.Clone(s)
	slices.Sort(c)
	return slices.Compact(c)
}

func (k KeySpec) checkFields(now time.Time) error {
	var f faults
	f.checkName("name", k.Name)
	f.addError("subject", access.CheckSubject(k.Subject))
	f.addUnless(k.Actor == access.Person || k.Actor == access.AI, "actor", "must be person or ai")
	f.addUnless(k.MaxRole >= access.RoleUser && k.MaxRole <= access.RoleAdmin, "max_role", "must be user, gm or admin")
	f.addUnless(len(k.Worlds) <= maxWorlds, "worlds", "a key can name at most 1,000 worlds")
	for w, r := range k.Worlds {
		f.addUnless(!w.IsZero(), "worlds", "the zero id is not the id of a world")
		f.addUnless(r >= access.RoleUser && r <= k.MaxRole, "worlds", "the role in a world must be from user to max_role")
	}
	f.checkWords("surfaces", k.Surfaces, maxSurfaces)
	f.checkWords("operations", k.Operations, maxOperations)
	f.addUnless(k.RateClass == "" || isWord(k.RateClass), "rate_class", "must be the name of a limits profile")
	f.addUnless(k.Expires.IsZero() || k.Expires.After(now), "expires", "must be in the future")
	f.addUnless(k.Audience == "", "audience", "play tokens are issued, not created")
	f.addUnless(k.Seat == "" || isSeat(k.Seat), "seat", "must have the form game/player, at most 100 characters")
	f.addUnless(k.Seat == "" || areSeatSurfaces(k.Surfaces), "surfaces",
		"a key bound to a seat can open only the surfaces alignment and alignment-play")
	f.addUnless(k.Seat == "" || !k.Operator && !k.Approve, "seat", "a key bound to a seat can have no other rights")
	if err := f.toError(); err != nil {
		return err
	}
	if k.Actor == access.AI && (k.Approve || k.Operator) {
		return fault.New(fault.Rule,
			"a key for an AI cannot have approve or operator; create it for a person, or leave them out")
	}
	return nil
}

// faults collects the invalid fields of an input.
type faults []fault.Field

func (f *faults) addUnless(ok bool, field, why string) {
	if !ok {
		*f = append(*f, fault.Field{Field: field, Error: why})
	}
}

func (f *faults) addError(field string, err error) {
	if err != nil {
		f.addUnless(false, field, err.Error())
	}
}

func (f *faults) checkName(field, s string) {
	n := utf8.RuneCountInString(s)
	f.addUnless(n >= 1 && n <= maxName, field, "has 1 to 100 characters")
	for _, r := range s {
		if !unicode.IsPrint(r) {
			f.addUnless(false, field, "must not contain characters that cannot be printed")
			return
		}
	}
}

func (f *faults) checkWords(field string, words []string, most int) {
	f.addUnless(len(words) <= most, field, "has too many entries; give fewer")
	for _, w := range words {
		if !isWord(w) {
			f.addUnless(false, field, "entries must consist of letters, digits, ., - and _")
			return
		}
	}
}

func (f faults) toError() error {
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

// areSeatSurfaces reports whether a key bound to a seat may open the surfaces.
func areSeatSurfaces(surfaces []string) bool {
	for _, s := range surfaces {
		if s != SeatSurface && s != PlaySurface {
			return false
		}
	}
	return len(surfaces) > 0
}

func isSeat(s string) bool {
	for _, r := range s {
		if r <= ' ' || r >= 0x7f {
			return false
		}
	}
	return len(s) <= maxSeat
}
