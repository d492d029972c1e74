package identity

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// MaxBearer is the longest credential that Authenticate accepts, in bytes.
const MaxBearer = 8 << 10

// Authenticate returns the caller of a bearer credential: a token, or an API key where the
// configuration allows it. audience is the audience that the token must name; "" is the first
// configured one. API keys have no audience. A play token is accepted with AudiencePlay only, and a
// session with AudienceConsole only; no other credential is accepted with these. The errors are fault.Unauthorized, which errors.Is tells
// apart as ErrMissing, ErrExpired and ErrInvalid, and fault.Unavailable. Repeated calls are cheap:
// call it before each delivery on an open stream, since roles change.
func (s *Service) Authenticate(ctx context.Context, bearer, audience string) (access.Caller, error) {
	return s.authenticate(ctx, bearer, audience, "")
}

// AuthenticateAt is Authenticate for the API at an address that clients get tokens for. It also accepts the
// access tokens of grants, if they were issued for exactly this resource.
func (s *Service) AuthenticateAt(ctx context.Context, bearer, resource string) (access.Caller, error) {
	return s.authenticate(ctx, bearer, "", resource)
}

func (s *Service) authenticate(ctx context.Context, bearer, audience, resource string) (access.Caller, error) {
	switch {
	case bearer == "":
		return access.Caller{}, newRefusal(ErrMissing, "no bearer")
	case len(bearer) > MaxBearer:
		return access.Caller{}, newRefusal(ErrInvalid, "too long")
	}
	if audience == "" {
		audience = s.cfg.Audiences[0]
	}
	now, epoch := s.cfg.Now(), s.epoch.Load()
	digest := sha256.Sum256([]byte(bearer))
	e, ok := s.cache.get(digest)
	if !ok || !e.isFresh(epoch, now, s.cfg.Poll) {
		var err error
		if e, err = s.loadCredential(ctx, bearer, e, now, epoch); err != nil {
			if errors.Is(err, fault.Unauthorized) {
				s.cache.remove(digest)
			}
			return access.Caller{}, err
		}
		s.cache.put(digest, e)
	}
	if err := e.checkUsable(audience, resource, now); err != nil {
		return access.Caller{}, err
	}
	return e.caller, nil
}

// cachedCredential is a credential that was accepted, with its key and caller. It is immutable once
// it is in the cache.
type cachedCredential struct {
	claims  *claims       // nil for an API key and a play token
	outside *outsideToken // of another issuer; there is no key for it here
	key     Key
	caller  access.Caller
	checked time.Time // when the key and the memberships were read
	epoch   uint64    // of the Service, before that read
}

func (e *cachedCredential) isFresh(epoch uint64, now time.Time, poll time.Duration) bool {
	age := now.Sub(e.checked)
	return e.epoch == epoch && age >= 0 && age < poll
}

func (e *cachedCredential) checkUsable(audience, resource string, now time.Time) error {
	if e.key.Audience == AudienceGrant {
		audience = resource
	} else if special := audience == AudiencePlay || audience == AudienceConsole; special || e.key.Audience != "" {
		if audience != e.key.Audience {
			return newRefusal(ErrInvalid, "it is for another audience")
		}
	}
	if e.outside != nil {
		return e.outside.checkTimes(now) // its audience was checked against its issuer's configuration
	}
	if e.claims != nil {
		if err := e.claims.checkTimes(now); err != nil {
			return err
		}
		if !slices.Contains(e.claims.Audience, audience) {
			return newRefusal(ErrInvalid, "it is for another audience")
		}
	}
	if !e.key.Good(now) {
		return newRefusal(ErrInvalid, "the key is revoked or expired")
	}
	return nil
}

// loadCredential loads a credential's key and caller from the store. If previous is not nil, its
// token signature was already verified and is not checked again.
func (s *Service) loadCredential(ctx context.Context, bearer string, previous *cachedCredential, now time.Time,
	epoch uint64) (*cachedCredential, error) {
	e := &cachedCredential{checked: now, epoch: epoch}
	var err error
	switch {
	case LooksLikeKey(bearer):
		if !s.cfg.AllowKeyAsBearer {
			return nil, newRefusal(ErrInvalid, "an API key is not accepted as bearer token here")
		}
		if e.key, err = s.goodKey(ctx, bearer, now); err != nil {
			return nil, err
		}
	case LooksLikePlay(bearer):
		if e.key, err = s.goodSecret(ctx, playPrefix, bearer, now); err != nil {
			return nil, err
		}
	case strings.HasPrefix(bearer, sessionPrefix):
		if e.key, err = s.goodSecret(ctx, sessionPrefix, bearer, now); err != nil {
			return nil, err
		}
	case previous != nil && previous.outside == nil:
		e.claims = previous.claims
	default:
		if by := s.outside.issuerOf(bearer); by != nil {
			return e, s.loadOutside(ctx, by, bearer, previous, e)
		}
		if e.claims, err = s.verifyToken(ctx, bearer, now); err != nil {
			return nil, err
		}
	}
	if e.claims != nil {
		if e.key, err = s.keyOfToken(ctx, e.claims); err != nil {
			return nil, err
		}
	}
	e.caller, err = s.callerOfKey(ctx, e.key, e.claims)
	return e, err
}

