package crashtest

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"loregate/internal/app/apptest"
	"loregate/internal/programtest"
	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

// retryingClient repeats calls that are answered "unavailable", as that answer advises, until
// maxWait after the first such answer: the first call to a paused process takes longer.
type retryingClient struct{ opClient }

func (p retryingClient) call(
	ctx context.Context, operation, key string, in map[string]any,
) (a answer, err error) {
	var end time.Time
	for {
		a, err = p.opClient.call(ctx, operation, key, in)
		unavailable := a.status == 503 || a.status == 207 && strings.Contains(a.body, `"unavailable"`)
		if err != nil || !unavailable || !end.IsZero() && time.Now().After(end) {
			return a, err
		}
		if end.IsZero() {
			end = time.Now().Add(maxWait)
		}
		wait.For(ctx, 20*time.Millisecond)
	}
}

// wantRefusal checks the refusal of a call while a part of the system does not answer.
func wantRefusal(t *testing.T, a answer) {
	t.Helper()
	if a.status != 503 || !strings.Contains(a.body, "unavailable") || !strings.Contains(a.body, "try again") {
		t.Errorf("while the store is out of order a call is answered %d %s", a.status, a.body)
	}
}

// TestCrashOfTheDatabase ends the database server while clerks work, by turns with kill -9 and
// with an immediate shutdown, and starts it again. The server process that serves the clerks
// lives on. Each call is done completely, or is refused with advice and succeeds when it is
// repeated. CRASH_FALLS sets the number of crashes.
func TestCrashOfTheDatabase(t *testing.T) {
	programtest.Long(t)
	falls := countFromEnv("CRASH_FALLS", max(raceenabled.Share(4, 2), 2))
	base := pgtest.Start(t)
	at := base.Empty()
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killRun{t: t, at: at, key: key, base: countCommits(t, at)}
	for i := range 4 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(countFromEnv("SEED", 1))))
	}
	k.server = startServer(t, at, key)
	refused := 0
	for n := range falls {
		refused += k.crashDatabase([]func(){base.Kill, base.Drop}[n%2])
		base.Again()
		k.server.eventuallyReady(t)
		k.resumeClerksOver(n, retryingClient{k.server})
		if t.Failed() {
			t.Fatalf("at fall %d", n+1)
		}
	}
	k.audit(nil)
	if refused == 0 {
		t.Error("no call met a database that was gone")
	}
	t.Logf("%d falls of the database: %d calls were refused, and done when repeated; %d commits", falls, refused,
		k.wantedCommits())
}

