package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/job"
	"loregate/internal/markup"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/storetest"
	"loregate/internal/wait"
	"loregate/internal/waittest"
)

// patience bounds the waits for other processes.
const patience = waittest.Patience

// isWokenSoon reports whether waiters are woken before the next poll by default, for a test that goes on trying.
func isWokenSoon(ctx context.Context, woken <-chan struct{}) bool {
	wait.Or(ctx, 200*time.Millisecond, woken)
	select {
	case <-woken:
		return true
	default:
		return false
	}
}

// openTwo opens two stores on one database, as two processes would, and a raw connection to it.
func openTwo(t *testing.T) (here, there *postgres.Store, raw *pgx.Conn) {
	t.Helper()
	address := pgtest.Database(t, prepare)
	raw, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close(context.Background()) })
	return openAt(t, address), openAt(t, address), raw
}

// appendNext appends the next commit to the stream count.
func appendNext(ctx context.Context, s *postgres.Store) error {
	return s.Write(ctx, func(tx canon.Tx) error {
		head, err := tx.Head(ctx, "count")
		if err != nil {
			return err
		}
		return tx.Append(ctx, storetest.Commit("count", head))
	})
}

func headOf(t *testing.T, s *postgres.Store) (h canon.Head) {
	t.Helper()
	err := s.Read(t.Context(), func(r canon.Reader) (err error) {
		h, err = r.Head(t.Context(), "count")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTwoProcessesWriteOneChain(t *testing.T) {
	here, there, _ := openTwo(t)
	const writers, each = 8, 25
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for range each {
				if err := appendNext(t.Context(), []*postgres.Store{here, there}[i%2]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if h := headOf(t, here); h.Seq != writers*each {
		t.Errorf("%d commits, want %d", h.Seq, writers*each)
	}
}

func TestWriteWakesWaitersInOtherProcess(t *testing.T) {
	here, there, raw := openTwo(t)
	woken := func(what string, do func()) {
		t.Helper()
		// The first wait may end at once: the listener does not know of writes before it started.
		for seen := headOf(t, there).Seq; ; {
			changed := there.Changed()
			if now := headOf(t, there).Seq; now != seen {
				t.Fatalf("%s: %d commits before anything is written", what, now)
			}
			if do != nil {
				do()
				do = nil
			}
			waittest.Receive(t, changed, what+" wakes a waiter")
			if headOf(t, there).Seq != seen {
				return
			}
		}
	}
	write := func() {
		if err := appendNext(t.Context(), here); err != nil {
			t.Error(err)
		}
	}
	woken("a write", write)
	woken("another write", write)
	// A process that ended before it notified the others: they find its write by polling the count.
	woken("a write that nobody tells of", func() {
		for _, sql := range []string{"UPDATE streams SET seq = seq + 1 WHERE name = 'count'",
			"UPDATE writer SET n = n + 1, mark = n + 1"} {
			if _, err := raw.Exec(t.Context(), sql); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhatOneProcessRevokesAnotherSees(t *testing.T) {
	here, there, _ := openTwo(t)
	ctx := t.Context()
	if err := here.Identity().AddKey(ctx, identity.Key{ID: "k", Hash: identity.Hash{1},
		Created: storetest.Time(1)}); err != nil {
		t.Fatal(err)
	}
	before, err := there.Identity().Generation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := here.Identity().RevokeKey(ctx, "k", storetest.Time(2)); err != nil {
		t.Fatal(err)
	}
	after, err := there.Identity().Generation(ctx)
	if err != nil || after == before {
		t.Errorf("generation %d, then %d, %v", before, after, err)
	}
	if k, _, err := there.Identity().KeyByID(ctx, "k"); err != nil || k.Revoked.IsZero() {
		t.Errorf("%+v, %v", k, err)
	}
}

// A process that stopped while holding the writer lock delays others no longer than Config.Wait,
// and no write is lost.
func TestAWriterThatHangsIsWaitedForAndNoLonger(t *testing.T) {
	programtest.Long(t)
	address := pgtest.Database(t, prepare)
	s, err := postgres.Open(t.Context(), postgres.Config{URL: address, Wait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raw, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close(context.Background())
	hang, err := raw.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hang.Exec(t.Context(), "SELECT FROM writer FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	var f *fault.Error
	if err := appendNext(t.Context(), s); !errors.As(err, &f) || f.Kind != fault.Unavailable || f.RetryAfter <= 0 {
		t.Errorf("a write while another hangs: %v", err)
	}
	if err := s.Read(t.Context(),
		func(r canon.Reader) error { _, err := r.Worlds(t.Context(), canon.WorldQuery{All: true}); return err }); err != nil {
		t.Errorf("a read while a writer hangs: %v", err)
	}
	if err := hang.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := appendNext(t.Context(), s); err != nil {
		t.Errorf("a write afterwards: %v", err)
	}
}

// A write that waits for the writer lock has locked nothing that its holder may need: statistics
// are updated only after the lock is taken.
func TestNothingIsLockedBeforeTheWriterLock(t *testing.T) {
	here, _, raw := openTwo(t)
	nothing := func(canon.Tx) error { return nil }
	const statements = 3 // statements that such a write queues: two to begin, and one to count the write
	for range 390 / statements {
		if err := here.Write(t.Context(), nothing); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 / statements {
		turn, err := raw.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := turn.Exec(t.Context(), "SELECT FROM writer FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- here.Write(t.Context(), nothing) }()
		for waits := 0; waits == 0; {
			if err := turn.QueryRow(t.Context(),
				"SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')").Scan(&waits); err != nil {
				t.Fatal(err)
			}
		}
		locked := 0
		if err := turn.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND pid IN (SELECT pid FROM pg_locks WHERE NOT granted)").Scan(&locked); err != nil {
			t.Fatal(err)
		}
		if locked > 0 {
			t.Errorf("a write that waits for its turn holds %d locks on tables", locked)
		}
		if err := turn.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The server ends the session of a process that is paused in the middle of a write after a while,
// so that others can write. When the process continues, its write is refused.
func TestAWriterThatWakesUpLateIsRefused(t *testing.T) {
	address := pgtest.Database(t, prepare)
	there := openAt(t, address)
	// the server waits twice as long
	here, err := postgres.Open(t.Context(), postgres.Config{URL: address, Wait: 150 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	began, wake, late := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		late <- here.Write(t.Context(), func(tx canon.Tx) error {
			head, err := tx.Head(t.Context(), "count")
			close(began)
			<-wake
			if err != nil {
				return err
			}
			return tx.Append(t.Context(), storetest.Commit("count", head))
		})
	}()
	<-began
	if err := appendNext(t.Context(), there); err != nil {
		t.Errorf("a write while another process is paused: %v", err)
	}
	close(wake)
	if err := <-late; !errors.Is(err, fault.Unavailable) {
		t.Errorf("a write that comes too late: %v", err)
	}
	if h := headOf(t, there); h.Seq != 1 {
		t.Errorf("%d commits, want 1", h.Seq)
	}
	if err := appendNext(t.Context(), here); err != nil {
		t.Errorf("once it is awake: %v", err)
	}
}

// If the server ends connections, only the calls that were using them fail, with an error that says
// that they can be repeated.
func TestLostConnectionsAreReplaced(t *testing.T) {
	here, _, raw := openTwo(t)
	for range 3 {
		if err := appendNext(t.Context(), here); err != nil {
			t.Fatal(err)
		}
		before := headOf(t, here)
		if _, err := raw.Exec(t.Context(),
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"); err != nil {
			t.Fatal(err)
		}
		tries := 0
		for err := errors.New("not tried"); err != nil; tries++ {
			if err = appendNext(t.Context(), here); err != nil && !errors.Is(err, fault.Unavailable) {
				t.Fatalf("a write on a lost connection: %v", err)
			}
			if tries > 20 {
				t.Fatalf("no write gets through: %v", err)
			}
		}
		for tries := 0; ; tries++ {
			var now canon.Head
			err := here.Read(t.Context(),
				func(r canon.Reader) (err error) { now, err = r.Head(t.Context(), "count"); return err })
			if err == nil && now.Seq != before.Seq+1 {
				t.Fatalf("%d commits, want %d", now.Seq, before.Seq+1)
			}
			if err == nil {
				break
			}
			if !errors.Is(err, fault.Unavailable) || tries > 20 {
				t.Fatalf("a read on a lost connection: %v", err)
			}
		}
	}
}

// A statement that the server refuses fails its own write and none that shares its transaction.
func TestRefusedStatementFailsOnlyItsWrite(t *testing.T) {
	s := open(t)
	random := rand.New(rand.NewPCG(1, 1))
	var long strings.Builder // no index accepts a target of this length, even compressed
	for long.Len() < 20_000 {
		fmt.Fprintf(&long, "%x", random.Uint64())
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			if i%3 > 0 {
				if err := appendNext(t.Context(), s); err != nil {
					t.Errorf("a write beside one that is refused: %v", err)
				}
				return
			}
			err := s.Write(t.Context(), func(tx canon.Tx) error {
				if err := tx.PutWorld(t.Context(), storetest.World(1)); err != nil {
					return err
				}
				return tx.PutRefs(t.Context(), storetest.WorldID(1), storetest.CardID(1),
					[]canon.Ref{{Target: "a"}, {Target: "b"}, {Kind: canon.RefLink, Target: markup.Key(long.String())}})
			})
			if err == nil {
				t.Error("a target of 20,000 characters is taken")
			}
		})
	}
	all.Wait()
	if h := headOf(t, s); h.Seq != 16 {
		t.Errorf("%d commits, want 16", h.Seq)
	}
	if err := s.Read(t.Context(), func(r canon.Reader) error {
		worlds, err := r.Worlds(t.Context(), canon.WorldQuery{All: true})
		if len(worlds) > 0 {
			t.Error("a refused write left a world")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// A document with more words than PostgreSQL's text search takes is found by all its words.
func TestTheLastWordOfABigDocumentIsFound(t *testing.T) {
	s := open(t)
	var text strings.Builder
	for i := range 120_000 {
		fmt.Fprintf(&text, "w%dx ", i)
	}
	long := strings.Repeat("z", 3000)
	text.WriteString(long + " lastword")
	c := storetest.Card(1, "Big", storetest.Open)
	storetest.Put(t, s, c, storetest.Card(2, "Small", storetest.Open))
	if err := s.Write(t.Context(), func(tx canon.Tx) error {
		return tx.Index(t.Context(), c, &canon.SearchDoc{Name: "Big", Text: text.String()})
	}); err != nil {
		t.Fatal(err)
	}
	see := canon.Visibility{World: storetest.WorldID(1), View: storetest.AsUser}
	for _, q := range []canon.SearchQuery{
		{Q: "lastword", Mode: canon.MatchWord, InContent: true}, {Q: "lastw*", Mode: canon.MatchWord}, {Q: "stwor"},
		{Q: "w119998x w119999x", Mode: canon.MatchPhrase},
		{Q: long, Mode: canon.MatchWord}, {Q: "w7x lastword", Mode: canon.MatchWord},
	} {
		err := s.Read(t.Context(), func(r canon.Reader) error {
			res, err := r.Search(t.Context(), see, q, canon.Page{Limit: 5})
			if len(res.Hits) != 1 || res.Hits[0].Card.Name != "Big" || res.Hits[0].Score <= 0 {
				t.Errorf("%.30q finds %d", q.Q, len(res.Hits))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Two processes share the turns of worlds and the leases of jobs.
func TestJobsOfTwoProcesses(t *testing.T) {
	here, there, _ := openTwo(t)
	ctx, now := t.Context(), storetest.Time(100)
	slots, bounds := job.Slots{Worlds: 1, World: 1, Instance: 1}, job.Bounds{Caller: 8, World: 8}
	add := func(s *postgres.Store, world int, owner string) job.Job {
		t.Helper()
		j := job.Job{ID: uuid.New(), World: storetest.WorldID(world), Kind: "scan", By: "ann", Level: access.LevelGM,
			Owner: owner, State: job.Queued, Created: storetest.Time(1), Changed: storetest.Time(2)}
		if err := s.AddJob(ctx, j, bounds); err != nil {
			t.Fatal(err)
		}
		return j
	}
	claim := func(s *postgres.Store, owner string, want job.Job) {
		t.Helper()
		if got, ok, err := s.ClaimJob(ctx, owner, slots, now); err != nil || !ok || got.ID != want.ID {
			t.Errorf("%s claims %+v, %v, %v", owner, got, ok, err)
		}
	}
	gone := add(there, 1, "gone")
	claim(there, "gone", gone)
	second, other := add(here, 1, "alive"), add(here, 2, "alive")
	claim(here, "alive", other)
	if got, _, err := there.CancelJob(ctx, second.ID, now); err != nil || got.State != job.Cancelled {
		t.Errorf("a job that another process was to run: %+v, %v", got, err)
	}
	if err := here.Touch(ctx, "alive", now, now.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got, _, err := there.Job(ctx, gone.ID); err != nil || got.State != job.Failed || got.Problem != job.Interrupted ||
		!got.Changed.Equal(now) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestSecretIsCreatedOnce(t *testing.T) {
	here, there, _ := openTwo(t)
	for i, s := range []*postgres.Store{here, there} {
		if got, err := s.Secret(t.Context(), "refs", []byte{byte(i)}); err != nil || len(got) != 1 || got[0] != 0 {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestUnusableDatabasesAreRefused(t *testing.T) {
	ctx := t.Context()
	_, err := postgres.Open(ctx, postgres.Config{URL: "postgres://u:secret@[bad/x"})
	if !errors.Is(err, fault.Invalid) || strings.Contains(err.Error(), "secret") {
		t.Errorf("an address that cannot be read: %v", err)
	}
	address := pgtest.Database(t, prepare)
	gone, _ := url.Parse(address)
	gone.Path = "/nowhere"
	if _, err := postgres.Open(ctx, postgres.Config{URL: gone.String()}); err == nil {
		t.Error("a database that is not there opens")
	}
	raw, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close(ctx)
	if _, err := raw.Exec(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, true)"); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(ctx, postgres.Config{URL: address}); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a newer schema: %v", err)
	}
	s := open(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := appendNext(ctx, s); !errors.Is(err, fault.Unavailable) {
		t.Errorf("a write after Close: %v", err)
	}
	if err := s.Backup(ctx, "x"); !errors.Is(err, fault.Rule) {
		t.Errorf("Backup: %v", err)
	}
}

// Several processes that start at once on an empty database create one schema.
func TestConcurrentStartsCreateOneSchema(t *testing.T) {
	address := pgtest.Empty(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: address})
			if err != nil {
				t.Error(err)
				return
			}
			if err := appendNext(t.Context(), s); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if h := headOf(t, openAt(t, address)); h.Seq != 4 {
		t.Errorf("%d commits", h.Seq)
	}
}
