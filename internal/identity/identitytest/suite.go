package identitytest

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// TestStore checks a store against the contract of identity.Store. open returns a new empty store
// each time.
func TestStore(t *testing.T, open func(t *testing.T) identity.Store) {
	t.Run("keys", func(t *testing.T) { testKeys(t, open(t)) })
	t.Run("deleted keys", func(t *testing.T) { testDelete(t, open(t)) })
	t.Run("signing keys", func(t *testing.T) { testSigningKeys(t, open(t)) })
	t.Run("invitations", func(t *testing.T) { testInvitations(t, open(t)) })
	t.Run("generation", func(t *testing.T) { testGeneration(t, open(t)) })
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 123, time.UTC)

// fullKey returns a key with all fields set that a stored key can have.
func fullKey(id string) identity.Key {
	return identity.Key{
		ID: id, Hash: identity.Hash{1, id[len(id)-1]}, Created: start,
		KeySpec: identity.KeySpec{
			Name: "Größe · " + id, Subject: "anna", Actor: access.Person, MaxRole: access.RoleAdmin,
			Worlds:   map[access.WorldID]access.Role{{1}: access.RoleGM, {2}: access.RoleUser},
			Surfaces: []string{"archive", "world"}, Operations: []string{"get_card"}, RateClass: "sample",
			Expires: start.Add(time.Hour), Advisory: true, ReadOnly: true, Player: uuid.UUID{7}, Seat: "g/p",
			Approve: true, Operator: true, CreatedBy: "root",
		},
	}
}

func testKeys(t *testing.T, s identity.Store) {
	ctx := context.Background()
	a, b := fullKey("a"), identity.Key{ID: "b", Hash: identity.Hash{2}, Created: start.Add(time.Second),
		KeySpec: identity.KeySpec{Name: "b", Subject: "bot", Actor: access.AI, MaxRole: access.RoleUser}}
	must(t, s.AddKey(ctx, b))
	must(t, s.AddKey(ctx, a))
	for _, again := range []identity.Key{{ID: "a", Hash: identity.Hash{9}}, {ID: "c", Hash: a.Hash}} {
		if err := s.AddKey(ctx, again); !errors.Is(err, identity.ErrExists) {
			t.Errorf("AddKey of what is in use: %v, want ErrExists", err)
		}
	}
	got, ok, err := s.KeyByID(ctx, "a")
	wantSame(t, "KeyByID", got, a, ok, err)
	got, ok, err = s.KeyByHash(ctx, b.Hash)
	wantSame(t, "KeyByHash", got, b, ok, err)
	if _, ok, err := s.KeyByID(ctx, "c"); ok || err != nil {
		t.Errorf("KeyByID of none: %v, %v", ok, err)
	}
	if _, ok, err := s.KeyByHash(ctx, identity.Hash{}); ok || err != nil {
		t.Errorf("KeyByHash of none: %v, %v", ok, err)
	}
	testRevoke(t, s, &a)
	var all []identity.Key
	for k, err := range s.Keys(ctx) {
		must(t, err)
		all = append(all, k)
	}
	if want := []identity.Key{a, b}; !reflect.DeepEqual(all, want) {
		t.Errorf("Keys\n%+v, want\n%+v", all, want)
	}
}

func testRevoke(t *testing.T, s identity.Store, a *identity.Key) {
	ctx := context.Background()
	for n := range 2 {
		ok, err := s.RevokeKey(ctx, "a", start.Add(time.Duration(n+1)*time.Minute))
		if !ok || err != nil {
			t.Fatalf("RevokeKey: %v, %v", ok, err)
		}
	}
	if ok, err := s.RevokeKey(ctx, "c", start); ok || err != nil {
		t.Errorf("RevokeKey of none: %v, %v", ok, err)
	}
	a.Revoked = start.Add(time.Minute)
	got, ok, err := s.KeyByID(ctx, "a")
	wantSame(t, "revoked twice", got, *a, ok, err)
}

func testDelete(t *testing.T, s identity.Store) {
	ctx := context.Background()
	for _, id := range []string{"a", "b", "c"} {
		must(t, s.AddKey(ctx, fullKey(id)))
	}
	must(t, s.DeleteKeys(ctx, []string{"a", "none", "c"}))
	must(t, s.DeleteKeys(ctx, nil))
	for id, want := range map[string]bool{"a": false, "b": true, "c": false} {
		_, byID, err := s.KeyByID(ctx, id)
		must(t, err)
		_, byHash, err := s.KeyByHash(ctx, fullKey(id).Hash)
		must(t, err)
		if byID != want || byHash != want {
			t.Errorf("%s is there: %v by id, %v by hash", id, byID, byHash)
		}
	}
	must(t, s.AddKey(ctx, fullKey("a")))
}

