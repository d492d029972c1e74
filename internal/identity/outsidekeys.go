package identity

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"loregate/internal/fault"
)

// Times and sizes for fetching keys.
const (
	keysMaxAge       = time.Hour       // a set older than this is fetched again
	retryPause       = time.Minute     // the shortest time between two attempts, even if tokens name unknown kids
	firstRetryPause  = 5 * time.Second // retryPause while there is no set yet
	fetchTimeout     = 5 * time.Second
	maxResponseBytes = 256 << 10
	maxKeysInSet     = 200 // keys in a set
	minRSABits       = 2048
	maxRSABits       = 8192
)

// outsideKeys holds the keys that an outside issuer publishes. If a fetch fails, the previous set
// stays. docs/development.md says why jwk.Cache is not used.
type outsideKeys struct {
	issuer Issuer
	client *http.Client
	log    *slog.Logger

	set      atomic.Pointer[keySet] // nil until the first successful fetch
	fetching sync.Mutex             // lets one goroutine at a time fetch; guards found
	found    string                 // address of the set from discovery or configuration

	mu     sync.Mutex
	tried  time.Time // guarded by mu; zero for never
	failed error     // error of the last attempt. Guarded by mu
}

// keySet is the result of one fetch. It is immutable once it is shared.
type keySet struct {
	keys    map[keyName]any // *rsa.PublicKey or *ecdsa.PublicKey
	said    metadata        // the zero value if people do not sign in by the issuer
	fetched time.Time
}

// metadata has the members in use of an issuer's OpenID configuration (OpenID Connect Discovery 1.0, section 3).
type metadata struct {
	Issuer    string   `json:"issuer"`
	Keys      string   `json:"jwks_uri"`
	Authorize string   `json:"authorization_endpoint"`
	Token     string   `json:"token_endpoint"`
	TokenAuth []string `json:"token_endpoint_auth_methods_supported"`
	SendsIss  bool     `json:"authorization_response_iss_parameter_supported"` // RFC 9207
}

// keyName identifies a key by its id and the algorithm that it verifies.
type keyName struct{ kid, alg string }

func newOutsideKeys(i Issuer, c Config) *outsideKeys {
	return &outsideKeys{issuer: i, client: outsideClient(c.Fetch), log: c.Logger, found: i.KeysURL}
}

// findVerifier returns the public key of a kid for an algorithm. If the key is known but its set is
// old, one caller fetches the set and the others use the old key.
func (k *outsideKeys) findVerifier(ctx context.Context, name keyName, now time.Time) (any, error) {
	k.refreshIfDue(ctx, k.knownKey(name) != nil, now)
	if key := k.knownKey(name); key != nil {
		return key, nil
	}
	if err := k.lastFailure(); err != nil {
		e := fault.New(fault.Unavailable, "the keys of the token's issuer cannot be fetched now; try again shortly")
		e.RetryAfter = firstRetryPause
		return nil, e.Because(err)
	}
	return nil, newOutsideRefusal(ErrInvalid, "unknown kid")
}

// findMetadata returns the issuer's OpenID configuration, which is fetched together with its keys.
func (k *outsideKeys) findMetadata(ctx context.Context, now time.Time) (metadata, error) {
	k.refreshIfDue(ctx, k.set.Load() != nil, now)
	if set := k.set.Load(); set != nil {
		return set.said, nil
	}
	return metadata{}, k.issuer.newOutage(k.lastFailure())
}

// refreshIfDue fetches the set if it must be fetched first. If the caller can do with the known set, it does not wait
// for another caller's fetch.
func (k *outsideKeys) refreshIfDue(ctx context.Context, known bool, now time.Time) {
	if !k.isDue(known, now) {
		return
	}
	if !known {
		k.fetching.Lock()
	} else if !k.fetching.TryLock() {
		return
	}
	defer k.fetching.Unlock()
	if k.isDue(known, now) {
		k.refresh(ctx, now)
	}
}

func (k *outsideKeys) knownKey(name keyName) any {
	if set := k.set.Load(); set != nil {
		return set.keys[name]
	}
	return nil
}

