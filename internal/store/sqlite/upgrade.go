package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"loregate/internal/disk"
	"loregate/internal/store/sqlstore"
)

const (
	// backupFolder is the folder beside a store for backups made before upgrades.
	backupFolder = "backups"
	// backupRoom is the disk space that a backup needs while it is written, in multiples of the
	// store's size.
	backupRoom = 2
	// staleAfter is the age after which a partial backup is considered abandoned.
	staleAfter = time.Hour
)

// backupFunc returns the function that migrate calls before it upgrades a store: it writes a copy
// in the old format, keeps it, and logs its path. It returns nil for the record file, since the
// store's backup contains the records.
func (s schema) backupFunc(ctx context.Context, c *conn, cfg Config) func(at int64) error {
	if s != storeSchema {
		return nil
	}
	return func(at int64) (err error) {
		// A store without streams is empty: another process is creating it.
		if streams, err := sqlstore.QueryInt(ctx, c, "SELECT count(*) FROM (SELECT 1 FROM streams LIMIT 1)"); err != nil ||
			streams == 0 {
			return err
		}
		dir := filepath.Join(filepath.Dir(cfg.Path), backupFolder)
		name := strings.TrimSuffix(filepath.Base(cfg.Path), filepath.Ext(cfg.Path))
		path := filepath.Join(dir, fmt.Sprintf("%s-format-%d-%s-%d.db", name, at, time.Now().UTC().Format("20060102T150405Z"),
			os.Getpid()))
		defer func() {
			if err != nil {
				err = fmt.Errorf("back up the store before it is upgraded from format %d to %d; nothing was changed: %w", at,
					s.version, cfg.toFault(err))
			}
		}()
		size := fileSize(cfg.Path) + fileSize(cfg.Path+
			"-wal") + fileSize(recordPath(cfg.Path)) + fileSize(recordPath(cfg.Path)+"-wal")
		if err := disk.Need(filepath.Dir(cfg.Path), uint64(backupRoom*size), "the backup"); err != nil {
			return err
		}
		if err := removeStale(dir, name); err != nil {
			return err
		}
		if err := writeCopy(ctx, c, recordPath(cfg.Path), path, proveOldCopy); err != nil {
			return err
		}
		cfg.Log.Info("upgrading the store; a backup of its old format was written", "from", at, "to", s.version, "backup", path)
		return nil
	}
}

// removeStale removes the files of backups that were interrupted.
func removeStale(dir, name string) (err error) {
	parts, _ := filepath.Glob(filepath.Join(dir, name+"-format-*.db.part*")) // the pattern is valid
	for _, p := range parts {
		if info, e := os.Stat(p); e == nil && time.Since(info.ModTime()) > staleAfter {
			err = errors.Join(err, removeFiles(p))
		}
	}
	return err
}

// proveOldCopy reads a copy of an older format completely. Its chains are verified only if that
// copy is upgraded later.
func proveOldCopy(ctx context.Context, path string) (err error) {
	c, err := openConn(ctx, Config{Path: path}.withDefaults(), false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var faults []string
	if err := checkIntegrity(ctx, c, "", &faults); err != nil {
		return err
	}
	for at := int64(-1); at != 0 && len(faults) == 0; {
		if at, err = findWrongBodies(ctx, c, max(at, 0), &faults); err != nil {
			return err
		}
	}
	if len(faults) > 0 {
		return damagedError(Config{Path: path}, errors.New(faults[0]))
	}
	return sqlstore.Each(ctx, c, func(sqlstore.Row) error { return nil }, "PRAGMA journal_mode = DELETE")
}
