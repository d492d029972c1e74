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
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlite"
)

// inside is the product in this process, as its operator calls it.
type inside struct{ app *app.App }

func openInside(ctx context.Context, at string) (inside, error) { return openInsideAt(ctx, at, nil) }

// openInsideAt is openInside with a clock.
func openInsideAt(ctx context.Context, at string, now func() time.Time) (inside, error) {
	c, err := app.LoadConfig("", nil)
	if err != nil {
		return inside{}, err
	}
	c.Data, c.Database = placed(at)
	a, err := app.Open(ctx, c, app.Options{Version: "test", Now: now, Logger: slog.New(slog.DiscardHandler)})
	return inside{a}, err
}

func (d inside) close() { d.app.Close(context.Background()) }

func (d inside) call(ctx context.Context, operation, key string, in map[string]any) (answer, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return answer{}, err
	}
	a, err := d.app.Ops.Invoke(ctx, app.Operator(), op.Request{Operation: operation, Input: b, IdempotencyKey: key, Transport: "test"})
	if err != nil {
		return answer{status: fault.KindOf(err).HTTPStatus(), body: err.Error()}, nil
	}
	return answer{max(a.Reply.Status, 200), string(a.Output), a.Reply.Replayed}, nil
}

// call is one call of a clerk, and when it was sent and answered.
type call struct {
	before     state // what the clerk knew
	commits    int   // and had caused, before
	move       *move
	said       answer
	sent, came int // by the disk's operations
}

// day is what clerks did on a recorded disk.
type day struct {
	disk  *disk
	clock int // when the world was there
	base  int // commits until then
	calls [][]call
	seed  uint64
}

// pages of the write-ahead log after which SQLite moves them into the file, so that few
// calls see many checkpoints. The program asks for 4,000.
const checkpointPages = "60"

// workDay lets clerks work on a recorded disk until each has made so many calls.
func workDay(t *testing.T, seed uint64, calls int, instead map[string][2]string) *day {
	t.Helper()
	dir := t.TempDir()
	pragmas := map[string][2]string{"wal_autocheckpoint": {checkpointPages, "4000"}}
	for name, other := range instead {
		pragmas[name] = other
	}
	d := &day{disk: record(t, dir, pragmas), seed: seed}
	in, err := openInside(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.app.EnsureWorld(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.clock = d.disk.now()
	if d.base, err = commitsOf(t.Context(), in.app); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	d.calls = make([][]call, 3)
	for i := range d.calls {
		c := newClerk(t, string(rune('a'+i)), seed)
		all.Go(func() {
			for range calls {
				one := call{before: c.state, commits: c.commits, sent: d.disk.now()}
				c.work(t.Context(), in)
				one.came, one.move, one.said = d.disk.now(), c.last, c.said
				d.calls[i] = append(d.calls[i], one)
			}
		})
	}
	all.Wait()
	in.close()
	return d
}

// clerksAt are the clerks as they were at a moment.
func (d *day) clerksAt(t *testing.T, cut int) (clerks []*clerk) {
	for i, calls := range d.calls {
		c := newClerk(t, string(rune('a'+i)), d.seed)
		for _, one := range calls {
			if one.sent > cut {
				break
			}
			c.state, c.commits, c.open = one.before, one.commits, one.move
			if one.came <= cut {
				if err := c.settle(one.said); err != nil {
					t.Fatal(err)
				}
			}
		}
		clerks = append(clerks, c)
	}
	return clerks
}

// commitsOf counts the commits of the verified streams.
func commitsOf(ctx context.Context, a *app.App) (int, error) {
	n := 0
	err := a.As(ctx, app.Operator(), access.Request{Operation: "audit_verify", Effect: access.Read, Operator: true}, func(g access.Grant) error {
		streams, err := a.Canon.Verify(ctx, g)
		for _, s := range streams {
			n += s.Commits
		}
		return err
	})
	return n, err
}

// check opens what a power cut left, and holds it against what was acknowledged before.
func (d *day) check(t *testing.T, dir string, cut int) error {
	ctx := t.Context()
	if err := sound(ctx, dir); err != nil {
		return err
	}
	in, err := openInside(ctx, dir)
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
			if err := c.resume(ctx, in); err != nil {
				return err
			}
			wanted += c.commits
		}
	}
	if report, err := in.app.Verify(ctx); err != nil {
		return fmt.Errorf("chains: %w; %s", err, report)
	}
	n, err := commitsOf(ctx, in.app)
	if err == nil && n != wanted {
		err = fmt.Errorf("there are %d commits, want %d", n, wanted)
	}
	if err != nil {
		return err
	}
	return identical(ctx, in.app)
}

