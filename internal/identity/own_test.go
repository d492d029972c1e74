package identity_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-webauthn/webauthn/webauthn"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/identity"
)

// personsCredentials makes sessions, passkeys and clients of one person, for one world, for another, for both and for
// all, and returns their ids by name.
func (f *fixture) personsCredentials() map[string]string {
	f.t.Helper()
	made := map[string]string{}
	for name, worlds := range map[string]map[access.WorldID]access.Role{"all": nil, "one": {mainWorld: access.RoleUser},
		"two": {otherWorld: access.RoleUser}, "both": {mainWorld: access.RoleUser, otherWorld: access.RoleUser}} {
		spec := identity.PersonSpec("ada")
		spec.Worlds = worlds
		_, secret, err := f.CreateKey(f.t.Context(), spec)
		f.must(err)
		session, _, err := f.OpenSession(f.t.Context(), secret)
		f.must(err)
		made["session of key "+name] = session.ID
		spec.Vouched = worlds != nil
		code, err := f.CreateSignIn(f.t.Context(), spec)
		f.must(err)
		session, _, err = f.OpenSession(f.t.Context(), code)
		f.must(err)
		made["session of link "+name] = session.ID
		spec.Vouched, spec.Audience, spec.Passkey = false, "passkey", &webauthn.Credential{ID: []byte(name)}
		made["passkey "+name] = f.addKey(spec)
		spec.Passkey, spec.Audience, spec.Behalf, spec.Subject = nil, identity.AudienceGrant, "ada", "client-1"
		spec.OAuth = &identity.OAuthKey{Client: "c"}
		made["grant "+name] = f.addKey(spec)
	}
	return made
}

// addKey stores a key as if an authenticator or a consent had made it.
func (f *fixture) addKey(spec identity.KeySpec) (id string) {
	f.t.Helper()
	id = spec.Audience + spec.Name + string(rune('a'+f.ids.next()))
	f.must(f.store.AddKey(f.t.Context(), identity.Key{ID: id, Hash: sha256.Sum256([]byte(id)), KeySpec: spec,
		Created: f.now()}))
	return id
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestASessionManagesNothingBeyondItself lists and ends a person's credentials from a session for one world. It sees
// and ends those that open nothing else.
func TestASessionManagesNothingBeyondItself(t *testing.T) {
	for _, by := range []string{"session of link one", "session of key one"} {
		f := newFixture(t)
		made := f.personsCredentials()
		own, err := f.OwnOf(t.Context(), made[by])
		f.must(err)
		var seen []string
		for name, id := range made {
			if slices.ContainsFunc(slices.Concat(own.Sessions, own.Passkeys, own.Grants),
				func(k identity.Key) bool { return k.ID == id }) {
				seen = append(seen, name)
			}
		}
		slices.Sort(seen)
		want := []string{"grant one", "passkey one", "session of key one", "session of link one"}
		if !slices.Equal(seen, want) {
			t.Errorf("the %s lists %q, want %q", by, seen, want)
		}
		f.must(f.EndOtherSessions(t.Context(), made[by]))
		for name, id := range made {
			if ended := f.ended(id); ended != (strings.HasPrefix(name, "session") && strings.HasSuffix(name, " one") &&
				name != by) {
				t.Errorf("signing out elsewhere from the %s: %s ended: %v", by, name, ended)
			}
			if name != by {
				was := f.ended(id)
				ended, err := f.EndOwn(t.Context(), made[by], id)
				f.must(err)
				if (ended.ID == id) != (!was && f.ended(id)) {
					t.Errorf("the %s ends %q, and learns that it ended %q", by, name, ended.Name)
				}
			}
		}
		for name, id := range made {
			if ended := f.ended(id); ended != (strings.HasSuffix(name, " one") && name != by) {
				t.Errorf("by the %s: %s ended: %v", by, name, ended)
			}
		}
		_, err = f.EndOwn(t.Context(), made[by], made[by])
		f.must(err)
		if !f.ended(made[by]) {
			t.Errorf("the %s does not end itself", by)
		}
	}
}

func (f *fixture) ended(id string) bool {
	f.t.Helper()
	k, _, err := f.store.KeyByID(f.t.Context(), id)
	f.must(err)
	return !k.Good(f.now())
}

// TestASessionForAllWorldsManagesAll lists everything in a session that names no world, and nothing for another key.
func TestASessionForAllWorldsManagesAll(t *testing.T) {
	f := newFixture(t)
	made := f.personsCredentials()
	own, err := f.OwnOf(t.Context(), made["session of link all"])
	f.must(err)
	if n := len(own.Sessions) + len(own.Passkeys) + len(own.Grants); n != len(made) || !own.FollowsMemberships() {
		t.Errorf("lists %d of %d", n, len(made))
	}
	if _, err := f.OwnOf(t.Context(), made["passkey all"]); !errors.Is(err, fault.Unauthorized) {
		t.Errorf("a passkey lists: %v", err)
	}
}

// TestASessionOfAnAdminsLinkAddsNoPasskey keeps the admin who made a link from staying signed in as its person.
func TestASessionOfAnAdminsLinkAddsNoPasskey(t *testing.T) {
	f := newFixture(t)
	made := f.personsCredentials()
	const origin = "https://pages.example"
	if _, err := f.BeginPasskey(t.Context(), origin, made["session of link one"]); !errors.Is(err, fault.Denied) {
		t.Errorf("begins: %v", err)
	}
	if _, err := f.AddPasskey(t.Context(), origin, made["session of link one"], "mine", "", ""); !errors.Is(err,
		fault.Denied) {
		t.Errorf("adds: %v", err)
	}
}
