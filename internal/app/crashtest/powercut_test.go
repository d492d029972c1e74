package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/programtest"
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlite"
)

// appClient calls the app in this process as its operator.
type appClient struct{ app *app.App }

func openApp(ctx context.Context, at string) (appClient, error) { return openAppAt(ctx, at, nil) }

// openAppAt is openApp with a clock.
func openAppAt(ctx context.Context, at string, now func() time.Time) (appClient, error) {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		return appClient{}, err
	}
	c.Data, c.Database = settingsFor(at)
	a, err := app.Open(ctx, c, app.Options{Version: "test", Now: now, Logger: slog.New(slog.DiscardHandler)})
	return appClient{a}, err
}

func (d appClient) close() { d.app.Close(context.Background()) }

func (d appClient) call(ctx context.Context, operation, key string, in map[string]any) (answer, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return answer{}, err
	}
	a, err := d.app.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Input: b, IdempotencyKey: key,
		Transport: "test"})
	if err != nil {
		return answer{status: fault.KindOf(err).HTTPStatus(), body: err.Error()}, nil
	}
	return answer{max(a.Reply.Status, 200), string(a.Output), a.Reply.Replayed}, nil
}

// timedCall is one call of a clerk, with the times at which it was sent and answered.
type timedCall struct {
	before     state // the clerk's state before
	commits    int   // the clerk's commits before
	move       *plannedCall
	said       answer
	sent, came int // times, in operations of the disk
}

// recording is a recorded disk and the calls that clerks made on it.
type recording struct {
	disk  *disk
	clock int // time at which the world existed
	base  int // commits until then
	calls [][]timedCall
	seed  uint64
}

// checkpointPages is the number of pages of the write-ahead log after which SQLite checkpoints.
// It is small, so that a few calls see many checkpoints. The program asks for 4,000.
const checkpointPages = "60"

// recordClerks lets three clerks work on a recorded disk. Each makes the given number of calls.
func recordClerks(t *testing.T, seed uint64, calls int, instead map[string][2]string) *recording {
	t.Helper()
	dir := t.TempDir()
	pragmas := map[string][2]string{"wal_autocheckpoint": {checkpointPages, "4000"}}
	for name, other := range instead {
		pragmas[name] = other
	}
	d := &recording{disk: recordDisk(t, dir, pragmas), seed: seed}
	in, err := openApp(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.clock = d.disk.opCount()
	if d.base, err = countAppCommits(t.Context(), in.app); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	d.calls = make([][]timedCall, 3)
	for i := range d.calls {
		c := newClerk(t, string(rune('a'+i)), seed)
		all.Go(func() {
			for range calls {
				one := timedCall{before: c.state, commits: c.commits, sent: d.disk.opCount()}
				c.doNextCall(t.Context(), in)
				one.came, one.move, one.said = d.disk.opCount(), c.last, c.said
				d.calls[i] = append(d.calls[i], one)
			}
		})
	}
	all.Wait()
	in.close()
	return d
}

// clerksAt returns the clerks as they were at the time cut.
func (d *recording) clerksAt(t *testing.T, cut int) (clerks []*clerk) {
	for i, calls := range d.calls {
		c := newClerk(t, string(rune('a'+i)), d.seed)
		for _, one := range calls {
			if one.sent > cut {
				break
			}
			c.state, c.commits, c.open = one.before, one.commits, one.move
			if one.came <= cut {
				if err := c.acknowledge(one.said); err != nil {
					t.Fatal(err)
				}
			}
		}
		clerks = append(clerks, c)
	}
	return clerks
}

// countAppCommits counts the commits of the verified streams.
func countAppCommits(ctx context.Context, a *app.App) (int, error) {
	n := 0
	err := a.WithGrant(ctx, app.Operator(), access.Request{Operation: "audit_verify", Effect: access.Read, Operator: true},
		func(g access.Grant) error {
			streams, err := a.Canon.Verify(ctx, g, nil)
			for _, s := range streams {
				n += s.Commits
			}
			return err
		})
	return n, err
}

// checkAfterCut opens the store that a power cut left, and compares it with the calls
// acknowledged before.
func (d *recording) checkAfterCut(t *testing.T, dir string, cut int) error {
	ctx := t.Context()
	if err := verifyStore(ctx, dir); err != nil {
		return err
	}
	in, err := openApp(ctx, dir)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer in.close()
	wanted := d.base
	if cut < d.clock {
		if err := in.app.EnsureWorld(ctx); err != nil {
			return fmt.Errorf("make a world: %w", err)
		}
	} else {
		for _, c := range d.clerksAt(t, cut) {
			if err := c.checkAndResume(ctx, in); err != nil {
				return err
			}
			wanted += c.commits
		}
	}
	if report, err := in.app.Verify(ctx, ""); err != nil {
		return fmt.Errorf("chains: %w; %s", err, report)
	}
	n, err := countAppCommits(ctx, in.app)
	if err == nil && n != wanted {
		err = fmt.Errorf("there are %d commits, want %d", n, wanted)
	}
	if err != nil {
		return err
	}
	return checkRebuild(ctx, in.app)
}

// checkRebuild rebuilds every table and reports differences.
func checkRebuild(ctx context.Context, a *app.App) error {
	worlds, err := a.Rebuild(ctx, "", canon.CompareOnly)
	for _, w := range worlds {
		if len(w.Different) > 0 {
			err = errors.Join(err, fmt.Errorf("rebuilt tables differ: %v", w.Different))
		}
	}
	return err
}

// verifyStore reads a whole store and reports the faults that SQLite and its full-text indexes
// find.
func verifyStore(ctx context.Context, dir string) error {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	faults, err := s.Verify(ctx)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("corrupt: %s", strings.Join(faults[:min(3, len(faults))], "; "))
	}
	return errors.Join(err, s.Close())
}

