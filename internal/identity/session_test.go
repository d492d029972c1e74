package identity_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
)

func (f *fixture) session(secret string) (identity.Key, string) {
	f.t.Helper()
	k, token, err := f.OpenSession(context.Background(), secret)
	if err != nil {
		f.t.Fatal(err)
	}
	return k, token
}

func (f *fixture) browsing(token string) (access.Caller, error) {
	return f.Authenticate(context.Background(), token, identity.AudienceConsole)
}

func TestSessionOfAKeyHasExactlyItsRights(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{Surfaces: []string{"archive"}, Operations: []string{"get_card"}, Advisory: true})
	_, token := f.session(secret)
	c, err := f.browsing(token)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := f.Authenticate(context.Background(), secret, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Key, c.RateClass, direct.RateClass = direct.Key, "", ""
	if !c.SameRights(direct) {
		t.Errorf("the session has %+v, its key %+v", c, direct)
	}
	if err := f.RevokeKey(context.Background(), k.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.browsing(token)
	wantRefused(t, err, identity.ErrInvalid)
}

func TestSessionIsNoBearerAndNothingElseIsASession(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	_, token := f.session(secret)
	play, _ := f.play(identity.PlaySpec{})
	code, err := f.CreateSignIn(context.Background(), aPerson())
	if err != nil {
		t.Fatal(err)
	}
	for _, audience := range []string{"", "loregate", identity.AudiencePlay} {
		_, err := f.Authenticate(context.Background(), token, audience)
		wantRefused(t, err, identity.ErrInvalid)
	}
	for _, other := range []string{secret, play, code, "lgs_" + secret[3:], "lgs_"} {
		_, err := f.browsing(other)
		wantRefused(t, err, identity.ErrInvalid)
	}
	for _, other := range []string{token, play, "", "lg_", "lgc_" + secret[3:]} {
		_, _, err := f.OpenSession(context.Background(), other)
		wantRefused(t, err, identity.ErrInvalid)
	}
	_, err = f.Exchange(context.Background(), token, access.RoleUser, "")
	wantRefused(t, err, identity.ErrInvalid)
}

func TestSignInCodeOpensOneSessionInTenMinutes(t *testing.T) {
	f := newFixture(t)
	code, err := f.CreateSignIn(context.Background(), aPerson())
	if err != nil {
		t.Fatal(err)
	}
	_, token := f.session(code)
	c, err := f.browsing(token)
	if err != nil || !c.Approve || c.Actor != access.Person || c.Subject != "keeper" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, process := range []*identity.Service{f.Service, f.another()} {
		_, _, err := process.OpenSession(context.Background(), code)
		wantRefused(t, err, identity.ErrInvalid)
	}
	if _, err := f.browsing(token); err != nil {
		t.Errorf("a second use of the code ended the session: %v", err)
	}
	late, err := f.CreateSignIn(context.Background(), aPerson())
	if err != nil {
		t.Fatal(err)
	}
	f.add(identity.SignInLife + time.Second)
	_, _, err = f.OpenSession(context.Background(), late)
	wantRefused(t, err, identity.ErrInvalid)
}

func TestSessionIsRenewedByUseAndEndsWhenIdle(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{})
	_, token := f.session(secret)
	if again, err := f.RenewSession(context.Background(), token); err != nil || again != "" {
		t.Errorf("a new session was renewed: %q, %v", again, err)
	}
	f.add(16 * 24 * time.Hour)
	renewed, err := f.RenewSession(context.Background(), token)
	if err != nil || renewed == "" {
		t.Fatalf("%q, %v", renewed, err)
	}
	_, err = f.browsing(token)
	wantRefused(t, err, identity.ErrInvalid)
	f.add(29 * 24 * time.Hour)
	if _, err := f.browsing(renewed); err != nil {
		t.Error(err)
	}
	f.add(2 * 24 * time.Hour)
	_, err = f.browsing(renewed)
	wantRefused(t, err, identity.ErrInvalid)
}

// TestSessionOfAKeyThatEndsSoonIsNotRenewed: its life is shorter from the start, which is no reason to
// replace it at each use.
func TestSessionOfAKeyThatEndsSoonIsNotRenewed(t *testing.T) {
	f := newFixture(t)
	_, secret := f.key(identity.KeySpec{Expires: start.Add(10 * 24 * time.Hour)})
	_, token := f.session(secret)
	f.add(24 * time.Hour)
	if renewed, err := f.RenewSession(context.Background(), token); err != nil || renewed != "" {
		t.Errorf("%q, %v", renewed, err)
	}
}

func TestSessionsAreListedAndEndOneByOne(t *testing.T) {
	f := newFixture(t)
	k, secret := f.key(identity.KeySpec{})
	first, token := f.session(secret)
	second, _ := f.session(secret)
	if err := f.RevokeKey(context.Background(), first.ID); err != nil {
		t.Fatal(err)
	}
	_, err := f.browsing(token)
	wantRefused(t, err, identity.ErrInvalid)
	open, err := f.Sessions(context.Background(), k.Subject)
	if err != nil || len(open) != 1 || open[0].ID != second.ID || open[0].Hash != (identity.Hash{}) {
		t.Errorf("%+v, %v", open, err)
	}
	keys, err := f.Keys(context.Background())
	if err != nil || slices.ContainsFunc(keys, func(k identity.Key) bool { return k.Audience != "" }) {
		t.Errorf("the list of keys has sessions: %+v, %v", keys, err)
	}
}

// aPerson is a game master who may approve.
func aPerson() identity.KeySpec {
	return identity.KeySpec{Name: "sign-in", Subject: "keeper", Actor: access.Person, MaxRole: access.RoleGM, Approve: true,
		Worlds: map[access.WorldID]access.Role{mainWorld: access.RoleGM}}
}
