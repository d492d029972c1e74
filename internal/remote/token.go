package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"loregate/internal/access"
	"loregate/internal/fault"
)

const (
	leeway  = 30 * time.Second // tolerated clock difference, the same as the server's
	refresh = 2 * time.Minute  // a token is renewed when it has less time to live than this
)

// tokenBox holds the token in use and the keys it was verified with.
type tokenBox struct {
	mu      sync.Mutex // guards the fields below
	bearer  string
	expires time.Time
	keys    jwk.Set
}

func (b *tokenBox) get() (bearer string, expires time.Time, keys jwk.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bearer, b.expires, b.keys
}

func (b *tokenBox) put(bearer string, expires time.Time, keys jwk.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bearer, b.expires, b.keys = bearer, expires, keys
}

// currentToken returns a valid token. It gets a new one if the current one expires soon or is the
// refused one. Concurrent callers share one request.
func (e *Bridge) currentToken(ctx context.Context, refused string) (string, error) {
	have, expires, _ := e.token.get()
	now := e.cfg.Now()
	if have != "" && have != refused && now.Before(expires.Add(-refresh)) {
		return have, nil
	}
	// If this caller's ctx ends, the other callers must still get their token.
	done := e.fetch.DoChan("token", func() (any, error) { return nil, e.renewToken(context.WithoutCancel(ctx)) })
	var err error
	select {
	case r := <-done:
		err = r.Err
	case <-ctx.Done():
		return "", newUnreachable(ctx.Err())
	}
	if err != nil && fault.KindOf(err) == fault.Unavailable && have != "" && have != refused && now.Before(expires) {
		return have, nil // it is still valid for a short time
	}
	have, _, _ = e.token.get()
	return have, err
}

// renewToken exchanges the key for a token and verifies it.
func (e *Bridge) renewToken(ctx context.Context) error {
	ask := map[string]string{"api_key": e.cfg.Key, "role": e.cfg.Role.String()}
	if e.cfg.World != "" {
		ask["world"] = e.cfg.World
	}
	body, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	r, err := e.sendCall(ctx, &call{method: http.MethodPost, url: e.base + apiPath + "/auth", body: body,
		header: map[string]string{"Content-Type": "application/json"}})
	if err != nil {
		return err
	}
	if r.status != http.StatusCreated && r.status != http.StatusOK {
		return r.toFault(isObject(r.body))
	}
	var issued struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(r.body, &issued); err != nil || issued.Token == "" {
		return fault.New(fault.Unavailable, "the server returned no token; check that %s is the address of its API",
			e.base+apiPath)
	}
	expires, keys, err := e.verifyToken(ctx, issued.Token)
	if err != nil {
		return fault.New(fault.Unauthorized, "the server's token is not valid: %s; do not trust this address",
			oneLine(err)).Because(err)
	}
	e.token.put(issued.Token, expires, keys)
	return nil
}

// sendCall sends a request without a token, and sends it again while the server is unavailable.
func (e *Bridge) sendCall(ctx context.Context, c *call) (*reply, error) {
	for try, wait := 1, firstWait; ; try, wait = try+1, wait*2 {
		r, err := e.doRequest(ctx, c.method, c.url, c.header, c.body)
		pause, again := retryPause(r, err, wait)
		if !again || try == maxTries || pause > maxWait || ctx.Err() != nil {
			return r, err
		}
		if err := e.cfg.Sleep(ctx, pause); err != nil {
			return nil, newUnreachable(err)
		}
	}
}

// verifyToken verifies a token with the server's key set: signature, expiry, issuer and role.
func (e *Bridge) verifyToken(ctx context.Context, token string) (time.Time, jwk.Set, error) {
	kid, err := keyID(token)
	if err != nil {
		return time.Time{}, nil, err
	}
	_, _, keys := e.token.get()
	key, known := findKey(keys, kid)
	if !known {
		if keys, err = e.keySet(ctx); err != nil {
			return time.Time{}, nil, err
		}
		if key, known = findKey(keys, kid); !known {
			return time.Time{}, nil, fmt.Errorf("its key %q is not in the server's key set", kid)
		}
	}
	payload, err := jws.Verify([]byte(token), jws.WithKey(jwa.RS256(), key), jws.WithCompact())
	if err != nil {
		return time.Time{}, nil, errors.New("its signature is not valid")
	}
	expires, err := e.checkClaims(payload)
	return expires, keys, err
}

// keyID reads the key's id in a token's header. A token that is not signed with RS256 is refused
// before its key is looked up.
func keyID(token string) (string, error) {
	m, err := jws.Parse([]byte(token), jws.WithCompact())
	if err != nil || len(m.Signatures()) != 1 {
		return "", errors.New("it is not a signed token")
	}
	h := m.Signatures()[0].ProtectedHeaders()
	alg, _ := h.Algorithm()
	kid, ok := h.KeyID()
	if alg != jwa.RS256() || !ok || kid == "" {
		return "", errors.New("it is not signed with RS256 by a named key")
	}
	return kid, nil
}

func findKey(keys jwk.Set, kid string) (jwk.Key, bool) {
	if keys == nil {
		return nil, false
	}
	key, ok := keys.LookupKeyID(kid)
	return key, ok && key.KeyType() == jwa.RSA()
}

func (e *Bridge) keySet(ctx context.Context) (jwk.Set, error) {
	r, err := e.sendCall(ctx, &call{method: http.MethodGet, url: e.base + apiPath + "/.well-known/jwks.json"})
	if err != nil {
		return nil, err
	}
	keys, err := jwk.Parse(r.body)
	if r.status != http.StatusOK || err != nil {
		return nil, fmt.Errorf("the key set could not be read (%d)", r.status)
	}
	return keys, nil
}

// checkClaims checks a token's claims, and returns its expiry.
func (e *Bridge) checkClaims(payload []byte) (time.Time, error) {
	var c struct {
		Issuer  string `json:"iss"`
		Role    string `json:"role"`
		Expires int64  `json:"exp"`
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return time.Time{}, errors.New("its claims cannot be read")
	}
	expires := time.Unix(c.Expires, 0)
	role, ok := access.ParseRole(c.Role)
	switch {
	case c.Issuer != e.cfg.Issuer:
		return time.Time{}, fmt.Errorf("it is issued by %q and not by %q", c.Issuer, e.cfg.Issuer)
	case c.Expires <= 0 || !e.cfg.Now().Before(expires.Add(leeway)):
		return time.Time{}, errors.New("it is expired")
	case !ok || role != e.cfg.Role:
		return time.Time{}, fmt.Errorf("it has the role %q and not %q", c.Role, e.cfg.Role)
	}
	return expires, nil
}

func isObject(b []byte) bool { return len(b) > 0 && b[0] == '{' }

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