func testSigningKeys(t *testing.T, s identity.Store) {
	ctx := context.Background()
	add := func(kid, after string, created, until time.Time) bool {
		ok, err := s.AddSigningKey(ctx, identity.SigningKey{KID: kid, PEM: []byte("pem " + kid), Created: created},
			after, until)
		must(t, err)
		return ok
	}
	if add("x", "nobody", start, start) {
		t.Error("a key was added after one that is not there")
	}
	if !add("1", "", start, time.Time{}) || add("2", "", start, start) {
		t.Error("the first key is added once")
	}
	if !add("2", "1", start.Add(time.Hour), start.Add(2*time.Hour)) ||
		!add("3", "2", start.Add(2*time.Hour+time.Second), start.Add(3*time.Hour)) {
		t.Error("a key follows the latest")
	}
	got, err := s.SigningKeys(ctx)
	must(t, err)
	want := []identity.SigningKey{
		{KID: "3", PEM: []byte("pem 3"), Created: start.Add(2*time.Hour + time.Second)},
		{KID: "2", PEM: []byte("pem 2"), Created: start.Add(time.Hour), Until: start.Add(3 * time.Hour)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("SigningKeys\n%+v, want\n%+v", got, want)
	}
}

func testInvitations(t *testing.T, s identity.Store) {
	ctx := context.Background()
	i := identity.Invitation{ID: "i", Hash: identity.Hash{1}, World: access.WorldID{1}, Role: access.RoleGM,
		May: access.MayOwn, By: "anna",
		State: identity.InvitationOpen, Created: start, Expires: start.Add(time.Hour)}
	j := i
	j.ID, j.Hash, j.Subject, j.Created = "j", identity.Hash{2}, "carl", start.Add(-time.Hour)
	must(t, s.AddInvitation(ctx, i))
	must(t, s.AddInvitation(ctx, j))
	if err := s.AddInvitation(ctx, i); !errors.Is(err, identity.ErrExists) {
		t.Errorf("AddInvitation twice: %v, want ErrExists", err)
	}
	claim := func(id string, by access.Subject, want bool) {
		t.Helper()
		if ok, err := s.ClaimInvitation(ctx, id, by); ok != want || err != nil {
			t.Errorf("%s claims %s: %v, %v, want %v", by, id, ok, err, want)
		}
	}
	claim("j", "bert", false)
	claim("j", "carl", true)
	claim("i", "bert", true)
	claim("i", "bert", true)
	claim("i", "carl", false)
	claim("k", "carl", false)
	for _, want := range []bool{true, false} {
		if ok, err := s.CloseInvitation(ctx, "i", identity.InvitationAccepted, start.Add(time.Minute)); ok != want ||
			err != nil {
			t.Errorf("CloseInvitation: %v, %v, want %v", ok, err, want)
		}
	}
	claim("i", "bert", false)
	i.Subject, i.State, i.Closed = "bert", identity.InvitationAccepted, start.Add(time.Minute)
	got, ok, err := s.InvitationByHash(ctx, i.Hash)
	wantSame(t, "InvitationByHash", got, i, ok, err)
	all, err := s.Invitations(ctx, i.World)
	must(t, err)
	if want := []identity.Invitation{j, i}; !reflect.DeepEqual(all, want) {
		t.Errorf("Invitations\n%+v, want\n%+v", all, want)
	}
	if all, err := s.Invitations(ctx, access.WorldID{2}); len(all) > 0 || err != nil {
		t.Errorf("another world's invitations: %v, %v", all, err)
	}
}

func testGeneration(t *testing.T, s identity.Store) {
	ctx := context.Background()
	last, err := s.Generation(ctx)
	must(t, err)
	moved := func(what string) {
		t.Helper()
		g, err := s.Generation(ctx)
		must(t, err)
		if g == last {
			t.Errorf("%s leaves the generation at %d", what, g)
		}
		last = g
	}
	must(t, s.AddKey(ctx, fullKey("a")))
	moved("AddKey")
	_, err = s.RevokeKey(ctx, "a", start)
	must(t, err)
	moved("RevokeKey")
	must(t, s.DeleteKeys(ctx, []string{"a"}))
	moved("DeleteKeys")
	_, err = s.AddSigningKey(ctx, identity.SigningKey{KID: "1", PEM: []byte("pem"), Created: start}, "", time.Time{})
	must(t, err)
	moved("AddSigningKey")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantSame[T any](t *testing.T, what string, got, want T, ok bool, err error) {
	t.Helper()
	if !ok || err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, %v\n%+v, want\n%+v", what, ok, err, got, want)
	}
}
