package identity

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// AudienceGrant is the audience of grants: keys that people gave to clients by consent. A grant has no
// secret of its own. Its access tokens name it, and are accepted at the one resource that the person
// consented to.
const AudienceGrant = "grant"

// The audiences of the secrets of a grant. They open nothing themselves.
const (
	audienceCode    = "oauth-code"
	audienceRefresh = "oauth-refresh"
)

// Lives of the secrets of a grant.
const (
	CodeLife    = time.Minute
	RefreshLife = 60 * 24 * time.Hour
	AccessLife  = time.Hour
)

// OAuthKey binds a code, a refresh token or a grant to its client and its resource.
type OAuthKey struct {
	Client    string `json:"client"` // hash of the client's id
	Redirect  string `json:"redirect,omitempty"`
	Challenge string `json:"challenge,omitempty"` // base64url(SHA-256(verifier)), RFC 7636 S256
	Resource  string `json:"resource"`            // RFC 8707
}

// Consent holds the rights that a person gave to a client.
type Consent struct {
	Client    string // its id
	Redirect  string
	Challenge string
	Resource  string
	Rights    KeySpec // Worlds, MaxRole, Surfaces, Advisory and ReadOnly
	// Person and Session are the subject and the key of the person who consents.
	Person  access.Subject
	Session string
}

// Tokens is the answer to a client (RFC 6749, section 5.1).
type Tokens struct {
	Access  string `json:"access_token"`
	Type    string `json:"token_type"`
	Seconds int    `json:"expires_in"`
	Refresh string `json:"refresh_token"`
	Scope   string `json:"scope"`
}

// LeastScope is the only scope that clients are told of, since they ask for all that they see. The rights
// of a grant are those that the person chose.
const LeastScope = "user"

// ErrGrant is returned for a code or a refresh token that is not accepted, for any reason.
var ErrGrant = errors.New("identity: the code or refresh token is unknown, used, expired or for another client")

// CreateCode stores a person's consent and returns the code that the client exchanges for tokens. The
// grant's program has a subject of its own, so that the person can decide on its proposals; its roles are at
// most those of the person's memberships, and it ends with the API key that the person signed in with, if
// any. The errors are those of CreateKey.
func (s *Service) CreateCode(ctx context.Context, c Consent) (code string, err error) {
	client, err := s.FindClient(ctx, c.Person, c.Client)
	if err != nil {
		return "", err
	}
	now, spec := s.cfg.Now().UTC(), c.Rights.normalize()
	if spec.Subject, err = s.NewSubject(client.Name); err != nil {
		return "", err
	}
	spec.Name, spec.Actor, spec.CreatedBy, spec.Behalf = client.Name, access.AI, c.Person, c.Person
	spec.Approve, spec.Operator, spec.Expires = false, false, now.Add(CodeLife)
	if err := spec.checkFields(now); err != nil {
		return "", err
	}
	session, ok, err := s.cfg.Store.KeyByID(ctx, c.Session)
	if err != nil {
		return "", newUnavailable(err)
	}
	if ok {
		spec.MadeWith = session.MadeWith
	}
	spec.Audience = audienceCode
	spec.OAuth = &OAuthKey{clientHash(c.Client), c.Redirect, c.Challenge, c.Resource}
	_, code, err = s.addSecret(ctx, grantCodePrefix, s.cfg.NewID(), spec)
	return code, err
}

// RedeemCode exchanges a code for tokens, once. A code that comes a second time ends the grant of the first
// (RFC 6749, section 4.1.2). A code is spent even if the other values do not fit. The error is ErrGrant.
func (s *Service) RedeemCode(ctx context.Context, client, code, redirect, verifier, resource string) (Tokens, error) {
	k, err := s.spend(ctx, grantCodePrefix, code)
	if err != nil {
		return Tokens{}, err
	}
	o := *k.OAuth
	if o.Client != clientHash(client) || o.Redirect != redirect || resource != "" && resource != o.Resource ||
		!isVerifier(verifier, o.Challenge) {
		return Tokens{}, ErrGrant
	}
	spec := k.KeySpec
	spec.Audience, spec.Expires = AudienceGrant, time.Time{}
	spec.OAuth = &OAuthKey{Client: o.Client, Redirect: o.Redirect, Resource: o.Resource}
	grant, _, err := s.addSecret(ctx, grantCodePrefix, grantOf(k), spec)
	if errors.Is(err, ErrExists) {
		return Tokens{}, s.endFamily(ctx, k)
	}
	if err != nil {
		return Tokens{}, err
	}
	return s.issueGrant(ctx, grant, s.cfg.NewID())
}

