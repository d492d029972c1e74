package identity

import (
	"context"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// AudiencePlay is who play tokens are meant for: operations and feeds that are declared
// with this audience, and nothing else.
const AudiencePlay = "play"

// Bounds of a play token's life. It may be long: the key behind it is looked at with
// every use.
const (
	DefaultPlayLife = 30 * 24 * time.Hour
	MaxPlayLife     = 90 * 24 * time.Hour
)

// PlaySpec is what a play token is made for: a player of a world, or a seat of a game.
type PlaySpec struct {
	World      access.WorldID
	Subject    access.Subject // who the holder is; give each player one of its own
	Actor      access.Actor   // "" is a person
	Player     uuid.UUID      // the player card it acts as; zero for none
	Seat       string         // "game/player"; "" for none
	Operations []string       // those it opens, of the audience play; empty: all of that audience
	Life       time.Duration  // 0 is DefaultPlayLife
	MadeWith   string         // id of the key that asks for it; "" for none. The token ends with that key
}

// IssuePlay makes a token that plays as one player or one seat with the role user in
// one world. The token is shown once; id revokes it, and is the Key of its callers. It
// is an opaque secret rather than a signed token, so that it outlives a rotation of
// signing keys and can be ended like a key. Its errors are fault.Invalid with every
// fault, and fault.Unavailable.
func (s *Service) IssuePlay(ctx context.Context, spec PlaySpec) (token, id string, err error) {
	if err := spec.check(); err != nil {
		return "", "", err
	}
	if token, err = newSecret(playPrefix, s.cfg.Random); err != nil {
		return "", "", err
	}
	hash, _ := secretHash(playPrefix, token)
	k := Key{ID: s.cfg.NewID(), Hash: hash, KeySpec: spec.key(s.cfg.Now().UTC()), Created: s.cfg.Now().UTC()}
	if err := s.bindToMaker(ctx, &k.KeySpec); err != nil {
		return "", "", err
	}
	if err := s.cfg.Store.AddKey(ctx, k); err != nil {
		return "", "", unavailable(err)
	}
	return token, k.ID, nil
}

// RevokePlay ends a play token and the streams that were opened with it: here before it
// returns, in other processes within a second. An id that names no play token is
// fault.NotFound.
func (s *Service) RevokePlay(ctx context.Context, id string) error {
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return unavailable(err)
	}
	if !ok || k.Audience != AudiencePlay {
		return fault.New(fault.NotFound, "no play token has this id")
	}
	return s.RevokeKey(ctx, id)
}

// PlayTokens lists what stands behind play tokens, by creation, without hashes. One that
// ended with the key it was made with counts as revoked when that key was.
func (s *Service) PlayTokens(ctx context.Context) ([]Key, error) {
	var all []Key
	byID := map[string]Key{}
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return nil, unavailable(err)
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

// bindToMaker lets a new key end with the key that it is made with. Where that one was made
// with another in its turn (the host of a game replaces a seat's token with its own), the
// new key ends with that other one, so that there are no chains.
func (s *Service) bindToMaker(ctx context.Context, spec *KeySpec) error {
	if spec.MadeWith == "" {
		return nil
	}
	maker, err := s.maker(ctx, spec.MadeWith)
	if err == nil && maker.MadeWith != "" {
		maker, err = s.maker(ctx, maker.MadeWith)
	}
	if err != nil {
		return err
	}
	if spec.MadeWith = maker.ID; maker.Audience == AudiencePlay {
		spec.MadeWith = "" // it was made at the command line, and ends by itself
		return nil
	}
	if !maker.Expires.IsZero() && (spec.Expires.IsZero() || maker.Expires.Before(spec.Expires)) {
		spec.Expires = maker.Expires
	}
	return nil
}

// checkMaker refuses a key whose maker has ended.
func (s *Service) checkMaker(ctx context.Context, k Key) error {
	if k.MadeWith == "" {
		return nil
	}
	_, err := s.maker(ctx, k.MadeWith)
	return err
}

// maker finds the key that another was made with, and refuses one that has ended.
func (s *Service) maker(ctx context.Context, id string) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return k, unavailable(err)
	}
	if !ok || !k.Good(s.cfg.Now()) {
		return k, refused(ErrInvalid, "the key that it was made with is revoked or expired")
	}
	return k, nil
}

func (p PlaySpec) check() error {
	var f faults
	f.because("subject", access.CheckSubject(p.Subject))
	f.unless(!p.World.IsZero(), "world", "is needed")
	f.unless(p.Actor == "" || p.Actor == access.Person || p.Actor == access.AI, "actor", "is person or ai")
	f.unless(p.Player != uuid.Nil || p.Seat != "", "player", "a play token is for a player or for a seat")
	f.unless(p.Seat == "" || isSeat(p.Seat), "seat", "is game/player, at most 100 characters")
	f.words("operations", p.Operations, maxOperations)
	f.unless(p.Life >= 0 && p.Life <= MaxPlayLife, "life", "is at most 90 days")
	return f.err()
}

// key is the key that stands behind the token.
func (p PlaySpec) key(now time.Time) KeySpec {
	if p.Actor == "" {
		p.Actor = access.Person
	}
	if p.Life == 0 {
		p.Life = DefaultPlayLife
	}
	return KeySpec{
		Name: "play", Subject: p.Subject, Actor: p.Actor, MaxRole: access.RoleUser, Audience: AudiencePlay,
		Worlds:     map[access.WorldID]access.Role{p.World: access.RoleUser},
		Operations: sorted(p.Operations), RateClass: access.ProfilePlay,
		Player: p.Player, Seat: p.Seat, Expires: now.Add(p.Life), MadeWith: p.MadeWith,
	}
}
