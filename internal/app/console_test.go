package app

import (
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/identity"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// TestEndedSecretsAreDeleted opens a store with a sign-in code of last month.
func TestEndedSecretsAreDeleted(t *testing.T) {
	c, err := LoadConfig("", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Data = t.TempDir()
	old, err := Open(t.Context(), c, Options{Now: func() time.Time { return time.Now().AddDate(0, -1, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Identity.CreateSignIn(t.Context(), identity.KeySpec{Name: "link", Subject: "anna",
		Actor: access.Person, MaxRole: access.RoleUser}); err != nil {
		t.Fatal(err)
	}
	old.Close(t.Context())
	a, err := Open(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close(t.Context())
	keys := func() (n int) {
		for _, err := range a.store.Identity().Keys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	if n := keys(); n != 1 {
		t.Fatalf("the store has %d keys, want the code", n)
	}
	defer a.pruneSecrets(t.Context())()
	for ctx := waittest.Context(t); keys() > 0; {
		if !wait.For(ctx, 10*time.Millisecond) {
			t.Fatal("the code is still there")
		}
	}
}
