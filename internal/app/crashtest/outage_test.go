package crashtest

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	lib "modernc.org/sqlite/lib"

	"loregate/internal/raceenabled"
)

// TestCrashDiskFails lets the disk fail under clerks at work, full or broken, for one
// operation or for good, and mends it. Each call is done whole, or refused and without
// effect; after the mending the same call works.
func TestCrashDiskFails(t *testing.T) {
	dir, rounds := t.TempDir(), count("CRASH_CUTS", max(raceenabled.Share(24, 10), 2))
	d := record(t, dir, map[string][2]string{"wal_autocheckpoint": {checkpointPages, "4000"}})
	quiet(t)
	in, err := openInside(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	base, err := commitsOf(t.Context(), in.app)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(count("SEED", 1)), 3))
	var clerks []*clerk
	for i := range 3 {
		clerks = append(clerks, newClerk(t, string(rune('a'+i)), 1))
		clerks[i].apart = true
	}
	failed := 0
	refused := troubled(t, in, clerks, rounds,
		func() {
			d.breaks(outage{after: r.IntN(120), times: []int{1, 3, -1}[r.IntN(3)], answer: []int32{0, lib.SQLITE_FULL}[r.IntN(2)]})
		},
		func() { failed += d.breaks(outage{}) })
	for _, c := range clerks {
		base += c.commits
	}
	if n, err := commitsOf(t.Context(), in.app); err != nil || n != base {
		t.Errorf("there are %d commits, want %d; %v", n, base, err)
	}
	if _, err := in.app.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if failed == 0 || refused == 0 {
		t.Error("the disk never failed")
	}
	t.Logf("%d outages: %d operations of the disk failed, %d calls were refused", rounds, failed, refused)
	if err := identical(t.Context(), in.app); err != nil {
		t.Error(err)
	}
	in.close()
	if err := sound(t.Context(), dir); err != nil {
		t.Error(err)
	}
}

// troubled lets clerks work in each round until something that begins in it refuses them,
// ends it, and has them look at what there is and repeat what was refused. It gives how
// many calls were.
func troubled(t *testing.T, in inside, clerks []*clerk, rounds int, begins, ends func()) (refused int) {
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
			if err := c.resume(t.Context(), patient{in}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return refused
}

// quiet drops what the program logs of faults that the test makes.
func quiet(t *testing.T) {
	old := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(old) })
}

// workUntilRefused makes a few calls, and leaves the one that was refused open.
func workUntilRefused(t *testing.T, c *clerk, d door) {
	for range 3 {
		c.open = c.next()
		a, err := d.call(t.Context(), c.open.operation, c.open.key, c.open.in)
		if err != nil {
			t.Error(err)
			return
		}
		if a.status >= 500 {
			wantRefusal(t, a)
			return
		}
		if a.status == 207 {
			return
		}
		if err := c.settle(a); err != nil {
			t.Error(err)
		}
	}
}
