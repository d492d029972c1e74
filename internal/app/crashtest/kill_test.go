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

	"loregate/internal/app/apptest"
	"loregate/internal/wait"
)

// TestCrashKill kills the shipped binary at random moments while clerks write to it over HTTP.
// CRASH_KILLS sets the number of kills.
func TestCrashKill(t *testing.T) { onEachStore(t, testKill) }

func testKill(t *testing.T, at string) {
	kills := countFromEnv("CRASH_KILLS", 3)
	mustRun(t, at, "world", "create", "main")
	key, _, _ := strings.Cut(mustRun(t, at, "key", "create", "clerks", "--role", "admin"), "\t")
	k := &killRun{t: t, at: at, key: key, rnd: rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 7))}
	k.base = countCommits(t, at)
	for i := range 4 {
		k.clerks = append(k.clerks, newClerk(t, string(rune('a'+i)), uint64(countFromEnv("SEED", 1))))
	}
	k.server = startServer(t, at, key)
	for n := range kills {
		full := n%25 == 0 || n == kills-1
		seen := k.crash(full)
		k.server = startServer(t, at, key)
		k.resumeClerks(n)
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
	t.Logf("%d kills: %d calls acknowledged, %d commits; %d calls were in flight, of which %d had been committed", kills,
		calls, k.wantedCommits(), open, done)
}

// killRun is a store with its server, which is killed again and again, and with the clerks that
// use it.
type killRun struct {
	t       *testing.T
	at, key string
	rnd     *rand.Rand
	base    int // commits before the first call of a clerk
	clerks  []*clerk
	server  *server
}

// crash lets the clerks work and kills the server at a random moment. If look is set, it
// returns the keys of the calls whose access records were durable before.
func (k *killRun) crash(look bool) map[string]bool {
	var calls atomic.Int64
	var all sync.WaitGroup
	for _, c := range k.clerks {
		all.Go(func() {
			for c.doNextCall(k.t.Context(), k.server) {
				calls.Add(1)
			}
		})
	}
	after := int64(k.rnd.IntN(60))
	apptest.Eventually(k.t, "the clerks get answers", maxWait, func() bool { return calls.Load() >= after })
	var seen map[string]bool
	if look {
		apptest.Eventually(k.t, "access records become durable", maxWait,
			func() bool { seen = k.recordedCorrelations(); return len(seen) > 0 })
	}
	wait.For(k.t.Context(), time.Duration(k.rnd.IntN(8000))*time.Microsecond)
	k.server.kill()
	all.Wait()
	return seen
}

// resumeClerks lets all clerks check the state at once, and resume.
func (k *killRun) resumeClerks(n int) { k.resumeClerksOver(n, k.server) }

func (k *killRun) resumeClerksOver(n int, d opClient) {
	if isDatabase(k.at) {
		awaitLostCommits(k.t, k.at)
	}
	var all sync.WaitGroup
	for _, c := range k.clerks {
		all.Go(func() {
			if err := c.checkAndResume(k.t.Context(), d); err != nil {
				k.t.Errorf("after kill %d: %v", n+1, err)
			}
		})
	}
	all.Wait()
}

func (k *killRun) wantedCommits() int {
	n := k.base
	for _, c := range k.clerks {
		n += c.commits
	}
	return n
}

var commitsLine = regexp.MustCompile(`(?m)^world:\S+: (\d+) commits, chain intact$`)

// countCommits verifies the store and returns the number of commits of the world's stream.
func countCommits(t testing.TB, at string) int {
	t.Helper()
	out := mustRun(t, at, "audit", "verify")
	m := commitsLine.FindStringSubmatch(out)
	if m == nil || !strings.Contains(out, "processes, chains intact") {
		t.Fatalf("audit verify says: %s", out)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// audit checks the chains, that every call had one effect, that the tables match the stream,
// and that access records seen as durable still exist.
func (k *killRun) audit(seen map[string]bool) {
	k.t.Helper()
	if got := countCommits(k.t, k.at); got != k.wantedCommits() {
		k.t.Errorf("there are %d commits; the calls that were made want %d", got, k.wantedCommits())
	}
	if out := mustRun(k.t, k.at, "rebuild"); !strings.Contains(out, "identical") {
		k.t.Errorf("rebuild says: %s", out)
	}
	if out, err := run(k.t, k.at, "doctor"); err != nil || !strings.Contains(out, "store is sound") {
		k.t.Errorf("doctor says: %s, %v", out, err)
	}
	now := k.recordedCorrelations()
	for key := range seen {
		if !now[key] {
			k.t.Errorf("the access record of %s was durable, and is gone", key)
		}
	}
}

// recordedCorrelations returns the correlations of all durable access records of clerks.
func (k *killRun) recordedCorrelations() map[string]bool {
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
