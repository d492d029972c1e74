package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"loregate/internal/access"
	"loregate/internal/exchange/native"
	"loregate/internal/fault"
	"loregate/internal/wait"
)

// Backup writes a consistent copy of the store, without signing keys, and returns its SHA-256 in
// hexadecimal.
func (a *App) Backup(ctx context.Context, path string) (sum string, err error) {
	if _, err := os.Lstat(path); err == nil {
		return "", fault.New(fault.Conflict, "%s already exists; name a new file", path)
	}
	err = a.runAsOperator(ctx, access.WorldID{}, "create_backup", access.Read, func(access.Grant) error {
		if err := a.store.Backup(ctx, path); err != nil {
			return err
		}
		sum, err = native.HashFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
		return err
	})
	return sum, err
}

// Scheduled names the backups of a schedule.
const (
	scheduledPrefix = "loregate-"
	scheduledTime   = "2006-01-02T150405Z"
)

// BackupEvery writes backups into a folder until ctx ends, the first one at once, and keeps the latest
// keep of them. Other files in the folder are not touched. If the first one fails, that is its error.
// report is called after each one, with the error of a later one: all older ones are kept then, and
// the next one is due as usual.
func (a *App) BackupEvery(ctx context.Context, folder string, every time.Duration, keep int,
	report func(path, sum string, err error)) error {
	if every < time.Minute || keep < 1 {
		return fault.New(fault.Invalid, "every must be at least 1m and keep at least 1")
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the folder of backups: %w", err)
	}
	for first := true; ; first = false {
		path := filepath.Join(folder, scheduledPrefix+a.now().UTC().Format(scheduledTime)+".db")
		sum, err := a.Backup(ctx, path)
		if err == nil {
			err = removeOldBackups(folder, keep)
		}
		if ctx.Err() != nil {
			return nil
		}
		if first && err != nil {
			return err
		}
		report(path, sum, err)
		if !wait.For(ctx, every) {
			return nil
		}
	}
}

// removeOldBackups removes all but the latest backups of a schedule.
func removeOldBackups(folder string, keep int) (err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var names []string // sorted by time, as ReadDir sorts by name
	for _, e := range entries {
		if t, err := time.Parse(scheduledPrefix+scheduledTime+".db", e.Name()); err == nil && !t.IsZero() {
			names = append(names, e.Name())
		}
	}
	for _, name := range names[:max(0, len(names)-keep)] {
		err = errors.Join(err, os.Remove(filepath.Join(folder, name)))
	}
	return err
}