// randomCut picks the time of a power cut: half of the time right after an answer, where the
// risk is highest, and otherwise at any time.
func (d *recording) randomCut(r *rand.Rand) int {
	calls := d.calls[r.IntN(len(d.calls))]
	if r.IntN(2) == 0 {
		return calls[r.IntN(len(calls))].came
	}
	return r.IntN(d.disk.opCount() + 1)
}

// cutPower cuts the power once and checks the store that is left.
func (d *recording) cutPower(t *testing.T, how loss, lies bool, r *rand.Rand) error {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "cut")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := d.randomCut(r)
	if err := d.disk.image(dir, at, how, lies, r); err != nil {
		t.Fatal(err)
	}
	if err := d.checkAfterCut(t, dir, at); err != nil {
		return fmt.Errorf("seed %d, power cut before operation %d of %d, %s: %w", d.seed, at, d.disk.opCount(), how.name, err)
	}
	return nil
}

// cutsPerRecording is the number of cuts made into one recording.
const cutsPerRecording = 20

func callsPerRecording() int { return max(raceenabled.Share(30, 10), 2) }

// TestPowerCut cuts the power of a recorded disk at random moments. CRASH_CUTS sets the number
// of cuts.
func TestPowerCut(t *testing.T) {
	cuts, seed := countFromEnv("CRASH_CUTS", max(raceenabled.Share(20, 10), 2)), uint64(countFromEnv("SEED", 1))
	var d *recording
	calls, ops := 0, 0
	for n := range cuts {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		if n%cutsPerRecording == 0 {
			d = recordClerks(t, seed+uint64(n), callsPerRecording(), nil)
			calls, ops = calls+3*callsPerRecording(), ops+d.disk.opCount()
		}
		if err := d.cutPower(t, losses[n%len(losses)], false, r); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d cuts into %d calls, %d operations of the disk", cuts, calls, ops)
}

// wantFailure cuts the power until a check fails. With CRASH_CUTS it makes at least a tenth as
// many cuts and counts the failures.
func (d *recording) wantFailure(t *testing.T, lies bool) {
	t.Helper()
	var first error
	bad, n := 0, 0
	for ; n < 60 && first == nil || n < countFromEnv("CRASH_CUTS", 0)/10; n++ {
		if err := d.cutPower(t, losses[n%len(losses)], lies, rand.New(rand.NewPCG(d.seed, uint64(n)))); err != nil {
			if bad++; first == nil {
				first = err
			}
		}
	}
	if first == nil {
		t.Fatal("nothing is lost: the cuts prove nothing")
	}
	t.Logf("%d of %d cuts find it, the first: %v", bad, n, first)
}

// TestPowerCutFindsALaxStore is a control: a store that does not wait for the disk loses
// acknowledged writes. It checkpoints as rarely as the program does, since a checkpoint syncs.
func TestPowerCutFindsALaxStore(t *testing.T) {
	programtest.Long(t)
	recordClerks(t, 1, callsPerRecording(), map[string][2]string{"synchronous": {"1", "2"},
		"wal_autocheckpoint": {"4000", "4000"}}).wantFailure(t, false)
}

// TestPowerCutFindsALyingDisk is the other control: on a disk that ignores syncs acknowledged
// writes are lost.
func TestPowerCutFindsALyingDisk(t *testing.T) {
	programtest.Long(t)
	recordClerks(t, 1, callsPerRecording(), nil).wantFailure(t, true)
}
