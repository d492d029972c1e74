package crashtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	lib "modernc.org/sqlite/lib"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlite"
)

// ledger writes keys to the store's file and access records to the one beside it, by turns.
type ledger struct {
	t     *testing.T
	store *sqlite.Store
	disk  *disk
	last  access.Segment
	keys  []int // by key: the disk's operations when it was kept
	kept  []int // by segment
}

func newLedger(t *testing.T, dir string, d *disk) *ledger {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		t.Fatal(err)
	}
	return &ledger{t: t, store: s, disk: d, last: access.Segment{Process: "p"}}
}

// step writes one key and one segment.
func (l *ledger) step() error {
	n := len(l.keys) + 1
	key := identity.Key{ID: fmt.Sprint("k", n), Hash: identity.Hash{byte(n), byte(n >> 8)}}
	if err := l.store.Identity().AddKey(l.t.Context(), key); err != nil && !errors.Is(err, identity.ErrExists) {
		return err
	}
	l.keys = append(l.keys, l.disk.now())
	body := fmt.Appendf(nil, "{\"operation\":\"o%d\",\"role\":\"none\"}\n", n)
	next := access.Segment{Process: "p", Seq: l.last.Seq + 1, Count: 1, Body: body, Prev: l.last.Hash, Hash: sha256.Sum256(slices.Concat(l.last.Hash[:], body))}
	if err := l.store.AppendSegment(l.t.Context(), next); err != nil {
		l.keys = l.keys[:n-1]
		return err
	}
	l.last, l.kept = next, append(l.kept, l.disk.now())
	return nil
}

// before counts the moments up to a cut.
func before(list []int, cut int) (n int) {
	for n < len(list) && list[n] <= cut {
		n++
	}
	return n
}

// check opens what a cut left: both files are whole, and hold what was kept by then.
func (l *ledger) check(ctx context.Context, dir string, cut int) error {
	if err := sound(ctx, dir); err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		return err
	}
	v, err := access.VerifySegments(ctx, s)
	keys := 0
	for _, kerr := range s.Identity().Keys(ctx) {
		keys, err = keys+1, errors.Join(err, kerr)
	}
	if v.Segments < before(l.kept, cut) || keys < before(l.keys, cut) {
		err = errors.Join(err, fmt.Errorf("there are %d segments and %d keys, want %d and %d at least", v.Segments, keys, before(l.kept, cut), before(l.keys, cut)))
	}
	return errors.Join(err, s.Close())
}

// TestPowerCutBetweenTheFiles cuts the power of a store and of the records beside it.
func TestPowerCutBetweenTheFiles(t *testing.T) {
	dir, seed := t.TempDir(), uint64(count("SEED", 1))
	l := newLedger(t, dir, record(t, dir, map[string][2]string{"wal_autocheckpoint": {"12", "4000"}}))
	for range 40 {
		if err := l.step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	cuts := count("CRASH_CUTS", max(raceenabled.Share(60, 10), 8))
	for n := range cuts {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		at, how := r.IntN(l.disk.now()+1), losses[n%len(losses)]
		if n%2 == 0 { // where most is at stake
			at = l.kept[r.IntN(len(l.kept))]
		}
		left := filepath.Join(t.TempDir(), "cut")
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := l.disk.image(left, at, how, false, r); err != nil {
			t.Fatal(err)
		}
		if err := l.check(t.Context(), left, at); err != nil {
			t.Errorf("seed %d, power cut before operation %d of %d, %s: %v", seed, at, l.disk.now(), how.name, err)
		}
	}
}

// TestCrashDiskFailsUnderRecords has the disk fail, full or broken, at each operation in
// turn: what is refused is kept when it is said again.
func TestCrashDiskFailsUnderRecords(t *testing.T) {
	dir := t.TempDir()
	l := newLedger(t, dir, record(t, dir, map[string][2]string{"wal_autocheckpoint": {"12", "4000"}}))
	refused, failed := 0, 0
	for n := range max(raceenabled.Share(40, 10), 8) {
		l.disk.breaks(outage{after: n % 20, times: []int{1, 3, -1}[n%3], answer: []int32{0, lib.SQLITE_FULL}[n%2]})
		for range 3 {
			if err := l.step(); err != nil {
				if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("refused with %v, want unavailable", err)
				}
				refused++
			}
		}
		failed += l.disk.breaks(outage{})
		if err := l.step(); err != nil {
			t.Fatalf("after the disk is well: %v", err)
		}
	}
	if refused == 0 || failed == 0 {
		t.Error("the disk never failed")
	}
	if err := l.check(t.Context(), dir, l.disk.now()); err != nil {
		t.Error(err)
	}
	if err := l.store.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d operations of the disk failed, %d writes were refused", failed, refused)
}
