package postgres_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
)

// openPooled opens a database through PgBouncer.
func openPooled(t testing.TB, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{Direct: address,
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
	here, there := openPooled(t, address), openPooled(t, address)
	if err := appendNext(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	there.Changed()           // begins to listen
	<-time.After(time.Second) // the first look is over
	for range 20 {            // a poll finds one in a few by chance
		woken := there.Changed()
		began := time.Now()
		if err := appendNext(t.Context(), here); err != nil {
			t.Fatal(err)
		}
		select {
		case <-woken:
		case <-time.After(patience):
			t.Fatal("a write of another process is not noticed")
		}
		if took := time.Since(began); took > 400*time.Millisecond {
			t.Errorf("a write of another process is noticed after %s", took)
		}
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

// TestCommitThroughPgBouncer measures commits with and without PgBouncer, by turns.
func TestCommitThroughPgBouncer(t *testing.T) {
	address := pgtest.Start(t).Empty()
	direct, pooled := openAt(t, address), openPooled(t, address)
	var took [2][]time.Duration
	for block := range 24 { // in blocks: a commit is followed by its notification
		for n := range 50 {
			began := time.Now()
			if err := appendNext(context.Background(), []*postgres.Store{direct, pooled}[block%2]); err != nil {
				t.Fatal(err)
			}
			if block > 3 && n > 0 {
				took[block%2] = append(took[block%2], time.Since(began))
			}
		}
	}
	slices.Sort(took[0])
	slices.Sort(took[1])
	without, with := took[0][len(took[0])/2], took[1][len(took[1])/2]
	if with > 2*without { // on a busy machine; idle it is below 1.15
		t.Errorf("a commit takes %s, through PgBouncer %s", without, with)
	}
	t.Logf("a commit takes %s (median), through PgBouncer %s: %.2f times", without, with, float64(with)/float64(without))
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
