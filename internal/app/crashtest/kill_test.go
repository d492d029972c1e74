package crashtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCrashKill kills the shipped binary at random moments while clerks write to it over
// HTTP. CRASH_KILLS is how often.
func TestCrashKill(t *testing.T) { onEachStore(t, testKill) }

func testKill(t *testing.T, at string) {
	kills := count("CRASH_KILLS", 3)
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killing{t: t, at: at, key: key, rnd: rand.New(rand.NewPCG(uint64(count("SEED", 1)), 7))}
	k.base = commitsIn(t, at)
	for i := range 4 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(count("SEED", 1))))
	}
	k.server = serve(t, at, key)
	for n := range kills {
		full := n%25 == 0 || n == kills-1
		seen := k.crash(full)
		k.server = serve(t, at, key)
		k.resume(n)
		if full {
			k.audit(seen)
		}
		if t.Failed() {
			t.Fatalf("at kill %d", n+1)
		}
	}
	calls, open, done := 0, 0, 0
	for _, c := range k.clerks {
		calls, open, done = calls+c.calls, open+c.opened, done+c.found
	}
	t.Logf("%d kills: %d calls acknowledged, %d commits; %d calls were in flight, of which %d had been committed", kills, calls, k.wanted(), open, done)
}

// killing is a store whose server does not live long.
type killing struct {
	t       *testing.T
	at, key string
	rnd     *rand.Rand
	base    int // commits before the clerks came
	clerks  []*clerk
	server  *server
}

// crash lets the clerks work, and kills the server at some moment. It gives the keys of
// the calls whose access records were seen to be durable before.
func (k *killing) crash(look bool) map[string]bool {
	var calls atomic.Int64
	var all sync.WaitGroup
	for _, c := range k.clerks {
		all.Go(func() {
			for c.work(k.t.Context(), k.server) {
				calls.Add(1)
			}
		})
	}
	after := int64(k.rnd.IntN(60))
	eventually(k.t, "the clerks get answers", patience, func() bool { return calls.Load() >= after })
	var seen map[string]bool
	if look {
		eventually(k.t, "access records become durable", patience, func() bool { seen = k.recorded(); return len(seen) > 0 })
	}
	<-time.After(time.Duration(k.rnd.IntN(8000)) * time.Microsecond)
	k.server.kill()
	all.Wait()
	return seen
}

// resume lets each clerk check what it finds, all at once.
func (k *killing) resume(n int) { k.resumeOver(n, k.server) }

func (k *killing) resumeOver(n int, d door) {
	var all sync.WaitGroup
	for _, c := range k.clerks {
		all.Go(func() {
			if err := c.resume(k.t.Context(), d); err != nil {
				k.t.Errorf("after kill %d: %v", n+1, err)
			}
		})
	}
	all.Wait()
}

func (k *killing) wanted() int {
	n := k.base
	for _, c := range k.clerks {
		n += c.commits
	}
	return n
}

var commitsLine = regexp.MustCompile(`(?m)^world:\S+: (\d+) commits, whole$`)

// commitsIn is how many commits the world's verified stream has.
func commitsIn(t testing.TB, at string) int {
	t.Helper()
	out := mustRun(t, at, "audit", "verify")
	m := commitsLine.FindStringSubmatch(out)
	if m == nil || !strings.Contains(out, "processes, whole") {
		t.Fatalf("audit verify says: %s", out)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// audit checks the chains, that every call had one effect, that the tables follow from
// the stream, and that access records that were durable still are.
func (k *killing) audit(seen map[string]bool) {
	k.t.Helper()
	if got := commitsIn(k.t, k.at); got != k.wanted() {
		k.t.Errorf("there are %d commits; the calls that were made want %d", got, k.wanted())
	}
	if out := mustRun(k.t, k.at, "rebuild"); !strings.Contains(out, "identical") {
		k.t.Errorf("rebuild says: %s", out)
	}
	if out, err := run(k.t, k.at, "doctor"); err != nil || !strings.Contains(out, "store is sound") {
		k.t.Errorf("doctor says: %s, %v", out, err)
	}
	now := k.recorded()
	for key := range seen {
		if !now[key] {
			k.t.Errorf("the access record of %s was durable, and is gone", key)
		}
	}
}

// recorded are the correlations of all durable access records of clerks.
func (k *killing) recorded() map[string]bool {
	found := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(mustRun(k.t, k.at, "audit", "tail", "-n", "1000000")))
	for lines.Scan() {
		var r struct {
			Correlation string `json:"correlation_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			k.t.Fatal(fmt.Errorf("access record %q: %w", lines.Text(), err))
		}
		if strings.Contains(r.Correlation, "-") && len(r.Correlation) < 20 {
			found[r.Correlation] = true
		}
	}
	return found
}
