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

	"loregate/internal/raceenabled"
	"loregate/internal/store/postgres/pgtest"
)

// patient is a door whose caller repeats what is answered "unavailable", as that answer
// says.
type patient struct{ door }

func (p patient) call(ctx context.Context, operation, key string, in map[string]any) (a answer, err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		a, err = p.door.call(ctx, operation, key, in)
		if err != nil || a.status != 503 && (a.status != 207 || !strings.Contains(a.body, `"unavailable"`)) {
			break
		}
	}
	return a, err
}

// wantRefusal holds a refusal for a part that does not answer against what it must say.
func wantRefusal(t *testing.T, a answer) {
	t.Helper()
	if a.status != 503 || !strings.Contains(a.body, "unavailable") || !strings.Contains(a.body, "try again") {
		t.Errorf("while the store is out of order a call is answered %d %s", a.status, a.body)
	}
}

// TestCrashOfTheDatabase ends the database server under clerks at work, by kill -9 and at
// once, and starts it again. The process that served them lives on: each call was done
// whole, or was refused with what to do and done when repeated. CRASH_FALLS is how often.
func TestCrashOfTheDatabase(t *testing.T) {
	falls := count("CRASH_FALLS", max(raceenabled.Share(4, 2), 2))
	base := pgtest.Start(t)
	at := base.Empty()
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killing{t: t, at: at, key: key, base: commitsIn(t, at)}
	for i := range 4 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(count("SEED", 1))))
	}
	k.server = serve(t, at, key)
	refused := 0
	for n := range falls {
		refused += k.fall([]func(){base.Kill, base.Drop}[n%2])
		base.Again()
		k.server.eventuallyReady(t)
		k.resumeOver(n, patient{k.server})
		if t.Failed() {
			t.Fatalf("at fall %d", n+1)
		}
	}
	k.audit(nil)
	if refused == 0 {
		t.Error("no call met a database that was gone")
	}
	t.Logf("%d falls of the database: %d calls were refused, and done when repeated; %d commits", falls, refused, k.wanted())
}

// fall lets the clerks work until the database is gone, and each has been refused. It
// gives how many were.
func (k *killing) fall(end func()) int {
	var calls, refused atomic.Int64
	var all sync.WaitGroup
	for _, c := range k.clerks {
		c.apart = true
		all.Go(func() {
			for {
				c.open = c.next()
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
				if err := c.settle(a); err != nil {
					k.t.Error(err)
					return
				}
				calls.Add(1)
			}
		})
	}
	eventually(k.t, "the clerks get answers", patience, func() bool { return calls.Load() >= 20 })
	end()
	all.Wait()
	return int(refused.Load())
}

// eventuallyReady waits until the server says that it can serve.
func (s *server) eventuallyReady(t *testing.T) {
	t.Helper()
	eventually(t, "the server is ready", patience, func() bool {
		res, err := s.client.Get(s.url + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == 200
	})
}

// onDatabase is a database with a world, the product on it in this process, and clerks.
func onDatabase(t *testing.T, at string, now func() time.Time) (in inside, clerks []*clerk, base int) {
	t.Helper()
	quiet(t)
	in, err := openInsideAt(t.Context(), at, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.close)
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	if base, err = commitsOf(t.Context(), in.app); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		clerks = append(clerks, newClerk(t, string(rune('a'+i)), uint64(count("SEED", 1))))
		clerks[i].apart = true
	}
	return in, clerks, base
}

// wantWhole holds what is there against what was acknowledged.
func wantWhole(t *testing.T, in inside, clerks []*clerk, base int) {
	t.Helper()
	for _, c := range clerks {
		base += c.commits
	}
	if n, err := commitsOf(t.Context(), in.app); err != nil || n != base {
		t.Errorf("there are %d commits, want %d; %v", n, base, err)
	}
	if err := identical(t.Context(), in.app); err != nil {
		t.Error(err)
	}
}

