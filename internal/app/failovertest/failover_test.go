package failovertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"loregate/internal/app/apptest"
	"loregate/internal/app/patronitest"
	"loregate/internal/wait"
)

// event is a fault of one kind. do returns the function that ends it, and how long it lasts.
type event struct {
	name string
	do   func(c *patronitest.Cluster, r *rand.Rand) (lasts time.Duration, end func())
}

var (
	killPrimary = event{"kill of the primary", func(c *patronitest.Cluster, _ *rand.Rand) (time.Duration, func()) {
		n := c.Primary()
		n.Crash()
		return 10 * time.Second, func() { c.StartNode(n) }
	}}
	// A primary that is back within its lease stays the primary.
	restartPrimary = event{"kill of the primary, which is back at once",
		func(c *patronitest.Cluster, r *rand.Rand) (time.Duration, func()) {
			n := c.Primary()
			n.Crash()
			return time.Duration(r.IntN(4000)) * time.Millisecond, func() { c.StartNode(n) }
		}}
	// A primary that is stopped for longer than its lease wakes beside its successor.
	pausePrimary = event{"pause of the primary", func(c *patronitest.Cluster, _ *rand.Rand) (time.Duration, func()) {
		n := c.Primary()
		n.SignalAll(syscall.SIGSTOP)
		return 12 * time.Second, func() { n.SignalAll(syscall.SIGCONT) }
	}}
	cutPrimary = event{"cut of the primary", func(c *patronitest.Cluster, _ *rand.Rand) (time.Duration, func()) {
		n := c.Primary()
		n.Cut()
		return 12 * time.Second, n.Mend
	}}
	killEtcd = event{"kill of etcd", func(c *patronitest.Cluster, r *rand.Rand) (time.Duration, func()) {
		m := c.RandomMember(r)
		m.Kill()
		return 2 * time.Second, func() { c.StartEtcd(m) }
	}}
)

// TestFailover lets clients write to three processes while the servers of their database are
// killed, paused and cut off. Each acknowledged write is there once, and all chains are whole.
// FAILOVER_KILLS (one in five is a pause, two are restarts), FAILOVER_CUTS, FAILOVER_ETCD and
// FAILOVER_WRITES set the numbers of events and of writes.
func TestFailover(t *testing.T) {
	if os.Getenv("FAILOVER_KILLS") == "" {
		t.Skip("FAILOVER_KILLS is not set: no cluster is started (make proof does)")
	}
	c := patronitest.Start(t)
	c.CheckStrangers()
	c.CreateDatabase()
	s := newService(t, c)
	s.openWorld("main")
	s.writes = int64(countFromEnv("FAILOVER_WRITES", 300))
	game := s.startGame()
	var writers sync.WaitGroup
	for i := range 6 {
		writers.Go(func() { s.writeUntilDone(i) })
	}
	apptest.Eventually(t, "writes are acknowledged", patronitest.Patience, func() bool { return s.ackedCount() >= 50 })
	pauses, line := s.runEvents(c)
	s.enough.Store(true)
	writers.Wait()
	if t.Failed() {
		return
	}
	s.wantOnce(c)
	steps := s.wantStepsOnce(c, game)
	if out := s.run("doctor"); !strings.Contains(out, "a failure of the primary loses nothing now") {
		t.Errorf("doctor says: %s", out)
	}
	s.mu.Lock()
	refusals := slices.Clone(s.refusals)
	s.mu.Unlock()
	for _, e := range []event{killPrimary, restartPrimary, pausePrimary, cutPrimary, killEtcd} {
		if p := pauses[e.name]; len(p) > 0 {
			t.Logf("%s, %d times: no write was acknowledged for %s (median), %s (longest)", e.name, len(p), median(p),
				slices.Max(p).Round(10*time.Millisecond))
		}
	}
	t.Logf("%d writes acknowledged, %d of them repeated, %d steps of a game, timeline %s; %d calls refused at first, "+
		"for %s (median), %s (longest); load of the machine %s", s.ackedCount(), s.repeated.Load(), steps, line, len(refusals), median(refusals),
		slices.Max(append(refusals, 0)).Round(10*time.Millisecond), loadAverage())
}

// loadAverage returns the machine's load of the last 1, 5 and 15 minutes, on Linux.
func loadAverage() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(b))[:3], " ")
}

// runEvents runs all events in random order, each when all servers replicate.
func (s *service) runEvents(c *patronitest.Cluster) (pauses map[string][]time.Duration, line string) {
	kills := countFromEnv("FAILOVER_KILLS", 2)
	var list []event
	for i := range kills {
		list = append(list, []event{pausePrimary, killPrimary, restartPrimary, killPrimary, restartPrimary}[i%5])
	}
	list = append(list, slices.Repeat([]event{cutPrimary}, countFromEnv("FAILOVER_CUTS", 0))...)
	list = append(list, slices.Repeat([]event{killEtcd}, countFromEnv("FAILOVER_ETCD", 0))...)
	r := rand.New(rand.NewPCG(seed(), 99))
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	pauses = map[string][]time.Duration{}
	for i, e := range list {
		if s.t.Failed() {
			break
		}
		wait.For(s.t.Context(), time.Duration(r.IntN(1000))*time.Millisecond)
		began, before := time.Now(), s.ackedCount()
		lasts, end := e.do(c, r)
		wait.For(s.t.Context(), lasts)
		end()
		apptest.Eventually(s.t, "writes go on after a "+e.name, 2*patronitest.Patience,
			func() bool { return s.ackedCount() > before+10 })
		c.AwaitReplication()
		pause := s.pauseAfter(began, time.Now())
		pauses[e.name] = append(pauses[e.name], pause)
		fmt.Fprintf(s.t.Output(), "%d of %d: %s: %s; healed after %s\n", i+1, len(list), e.name,
			pause.Round(10*time.Millisecond), time.Since(began).Round(time.Second))
	}
	if err := c.Query(c.Primary(), "SELECT pg_walfile_name(pg_current_wal_lsn())", &line); err == nil {
		line = line[:8]
	}
	return pauses, line
}