// loadOutside fills e from an outside issuer's token. A token that was verified before is accepted
// while its issuer publishes the key that it was signed with.
func (s *Service) loadOutside(ctx context.Context, by *outsider, bearer string, previous,
	e *cachedCredential) (err error) {
	if previous != nil {
		e.outside = previous.outside
		_, err = by.keys.findVerifier(ctx, e.outside.key, e.checked)
	} else {
		e.outside, err = by.verify(ctx, bearer, e.checked)
	}
	if err == nil {
		e.caller, err = s.callerOfToken(ctx, e.outside)
	}
	return err
}

// goodKey returns the usable key whose secret is text.
func (s *Service) goodKey(ctx context.Context, text string, now time.Time) (Key, error) {
	return s.goodSecret(ctx, keyPrefix, text, now)
}

// Unknown returns the one error for credentials that are not accepted; why goes to the log only.
func Unknown(why string) error { return newRefusal(ErrInvalid, why) }

// goodSecret returns the usable key that a secret with the given prefix belongs to.
func (s *Service) goodSecret(ctx context.Context, prefix, text string, now time.Time) (Key, error) {
	h, ok := secretHash(prefix, text)
	if !ok {
		return Key{}, newRefusal(ErrInvalid, "the secret does not have the form of its kind")
	}
	k, ok, err := s.cfg.Store.KeyByHash(ctx, h)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !sameHash(k.Hash, h) || !ok || !k.Good(now) {
		return Key{}, newRefusal(ErrInvalid, "the secret is unknown, revoked or expired")
	}
	return k, s.checkMaker(ctx, k)
}

// keyOfToken returns the key that a token was issued for.
func (s *Service) keyOfToken(ctx context.Context, c *claims) (Key, error) {
	k, ok, err := s.cfg.Store.KeyByID(ctx, c.Key)
	if err != nil {
		return Key{}, newUnavailable(err)
	}
	if !ok || k.Subject != c.Subject || k.Audience != "" && k.Audience != AudienceGrant {
		return Key{}, newRefusal(ErrInvalid, "its key is unknown, or belongs to another subject")
	}
	return k, s.checkMaker(ctx, k)
}

func (s *Service) callerOfKey(ctx context.Context, k Key, c *claims) (access.Caller, error) {
	m, err := s.cfg.Worlds.Memberships(ctx, cmp.Or(k.Behalf, k.Subject))
	if err != nil {
		return access.Caller{}, newUnavailable(err)
	}
	caller := newCaller(k, c, m)
	if k.Outside == nil {
		return caller, nil
	}
	return caller, s.limitToIssuer(ctx, &caller, *k.Outside, m)
}

// callerCache caches credentials by the SHA-256 of their text. It holds accepted credentials only.
// When it is full, adding one evicts an arbitrary other.
type callerCache struct {
	limit int
	mu    sync.RWMutex
	known map[[sha256.Size]byte]*cachedCredential // guarded by mu
}

func newCallerCache(limit int) *callerCache {
	return &callerCache{limit: limit, known: map[[sha256.Size]byte]*cachedCredential{}}
}

func (c *callerCache) get(d [sha256.Size]byte) (*cachedCredential, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, ok := c.known[d]
	return e, ok
}

// outsideTokenOf returns the subject's cached token that expires last among those valid at now; nil
// if it has none.
func (c *callerCache) outsideTokenOf(s access.Subject, now time.Time) (best *outsideToken) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, e := range c.known {
		if t := e.outside; t != nil && t.subject == s && t.checkTimes(now) == nil &&
			(best == nil || t.claims.Expires > best.claims.Expires) {
			best = t
		}
	}
	return best
}

func (c *callerCache) put(d [sha256.Size]byte, e *cachedCredential) {
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

func (c *callerCache) remove(d [sha256.Size]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, d)
}

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
