package crashtest

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	lib "modernc.org/sqlite/lib"

	"loregate/internal/raceenabled"
)

// TestCrashDiskFails makes the disk fail while clerks work: full or broken, for some operations
// or until it is mended. Each call is done completely, or is refused and has no effect; once
// the disk is mended the same call works.
func TestCrashDiskFails(t *testing.T) {
	dir, rounds := t.TempDir(), countFromEnv("CRASH_CUTS", max(raceenabled.Share(24, 10), 2))
	d := recordDisk(t, dir, map[string][2]string{"wal_autocheckpoint": {checkpointPages, "4000"}})
	silenceLog(t)
	in, err := openApp(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	base, err := countAppCommits(t.Context(), in.app)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(countFromEnv("SEED", 1)), 3))
	var clerks []*clerk
	for i := range 3 {
		clerks = append(clerks, newClerk(t, string(rune('a'+i)), 1))
		clerks[i].apart = true
	}
	failed := 0
	refused := workThroughFaults(t, in, clerks, rounds,
		func() {
			d.setOutage(outage{after: r.IntN(120), times: []int{1, 3, -1}[r.IntN(3)],
				answer: []int32{0, lib.SQLITE_FULL}[r.IntN(2)]})
		},
		func() { failed += d.setOutage(outage{}) })
	for _, c := range clerks {
		base += c.commits
	}
	if n, err := countAppCommits(t.Context(), in.app); err != nil || n != base {
		t.Errorf("there are %d commits, want %d; %v", n, base, err)
	}
	if _, err := in.app.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if failed == 0 || refused == 0 {
		t.Error("the disk never failed")
	}
	t.Logf("%d outages: %d operations of the disk failed, %d calls were refused", rounds, failed, refused)
	if err := checkRebuild(t.Context(), in.app); err != nil {
		t.Error(err)
	}
	in.close()
	if err := verifyStore(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// workThroughFaults runs rounds. In each, begins starts a fault, the clerks work until they are
// refused, ends ends the fault, and the clerks check the state and repeat their refused calls.
// It returns the number of refused calls.
func workThroughFaults(t *testing.T, in appClient, clerks []*clerk, rounds int, begins, ends func()) (refused int) {
	t.Helper()
	for range rounds {
		begins()
		var all sync.WaitGroup
		for _, c := range clerks {
			all.Go(func() { workUntilRefused(t, c, in) })
		}
		all.Wait()
		ends()
		for _, c := range clerks {
			if c.open != nil {
				refused++
			}
			if err := c.checkAndResume(t.Context(), retryingClient{in}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return refused
}

// silenceLog drops the log messages about faults that the test makes.
func silenceLog(t *testing.T) {
	old := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(old) })
}

// workUntilRefused makes up to three calls. A refused call stays open.
func workUntilRefused(t *testing.T, c *clerk, d opClient) {
	for range 3 {
		c.open = c.nextCall()
		a, err := d.call(t.Context(), c.open.operation, c.open.key, c.open.in)
		if err != nil {
			t.Error(err)
			return
		}
		if a.status >= 500 {
			wantRefusal(t, a)
			c.open.refusal = a.body
			return
		}
		if a.status == 207 {
			return
		}
		if err := c.acknowledge(a); err != nil {
			t.Error(err)
		}
	}
}
