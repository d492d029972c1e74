package identity_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
)

func TestRevokingEndsTokensAndStreamsAtOnce(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{})
	_, bystander := f.key(identity.KeySpec{})
	token := f.token(secret, gm, "")
	if _, err := f.caller(token); err != nil {
		t.Fatal(err)
	}
	ended, stop := f.Watch(context.Background(), k.ID)
	defer stop()
	if isClosed(ended) {
		t.Fatal("a good key's watch ended")
	}
	if err := f.RevokeKey(context.Background(), k.ID); err != nil {
		t.Fatal(err)
	}
	for _, bearer := range []string{token, secret} {
		_, err := f.caller(bearer)
		wantRefused(t, err, identity.ErrInvalid)
	}
	if !isClosed(ended) {
		t.Error("the stream goes on")
	}
	late, stop := f.Watch(context.Background(), k.ID)
	defer stop()
	if !isClosed(late) {
		t.Error("a stream that opened late goes on")
	}
	if _, err := f.caller(bystander); err != nil {
		t.Errorf("another key: %v", err)
	}
	if err := f.RevokeKey(context.Background(), k.ID); err != nil {
		t.Errorf("revoking again: %v", err)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// bubble runs f with a fixture whose clock is the synctest bubble's.
func bubble(t *testing.T, f func(*fixture, *identity.Service)) {
	rsaKeys()
	synctest.Test(t, func(t *testing.T) {
		real := func(c *identity.Config) { c.Now = time.Now }
		fx := newFixture(t, real)
		f(fx, fx.another(real))
	})
}

func TestRevokingShowsWithinASecondElsewhere(t *testing.T) {
	bubble(t, func(f *fixture, there *identity.Service) {
		ctx := context.Background()
		k, secret := f.key(identity.KeySpec{})
		token := f.token(secret, gm, "")
		for range 5 { // keep it cached
			if _, err := there.Authenticate(ctx, token, ""); err != nil {
				f.t.Fatal(err)
			}
			time.Sleep(150 * time.Millisecond)
		}
		ended, stop := there.Watch(ctx, k.ID)
		defer stop()
		if err := f.RevokeKey(ctx, k.ID); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !isClosed(ended) {
			f.t.Error("the stream goes on after a second")
		}
		_, err := there.Authenticate(ctx, token, "")
		wantRefused(f.t, err, identity.ErrInvalid)
	})
}

func TestAWatchEndsWithItsKey(t *testing.T) {
	bubble(t, func(f *fixture, _ *identity.Service) {
		k, _ := f.key(identity.KeySpec{Expires: time.Now().Add(time.Minute)})
		ended, stop := f.Watch(context.Background(), k.ID)
		defer stop()
		time.Sleep(59 * time.Second)
		if isClosed(ended) {
			f.t.Error("it ended early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !isClosed(ended) {
			f.t.Error("it goes on")
		}
	})
}

// A watch opened while the store is unavailable is checked once the store is back.
func TestAWatchSurvivesAStoreThatFails(t *testing.T) {
	bubble(t, func(f *fixture, there *identity.Service) {
		k, _ := f.key(identity.KeySpec{})
		time.Sleep(time.Second)
		if err := f.RevokeKey(context.Background(), k.ID); err != nil {
			f.t.Fatal(err)
		}
		time.Sleep(time.Second)
		f.store.Fail(errors.New("away"))
		ended, stop := there.Watch(context.Background(), k.ID)
		defer stop()
		time.Sleep(3 * time.Second)
		f.store.Fail(nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if !isClosed(ended) {
			f.t.Error("the stream of a revoked key goes on")
		}
	})
}

func TestStoppedAndKeylessWatches(t *testing.T) {
	f := newFixture(t)
	k, _ := f.key(identity.KeySpec{})
	first, stopFirst := f.Watch(context.Background(), k.ID)
	second, stopSecond := f.Watch(context.Background(), k.ID)
	keyless, stopKeyless := f.Watch(context.Background(), "")
	stopFirst()
	stopKeyless()
	if err := f.RevokeKey(context.Background(), k.ID); err != nil {
		t.Fatal(err)
	}
	if isClosed(first) || !isClosed(second) || isClosed(keyless) {
		t.Errorf("stopped %v, open %v, keyless %v", isClosed(first), isClosed(second), isClosed(keyless))
	}
	stopSecond()
}

func TestCloseEndsWatches(t *testing.T) {
	f := newFixture(t)
	k, _ := f.key(identity.KeySpec{})
	ended, stop := f.Watch(context.Background(), k.ID)
	defer stop()
	f.Close()
	if !isClosed(ended) {
		t.Error("a watch outlives the service")
	}
}

func jwks(t testing.TB, s *identity.Service) (kids []string, set jwk.Set) {
	t.Helper()
	b, err := s.JWKS(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var raw struct{ Keys []map[string]string }
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	for _, k := range raw.Keys {
		kids = append(kids, k["kid"])
		for name := range k {
			switch name {
			case "kty", "kid", "alg", "use", "n", "e":
			default:
				t.Errorf("the key set shows %q", name)
			}
		}
	}
	if set, err = jwk.Parse(b); err != nil {
		t.Fatal(err)
	}
	return kids, set
}

func TestRotationOverlaps(t *testing.T) {
	f := newFixture(t)
	there := f.another()
	_, secret := f.key(identity.KeySpec{})
	before, _ := jwks(t, f.Service)
	old := f.token(secret, gm, "")
	kid, err := f.RotateSigningKey(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	fresh := f.token(secret, gm, "")
	for name, s := range map[string]*identity.Service{"here": f.Service, "in another process": there} {
		kids, _ := jwks(t, s)
		if len(kids) != 2 || kids[0] != kid || kids[1] != before[0] {
			t.Errorf("%s the key set has %v, want %s and %v", name, kids, kid, before)
		}
		for _, token := range []string{old, fresh} {
			if _, err := s.Authenticate(context.Background(), token, ""); err != nil {
				t.Errorf("%s, during the overlap: %v", name, err)
			}
		}
	}
	f.add(31 * time.Minute)
	if kids, _ := jwks(t, f.Service); len(kids) != 1 || kids[0] != kid {
		t.Errorf("after the overlap the key set has %v", kids)
	}
	_, err = f.caller(signed(rsaKeys()[0], fmt.Sprintf(`{"alg":"RS256","kid":%q}`, before[0]),
		claims("iat", seconds(f.now()), "exp", seconds(f.now().Add(time.Minute)))))
	wantRefused(t, err, identity.ErrInvalid)
}

// The old key ends by itself, without another read of the store.
func TestARotatedKeyEndsOnTime(t *testing.T) {
	f := newForge(t, func(c *identity.Config) { c.Poll = time.Hour })
	if _, err := f.RotateSigningKey(context.Background()); err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]error{30 * time.Minute: nil, 31 * time.Minute: identity.ErrInvalid} {
		f.mu.Lock()
		f.at = start.Add(after)
		f.mu.Unlock()
		_, err := f.caller(signed(rsaKeys()[0], goodHeader,
			claims("iat", seconds(f.now()), "exp", seconds(f.now().Add(time.Minute)))))
		if want == nil && err != nil {
			t.Errorf("after %s: %v", after, err)
		} else if want != nil {
			wantRefused(t, err, want)
		}
	}
}

// A token signed with a key that another process has just added is accepted without waiting for the
// poll, once a second has passed since the store was read.
func TestUnknownKidReadsTheStore(t *testing.T) {
	slow := func(c *identity.Config) { c.Poll = time.Hour }
	f := newForge(t, slow)
	there := f.another(slow)
	if _, err := there.Authenticate(context.Background(), f.token(f.secret, gm, ""), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := f.RotateSigningKey(context.Background()); err != nil {
		t.Fatal(err)
	}
	f.add(time.Second)
	if _, err := there.Authenticate(context.Background(), f.token(f.secret, gm, ""), ""); err != nil {
		t.Error(err)
	}
}

// The tokens verify with the published keys alone, as at a client.
func TestTokensVerifyAgainstTheKeySet(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	token := f.token(secret, gm, "main")
	_, set := jwks(t, f.Service)
	got, err := jwt.Parse([]byte(token), jwt.WithKeySet(set), jwt.WithIssuer("loregate"), jwt.WithAudience("loregate"),
		jwt.WithClock(jwt.ClockFunc(f.now)), jwt.WithRequiredClaim("jti"), jwt.WithRequiredClaim("nbf"))
	if err != nil {
		t.Fatal(err)
	}
	var role, world, key string
	if err := errors.Join(got.Get("role", &role), got.Get("world", &world), got.Get("key", &key)); err != nil ||
		role != "gm" || world != mainWorld.String() || key != "id-1" {
		t.Errorf("%q, %q, %q, %v", role, world, key, err)
	}
	if k, ok := set.Key(0); !ok || must(k.Algorithm()) != jwa.RS256() {
		t.Error("the key set does not fix the algorithm")
	}
}

func must[T any](v T, _ bool) T { return v }

func TestTheFirstSigningKeyIsMadeOnce(t *testing.T) {
	f := newFixture(t)
	there := f.another()
	a, _ := jwks(t, f.Service)
	b, _ := jwks(t, there)
	if len(a) != 1 || len(b) != 1 || a[0] != b[0] {
		t.Errorf("%v and %v", a, b)
	}
	if n := f.rsa.n; n != 1 {
		t.Errorf("%d keys were made", n)
	}
}

func TestConfigIsChecked(t *testing.T) {
	store, worlds := &identitytest.Store{}, &identitytest.Worlds{}
	for _, c := range []identity.Config{
		{Worlds: worlds}, {Store: store},
		{Store: store, Worlds: worlds, Life: 14 * time.Minute}, {Store: store, Worlds: worlds, Life: 61 * time.Minute},
	} {
		if s, err := identity.New(c); err == nil {
			s.Close()
			t.Errorf("New(%+v) went on", c)
		}
	}
}

func TestChallenges(t *testing.T) {
	f := newForge(t)
	refusal := func(bearer string) error { _, err := f.caller(bearer); return err }
	old := signed(rsaKeys()[0], goodHeader, claims("exp", seconds(start.Add(-time.Hour)), "iat",
		seconds(start.Add(-2*time.Hour))))
	const meta = "https://x.example/.well-known/oauth-protected-resource/mcp"
	denied := fault.New(fault.Denied, "no").With("required_role", "gm")
	for _, row := range []struct {
		err       error
		rest, mcp string
	}{
		{nil, "", ""},
		{refusal(old), `Bearer error="expired"`,
			`Bearer error="invalid_token", error_description="expired", resource_metadata="` + meta + `", scope="user"`},
		{refusal("x.y.z"), `Bearer error="invalid_token"`,
			`Bearer error="invalid_token", resource_metadata="` + meta + `", scope="user"`},
		{refusal(""), `Bearer`, `Bearer resource_metadata="` + meta + `", scope="user"`},
		{fault.New(fault.Denied, "no"), `Bearer error="insufficient_scope"`,
			`Bearer error="insufficient_scope", resource_metadata="` + meta + `"`},
		{denied, `Bearer error="insufficient_scope", scope="gm"`,
			`Bearer error="insufficient_scope", scope="gm", resource_metadata="` + meta + `"`},
		{fault.New(fault.NotFound, "no"), "", ""},
		{errors.New("x"), "", ""},
	} {
		if got := identity.Challenge(row.err, identity.Style{}); got != row.rest {
			t.Errorf("%v: %s, want %s", row.err, got, row.rest)
		}
		if got := identity.Challenge(row.err, identity.Style{Metadata: meta}); got != row.mcp {
			t.Errorf("%v: %s, want %s", row.err, got, row.mcp)
		}
	}
	split := identity.Challenge(refusal(""), identity.Style{Metadata: "https://x\"\r\nSet-Cookie: a"})
	if split != `Bearer resource_metadata="https://xSet-Cookie: a", scope="user"` {
		t.Errorf("a header can be split: %q", split)
	}
}

func ExampleService_Exchange() {
	ctx := context.Background()
	worlds := &identitytest.Worlds{}
	worlds.Add("main", access.WorldID{1})
	s, err := identity.New(identity.Config{Store: &identitytest.Store{}, Worlds: worlds})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	_, secret, err := s.CreateKey(ctx, identity.KeySpec{
		Name: "Anna's laptop", Subject: "anna", Actor: access.Person, MaxRole: access.RoleGM,
		Worlds: map[access.WorldID]access.Role{{1}: access.RoleGM},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	issued, err := s.Exchange(ctx, secret, access.RoleUser, "main")
	if err != nil {
		fmt.Println(err)
		return
	}
	caller, err := s.Authenticate(ctx, issued.Token, "")
	fmt.Println(caller.Subject, caller.Role(access.WorldID{1}), issued.ExpiresIn, err)
	// Output: anna user 1800 <nil>
}

func BenchmarkAuthenticate(b *testing.B) {
	f := newFixture(b, func(c *identity.Config) { c.Now = time.Now })
	_, secret := f.key(identity.KeySpec{})
	for name, bearer := range map[string]string{"key": secret, "token": f.token(secret, gm, "")} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := f.caller(bearer); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

func BenchmarkAuthenticateNewToken(b *testing.B) {
	f := newFixture(b, func(c *identity.Config) { c.Cache = 1 })
	_, secret := f.key(identity.KeySpec{})
	tokens := []string{f.token(secret, gm, ""), f.token(secret, gm, "")}
	i := 0
	for b.Loop() {
		if _, err := f.caller(tokens[i%2]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