// identical rebuilds every table and reports where they differ.
func identical(ctx context.Context, a *app.App) error {
	worlds, err := a.Rebuild(ctx, "", canon.CompareOnly)
	for _, w := range worlds {
		if len(w.Different) > 0 {
			err = errors.Join(err, fmt.Errorf("rebuilt tables differ: %v", w.Different))
		}
	}
	return err
}

// sound reads a whole store and reports what SQLite and its full-text indexes find wrong.
func sound(ctx context.Context, dir string) error {
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

// moment picks when the power goes: anywhere, or, where most is at stake, just after an
// answer.
func (d *day) moment(r *rand.Rand) int {
	calls := d.calls[r.IntN(len(d.calls))]
	if r.IntN(2) == 0 {
		return calls[r.IntN(len(calls))].came
	}
	return r.IntN(d.disk.now() + 1)
}

// cut cuts the power once and checks what is left.
func (d *day) cut(t *testing.T, how loss, lies bool, r *rand.Rand) error {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "cut")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := d.moment(r)
	if err := d.disk.image(dir, at, how, lies, r); err != nil {
		t.Fatal(err)
	}
	if err := d.check(t, dir, at); err != nil {
		return fmt.Errorf("seed %d, power cut before operation %d of %d, %s: %w", d.seed, at, d.disk.now(), how.name, err)
	}
	return nil
}

// cutsOfADay is how many cuts are made into one recording.
const cutsOfADay = 20

func callsADay() int { return max(raceenabled.Share(30, 10), 2) }

// TestPowerCut cuts the power of a recorded disk at random moments. CRASH_CUTS is how
// often.
func TestPowerCut(t *testing.T) {
	cuts, seed := count("CRASH_CUTS", max(raceenabled.Share(20, 10), 2)), uint64(count("SEED", 1))
	var d *day
	calls, ops := 0, 0
	for n := range cuts {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		if n%cutsOfADay == 0 {
			d = workDay(t, seed+uint64(n), callsADay(), nil)
			calls, ops = calls+3*callsADay(), ops+d.disk.now()
		}
		if err := d.cut(t, losses[n%len(losses)], false, r); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d cuts into %d calls, %d operations of the disk", cuts, calls, ops)
}

// wantFailure cuts the power until what is left is wrong, and for a tenth of CRASH_CUTS
// counts how often it is.
func (d *day) wantFailure(t *testing.T, lies bool) {
	t.Helper()
	var first error
	bad, n := 0, 0
	for ; n < 60 && first == nil || n < count("CRASH_CUTS", 0)/10; n++ {
		if err := d.cut(t, losses[n%len(losses)], lies, rand.New(rand.NewPCG(d.seed, uint64(n)))); err != nil {
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

// TestPowerCutFindsALaxStore is the control: a store that does not wait for the disk
// loses what it acknowledged. It checkpoints as seldom as the program does, for a
// checkpoint syncs.
func TestPowerCutFindsALaxStore(t *testing.T) {
	workDay(t, 1, callsADay(), map[string][2]string{"synchronous": {"1", "2"}, "wal_autocheckpoint": {"4000", "4000"}}).wantFailure(t, false)
}

// TestPowerCutFindsALyingDisk is the other control.
func TestPowerCutFindsALyingDisk(t *testing.T) {
	workDay(t, 1, callsADay(), nil).wantFailure(t, true)
}
