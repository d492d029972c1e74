package postgres_test

import (
	"context"
	"testing"

	"loregate/internal/access/accesstest"
	"loregate/internal/canon"
	"loregate/internal/identity"
	"loregate/internal/identity/identitytest"
	"loregate/internal/job"
	"loregate/internal/job/jobtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func prepare(ctx context.Context, url string) error {
	s, err := postgres.Open(ctx, postgres.Config{URL: url})
	if err == nil {
		err = s.Close()
	}
	return err
}

func openAt(t testing.TB, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t testing.TB) *postgres.Store {
	t.Helper()
	return openAt(t, pgtest.Database(t, prepare))
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store { return open(t) })
}

func BenchmarkStore(b *testing.B) {
	storetest.BenchmarkStore(b, func(b *testing.B) canon.Store { return open(b) })
}

func TestIdentityStore(t *testing.T) {
	identitytest.TestStore(t, func(t *testing.T) identity.Store { return open(t).Identity() })
}

func TestSegmentStore(t *testing.T) {
	accesstest.TestSegmentStore(t, open(t))
}

func TestSeenStore(t *testing.T) {
	accesstest.TestSeenStore(t, open(t))
}

func TestDeliveries(t *testing.T) {
	jobtest.TestDeliveries(t, func(t *testing.T) job.Deliveries { return open(t) })
}

func TestJobs(t *testing.T) {
	jobtest.TestStore(t, func(t *testing.T) job.Store { return open(t) })
}

// BenchmarkSeenBy asks who has seen a card, in an index of a million records.
func BenchmarkSeenBy(b *testing.B) {
	s := open(b)
	accesstest.BenchmarkSeenBy(b, s, s)
}
