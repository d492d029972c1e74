package sqlite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	driverlib "modernc.org/sqlite"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// newSegments returns the first n segments of a process, each with one numbered record.
func newSegments(process string, n int) (list []access.Segment) {
	var prev [32]byte
	for i := range n {
		body := fmt.Appendf(nil, "{\"operation\":\"%s-%d\",\"role\":\"none\"}\n", process, i+1)
		one := access.Segment{Process: process, Seq: uint64(i + 1), At: testTime, Count: 1, Body: body, Prev: prev,
			Hash: sha256.Sum256(slices.Concat(prev[:], body))}
		list, prev = append(list, one), one.Hash
	}
	return list
}

func appendSegments(t *testing.T, s access.SegmentStore, list ...access.Segment) {
	t.Helper()
	for _, one := range list {
		if err := s.AppendSegment(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
}

// wantRecords compares the processes of a store, in order, each followed by its number of segments,
// with want, and verifies the chains.
func wantRecords(t *testing.T, s access.SegmentStore, want string) {
	t.Helper()
	list, err := s.Processes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		n := 0
		for _, err := range s.Segments(t.Context(), p, 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		got = append(got, fmt.Sprint(p, n))
	}
	if got := strings.Join(got, " "); got != want {
		t.Errorf("there are records of %q, want %q", got, want)
	}
	if _, err := access.VerifySegments(t.Context(), s, nil); err != nil {
		t.Error(err)
	}
}

// TestRecordsKeepReaderPageCaches counts the pages that a reader must read again after records were
// written.
func TestRecordsKeepReaderPageCaches(t *testing.T) {
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "canon.db"), Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, cardOf(1, "Hall", user, "an old hall"), "an old hall") })
	list := newSegments("p", 16)
	misses := func(before func()) (n int) {
		before()
		searchNames(t, s, access.LevelUser, "hall")
		if err := s.read(t.Context(), func(c *conn) (err error) {
			n, _, err = c.raw.(driverlib.DBStatus).Status(driverlib.DBStatusCacheMiss, true)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	misses(func() { appendSegments(t, s, list[0]) })
	least := 1 << 30
	for next := range slices.Chunk(list[1:], 3) { // the search index sometimes reads at the same time
		least = min(least, misses(func() { appendSegments(t, s, next...) }))
	}
	if least != 0 {
		t.Errorf("%d pages are read again after access records were kept", least)
	}
	again := func() {
		mustWrite(t, s, func(tx canon.Tx) { putDoc(t, tx, cardOf(2, "Mill", user, "a mill"), "a mill") })
	}
	if misses(again) == 0 {
		t.Error("no page is read again after a card was written: nothing is counted")
	}
}

// An older store has its records in its own file.
func TestRecordsInStoreFileStayReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	before, now := newSegments("before", 5), newSegments("now", 2)
	appendSegments(t, s.Service, before[:3]...)
	appendSegments(t, s, slices.Concat(before[2:], now)...)
	wantRecords(t, s, "before5 now2")
	wantRecords(t, s.Service, "before5")
	other := before[1]
	other.Hash[0]++
	if err := s.AppendSegment(t.Context(), other); err == nil {
		t.Error("another segment is kept for a number that is taken in the store's own file")
	}
	for from, want := range map[uint64]int{2: 4, 5: 1, 6: 0} {
		n := 0
		for range s.Segments(t.Context(), "before", from) {
			n++
		}
		if n != want {
			t.Errorf("%d segments from %d on, want %d", n, from, want)
		}
	}
}

func TestBackupIncludesRecords(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "canon.db"), filepath.Join(dir, "backup.db")
	s := openTest(t, path)
	before, now, next := newSegments("before", 2), newSegments("now", 40), newSegments("next", 1)
	appendSegments(t, s.Service, before...)
	appendSegments(t, s, now[:30]...)
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	appendSegments(t, s, now[30:]...)
	if left, _ := filepath.Glob(file + "*"); len(left) != 1 {
		t.Errorf("a backup is %q, want one file", left)
	}
	alone := openTest(t, file)
	appendSegments(t, alone, next...)
	wantRecords(t, alone, "before2 now30 next1")
	wantRecords(t, alone.Service, "before2 now30")

	// Restore the backup over the store it was made from, whose later records are still beside it.
	if err := errors.Join(s.Close(), alone.Close(), os.Rename(file, path)); err != nil {
		t.Fatal(err)
	}
	back := openTest(t, path)
	wantRecords(t, back, "before2 now40")
	if err := back.Backup(t.Context(), file+"2"); err != nil {
		t.Fatal(err)
	}
	wantRecords(t, openTest(t, file+"2"), "before2 now40")
}

func TestConcurrentRecordWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	stores := []*Store{openTest(t, path), openTest(t, path), openTest(t, path)}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for _, one := range newSegments(fmt.Sprint("p", i), 20) {
				if err := stores[i%3].AppendSegment(t.Context(), one); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, s := range stores {
		v, err := access.VerifySegments(t.Context(), s, nil)
		if err != nil || v != (access.Verified{Processes: 6, Segments: 120, Records: 120}) {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestRecordFilesAreOwnerOnly(t *testing.T) {
	s := openNew(t)
	appendSegments(t, s, newSegments("p", 1)...)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(recordPath(s.cfg.Path) + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", suffix, info.Mode(), err)
		}
	}
	st, err := s.Stats(t.Context())
	if err != nil || st.RecordBytes < 4096 {
		t.Errorf("%+v, %v", st, err)
	}
}

// A store whose records cannot be written does not open, and a closed store writes none.
func TestRecordFileRefusals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "canon.db")
	s := openTest(t, path)
	if err := s.records.runInTx(t.Context(), "BEGIN IMMEDIATE", func(c *conn) error {
		_, err := c.Exec(t.Context(), "PRAGMA user_version = 1000")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); fault.KindOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "newer version") {
		t.Errorf("opening a newer file of records: %v", err)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if err := s.AppendSegment(gone, newSegments("p", 1)[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("for a caller who is gone: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendSegment(t.Context(), newSegments("p", 1)[0]); !errors.Is(err, errClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := s.records.runInTx(t.Context(), "BEGIN", func(*conn) error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("the file of records, closed: %v", err)
	}
	if err := os.WriteFile(recordPath(path), []byte(strings.Repeat("junk", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Path: path}); err == nil || !strings.Contains(err.Error(), recordSuffix) {
		t.Errorf("opening beside junk: %v", err)
	}
}

// Long reads may occupy all read connections; they do not delay records.
func TestRecordsDoNotWaitForReaders(t *testing.T) {
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "canon.db"), Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list := newSegments("p", 3)
	appendSegments(t, s, list[0])
	ctx, end := context.WithTimeout(t.Context(), 10*time.Second) // otherwise the test would wait for itself
	defer end()
	mustRead(t, s, func(canon.Reader) error {
		return errors.Join(s.AppendSegment(ctx, list[1]), s.AppendSegment(ctx, list[2]))
	})
	wantRecords(t, s, "p3")
}

// A change that fails or panics leaves nothing, and the file accepts the next change.
func TestRecordWritesAreAtomic(t *testing.T) {
	s := openNew(t)
	wrong := errors.New("wrong")
	insert := func(then func() error) error {
		return s.records.runInTx(t.Context(), "BEGIN IMMEDIATE", func(c *conn) error {
			if _, err := c.Exec(t.Context(), "INSERT INTO access_processes (process) VALUES ('half')"); err != nil {
				return err
			}
			return then()
		})
	}
	if err := insert(func() error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic is kept back")
			}
		}()
		_ = insert(func() error { panic("boom") })
	}()
	// A change that ends the transaction itself leaves a connection that must not be used again.
	if err := insert(func() error {
		if _, err := s.records.c.Exec(t.Context(), "ROLLBACK"); err != nil {
			return err
		}
		return wrong
	}); !errors.Is(err, wrong) {
		t.Error(err)
	}
	appendSegments(t, s, newSegments("p", 2)...)
	wantRecords(t, s, "p2")
}
