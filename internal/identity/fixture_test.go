package identity_test

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
)

// The two worlds that every fixture has.
var (
	mainWorld  = access.WorldID{1}
	otherWorld = access.WorldID{2}
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rsaKeys are generated once: generating one takes a tenth of a second.
var rsaKeys = sync.OnceValue(func() []*rsa.PrivateKey {
	keys := make([]*rsa.PrivateKey, 4)
	for i := range keys {
		k, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		keys[i] = k
	}
	return keys
})

// fixture is a Service over an in-memory store; the test controls time, ids and randomness. Ids
// count up from "id-1"; signing keys are rsaKeys in turn.
type fixture struct {
	*identity.Service
	t      testing.TB
	store  *identitytest.Store
	worlds *identitytest.Worlds
	ids    *counter
	rsa    *counter
	mu     sync.Mutex
	at     time.Time
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}

func newFixture(t testing.TB, change ...func(*identity.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, store: &identitytest.Store{}, worlds: &identitytest.Worlds{}, ids: &counter{}, rsa: &counter{},
		at: start}
	f.worlds.Add("main", mainWorld)
	f.worlds.Add("other", otherWorld)
	f.Service = f.another(change...)
	return f
}

// another returns a second process's Service over the same store.
func (f *fixture) another(change ...func(*identity.Config)) *identity.Service {
	f.t.Helper()
	c := identity.Config{
		Store: f.store, Worlds: f.worlds, Joiner: f.worlds, AllowKeyAsBearer: true, Now: f.now,
		Random: mathrand.NewChaCha8([32]byte{byte(f.ids.n)}),
		NewID:  func() string { return "id-" + strconv.Itoa(f.ids.next()) },
		GenerateRSA: func() (*rsa.PrivateKey, error) {
			keys := rsaKeys()
			return keys[(f.rsa.next()-1)%len(keys)], nil
		},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, f := range change {
		f(&c)
	}
	s, err := identity.New(c)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(s.Close)
	return s
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

func (f *fixture) add(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(d)
}

// key creates a key; fields missing from the spec are those of a person's GM key for the main
// world.
func (f *fixture) key(spec identity.KeySpec) (identity.Key, string) {
	f.t.Helper()
	if spec.Name == "" {
		spec.Name = "a key"
	}
	if spec.Subject == "" {
		spec.Subject = "anna"
	}
	if spec.Actor == "" {
		spec.Actor = access.Person
	}
	if spec.MaxRole == access.RoleNone {
		spec.MaxRole = access.RoleGM
	}
	if spec.Worlds == nil {
		spec.Worlds = map[access.WorldID]access.Role{mainWorld: spec.MaxRole}
	}
	k, secret, err := f.CreateKey(context.Background(), spec)
	if err != nil {
		f.t.Fatal(err)
	}
	return k, secret
}

// token exchanges an API key.
func (f *fixture) token(secret string, role access.Role, world string) string {
	f.t.Helper()
	i, err := f.Exchange(context.Background(), secret, role, world)
	if err != nil {
		f.t.Fatal(err)
	}
	return i.Token
}

func (f *fixture) join(s access.Subject, w access.WorldID, r access.Role) {
	f.t.Helper()
	if err := f.worlds.Join(context.Background(), identity.Membership{World: w, Subject: s, Role: r}, ""); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) caller(bearer string) (access.Caller, error) {
	return f.Authenticate(context.Background(), bearer, "")
}

// wantRefused checks that a credential is refused as fault.Unauthorized, for the given reason.
func wantRefused(t testing.TB, err, reason error) {
	t.Helper()
	if !isReason(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
}

func isReason(err, reason error) bool {
	return fault.KindOf(err) == fault.Unauthorized && strings.Contains(fmt.Sprint(err), reason.Error())
}

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// signed returns a compact token of raw header and claims, made without the product's code.
func signed(k *rsa.PrivateKey, header, claims string) string {
	text := b64(header) + "." + b64(claims)
	sum := sha256.Sum256([]byte(text))
	sig, err := rsa.SignPKCS1v15(nil, k, crypto.SHA256, sum[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(sig)
}

func bigText(i *big.Int) string { return base64.RawURLEncoding.EncodeToString(i.Bytes()) }

func faultOf(err error) *fault.Error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return nil
	}
	return f
}
