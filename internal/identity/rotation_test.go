package identity_test

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/wait"
)

// A key that another process rotated away ends here too, even if no request makes the keyring read
// the store: a stolen key cannot sign valid tokens after that.
func TestAKeyThatWasRotatedElsewhereEnds(t *testing.T) {
	bubble(t, func(f *fixture, there *identity.Service) {
		ctx := context.Background()
		k, secret := f.key(identity.KeySpec{})
		if _, err := there.Authenticate(ctx, f.token(secret, gm, ""), ""); err != nil {
			f.t.Fatal(err)
		}
		old, _ := jwks(f.t, f.Service)
		if _, err := f.RotateSigningKey(ctx); err != nil {
			f.t.Fatal(err)
		}
		forged := func() string {
			now := time.Now()
			return signed(rsaKeys()[0], fmt.Sprintf(`{"alg":"RS256","kid":%q}`, old[0]),
				claims("key", `"`+k.ID+`"`, "iat", seconds(now), "nbf", seconds(now), "exp", seconds(now.Add(time.Minute))))
		}
		wait.For(ctx, 29*time.Minute)
		if _, err := there.Authenticate(ctx, forged(), ""); err != nil {
			f.t.Errorf("while its last tokens live: %v", err)
		}
		wait.For(ctx, 3*time.Minute)
		_, err := there.Authenticate(ctx, forged(), "")
		wantRefused(f.t, err, identity.ErrInvalid)
	})
}

// If two processes rotate at once, one gets an error that the other was first; no extra key
// remains.
func TestTwoRotateAtOnce(t *testing.T) {
	f := newFixture(t)
	if _, err := f.JWKS(context.Background()); err != nil {
		t.Fatal(err)
	}
	var between string
	late := f.another(func(c *identity.Config) {
		make := c.GenerateRSA
		c.GenerateRSA = func() (*rsa.PrivateKey, error) {
			var err error
			if between, err = f.RotateSigningKey(context.Background()); err != nil {
				t.Error(err)
			}
			return make()
		}
	})
	if kid, err := late.RotateSigningKey(context.Background()); !errors.Is(err, fault.Conflict) || kid != "" {
		t.Errorf("%q, %v", kid, err)
	}
	if kids, _ := jwks(t, late); len(kids) != 2 || kids[0] != between {
		t.Errorf("the key set has %v, want %s first of two", kids, between)
	}
}

// The key set begins with the signing key; the others follow by descending end.
func TestTheOrderOfTheKeySet(t *testing.T) {
	f := newFixture(t)
	first, _ := jwks(t, f.Service)
	want := first
	for range 3 {
		f.add(5 * time.Minute)
		kid, err := f.RotateSigningKey(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		want = append([]string{kid}, want...)
	}
	for range 5 { // the ring has no order
		if kids, _ := jwks(t, f.Service); !slices.Equal(kids, want) {
			t.Errorf("the key set has %v, want %v", kids, want)
		}
	}
}

// Bounds of the clock difference, of a configured life and of a play token's life.
func TestTimesAtTheirBounds(t *testing.T) {
	f := newForge(t)
	for _, name := range []string{"iat", "nbf"} {
		for ahead, good := range map[time.Duration]bool{30 * time.Second: true, 31 * time.Second: false} {
			if _, err := f.caller(signed(rsaKeys()[0], goodHeader,
				claims(name, seconds(start.Add(ahead))))); (err == nil) != good {
				t.Errorf("%s %v ahead: %v", name, ahead, err)
			}
		}
	}
	for life, good := range map[time.Duration]bool{identity.MinLife: true, identity.MinLife - 1: false,
		identity.MaxLife: true, identity.MaxLife + 1: false} {
		s, err := identity.New(identity.Config{Store: f.store, Worlds: f.worlds, Life: life})
		if err == nil {
			s.Close()
		}
		if (err == nil) != good {
			t.Errorf("a life of %v: %v", life, err)
		}
	}
	for life, good := range map[time.Duration]bool{identity.MaxPlayLife: true, identity.MaxPlayLife + 1: false,
		-1: false} {
		if _, _, err := f.IssuePlay(context.Background(),
			identity.PlaySpec{World: mainWorld, Subject: "p", Player: aPlayer, Life: life}); (err == nil) != good {
			t.Errorf("a play token for %v: %v", life, err)
		}
	}
}