// isVerifier checks a code verifier (RFC 7636, section 4.6).
func isVerifier(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// grantOf returns the id of the grant that a code or a refresh token belongs to.
func grantOf(k Key) string {
	if k.Audience == audienceRefresh {
		return k.MadeWith
	}
	return k.ID + "-grant"
}

// spend revokes a code or a refresh token and returns it. If it was revoked before, somebody else has it too,
// so the grant is ended.
func (s *Service) spend(ctx context.Context, prefix, secret string) (Key, error) {
	h, ok := secretHash(prefix, secret)
	if !ok {
		return Key{}, ErrGrant
	}
	k, ok, err := s.cfg.Store.KeyByHash(ctx, h)
	if err != nil {
		return k, newUnavailable(err)
	}
	if !ok || !sameHash(k.Hash, h) || k.OAuth == nil {
		return k, ErrGrant
	}
	now := s.cfg.Now().UTC()
	if !k.Revoked.IsZero() {
		return k, s.endFamily(ctx, k)
	}
	// Each exchange leaves a row, so a client that refreshes without end would fill the store.
	if err := access.CountAttempt(s.cfg.Limiter, "grant:"+grantOf(k)); err != nil {
		return k, err
	}
	if _, err := s.cfg.Store.RevokeKey(ctx, k.ID, now); err != nil {
		return k, newUnavailable(err)
	}
	if !k.Good(now) || errors.Is(s.checkMaker(ctx, k), fault.Unauthorized) {
		return k, ErrGrant
	}
	return k, nil
}

// endFamily ends the grant of a code or refresh token, and with it all of its tokens. It returns ErrGrant.
func (s *Service) endFamily(ctx context.Context, k Key) error {
	if err := s.RevokeKey(ctx, grantOf(k)); err != nil && !errors.Is(err, fault.NotFound) {
		return err
	}
	return ErrGrant
}

// issueGrant returns new tokens of a grant. id is that of the refresh token.
func (s *Service) issueGrant(ctx context.Context, grant Key, id string) (Tokens, error) {
	now := s.cfg.Now().UTC()
	spec := KeySpec{Name: grant.Name, Subject: grant.Subject, Actor: access.AI, Audience: audienceRefresh,
		Expires: now.Add(RefreshLife), MadeWith: grant.ID, OAuth: grant.OAuth}
	_, refresh, err := s.addSecret(ctx, refreshPrefix, id, spec)
	if errors.Is(err, ErrExists) {
		return Tokens{}, s.endFamily(ctx, Key{KeySpec: spec})
	}
	if err != nil {
		return Tokens{}, err
	}
	issued, err := s.signFor(ctx, grant, tokenTerms{grant.MaxRole, access.WorldID{}, audience{grant.OAuth.Resource},
		AccessLife}, now)
	if err != nil {
		return Tokens{}, err
	}
	return Tokens{issued.Token, issued.TokenType, issued.ExpiresIn, refresh, LeastScope}, nil
}

// RefreshGrant exchanges a refresh token for new tokens. A refresh token that comes a second time ends its
// grant (OAuth 2.1, section 4.3.1). The error is ErrGrant.
func (s *Service) RefreshGrant(ctx context.Context, client, refresh, resource string) (Tokens, error) {
	k, err := s.spend(ctx, refreshPrefix, refresh)
	if err != nil {
		return Tokens{}, err
	}
	if k.OAuth.Client != clientHash(client) || resource != "" && resource != k.OAuth.Resource {
		return Tokens{}, s.endFamily(ctx, k)
	}
	grant, ok, err := s.cfg.Store.KeyByID(ctx, k.MadeWith)
	if err != nil {
		return Tokens{}, newUnavailable(err)
	}
	if !ok || !grant.Good(s.cfg.Now()) || s.checkMaker(ctx, grant) != nil {
		return Tokens{}, ErrGrant
	}
	// The id of the next token follows from this one's, so that a second exchange fails in the store, in
	// whichever process it happens.
	sum := sha256.Sum256([]byte(k.ID))
	return s.issueGrant(ctx, grant, "r-"+hex.EncodeToString(sum[:12]))
}

// EndGrant ends the grant that a refresh token or an access token belongs to (RFC 7009). An unknown token is
// no error.
func (s *Service) EndGrant(ctx context.Context, client, token string) error {
	id := ""
	if h, ok := secretHash(refreshPrefix, token); ok {
		k, ok, err := s.cfg.Store.KeyByHash(ctx, h)
		if err != nil {
			return newUnavailable(err)
		}
		if ok && sameHash(k.Hash, h) {
			id = k.MadeWith
		}
	} else {
		c, err := s.verifyToken(ctx, token, s.cfg.Now())
		switch {
		case err == nil:
			id = c.Key
		case fault.KindOf(err).IsOurs():
			return err
		}
	}
	if id == "" {
		return nil
	}
	k, ok, err := s.cfg.Store.KeyByID(ctx, id)
	if err != nil {
		return newUnavailable(err)
	}
	if !ok || k.Audience != AudienceGrant || k.OAuth.Client != clientHash(client) {
		return nil
	}
	return s.RevokeKey(ctx, id)
}

// Grants lists the grants of a person that have not ended, by creation, without their hashes.
func (s *Service) Grants(ctx context.Context, person access.Subject) (open []Key, err error) {
	all, err := s.listKeys(ctx, AudienceGrant)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(k Key) bool {
		return k.Behalf != person || !k.Good(s.cfg.Now()) || s.checkMaker(ctx, k) != nil
	}), nil
}
