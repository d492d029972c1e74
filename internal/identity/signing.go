package identity

import (
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"

	"loregate/internal/fault"
)

// keyring caches the signing keys of the store. Tokens with unknown kids cause at most one read of
// the store per second.
type keyring struct {
	cfg     Config
	state   atomic.Pointer[ringState]
	changes atomic.Uint64 // incremented when the store has changed
	loading sync.Mutex    // lets one goroutine at a time read the store or add a key
}

// ringState is the result of one read of the store. It is immutable once it is shared.
type ringState struct {
	keys    map[string]*ringKey
	latest  *ringKey // nil if there are no keys
	read    time.Time
	changes uint64 // the ring's changes before the store was read
}

// ringKey is a parsed signing key.
type ringKey struct {
	kid     string
	private *rsa.PrivateKey
	public  *rsa.PublicKey
	until   time.Time // zero for the key that signs
}

const ringPause = time.Second

func newKeyring(c Config) *keyring {
	r := &keyring{cfg: c}
	r.changes.Store(1)
	r.state.Store(&ringState{})
	return r
}

// markStale makes the ring read the store at its next use.
func (r *keyring) markStale() { r.changes.Add(1) }

// findVerifier returns the public key of a kid.
func (r *keyring) findVerifier(ctx context.Context, kid string, now time.Time) (*rsa.PublicKey, error) {
	if r.isDue(kid, now) {
		if err := r.refresh(ctx, kid, now); err != nil {
			return nil, newUnavailable(err)
		}
	}
	k := r.state.Load().keys[kid]
	if k == nil || !k.until.IsZero() && !now.Before(k.until) {
		return nil, newRefusal(ErrInvalid, "unknown kid")
	}
	return k.public, nil
}

// isDue reports whether the store must be read before the kid is looked up.
func (r *keyring) isDue(kid string, now time.Time) bool {
	st := r.state.Load()
	age := now.Sub(st.read)
	return st.changes != r.changes.Load() || st.keys[kid] == nil && (age < 0 || age >= ringPause)
}

// refresh reads the store unless another goroutine has just done so.
func (r *keyring) refresh(ctx context.Context, kid string, now time.Time) error {
	r.loading.Lock()
	defer r.loading.Unlock()
	if !r.isDue(kid, now) {
		return nil
	}
	return r.loadKeys(ctx, now)
}

// loadSigner reads the store and returns the key that signs. It creates the first key if there are
// none.
func (r *keyring) loadSigner(ctx context.Context) (*ringKey, error) {
	r.loading.Lock()
	defer r.loading.Unlock()
	if err := r.loadKeys(ctx, r.cfg.Now()); err != nil {
		return nil, newUnavailable(err)
	}
	if latest := r.state.Load().latest; latest != nil {
		return latest, nil
	}
	k, _, err := r.add(ctx)
	return k, err
}

// rotate adds a key after the latest one.
func (r *keyring) rotate(ctx context.Context) (k *ringKey, added bool, err error) {
	r.loading.Lock()
	defer r.loading.Unlock()
	return r.add(ctx)
}

// add creates a key that follows the latest known one, unless another process was first. It returns
// the key that signs afterwards, and reports whether that is the created one. The caller holds
// loading.
func (r *keyring) add(ctx context.Context) (*ringKey, bool, error) {
	k, err := r.generateKey()
	if err != nil {
		return nil, false, fmt.Errorf("identity: signing key: %w", err)
	}
	after := ""
	if latest := r.state.Load().latest; latest != nil {
		after = latest.kid
	}
	added, err := r.cfg.Store.AddSigningKey(ctx, k, after, k.Created.Add(r.cfg.Life+Leeway+ringPause))
	if err != nil {
		return nil, false, newUnavailable(err)
	}
	if err := r.loadKeys(ctx, k.Created); err != nil {
		return nil, false, newUnavailable(err)
	}
	latest := r.state.Load().latest
	if latest == nil {
		return nil, false, newUnavailable(errors.New("identity: the store kept no signing key"))
	}
	return latest, added, nil
}