// TestCrashOfADatabaseThatIsFull has the server say that its disk is full, at a statement
// or not before the commit, under clerks at work.
func TestCrashOfADatabaseThatIsFull(t *testing.T) {
	at := pgtest.Empty(t)
	in, clerks, base := onDatabase(t, at, nil)
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
	refused := troubled(t, in, clerks, max(raceenabled.Share(8, 4), 2),
		func() {
			n++
			table, late := []string{"commits", "versions", "bodies", "cards"}[n%4], []string{"", "DEFERRABLE INITIALLY DEFERRED"}[n/4%2]
			do("CREATE CONSTRAINT TRIGGER no_room AFTER INSERT OR UPDATE ON " + table + " " + late + " FOR EACH ROW EXECUTE FUNCTION no_room()")
		},
		func() {
			do("DROP TRIGGER no_room ON " + []string{"commits", "versions", "bodies", "cards"}[n%4])
		})
	wantWhole(t, in, clerks, base)
	if refused == 0 {
		t.Error("no call met the full disk")
	}
	t.Logf("%d calls were refused", refused)
}

// TestCrashOfConnections cuts all connections to the database at random moments, among
// them before the answer to a commit has come. What was done is then not known; the call
// is refused, and done once when it is repeated.
func TestCrashOfConnections(t *testing.T) {
	w := newWire(t, pgtest.Empty(t))
	in, clerks, base := onDatabase(t, w.at, nil)
	r := rand.New(rand.NewPCG(uint64(count("SEED", 1)), 5))
	refused := troubled(t, in, clerks, count("CRASH_CUTS", max(raceenabled.Share(20, 10), 2)), func() { w.cutAfter(r.IntN(20_000)) }, func() { w.cutAfter(-1) })
	found := 0
	for _, c := range clerks {
		found += c.found
	}
	wantWhole(t, in, clerks, base)
	if refused == 0 {
		t.Error("no call met a cut")
	}
	t.Logf("%d cuts: %d calls were refused, of which %d had been done", w.cuts, refused, found)
}

// TestCrashOfAClock lets the clock jump by days, forth and back, under clerks at work.
func TestCrashOfAClock(t *testing.T) {
	onEachStore(t, func(t *testing.T, at string) {
		var shift atomic.Int64
		in, clerks, base := onDatabase(t, at, func() time.Time { return time.Now().Add(time.Duration(shift.Load())) })
		r := rand.New(rand.NewPCG(uint64(count("SEED", 1)), 6))
		refused := troubled(t, in, clerks, max(raceenabled.Share(20, 10), 2), func() { shift.Store(r.Int64N(int64(96*time.Hour)) - int64(48*time.Hour)) }, func() {})
		wantWhole(t, in, clerks, base)
		if refused > 0 {
			t.Errorf("%d calls were refused for the clock's sake", refused)
		}
	})
}

// TestCrashPausedProcess pauses one of two processes under clerks at work, for so long that
// whatever it held of the database is taken from it, and wakes it up again. The other
// serves all meanwhile; no call of the paused one is lost, or done twice. It takes more than
// a minute, and is made with CRASH_FALLS only.
func TestCrashPausedProcess(t *testing.T) {
	if os.Getenv("CRASH_FALLS") == "" {
		t.Skip("takes more than a minute; make proof sets CRASH_FALLS")
	}
	at := pgtest.Empty(t)
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killing{t: t, at: at, key: key, base: commitsIn(t, at), server: serve(t, at, key)}
	other := serve(t, at, key)
	for i := range 8 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(count("SEED", 1))))
		k.clerks[i].apart = true
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	var all sync.WaitGroup
	for i, c := range k.clerks {
		d := []door{k.server, other}[i%2]
		all.Go(func() {
			for ctx.Err() == nil {
				c.open = c.next()
				a, err := patient{d}.call(ctx, c.open.operation, c.open.key, c.open.in)
				if err != nil || a.status == 503 {
					return
				}
				if err := c.settle(a); err != nil {
					t.Error(err)
				}
				calls.Add(1)
			}
		})
	}
	eventually(t, "the clerks get answers", patience, func() bool { return calls.Load() > 40 })
	if err := k.server.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := calls.Load()
	eventually(t, "the other process goes on", 4*patience, func() bool { return calls.Load() > before+40 })
	<-time.After(time.Minute)
	if err := k.server.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	awake := calls.Load()
	eventually(t, "both go on", patience, func() bool { return calls.Load() > awake+40 })
	cancel()
	all.Wait()
	k.resumeOver(0, patient{k.server})
	k.audit(nil)
	t.Logf("%d calls while one of two processes was paused", awake-before)
}
