package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// pair is a primary with a synchronous standby, and two stores that know both.
type pair struct {
	t                *testing.T
	primary, standby *pgtest.Server
	here, there      *postgres.Store
	at, both         string // the primary's address, and that of both

	acked, refused atomic.Int64
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, primary: pgtest.Start(t)}
	p.at = p.primary.Empty()
	p.standby = p.primary.Standby()
	p.both = pgtest.Join(t, p.at, p.standby.At(p.at))
	p.here, p.there = openAt(t, p.both), openAt(t, p.both)
	return p
}

// write appends a commit and counts its result.
func (p *pair) write(s *postgres.Store) error {
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	err := appendNext(ctx, s)
	switch f, ok := errors.AsType[*fault.Error](err); {
	case err == nil:
		p.acked.Add(1)
	case ctx.Err() != nil:
		p.t.Errorf("a write is neither acknowledged nor refused until its caller gives up: %v", err)
	case !ok || f.Kind != fault.Unavailable || f.RetryAfter == 0:
		p.t.Errorf("a write without a primary: %v, want unavailable with a time to wait", err)
	default:
		p.refused.Add(1)
	}
	return err
}

// keepWriting writes until the returned function is called.
func (p *pair) keepWriting() (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
			}
			if p.write(p.here) != nil {
				wait.For(p.t.Context(), 10*time.Millisecond)
			}
		}
	}()
	apptest.Eventually(p.t, "writes are acknowledged", patience, func() bool { return p.acked.Load() >= 20 })
	return func() { close(ended); <-done }
}

// wantGoesOn waits until writes are refused and, after the standby's promotion, acknowledged again.
func (p *pair) wantGoesOn() {
	p.t.Helper()
	began := time.Now()
	apptest.Eventually(p.t, "writes are refused", patience, func() bool { return p.refused.Load() > 1 })
	noticed := time.Since(began) // 1.5 s on an idle machine
	p.standby.Promote()
	promoted, before := time.Now(), p.acked.Load()
	apptest.Eventually(p.t, "writes are acknowledged again", patience, func() bool { return p.acked.Load() > before+10 })
	p.t.Logf("noticed after %s; went on %s after the promotion", noticed.Round(time.Millisecond),
		time.Since(promoted).Round(time.Millisecond))
}

// wantWhole compares the chain with the acknowledged writes.
func (p *pair) wantWhole() {
	p.t.Helper()
	apptest.Eventually(p.t, "the other process found the new primary", patience, func() bool {
		return p.there.Writable(p.t.Context()) == nil
	})
	head, acked := int64(headOf(p.t, p.there).Seq), p.acked.Load()
	if head < acked || head > acked+p.refused.Load() {
		p.t.Errorf("the chain has %d commits; %d were acknowledged and %d refused", head, acked, p.refused.Load())
	}
}

func TestAKilledPrimaryIsReplaced(t *testing.T) {
	programtest.Long(t)
	p := newPair(t)
	var log bytes.Buffer // read after the store was closed
	logged, err := postgres.Open(t.Context(), postgres.Config{URL: p.both, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = logged.Close() })
	p.there.Changed() // begins to listen
	stop := p.keepWriting()
	p.primary.Kill()
	p.wantGoesOn()
	stop()
	// The notifications of the new primary arrive.
	apptest.Eventually(t, "the other process listens to the new primary", patience, func() bool {
		woken := p.there.Changed()
		if p.write(p.here) != nil {
			return false
		}
		return isWokenSoon(t.Context(), woken)
	})
	p.wantWhole()
	apptest.Eventually(t, "the third process found the new primary", patience, func() bool {
		return logged.Writable(t.Context()) == nil
	})
	if err := logged.Close(); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "has become the primary"); n != 1 {
		t.Errorf("the log names the new primary %d times, want once:\n%s", n, log.String())
	}
}

