package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loregate/internal/fault"
)

func TestScheduledBackupsRotate(t *testing.T) {
	s := openWitnessed(t, t.TempDir(), "")
	folder := filepath.Join(t.TempDir(), "backups")
	if err := s.BackupEvery(t.Context(), folder, time.Second, 3, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("an interval of a second: %v", err)
	}
	clock := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return clock }
	once := func() (path string) {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.BackupEvery(ctx, folder, time.Hour, 3, func(at, _ string, err error) {
			if path = at; err != nil {
				t.Error(err)
			}
			cancel()
		})
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Hour)
		return path
	}
	first := once()
	other := filepath.Join(folder, "loregate-notes.db")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var last string
	for _, title := range []string{"First", "Second", "Third"} {
		s.retitle(title)
		last = once()
	}
	if _, err := os.Stat(first); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the oldest of four is kept: %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 4 {
		t.Errorf("%d files, want three backups and one of somebody else: %v", len(entries), err)
	}
	back := s.restored(last, "")
	if _, err := back.Verify(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if w, err := back.Canon.Worlds(t.Context()); err != nil || w[0].Title != "Third" {
		t.Errorf("the latest backup holds %v: %v", w, err)
	}
}