func (r *keyring) generateKey() (SigningKey, error) {
	private, err := r.cfg.GenerateRSA()
	if err != nil {
		return SigningKey{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return SigningKey{}, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der})
	return SigningKey{KID: r.cfg.NewID(), PEM: text, Created: r.cfg.Now().UTC()}, nil
}

const pemType = "PRIVATE KEY"

// loadKeys reads the store. It does not parse again the keys that it has already parsed. The caller
// holds loading.
func (r *keyring) loadKeys(ctx context.Context, now time.Time) error {
	before := r.state.Load()
	st := &ringState{keys: map[string]*ringKey{}, read: now, changes: r.changes.Load()}
	all, err := r.cfg.Store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	for _, k := range all {
		if !k.Until.IsZero() && !now.Before(k.Until) {
			continue
		}
		one := &ringKey{kid: k.KID, until: k.Until}
		if old := before.keys[k.KID]; old != nil {
			one.private = old.private
		} else if one.private, err = parsePEM(k.PEM); err != nil {
			return err
		}
		one.public = &one.private.PublicKey
		st.keys[k.KID] = one
		st.latest = cmp.Or(st.latest, one)
	}
	r.state.Store(st)
	return nil
}

func parsePEM(b []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != pemType {
		return nil, errors.New("identity: a stored signing key is not PEM")
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("identity: a stored signing key: %w", err)
	}
	private, ok := k.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("identity: a stored signing key is not RSA")
	}
	return private, nil
}

// RotateSigningKey creates a new key that signs from now on, and returns its kid. The old key
// verifies until the last token that it signed has expired. fault.Conflict means that another
// process rotated at the same time.
func (s *Service) RotateSigningKey(ctx context.Context) (string, error) {
	if _, err := s.ring.loadSigner(ctx); err != nil {
		return "", err
	}
	k, added, err := s.ring.rotate(ctx)
	if err != nil {
		return "", err
	}
	if !added {
		return "", fault.New(fault.Conflict, "another process has just rotated the signing key; you need not do it again")
	}
	return k.kid, nil
}

// JWKS returns the JSON Web Key Set (RFC 7517) of all keys whose tokens may be in use, the signing
// key first. It creates the first key if there are none.
func (s *Service) JWKS(ctx context.Context) ([]byte, error) {
	if _, err := s.ring.loadSigner(ctx); err != nil {
		return nil, err
	}
	set := struct {
		Keys []jwk.Key `json:"keys"`
	}{}
	for _, k := range s.ring.state.Load().orderedKeys() {
		pub, err := publicJWK(k)
		if err != nil {
			return nil, err
		}
		set.Keys = append(set.Keys, pub)
	}
	return json.Marshal(set)
}

// orderedKeys returns the signing key first, then the others by descending end.
func (r *ringState) orderedKeys() []*ringKey {
	all := []*ringKey{r.latest}
	for _, k := range r.keys {
		if k != r.latest {
			all = append(all, k)
		}
	}
	slices.SortFunc(all[1:], func(a, b *ringKey) int {
		return cmp.Or(b.until.Compare(a.until), cmp.Compare(a.kid, b.kid))
	})
	return all
}

func publicJWK(k *ringKey) (jwk.Key, error) {
	pub, err := jwk.Import(k.public)
	if err != nil {
		return nil, fmt.Errorf("identity: JWKS: %w", err)
	}
	for name, value := range map[string]any{jwk.KeyIDKey: k.kid, jwk.AlgorithmKey: jwa.RS256(), jwk.KeyUsageKey: "sig"} {
		if err := pub.Set(name, value); err != nil {
			return nil, fmt.Errorf("identity: JWKS: %w", err)
		}
	}
	return pub, nil
}
