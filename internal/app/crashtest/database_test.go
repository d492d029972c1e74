package crashtest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loregate/internal/racing"
	"loregate/internal/store/postgres/pgtest"
)

// patient is a door whose caller repeats what is answered "unavailable", as that answer
// says.
type patient struct{ door }

func (p patient) call(ctx context.Context, operation, key string, in map[string]any) (a answer, err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if a, err = p.door.call(ctx, operation, key, in); err != nil || a.status != 503 {
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
	falls := count("CRASH_FALLS", max(racing.Share(4, 2), 2))
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
