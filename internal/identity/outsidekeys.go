package identity

import (
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

// When keys are fetched, and how much of an answer is read.
const (
	keysFresh    = time.Hour       // a set is fetched again when it is older
	keysPause    = time.Minute     // and not sooner than this after the last attempt, whatever tokens name
	keysFirst    = 5 * time.Second // the same where there is no set yet
	fetchWithin  = 5 * time.Second
	maxFetched   = 256 << 10
	maxOutsiders = 200 // keys of a set
	leastRSA     = 2048
	mostRSA      = 8192
)

// outsideKeys holds the keys that an outside issuer publishes. A fetch that fails leaves
// the set that was there.
type outsideKeys struct {
	issuer Issuer
	client *http.Client
	log    *slog.Logger

	set      atomic.Pointer[keySet] // nil until it was fetched once
	fetching sync.Mutex             // lets one goroutine at a time fetch; guards found
	found    string                 // where discovery says that the set is

	mu     sync.Mutex
	tried  time.Time // guarded by mu; zero for never
	failed error     // of the last attempt. Guarded by mu
}

// keySet is what was fetched at once. It is not changed once it is shared.
type keySet struct {
	keys    map[keyName]any // *rsa.PublicKey or *ecdsa.PublicKey
	fetched time.Time
}

// keyName is a key's id and what it verifies.
type keyName struct{ kid, alg string }

func newOutsideKeys(i Issuer, c Config) *outsideKeys {
	return &outsideKeys{issuer: i, client: outsideClient(c.Fetch), log: c.Logger, found: i.KeysURL}
}

// verifier finds the public key of a kid for an algorithm. Where that key is known and
// its set old, one caller fetches and the others go on.
func (k *outsideKeys) verifier(ctx context.Context, name keyName, now time.Time) (any, error) {
	key := k.known(name)
	if k.due(key != nil, now) {
		if key == nil {
			k.fetching.Lock()
		} else if !k.fetching.TryLock() {
			return key, nil
		}
		if k.due(key != nil, now) {
			k.refresh(ctx, now)
		}
		k.fetching.Unlock()
		key = k.known(name)
	}
	if key != nil {
		return key, nil
	}
	if err := k.lastFailure(); err != nil {
		e := fault.New(fault.Unavailable, "the keys of the token's issuer cannot be fetched just now; try again shortly")
		e.RetryAfter = keysFirst
		return nil, e.Because(err)
	}
	return nil, refusedOutside(ErrInvalid, "unknown kid")
}

func (k *outsideKeys) known(name keyName) any {
	if set := k.set.Load(); set != nil {
		return set.keys[name]
	}
	return nil
}

// due reports whether the set is to be fetched before a key is judged: known says whether
// there is one by its name.
func (k *outsideKeys) due(known bool, now time.Time) bool {
	set := k.set.Load()
	if known && now.Sub(set.fetched) < keysFresh {
		return false
	}
	pause := keysPause
	if set == nil {
		pause = keysFirst
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

// refresh fetches the set. A caller who goes away does not take the fetch along, as
// others wait for it. The caller holds fetching.
func (k *outsideKeys) refresh(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*fetchWithin)
	defer cancel()
	keys, err := k.fetch(ctx)
	if err == nil {
		k.set.Store(&keySet{keys: keys, fetched: now})
	} else {
		k.log.Error("the keys of an outside issuer cannot be fetched; those known stay in use", "issuer", k.issuer.Name, "error", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.failed = now, err
}

func (k *outsideKeys) fetch(ctx context.Context) (map[keyName]any, error) {
	if k.found == "" {
		found, err := k.discover(ctx)
		if err != nil {
			return nil, err
		}
		k.found = found
	}
	body, err := k.get(ctx, k.found)
	if err == nil {
		var keys map[keyName]any
		if keys, err = readKeys(body); err == nil {
			return keys, nil
		}
	}
	if k.issuer.KeysURL == "" {
		k.found = "" // it may have moved
	}
	return nil, err
}

// discover reads the issuer's OpenID configuration, which must be its own.
func (k *outsideKeys) discover(ctx context.Context) (string, error) {
	body, err := k.get(ctx, strings.TrimSuffix(k.issuer.Issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return "", err
	}
	var said struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return "", errors.New("its OpenID configuration is no JSON, or says something twice")
	}
	if said.Issuer != k.issuer.Issuer {
		return "", fmt.Errorf("its OpenID configuration is that of %q; configure the issuer as it names itself", short(said.Issuer))
	}
	if err := mayFetch(said.Keys); err != nil {
		return "", fmt.Errorf("jwks_uri: %w", err)
	}
	return said.Keys, nil
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
		return nil, fmt.Errorf("%s answers %s; redirects are not followed", address, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFetched+1))
	if err == nil && len(body) > maxFetched {
		err = fmt.Errorf("%s answers more than %d KiB", address, maxFetched>>10)
	}
	return body, err
}

// readKeys reads a key set (RFC 7517). Keys that are of no use here are left out, such as
// those for encryption, and so are two of one name, of which nobody can say which is meant.
func readKeys(body []byte) (map[keyName]any, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, errors.New("the key set is no JSON, or says something twice")
	}
	if len(set.Keys) > maxOutsiders {
		return nil, fmt.Errorf("the key set has more than %d keys", maxOutsiders)
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
		return nil, errors.New("the key set holds no RSA key of 2,048 bits or more and no P-256 key that has a kid and verifies signatures")
	}
	return keys, nil
}

// readKey reads a public key. What it verifies follows from what it is: a token cannot
// have an RSA key taken for a secret.
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
		if jwk.Export(k, &public) != nil || public.N.BitLen() < leastRSA || public.N.BitLen() > mostRSA {
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
