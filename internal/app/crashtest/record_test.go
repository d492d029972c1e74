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
	"loregate/internal/programtest"
	"loregate/internal/raceenabled"
	"loregate/internal/store/sqlite"
)

// twoFileWriter writes keys to the store's file and access records to the file beside it, by
// turns.
type twoFileWriter struct {
	t     *testing.T
	store *sqlite.Store
	disk  *disk
	last  access.Segment
	keys  []int // by key: the disk's time when it was kept
	kept  []int // by segment: the same
}

func newTwoFileWriter(t *testing.T, dir string, d *disk) *twoFileWriter {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		t.Fatal(err)
	}
	return &twoFileWriter{t: t, store: s, disk: d, last: access.Segment{Process: "p"}}
}

// writeKeyAndSegment writes one key and one segment.
func (l *twoFileWriter) writeKeyAndSegment() error {
	n := len(l.keys) + 1
	key := identity.Key{ID: fmt.Sprint("k", n), Hash: identity.Hash{byte(n), byte(n >> 8)}}
	if err := l.store.Identity().AddKey(l.t.Context(), key); err != nil && !errors.Is(err, identity.ErrExists) {
		return err
	}
	l.keys = append(l.keys, l.disk.opCount())
	body := fmt.Appendf(nil, "{\"operation\":\"o%d\",\"role\":\"none\"}\n", n)
	next := access.Segment{Process: "p", Seq: l.last.Seq + 1, Count: 1, Body: body, Prev: l.last.Hash,
		Hash: sha256.Sum256(slices.Concat(l.last.Hash[:], body))}
	if err := l.store.AppendSegment(l.t.Context(), next); err != nil {
		l.keys = l.keys[:n-1]
		return err
	}
	l.last, l.kept = next, append(l.kept, l.disk.opCount())
	return nil
}

// countUntil counts the times up to a cut.
func countUntil(list []int, cut int) (n int) {
	for n < len(list) && list[n] <= cut {
		n++
	}
	return n
}

// checkAfterCut opens the store that a cut left: both files must be valid, and have everything
// that was kept by then.
func (l *twoFileWriter) checkAfterCut(ctx context.Context, dir string, cut int) error {
	if err := verifyStore(ctx, dir); err != nil {
		return err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, app.StoreFile)})
	if err != nil {
		return err
	}
	v, err := access.VerifySegments(ctx, s, nil)
	keys := 0
	for _, kerr := range s.Identity().Keys(ctx) {
		keys, err = keys+1, errors.Join(err, kerr)
	}
	if v.Segments < countUntil(l.kept, cut) || keys < countUntil(l.keys, cut) {
		err = errors.Join(err, fmt.Errorf("there are %d segments and %d keys, want %d and %d at least", v.Segments, keys,
			countUntil(l.kept, cut), countUntil(l.keys, cut)))
	}
	return errors.Join(err, s.Close())
}

// TestPowerCutBetweenTheFiles cuts the power of a store and of the access records beside it.
func TestPowerCutBetweenTheFiles(t *testing.T) {
	programtest.Long(t)
	dir, seed := t.TempDir(), uint64(countFromEnv("SEED", 1))
	l := newTwoFileWriter(t, dir, recordDisk(t, dir, map[string][2]string{"wal_autocheckpoint": {"12", "4000"}}))
	for range 40 {
		if err := l.writeKeyAndSegment(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	cuts := countFromEnv("CRASH_CUTS", max(raceenabled.Share(60, 10), 8))
	for n := range cuts {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		at, how := r.IntN(l.disk.opCount()+1), losses[n%len(losses)]
		if n%2 == 0 { // right after a segment was kept, where the risk is highest
			at = l.kept[r.IntN(len(l.kept))]
		}
		left := filepath.Join(t.TempDir(), "cut")
		if err := os.Mkdir(left, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := l.disk.image(left, at, how, false, r); err != nil {
			t.Fatal(err)
		}
		if err := l.checkAfterCut(t.Context(), left, at); err != nil {
			t.Errorf("seed %d, power cut before operation %d of %d, %s: %v", seed, at, l.disk.opCount(), how.name, err)
		}
	}
}

// TestCrashDiskFailsUnderRecords makes the disk fail, full or broken, at each operation in
// turn: a refused write is kept when it is repeated.
func TestCrashDiskFailsUnderRecords(t *testing.T) {
	dir := t.TempDir()
	l := newTwoFileWriter(t, dir, recordDisk(t, dir, map[string][2]string{"wal_autocheckpoint": {"12", "4000"}}))
	refused, failed := 0, 0
	for n := range max(raceenabled.Share(40, 10), 8) {
		l.disk.setOutage(outage{after: n % 20, times: []int{1, 3, -1}[n%3], answer: []int32{0, lib.SQLITE_FULL}[n%2]})
		for range 3 {
			if err := l.writeKeyAndSegment(); err != nil {
				if fault.KindOf(err) != fault.Unavailable {
					t.Errorf("refused with %v, want unavailable", err)
				}
				refused++
			}
		}
		failed += l.disk.setOutage(outage{})
		if err := l.writeKeyAndSegment(); err != nil {
			t.Fatalf("after the disk is well: %v", err)
		}
	}
	if refused == 0 || failed == 0 {
		t.Error("the disk never failed")
	}
	if err := l.checkAfterCut(t.Context(), dir, l.disk.opCount()); err != nil {
		t.Error(err)
	}
	if err := l.store.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%d operations of the disk failed, %d writes were refused", failed, refused)
}
