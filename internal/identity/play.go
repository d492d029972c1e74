package identity

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// AudiencePlay is the audience of play tokens. They open only operations and feeds that are
// declared with this audience.
const AudiencePlay = "play"

// Bounds of a play token's life. The life may be long because each use checks the key behind the
// token.
const (
	DefaultPlayLife = 30 * 24 * time.Hour
	MaxPlayLife     = 90 * 24 * time.Hour
)

// PlaySpec describes a play token: for a player of a world, or a seat of a game.
type PlaySpec struct {
	World      access.WorldID
	Subject    access.Subject // the holder; give each player a subject of its own
	Actor      access.Actor   // "" is a person
	Player     uuid.UUID      // the player card it acts as; zero if it is for a seat only
	Seat       string         // "game/player"; "" if it is for a player only
	Operations []string       // the operations of the audience play that it opens; empty: all of that audience
	Life       time.Duration  // 0 is DefaultPlayLife
	MadeWith   string         // id of the key that requests it, "" if there is none. The token ends with that key
}

// IssuePlay issues a token that plays as one player or one seat with the role user in one world.
// The token is shown once; id revokes it, and is the Key of its callers. The token is an opaque
// secret rather than a signed token, so it survives a rotation of signing keys and can be revoked
// like a key. The errors are fault.Invalid, which lists every invalid field, and fault.Unavailable.
func (s *Service) IssuePlay(ctx context.Context, spec PlaySpec) (token, id string, err error) {
	if err := spec.checkFields(); err != nil {
		return "", "", err
	}
	behind := spec.keySpec(s.cfg.Now().UTC())
	if err := s.bindToMaker(ctx, &behind); err != nil {
		return "", "", err
	}
	k, token, err := s.addSecret(ctx, playPrefix, s.cfg.NewID(), behind)
	return token, k.ID, err
}

// PlayTokens lists the keys behind play tokens, by creation, without hashes. A token whose maker
// was revoked counts as revoked at the same time.
func (s *Service) PlayTokens(ctx context.Context) ([]Key, error) {
	var all []Key
	byID := map[string]Key{}
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return nil, newUnavailable(err)
		}
		byID[k.ID] = k
		if k.Audience != AudiencePlay {
			continue
		}
		if maker := byID[k.MadeWith]; k.Revoked.IsZero() {
			k.Revoked = maker.Revoked
		}
		k.Hash = Hash{}
		all = append(all, k)
	}
	return all, nil
}

// bindToMaker makes a new key end with the key that it is made with. If that key was itself made
// with another (the host of a game replaces a seat's token with its own), the new key is bound to
// that other one: there are no chains.
func (s *Service) bindToMaker(ctx context.Context, spec *KeySpec) error {
	if spec.MadeWith == "" {
		return nil
	}
	maker, err := s.findMaker(ctx, spec.MadeWith)
	if err == nil && maker.MadeWith != "" {
		maker, err = s.findMaker(ctx, maker.MadeWith)
	}
	if err != nil {
		return err
	}
	if spec.MadeWith = maker.ID; maker.Audience == AudiencePlay {
		spec.MadeWith = "" // the maker was created at the command line; the new key ends on its own
		return nil
	}
	if !maker.Expires.IsZero() && (spec.Expires.IsZero() || maker.Expires.Before(spec.Expires)) {
		spec.Expires = maker.Expires
	}
	return nil
}

// checkMaker returns an error if the key that k was made with has ended.
func (s *Service) checkMaker(ctx context.Context, k Key) error {
	if k.MadeWith == "" {
		return nil
	}
	_, err := s.findMaker(ctx, k.MadeWith)
	return err
}

// findMaker returns the key that another was made with, or an error if it has ended.
func (s *Service) findMaker(ctx context.Context, id string) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return k, newUnavailable(err)
	}
	if !ok || !k.Good(s.cfg.Now()) {
		return k, newRefusal(ErrInvalid, "the key that created it is revoked or expired")
	}
	return k, nil
}

func (p PlaySpec) checkFields() error {
	var f faults
	f.addError("subject", access.CheckSubject(p.Subject))
	f.addUnless(!p.World.IsZero(), "world", "is needed")
	f.addUnless(p.Actor == "" || p.Actor == access.Person || p.Actor == access.AI, "actor", "must be person or ai")
	f.addUnless(p.Player != uuid.Nil || p.Seat != "", "player", "a play token must be for a player or for a seat")
	f.addUnless(p.Seat == "" || isSeat(p.Seat), "seat", "must have the form game/player, at most 100 characters")
	f.checkWords("operations", p.Operations, maxOperations)
	f.addUnless(p.Life >= 0 && p.Life <= MaxPlayLife, "life", "must be at most 90 days")
	return f.toError()
}

// keySpec returns the key behind the token.
func (p PlaySpec) keySpec(now time.Time) KeySpec {
	p.Actor = cmp.Or(p.Actor, access.Person)
	p.Life = cmp.Or(p.Life, DefaultPlayLife)
	return KeySpec{
		Name: "play", Subject: p.Subject, Actor: p.Actor, MaxRole: access.RoleUser, Audience: AudiencePlay,
		Worlds:     map[access.WorldID]access.Role{p.World: access.RoleUser},
		Operations: sortedUnique(p.Operations), RateClass: access.ProfilePlay,
		Player: p.Player, Seat: p.Seat, Expires: now.Add(p.Life), MadeWith: p.MadeWith,
	}
}
