package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"loregate/internal/access"
)

// AudienceConsole is the audience of the sessions of people who signed in on the pages. A session
// opens the whole API, but only a cookie carries it: it is never accepted as a bearer credential.
const AudienceConsole = "console"

// audienceSignIn is the audience of sign-in codes, which open nothing but a session.
const audienceSignIn = "sign-in"

// Lives of sessions and codes.
const (
	SessionLife = 30 * 24 * time.Hour
	SignInLife  = 10 * time.Minute
)

// sessionRenewal is the age of a session at which its next use renews it. A session that is used at
// least every 15 days therefore does not end.
const sessionRenewal = SessionLife / 2

// CreateSignIn creates a code with which one person can open one session within SignInLife. The
// session has the rights of spec. The errors are those of CreateKey.
func (s *Service) CreateSignIn(ctx context.Context, spec KeySpec) (code string, err error) {
	now := s.cfg.Now().UTC()
	spec = spec.normalize()
	spec.Expires = now.Add(SignInLife)
	if err := spec.checkFields(now); err != nil {
		return "", err
	}
	spec.Audience = audienceSignIn
	_, code, err = s.addSecret(ctx, signInPrefix, s.cfg.NewID(), spec)
	return code, err
}

// OpenSession exchanges an API key or a sign-in code for a session. The session of a key has exactly
// the key's rights and ends with it; a code can be exchanged once. The error is fault.Unauthorized,
// with the same text, for any other secret.
func (s *Service) OpenSession(ctx context.Context, secret string) (session Key, token string, err error) {
	now := s.cfg.Now().UTC()
	if LooksLikeKey(secret) {
		key, err := s.goodKey(ctx, secret, now)
		if err != nil {
			return Key{}, "", err
		}
		return s.addSession(ctx, s.cfg.NewID(), key.KeySpec, key.ID)
	}
	code, err := s.goodSecret(ctx, signInPrefix, secret, now)
	if err != nil {
		return Key{}, "", err
	}
	// The id of the session follows from the code's, so that a second exchange fails in the store,
	// in whichever process it happens.
	session, token, err = s.addSession(ctx, code.ID+"-session", code.KeySpec, "")
	if errors.Is(err, ErrExists) {
		return Key{}, "", Unknown("the sign-in code was used before")
	}
	if err != nil {
		return Key{}, "", err
	}
	return session, token, s.RevokeKey(ctx, code.ID)
}

// RenewSession replaces a session that has reached the age of sessionRenewal by a new one. It returns ""
// if the session is younger, which for a session that was just authenticated costs no look-up. The old
// session ends.
func (s *Service) RenewSession(ctx context.Context, token string) (renewed string, err error) {
	now := s.cfg.Now().UTC()
	isYoung := func(k Key) bool { return now.Sub(k.Created) < sessionRenewal }
	if e, ok := s.cache.get(sha256.Sum256([]byte(token))); ok && isYoung(e.key) {
		return "", nil
	}
	old, err := s.goodSecret(ctx, sessionPrefix, token, now)
	if err != nil || isYoung(old) {
		return "", err
	}
	if _, renewed, err = s.addSession(ctx, s.cfg.NewID(), old.KeySpec, old.MadeWith); err != nil {
		return "", err
	}
	return renewed, s.RevokeKey(ctx, old.ID)
}

// Sessions lists a subject's sessions that have not ended, by creation, without their hashes.
func (s *Service) Sessions(ctx context.Context, subject access.Subject) ([]Key, error) {
	now := s.cfg.Now()
	var open []Key
	for k, err := range s.cfg.Store.Keys(ctx) {
		if err != nil {
			return nil, newUnavailable(err)
		}
		if k.Audience != AudienceConsole || k.Subject != subject || !k.Good(now) || s.checkMaker(ctx, k) != nil {
			continue
		}
		k.Hash = Hash{}
		open = append(open, k)
	}
	return open, nil
}

// addSession stores a session with the rights of spec. If maker is not empty, the session ends with
// that key.
func (s *Service) addSession(ctx context.Context, id string, spec KeySpec, maker string) (Key, string, error) {
	spec.Audience, spec.MadeWith = AudienceConsole, maker
	spec.Expires = s.cfg.Now().UTC().Add(SessionLife) // or earlier, if the maker ends earlier
	if err := s.bindToMaker(ctx, &spec); err != nil {
		return Key{}, "", err
	}
	spec.RateClass = cmp.Or(spec.RateClass, access.ProfileConsole)
	return s.addSecret(ctx, sessionPrefix, id, spec)
}

// addSecret stores a key with a new secret. errors.Is finds ErrExists in the error if the id is in use.
func (s *Service) addSecret(ctx context.Context, prefix, id string, spec KeySpec) (Key, string, error) {
	secret, err := newSecret(prefix, s.cfg.Random)
	if err != nil {
		return Key{}, "", err
	}
	hash, _ := secretHash(prefix, secret)
	k := Key{ID: id, Hash: hash, KeySpec: spec, Created: s.cfg.Now().UTC()}
	if err := s.cfg.Store.AddKey(ctx, k); err != nil {
		return Key{}, "", newUnavailable(err)
	}
	return k, secret, nil
}
