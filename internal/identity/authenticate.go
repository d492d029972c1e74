package identity

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// MaxBearer is the longest credential that is looked at, in bytes.
const MaxBearer = 8 << 10

// Authenticate gives the caller of a bearer credential: a token, or an API key where
// the configuration allows it. audience is who the token must be meant for; "" is the
// first configured one, and API keys have none. A play token is good with AudiencePlay
// only, and nothing else is good there. Its errors are fault.Unauthorized,
// which errors.Is tells apart as ErrMissing, ErrExpired and ErrInvalid, and
// fault.Unavailable. It is cheap to call again: open streams should, before each
// delivery, since roles change.
func (s *Service) Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error) {
	switch {
	case bearer == "":
		return access.Caller{}, refused(ErrMissing, "no bearer")
	case len(bearer) > MaxBearer:
		return access.Caller{}, refused(ErrInvalid, "too long")
	}
	if audience == "" {
		audience = s.cfg.Audiences[0]
	}
	now, epoch := s.cfg.Now(), s.epoch.Load()
	digest := sha256.Sum256([]byte(bearer))
	e, ok := s.cache.get(digest)
	if !ok || !e.fresh(epoch, now, s.cfg.Poll) {
		var err error
		if e, err = s.look(ctx, bearer, e, now, epoch); err != nil {
			if errors.Is(err, fault.Unauthorized) {
				s.cache.drop(digest)
			}
			return access.Caller{}, err
		}
		s.cache.put(digest, e)
	}
	if err := e.usable(audience, now); err != nil {
		return access.Caller{}, err
	}
	return e.caller, nil
}

// known is a credential that was found good, and what was made of it. It is not
// changed once it is in the cache.
type known struct {
	claims  *claims       // nil for an API key and a play token
	outside *outsideToken // of another issuer, which has no key here
	key     Key
	caller  access.Caller
	checked time.Time // when the key and the memberships were read
	epoch   uint64    // read before them
}

func (e *known) fresh(epoch uint64, now time.Time, poll time.Duration) bool {
	age := now.Sub(e.checked)
	return e.epoch == epoch && age >= 0 && age < poll
}

func (e *known) usable(audience string, now time.Time) error {
	if (audience == AudiencePlay) != (e.key.Audience == AudiencePlay) {
		return refused(ErrInvalid, "meant for another audience")
	}
	if e.outside != nil {
		return e.outside.current(now) // its audience is its issuer's matter, and was checked
	}
	if e.claims != nil {
		if err := e.claims.current(now); err != nil {
			return err
		}
		if !slices.Contains(e.claims.Audience, audience) {
			return refused(ErrInvalid, "meant for another audience")
		}
	}
	if !e.key.Good(now) {
		return refused(ErrInvalid, "the key is revoked or expired")
	}
	return nil
}

// look makes what is known of a credential anew. The signature of a token that was
// known before is not checked again: before may be nil.
func (s *Service) look(ctx context.Context, bearer string, before *known, now time.Time, epoch uint64) (*known, error) {
	e := &known{checked: now, epoch: epoch}
	var err error
	switch {
	case LooksLikeKey(bearer):
		if !s.cfg.AllowKeyAsBearer {
			return nil, refused(ErrInvalid, "an API key is not taken as bearer here")
		}
		if e.key, err = s.goodKey(ctx, bearer, now); err != nil {
			return nil, err
		}
	case LooksLikePlay(bearer):
		if e.key, err = s.goodSecret(ctx, playPrefix, bearer, now); err != nil {
			return nil, err
		}
	case before != nil && before.outside == nil:
		e.claims = before.claims
	default:
		if by := s.outside.of(bearer); by != nil {
			return e, s.lookOutside(ctx, by, bearer, before, e)
		}
		if e.claims, err = s.verify(ctx, bearer, now); err != nil {
			return nil, err
		}
	}
	if e.claims != nil {
		if e.key, err = s.keyOf(ctx, e.claims); err != nil {
			return nil, err
		}
	}
	e.caller, err = s.caller(ctx, e.key, e.claims)
	return e, err
}

// lookOutside makes e of an outside issuer's token. One that was known before is good
// while its issuer publishes the key that it was signed with.
func (s *Service) lookOutside(ctx context.Context, by *outsider, bearer string, before, e *known) (err error) {
	if before != nil {
		e.outside = before.outside
		_, err = by.keys.verifier(ctx, e.outside.key, e.checked)
	} else {
		e.outside, err = by.verify(ctx, bearer, e.checked)
	}
	if err == nil {
		e.caller, err = s.granted(ctx, e.outside)
	}
	return err
}

// goodKey finds the key that an API key's text is the secret of.
func (s *Service) goodKey(ctx context.Context, text string, now time.Time) (Key, error) {
	return s.goodSecret(ctx, keyPrefix, text, now)
}

// Unknown is the one refusal of credentials that are not good; why is the log's.
func Unknown(why string) error { return refused(ErrInvalid, why) }

// goodSecret finds the key that a secret of a kind opens.
func (s *Service) goodSecret(ctx context.Context, prefix, text string, now time.Time) (Key, error) {
	h, ok := secretHash(prefix, text)
	if !ok {
		return Key{}, refused(ErrInvalid, "not of its kind's form")
	}
	k, ok, err := s.cfg.Store.KeyByHash(ctx, h)
	if err != nil {
		return Key{}, unavailable(err)
	}
	if !sameHash(k.Hash, h) || !ok || !k.Good(now) {
		return Key{}, refused(ErrInvalid, "the secret is unknown, revoked or expired")
	}
	return k, s.checkMaker(ctx, k)
}

// keyOf finds the key that a token was given for.
func (s *Service) keyOf(ctx context.Context, c *claims) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, c.Key)
	if err != nil {
		return Key{}, unavailable(err)
	}
	if !ok || k.Subject != c.Subject || k.Audience != "" {
		return Key{}, refused(ErrInvalid, "its key is unknown, or another subject's")
	}
	return k, s.checkMaker(ctx, k)
}

func (s *Service) caller(ctx context.Context, k Key, c *claims) (access.Caller, error) {
	m, err := s.cfg.Worlds.Memberships(ctx, k.Subject)
	if err != nil {
		return access.Caller{}, unavailable(err)
	}
	return grant(k, c, m), nil
}

// callerCache keeps what is known of credentials, by the SHA-256 of their text. Only
// good credentials get in. At its limit it forgets any one.
type callerCache struct {
	limit int
	mu    sync.RWMutex
	known map[[sha256.Size]byte]*known // guarded by mu
}

func newCallerCache(limit int) *callerCache {
	return &callerCache{limit: limit, known: map[[sha256.Size]byte]*known{}}
}

func (c *callerCache) get(d [sha256.Size]byte) (*known, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.known[d]
	return e, ok
}

// outside finds the token of a subject that lasts longest and is good at a time; nil for
// none.
func (c *callerCache) outside(s access.Subject, now time.Time) (best *outsideToken) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, e := range c.known {
		if t := e.outside; t != nil && t.subject == s && t.current(now) == nil && (best == nil || t.claims.Expires > best.claims.Expires) {
			best = t
		}
	}
	return best
}

func (c *callerCache) put(d [sha256.Size]byte, e *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.known[d]; !there && len(c.known) >= c.limit {
		for other := range c.known {
			delete(c.known, other)
			break
		}
	}
	c.known[d] = e
}

func (c *callerCache) drop(d [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, d)
}
