package postgres_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
	"loregate/internal/waittest"
)

// openPooled opens a database through PgBouncer.
func openPooled(t testing.TB, address string) *postgres.Store {
	t.Helper()
	return openPooledPolling(t, address, 0)
}

func openPooledPolling(t testing.TB, address string, poll time.Duration) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{Direct: address, Poll: poll,
		URL: pgtest.Bouncer(t, address, strings.Join(postgres.Config{}.SessionStatements(), ";"))})
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

// TestStoreThroughPgBouncer runs the suite of all stores on PgBouncer in transaction mode.
func TestStoreThroughPgBouncer(t *testing.T) {
	programtest.Long(t)
	storetest.Run(t, func(t *testing.T) canon.Store { return openPooled(t, pgtest.Database(t, prepare)) })
}

// TestPgBouncerMigratesAndNotifies creates a database's tables, and tells one process of the writes
// of another, with both behind PgBouncer.
func TestPgBouncerMigratesAndNotifies(t *testing.T) {
	programtest.Long(t)
	address := pgtest.Empty(t)
	here, there := openPooled(t, address), openPooledPolling(t, address, time.Hour) // a poll would find the writes too
	write := func() <-chan struct{} {
		woken := there.Changed()
		if err := appendNext(t.Context(), here); err != nil {
			t.Fatal(err)
		}
		return woken
	}
	apptest.Eventually(t, "the other process listens", patience, func() bool { return isWokenSoon(t.Context(), write()) })
	for range 20 {
		waittest.Receive(t, write(), "a notice of a write of another process")
	}
}

func TestPgBouncerNeedsADirectAddress(t *testing.T) {
	address := pgtest.Database(t, prepare)
	statements := strings.Join(postgres.Config{}.SessionStatements(), ";")
	for name, c := range map[string]struct {
		query, direct, want string
	}{
		"no direct address": {statements, "", "database_direct"},
		"no session":        {"", address, "connect_query='SET statement_timeout=30000;"},
		"another database":  {statements, pgtest.Empty(t), "different databases"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.Bouncer(t, address, c.query), Direct: c.direct})
			f, ok := errors.AsType[*fault.Error](err)
			if !ok || f.Kind != fault.Invalid || !strings.Contains(f.Message, c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
}

// BenchmarkCommitThroughPgBouncer measures commits with and without PgBouncer, by turns, and reports the medians.
func BenchmarkCommitThroughPgBouncer(b *testing.B) {
	address := pgtest.Start(b).Empty()
	stores := []*postgres.Store{openAt(b, address), openPooled(b, address)}
	var took [2][]time.Duration
	for b.Loop() {
		for i, s := range stores {
			for n := range 50 { // in blocks: a commit is followed by its notification
				began := time.Now()
				if err := appendNext(b.Context(), s); err != nil {
					b.Fatal(err)
				}
				if n > 0 {
					took[i] = append(took[i], time.Since(began))
				}
			}
		}
	}
	for i, name := range []string{"direct", "pooled"} {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, "p50-ms-"+name)
	}
}

// TestDeployedPgBouncerSetsSessions compares deploy's connect_query with the settings of a session.
func TestDeployedPgBouncerSetsSessions(t *testing.T) {
	programtest.Long(t)
	text, err := os.ReadFile("../../../deploy/pgbouncer.ini")
	if err != nil {
		t.Fatal(err)
	}
	want := "connect_query='" + strings.Join(postgres.Config{}.SessionStatements(), ";") + "'"
	if !strings.Contains(string(text), want) {
		t.Errorf("deploy/pgbouncer.ini lacks %s", want)
	}
}