func TestAKilledPrimaryIsReplacedThroughPgBouncer(t *testing.T) {
	programtest.Long(t)
	p := newPair(t)
	statements := strings.Join(postgres.Config{}.SessionStatements(), ";")
	s, err := postgres.Open(t.Context(), postgres.Config{Direct: p.both, URL: pgtest.Join(t,
		pgtest.Bouncer(t, p.at, statements), pgtest.Bouncer(t, p.standby.At(p.at), statements))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p.here = s
	stop := p.keepWriting()
	p.primary.Kill()
	p.wantGoesOn()
	stop()
	p.wantWhole()
	if here, there := headOf(t, p.here), headOf(t, p.there); here != there {
		t.Errorf("through PgBouncer the head is %v, and %v without", here, there)
	}
}

// TestAPrimaryThatWakesCommitsNothing stops a primary, promotes its standby and continues the old
// primary: nothing that it commits is acknowledged, and no process uses it.
func TestAPrimaryThatWakesCommitsNothing(t *testing.T) {
	programtest.Long(t)
	p := newPair(t)
	stop := p.keepWriting()
	p.primary.Pause()
	t.Cleanup(p.primary.Resume)
	p.wantGoesOn()
	p.primary.Resume()
	before := p.acked.Load()
	apptest.Eventually(t, "writes go on beside the old primary", patience,
		func() bool { return p.acked.Load() > before+50 })
	stop()
	p.wantWhole()

	// The old primary still takes statements. It acknowledges no commit.
	old, err := pgx.Connect(t.Context(), p.at)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := old.Exec(ctx, "UPDATE writer SET n = n + 1"); err == nil {
		t.Error("an old primary acknowledges a commit")
	}
}

// TestACommitThatStandbysDoNotConfirmIsNotAcknowledged cancels the wait for the standbys: the
// server then reports success, with a warning.
func TestACommitThatStandbysDoNotConfirmIsNotAcknowledged(t *testing.T) {
	p := newPair(t)
	if err := p.write(p.here); err != nil {
		t.Fatal(err)
	}
	p.standby.Pause()
	t.Cleanup(p.standby.Resume)
	done := make(chan error)
	go func() { done <- p.write(p.here) }()
	var err error
	apptest.Eventually(t, "the write ends", patience, func() bool {
		p.primary.Exec("SELECT pg_cancel_backend(pid) FROM pg_stat_activity " +
			"WHERE wait_event = 'SyncRep' AND query = 'COMMIT'")
		select {
		case err = <-done:
			return true
		default:
			return false
		}
	})
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Kind != fault.Unavailable {
		t.Errorf("a commit that no standby has: %v, want unavailable", err)
	}
	if err := p.write(p.here); err == nil {
		t.Error("the process goes on with a primary whose standbys lack a commit that can be read")
	}
	p.standby.Resume()
	apptest.Eventually(t, "writes go on", patience, func() bool { return p.write(p.here) == nil })
}

func TestACommitWithoutStandbysIsRefusedInTime(t *testing.T) {
	programtest.Long(t)
	p := newPair(t)
	if err := p.write(p.here); err != nil {
		t.Fatal(err)
	}
	p.standby.Pause()
	t.Cleanup(p.standby.Resume)
	if err := p.write(p.here); err == nil {
		t.Error("a commit that no standby has is acknowledged")
	}
	if err := p.write(p.here); err == nil {
		t.Error("the process goes on with a primary whose standbys lack a commit")
	}
	p.standby.Resume()
	apptest.Eventually(t, "writes go on", patience, func() bool { return p.write(p.here) == nil })
	p.wantWhole()
}

// TestInspectTellsRolesAndLoss reads an operator's report while the standby is there, and after.
func TestInspectTellsRolesAndLoss(t *testing.T) {
	p := newPair(t)
	report := func() string {
		found, _, err := p.here.Inspect(t.Context(), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, f := range found {
			text += f.What + ": " + f.Detail + f.Problem + "\n"
		}
		return text
	}
	want := func(parts ...string) {
		t.Helper()
		text := report()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("the report lacks %q:\n%s", part, text)
			}
		}
	}
	want(
		"primary, timeline 1",
		"standby, 0 KB of the log behind",
		"loses nothing now: synchronous standbys with every acknowledged write: 1 of *",
	)
	// Servers that refuse the address are not waited for, and the remedy is that of one server.
	ctx := waittest.Context(t)
	s, err := postgres.Open(ctx, postgres.Config{URL: strings.Replace(p.both, "/test", "/nowhere", 1)})
	if err == nil {
		_ = s.Close()
	}
	if !strings.Contains(postgres.Remedy(err), "createdb") || ctx.Err() != nil {
		t.Errorf("a database that is on no server: %v", err)
	}
	p.standby.Kill()
	want("does not answer (", "no synchronous standby is connected: writes wait")
	p.primary.Exec("ALTER SYSTEM RESET synchronous_standby_names")
	p.primary.Exec("SELECT pg_reload_conf()")
	apptest.Eventually(t, "the report names the loss", patience, func() bool {
		return strings.Contains(report(), "a failure of the primary loses everything that is not in a backup")
	})
}