// crashDatabase lets the clerks work until the database is gone and each clerk was refused. It
// returns the number of refusals.
func (k *killRun) crashDatabase(end func()) int {
	var calls, refused atomic.Int64
	var all sync.WaitGroup
	for _, c := range k.clerks {
		c.apart = true
		all.Go(func() {
			for {
				c.open = c.nextCall()
				a, err := k.server.call(k.t.Context(), c.open.operation, c.open.key, c.open.in)
				switch {
				case err != nil:
					k.t.Errorf("the process is gone with the database: %v", err)
					return
				case a.status >= 500 || a.status == 207:
					if a.status >= 500 {
						wantRefusal(k.t, a)
					}
					refused.Add(1)
					return
				}
				if err := c.acknowledge(a); err != nil {
					k.t.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	apptest.Eventually(k.t, "the clerks get answers", maxWait, func() bool { return calls.Load() >= 20 })
	end()
	all.Wait()
	return int(refused.Load())
}

// eventuallyReady waits until the server's /readyz answers 200.
func (s *server) eventuallyReady(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "the server is ready", maxWait, func() bool {
		res, err := s.client.Get(s.url + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == 200
	})
}

// awaitLostCommits waits until the database has committed or undone the writes of connections that
// are gone: it finishes a COMMIT that it has received. A write holds the lock on the row of the
// table writer until then.
func awaitLostCommits(t *testing.T, at string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	if _, err := db.Exec(t.Context(), "SELECT FROM writer FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
}

// openWithClerks opens the app in this process, on a database with a world. It also returns
// three clerks and the number of commits so far.
func openWithClerks(t *testing.T, at string, now func() time.Time) (in appClient, clerks []*clerk, base int) {
	t.Helper()
	silenceLog(t)
	in, err := openAppAt(t.Context(), at, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.close)
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if base, err = countAppCommits(t.Context(), in.app); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		clerks = append(clerks, newClerk(t, string(rune('a'+i)), uint64(countFromEnv("SEED", 1))))
		clerks[i].apart = true
	}
	return in, clerks, base
}

// wantConsistent compares the number of commits with the acknowledged calls, and the tables
// with a rebuild.
func wantConsistent(t *testing.T, in appClient, clerks []*clerk, base int) {
	t.Helper()
	for _, c := range clerks {
		base += c.commits
	}
	if n, err := countAppCommits(t.Context(), in.app); err != nil || n != base {
		t.Errorf("there are %d commits, want %d; %v", n, base, err)
	}
	if err := checkRebuild(t.Context(), in.app); err != nil {
		t.Error(err)
	}
}

// TestCrashOfADatabaseThatIsFull makes the database server report a full disk while clerks
// work, either at a statement or only at the commit.
func TestCrashOfADatabaseThatIsFull(t *testing.T) {
	programtest.Long(t)
	at := pgtest.Empty(t)
	in, clerks, base := openWithClerks(t, at, nil)
	db, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	do := func(sql string) {
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	do(`CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
		'BEGIN RAISE EXCEPTION ''could not extend file "base/1/2": No space left on device'' USING ERRCODE = ''53100''; END'`)
	n := 0
	refused := workThroughFaults(t, in, clerks, max(raceenabled.Share(8, 4), 2),
		func() {
			n++
			table, late := []string{"commits", "versions", "bodies", "cards"}[n%4],
				[]string{"", "DEFERRABLE INITIALLY DEFERRED"}[n/4%2]
			do("CREATE CONSTRAINT TRIGGER no_room AFTER INSERT OR UPDATE ON " + table + " " + late +
				" FOR EACH ROW EXECUTE FUNCTION no_room()")
		},
		func() {
			do("DROP TRIGGER no_room ON " + []string{"commits", "versions", "bodies", "cards"}[n%4])
		})
	wantConsistent(t, in, clerks, base)
	if refused == 0 {
		t.Error("no call met the full disk")
	}
	t.Logf("%d calls were refused", refused)
}

// TestCrashOfConnections cuts all connections to the database at random moments, sometimes
// before the answer to a commit has come. The outcome of that commit is then unknown; the call
// is refused, and has one effect when it is repeated.
func TestCrashOfConnections(t *testing.T) {
	programtest.Long(t)
	at := pgtest.Empty(t)
	w := pgtest.NewProxy(t, at)
	in, clerks, base := openWithClerks(t, w.URL, nil)
	r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 5))
	refused := workThroughFaults(t, in, clerks, countFromEnv("CRASH_CUTS", max(raceenabled.Share(20, 10), 2)),
		func() { w.CutAfter(r.IntN(20_000)) },
		func() {
			w.CutAfter(-1)
			awaitLostCommits(t, at)
		})
	found := 0
	for _, c := range clerks {
		found += c.found
	}
	wantConsistent(t, in, clerks, base)
	if refused == 0 {
		t.Error("no call met a cut")
	}
	t.Logf("%d cuts: %d calls were refused, of which %d had been done", w.Cuts(), refused, found)
}

// TestCrashOfAClock lets the clock jump forth and back by days while clerks work.
func TestCrashOfAClock(t *testing.T) {
	programtest.Long(t)
	onEachStore(t, func(t *testing.T, at string) {
		var shift atomic.Int64
		in, clerks, base := openWithClerks(t, at, func() time.Time { return time.Now().Add(time.Duration(shift.Load())) })
		r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 6))
		refused := workThroughFaults(t, in, clerks, max(raceenabled.Share(20, 10), 2),
			func() { shift.Store(r.Int64N(int64(96*time.Hour)) - int64(48*time.Hour)) }, func() {})
		wantConsistent(t, in, clerks, base)
		if refused > 0 {
			t.Errorf("%d calls were refused for the clock's sake", refused)
		}
	})
}

// TestCrashPausedProcess pauses one of two processes while clerks work, until the database has
// taken back everything that the process held, and wakes it up again. Meanwhile the other
// process serves; no call of the paused one is lost or done twice. The test takes more than a
// minute, and runs only if CRASH_FALLS is set.
func TestCrashPausedProcess(t *testing.T) {
	programtest.Long(t)
	if os.Getenv("CRASH_FALLS") == "" {
		t.Skip("takes more than a minute; make proof sets CRASH_FALLS")
	}
	at := pgtest.Empty(t)
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killRun{t: t, at: at, key: key, base: countCommits(t, at), server: startServer(t, at, key)}
	other := startServer(t, at, key)
	for i := range 8 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(countFromEnv("SEED", 1))))
		k.clerks[i].apart = true
	}
	var enough atomic.Bool
	var calls atomic.Int64
	var all sync.WaitGroup
	for i, c := range k.clerks {
		d := []opClient{k.server, other}[i%2]
		all.Go(func() {
			for !enough.Load() {
				c.open = c.nextCall()
				a, err := retryingClient{d}.call(t.Context(), c.open.operation, c.open.key, c.open.in)
				if err != nil || a.status == 503 {
					return
				}
				if err := c.acknowledge(a); err != nil {
					t.Error(err)
				}
				calls.Add(1)
			}
		})
	}
	apptest.Eventually(t, "the clerks get answers", maxWait, func() bool { return calls.Load() > 40 })
	if err := k.server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := calls.Load()
	apptest.Eventually(t, "the other process goes on", 4*maxWait, func() bool { return calls.Load() > before+40 })
	wait.For(t.Context(), time.Minute)
	if err := k.server.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awake := calls.Load()
	apptest.Eventually(t, "both go on", maxWait, func() bool { return calls.Load() > awake+40 })
	enough.Store(true)
	all.Wait()
	k.resumeClerksOver(0, retryingClient{k.server})
	k.audit(nil)
	t.Logf("%d calls while one of two processes was paused", awake-before)
}
