package identity_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// counted is a Store that counts how often keys are read.
type counted struct {
	identity.Store
	looks atomic.Int64
}

func (c *counted) KeyByID(ctx context.Context, id string) (identity.Key, bool, error) {
	c.looks.Add(1)
	return c.Store.KeyByID(ctx, id)
}

func (c *counted) KeyByHash(ctx context.Context, h identity.Hash) (identity.Key, bool, error) {
	c.looks.Add(1)
	return c.Store.KeyByHash(ctx, h)
}

// A cached credential is not read again for the time Poll, and then is; setting the clock back
// makes it be read again too.
func TestCachedCredentialIsReloadedAfterPoll(t *testing.T) {
	const poll = time.Hour // of time that only the test moves
	var store *counted
	f := newFixture(t, func(c *identity.Config) {
		store = &counted{Store: c.Store}
		c.Store, c.Poll = store, poll
	})
	_, secret := f.key(identity.KeySpec{})
	play, _ := f.play(identity.PlaySpec{})
	for name, ask := range map[string]func() error{
		"a key":        func() error { _, err := f.caller(secret); return err },
		"a play token": func() error { _, err := f.playing(play); return err },
	} {
		begun := store.looks.Load()
		for i, step := range []struct {
			pass  time.Duration
			looks int64
		}{{0, 1}, {0, 1}, {poll - 1, 1}, {1, 2}, {0, 2}, {-time.Nanosecond, 3}} {
			f.add(step.pass)
			if err := ask(); err != nil {
				t.Fatal(err)
			}
			if n := store.looks.Load() - begun; n != step.looks {
				t.Errorf("%s: after step %d it was looked at %d times, want %d", name, i, n, step.looks)
			}
		}
	}
}

// The cache never exceeds its limit; an evicted credential is only read again.
func TestCacheIsBounded(t *testing.T) {
	f := newFixture(t, func(c *identity.Config) { c.Cache = 3 })
	var secrets []string
	for range 8 {
		_, s := f.key(identity.KeySpec{})
		secrets = append(secrets, s)
	}
	for round := range 2 {
		for i, s := range secrets {
			if _, err := f.caller(s); err != nil {
				t.Fatal(err)
			}
			want := 3
			if round == 0 {
				want = min(i+1, 3)
			}
			if n := identity.Remembered(f.Service); n != want {
				t.Errorf("round %d, after %d: %d are remembered, want %d", round, i+1, n, want)
			}
		}
	}
	k, secret := f.key(identity.KeySpec{})
	if _, err := f.caller(secret); err != nil {
		t.Fatal(err)
	}
	if err := f.RevokeKey(context.Background(), k.ID); err != nil {
		t.Fatal(err)
	}
	_, err := f.caller(secret)
	wantRefused(t, err, identity.ErrInvalid)
	if n := identity.Remembered(f.Service); n != 2 {
		t.Errorf("one of three was refused, and %d are remembered", n)
	}
}

// An outside token that is cached expires like one that is not.
func TestCachedOutsideTokenExpires(t *testing.T) {
	a := newOutsideFixture(t)
	token := signed(rsaKeys()[0], foreignHeader, a.claims())
	if _, err := a.caller(token); err != nil {
		t.Fatal(err)
	}
	a.add(time.Hour + identity.Leeway - time.Second)
	if _, err := a.caller(token); err != nil {
		t.Errorf("within the leeway: %v", err)
	}
	a.add(time.Second)
	for range 2 {
		c, err := a.caller(token)
		wantRefused(t, err, identity.ErrExpired)
		if c.Subject != "" {
			t.Errorf("a refusal came with %+v", c)
		}
	}
}

// Work that runs later for an outside subject has that subject's rights: not those of another
// subject whose token is cached, and by the token that expires last.
func TestOutsideCallersAreDistinguished(t *testing.T) {
	a := newOutsideFixture(t)
	_, local := a.key(identity.KeySpec{})
	if _, err := a.caller(local); err != nil {
		t.Fatal(err)
	}
	sign := func(sub, role string, hours int) {
		t.Helper()
		token := signed(rsaKeys()[0], foreignHeader, a.claims("sub", `"`+sub+`"`, "exp",
			seconds(start.Add(time.Duration(hours)*time.Hour)), "realm_access", `{"roles":["`+role+`"]}`))
		if _, err := a.caller(token); err != nil {
			t.Fatal(err)
		}
	}
	sign("anna", "players", 4)
	sign("bert", "masters", 9)
	sign("carl", "masters", 2)
	sign("carl", "players", 3)
	sign("carl", "masters", 1)
	for range 30 { // the cache has no order
		for who, want := range map[access.Subject]access.Role{"kc:anna": user, "kc:bert": gm, "kc:carl": user,
			"kc:dora": none} {
			if c, ok, err := a.OutsideCaller(context.Background(), who); err != nil || !ok || c.Subject != who ||
				c.Role(mainWorld) != want {
				t.Fatalf("%s: %+v, %v; want %s", who, c, err, want)
			}
		}
	}
}