// isDue reports whether the set must be fetched first. known reports whether the set contains the
// key.
func (k *outsideKeys) isDue(known bool, now time.Time) bool {
	set := k.set.Load()
	if known && now.Sub(set.fetched) < keysMaxAge {
		return false
	}
	pause := retryPause
	if set == nil {
		pause = firstRetryPause
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tried.IsZero() || now.Sub(k.tried) >= pause
}

func (k *outsideKeys) lastFailure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

// refresh fetches the set. The fetch continues when the caller's ctx is cancelled, since others
// wait for it. The caller holds fetching.
func (k *outsideKeys) refresh(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*fetchTimeout)
	defer cancel()
	set, err := k.fetchSet(ctx)
	if err == nil {
		set.fetched = now
		k.set.Store(&set)
	} else {
		k.log.Error("the keys of an outside issuer cannot be fetched; the known keys stay in use", "issuer", k.issuer.Name,
			"error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failed = now, err
}

func (k *outsideKeys) fetchSet(ctx context.Context) (set keySet, err error) {
	if k.found == "" || k.issuer.SignIn.ClientID != "" {
		if set.said, err = k.discover(ctx); err != nil {
			return set, err
		}
		k.found = cmp.Or(k.issuer.KeysURL, set.said.Keys)
	}
	body, err := k.get(ctx, k.found)
	if err == nil {
		if set.keys, err = readKeys(body); err == nil {
			return set, nil
		}
	}
	if k.issuer.KeysURL == "" {
		k.found = "" // it may have moved
	}
	return set, err
}

// discover reads the issuer's OpenID configuration, whose issuer must match.
func (k *outsideKeys) discover(ctx context.Context) (said metadata, err error) {
	body, err := k.get(ctx, strings.TrimSuffix(k.issuer.Issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return said, err
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return said, errors.New("its OpenID configuration is not JSON, or has a member twice or of another type")
	}
	if said.Issuer != k.issuer.Issuer {
		return said, fmt.Errorf("its OpenID configuration has the issuer %q; set the issuer to that name",
			shortenAddress(said.Issuer))
	}
	needed := map[string]string{"jwks_uri": said.Keys}
	if k.issuer.SignIn.ClientID != "" {
		needed["authorization_endpoint"], needed["token_endpoint"] = said.Authorize, said.Token
	}
	for name, address := range needed {
		if err := checkFetchable(address); err != nil && (name != "jwks_uri" || k.issuer.KeysURL == "") {
			return said, fmt.Errorf("%s: %w", name, err)
		}
	}
	return said, nil
}

func (k *outsideKeys) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	res, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with %s; redirects are not followed", address, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponseBytes+1))
	if err == nil && len(body) > maxResponseBytes {
		err = fmt.Errorf("%s answers with more than %d KiB", address, maxResponseBytes>>10)
	}
	return body, err
}

// readKeys reads a key set (RFC 7517). It leaves out keys that cannot be used here, such as those
// for encryption, and keys that share a name with another, since the name would be ambiguous.
func readKeys(body []byte) (map[keyName]any, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the key set is not JSON, or has a member twice")
	}
	if len(set.Keys) > maxKeysInSet {
		return nil, fmt.Errorf("the key set has more than %d keys", maxKeysInSet)
	}
	keys, seen := map[keyName]any{}, map[keyName]bool{}
	for _, raw := range set.Keys {
		name, key, ok := readKey(raw)
		if !ok {
			continue
		}
		if seen[name] {
			delete(keys, name)
			continue
		}
		seen[name], keys[name] = true, key
	}
	if len(keys) == 0 {
		return nil, errors.New("the key set contains no RSA key of 2,048 bits or more and no P-256 key with a kid for " +
			"verifying signatures")
	}
	return keys, nil
}

// readKey reads a public key. The algorithm follows from the key's type, so a token cannot have an
// RSA key used as an HMAC secret.
func readKey(raw []byte) (name keyName, key any, ok bool) {
	k, err := jwk.ParseKey(raw)
	if err != nil {
		return name, nil, false
	}
	kid, _ := k.KeyID()
	if use, has := k.KeyUsage(); has && use != "sig" || kid == "" || len(kid) > maxKID {
		return name, nil, false
	}
	name.kid = kid
	switch k.KeyType() {
	case jwa.RSA():
		var public rsa.PublicKey
		if jwk.Export(k, &public) != nil || public.N.BitLen() < minRSABits || public.N.BitLen() > maxRSABits {
			return name, nil, false
		}
		name.alg, key = jwa.RS256().String(), &public
	case jwa.EC():
		var public ecdsa.PublicKey
		if jwk.Export(k, &public) != nil || public.Curve != elliptic.P256() {
			return name, nil, false
		}
		name.alg, key = jwa.ES256().String(), &public
	default:
		return name, nil, false
	}
	if alg, has := k.Algorithm(); has && alg.String() != name.alg {
		return name, nil, false
	}
	return name, key, true
}
