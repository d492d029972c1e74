package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/access/accesstest"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
)

func TestIdentityStore(t *testing.T) {
	identitytest.TestStore(t, func(t *testing.T) identity.Store { return openNew(t).Identity() })
}

func TestSegmentStore(t *testing.T) {
	accesstest.TestSegmentStore(t, openNew(t))
}

func TestSeenStore(t *testing.T) {
	accesstest.TestSeenStore(t, openNew(t))
}

// One process sees the keys that another revokes.
func TestIdentityIsSharedBetweenProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	here, there := openTest(t, path).Identity(), openTest(t, path).Identity()
	ctx := context.Background()
	k := identity.Key{ID: "k", Hash: identity.Hash{1}, Created: testTime}
	if err := here.AddKey(ctx, k); err != nil {
		t.Fatal(err)
	}
	before, err := there.Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := here.RevokeKey(ctx, "k", testTime.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	after, err := there.Generation(ctx)
	if err != nil || after == before {
		t.Errorf("generation %d, then %d, %v", before, after, err)
	}
	if got, _, err := there.KeyByID(ctx, "k"); err != nil || got.Revoked.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

// The log writes more segments than are read at once; verify and tail must find them all.
func TestAccessLogInSQLite(t *testing.T) {
	s := openNew(t)
	ctx := context.Background()
	l, err := access.NewLog(access.LogConfig{Store: s, Process: "p"})
	if err != nil {
		t.Fatal(err)
	}
	const segments = 2*16 + 3
	for range segments {
		if err := l.Reserve(); err != nil {
			t.Fatal(err)
		}
		l.Record(access.Record{At: testTime, Operation: "o", Outcome: "ok"})
		if err := l.Flush(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
	v, err := access.VerifySegments(ctx, s, nil)
	if err != nil || v.Segments != segments || v.Records != segments {
		t.Errorf("%+v, %v", v, err)
	}
	n := 0
	for _, err := range access.Tail(ctx, s, access.TailOptions{Last: 5}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("tail shows %d", n)
	}
}