// Work that a key's holder requested runs later with the rights of that time, or not at all.
func TestCallerOf(t *testing.T) {
	f := newFixture(t)
	ctx := context.Background()
	ending, _ := f.key(identity.KeySpec{Expires: start.Add(time.Hour)})
	k, _ := f.key(identity.KeySpec{})
	c, err := f.CallerOf(ctx, k.ID)
	if err != nil || c.Key != k.ID || c.Subject != "anna" || c.Role(mainWorld) != gm {
		t.Errorf("%+v, %v", c, err)
	}
	f.join("anna", mainWorld, user)
	if c, err = f.CallerOf(ctx, k.ID); err != nil || c.Role(mainWorld) != user {
		t.Errorf("lowered since: %+v, %v", c, err)
	}
	if _, err := f.CallerOf(ctx, ending.ID); err != nil {
		t.Errorf("before its end: %v", err)
	}
	f.add(time.Hour)
	if err := f.RevokeKey(ctx, k.ID); err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]string{"revoked": k.ID, "expired": ending.ID, "of nobody": "id-999"} {
		if c, err := f.CallerOf(ctx, id); !errors.Is(err, fault.Denied) || c.Subject != "" || c.Roles != nil {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	f.store.Fail(errors.New("disk"))
	if _, err := f.CallerOf(ctx, k.ID); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a store that fails: %v", err)
	}
}

// A token lives no longer than Life, even if its key lives much longer.
func TestALongLivedKeysToken(t *testing.T) {
	f := newFixture(t)
	for name, expires := range map[string]time.Time{"never": {}, "tomorrow": start.Add(24 * time.Hour),
		"a second later": start.Add(identity.DefaultLife + time.Second)} {
		_, secret := f.key(identity.KeySpec{Expires: expires})
		i, err := f.Exchange(context.Background(), secret, gm, "")
		if err != nil || i.ExpiresIn != 1800 || !i.ExpiresAt.Equal(start.Add(identity.DefaultLife)) {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	f.add(300 * time.Millisecond)
	_, secret := f.key(identity.KeySpec{})
	i, err := f.Exchange(context.Background(), secret, gm, "")
	if c, failed := f.caller(i.Token); err != nil || failed != nil ||
		!i.ExpiresAt.Equal(start.Add(identity.DefaultLife)) || !c.TokenExpires.Equal(i.ExpiresAt) {
		t.Errorf("within a second: %+v, %v, %v", i, err, failed)
	}
}

// An operator's key opens every world that exists.
func TestOperatorTokenWithoutWorld(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{MaxRole: admin, Worlds: roles{}, Operator: true})
	for _, world := range []string{"nowhere", " ", access.WorldID{}.String(), access.WorldID{99}.String()} {
		if i, err := f.Exchange(context.Background(), secret, admin, world); !errors.Is(err, fault.NotFound) ||
			i.Token != "" {
			t.Errorf("%q: %+v, %v", world, i, err)
		}
	}
	if i, err := f.Exchange(context.Background(), secret, admin+1, ""); !errors.Is(err, fault.Invalid) || i.Token != "" {
		t.Errorf("a role above all: %+v, %v", i, err)
	}
}

// A play token for a seat opens the operations declared for players, on every surface.
func TestASeatsPlayTokenOpensEverySurfaceForPlayers(t *testing.T) {
	f := newFixture(t)
	token, _ := f.play(identity.PlaySpec{Seat: "g1/p2"})
	if c, err := f.playing(token); err != nil || len(c.Surfaces) != 0 || !c.MayUse("game", "make_move") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestTheBoundsOfAKey(t *testing.T) {
	many := roles{}
	for i := range 1000 {
		many[access.WorldID{1, byte(i), byte(i >> 8)}] = user
	}
	f := newFixture(t)
	spec := identity.KeySpec{Name: "n", Subject: "anna", MaxRole: gm, Worlds: many, Surfaces: words(32),
		Operations: words(256),
		RateClass:  strings.Repeat("a", 64), Expires: start.Add(1)}
	k, _, err := f.CreateKey(context.Background(), spec)
	if err != nil || len(k.Worlds) != 1000 || len(k.Surfaces) != 32 || len(k.Operations) != 256 {
		t.Errorf("the most of everything: %v", err)
	}
	many[otherWorld], spec.Surfaces[0] = admin, "changed"
	if again, _, _ := f.store.KeyByID(context.Background(), k.ID); again.Worlds[otherWorld] != none ||
		again.Surfaces[0] == "changed" {
		t.Error("the key changes with the spec that it was made of")
	}
	plain, _, err := f.CreateKey(context.Background(), identity.KeySpec{Name: "n", Subject: "anna", MaxRole: gm})
	if err != nil || len(plain.Surfaces) != 0 || len(plain.Operations) != 0 || plain.Actor != access.AI {
		t.Errorf("a key of which little is said: %+v, %v", plain, err)
	}
	for _, word := range []string{"a", "z", "0", "9", "_", "-", ".", "a.b-c_9"} {
		if _, _, err := f.CreateKey(context.Background(),
			identity.KeySpec{Name: "n", Subject: "anna", MaxRole: gm, RateClass: word}); err != nil {
			t.Errorf("%q: %v", word, err)
		}
	}
	for _, word := range []string{"A", "{", "`", "/", ":", "é", "a ", strings.Repeat("a", 65)} {
		if _, _, err := f.CreateKey(context.Background(),
			identity.KeySpec{Name: "n", Subject: "anna", MaxRole: gm, RateClass: word}); !errors.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", word, err)
		}
	}
}

// No value put into a challenge ends its quotes or its line.
func TestAChallengeIsOneLine(t *testing.T) {
	err := fault.New(fault.Unauthorized, "x")
	got := identity.Challenge(err, identity.Style{Metadata: "https://a~ \x1f\r\n\"\\\x7f\u00e9\u2028b"})
	if want := `Bearer error="invalid_token", resource_metadata="https://a~ b", scope="user"`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
