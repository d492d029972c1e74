package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	driverlib "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"loregate/internal/canon"
	"loregate/internal/disk"
	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
)

// toFault converts failures of the disk, of a damaged file and of file access to errors for
// callers: they may try again when the operator has fixed the cause. The remedy is in the wrapped
// cause, which callers do not see.
func (c Config) toFault(err error) error {
	var known *fault.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	code, dir := codeOf(err), filepath.Dir(c.Path)
	// A full disk shows as SQLITE_FULL, or as a file that cannot be created or extended.
	if code == lib.SQLITE_FULL || code != 0 && isDiskCode(code) && !disk.HasRoom(dir) {
		return disk.Full(dir, err)
	}
	message, remedy := describeCode(code, dir)
	if message == "" {
		return disk.Explain(dir, err)
	}
	cause := err
	if isDamageCode(code) {
		cause = fmt.Errorf("%w: %w", canon.ErrDamaged, err)
	}
	if remedy != "" {
		cause = fmt.Errorf("%s: %w", remedy, cause)
	}
	return (&fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: time.Second}).Because(cause)
}

// describeCode describes a primary SQLite error code: message is for callers, remedy for the
// operator.
func describeCode(code int, dir string) (message, remedy string) {
	switch code {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another process keeps the store busy; try again", ""
	case lib.SQLITE_IOERR:
		return "the store's disk fails; ask the operator to look at it, and try again",
			"copy " + dir + " to another disk before anything else, look for errors of the disk in the system's log, then run loregate doctor on the copy"
	case lib.SQLITE_CANTOPEN:
		return "the store's file cannot be opened; ask the operator to look at it, and try again",
			"the user that Loregate runs as needs the right to read and write " + dir + " and the files in it"
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return "the store cannot be written to; ask the operator to look at it, and try again",
			"give the user that Loregate runs as the right to write " + dir +
				" and the files in it, and mount its disk for writing"
	case lib.SQLITE_PROTOCOL, lib.SQLITE_NOLFS:
		return "the store's file cannot be locked; ask the operator to look at it, and try again",
			"put " + dir + " on a disk of this machine: folders on a network may not lock files"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return damagedMessage, repairAdvice(dir)
	}
	return "", ""
}

const damagedMessage = "the store is damaged: nothing is written to it; ask the operator to repair it"

func repairAdvice(dir string) string {
	return "stop the server and run loregate repair --data " + dir + ", which keeps the damaged files, or restore a backup"
}

// codeOf returns the primary code of an SQLite error; 0 for any other error.
func codeOf(err error) int {
	var e *driverlib.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// isDiskCode reports whether a code means that the disk, or the file on it, does not work.
func isDiskCode(code int) bool {
	switch code {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return true
	}
	return isDamageCode(code)
}

func isDamageCode(code int) bool { return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB }

// health stores why a file takes no writes.
type health struct {
	mu      sync.Mutex
	refused error // guarded by mu: error of the last write that the disk refused
	damaged error // guarded by mu: the damage that was found; cleared only if it is confined
	// confined, guarded by mu, is damage that was found to affect only some streams; see Store.Confined.
	confined string
}

// confine notes that the damage affects only some streams.
func (h *health) confine(found string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.confined, h.damaged, h.refused = found, nil, nil
}

// noteOutcome stores the error of an access if it concerns the disk or the file.
func (h *health) noteOutcome(c Config, err error) {
	code := codeOf(err)
	if err == nil || !isDiskCode(code) && !errors.Is(disk.Explain("", err), fault.Unavailable) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if isDamageCode(code) && h.confined != "" {
		return // the damage is known
	}
	h.refused = c.toFault(err)
	if isDamageCode(code) && h.damaged == nil {
		h.damaged = h.refused
	}
}

// foundDamage returns the damage that was found; nil if none.
func (h *health) foundDamage() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.damaged
}

// writeRefusal returns the known reason why writes are refused; nil if there is none.
func (h *health) writeRefusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damaged != nil {
		return h.damaged
	}
	return h.refused
}

// clearRefusal clears a refusal after the disk has taken a write again.
func (h *health) clearRefusal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = nil
}

// Writable returns the reason why writes are refused; nil if they are accepted. If the disk refused
// an earlier write, it tries a write that changes nothing.
func (s *Store) Writable(ctx context.Context) error {
	if dir := filepath.Dir(s.cfg.Path); !disk.HasRoom(dir) {
		return disk.Full(dir, errors.New("there may be room for some writes, not for all"))
	}
	if err := s.read(ctx, func(c *conn) error { return storeSchema.checkFileFormat(ctx, c) }); err != nil {
		return err
	}
	if err := s.health.writeRefusal(); err != nil {
		if err := s.health.retryWrite(ctx, s.rewriteFormat); err != nil {
			return err
		}
	}
	if err := s.records.health.writeRefusal(); err != nil {
		return s.records.health.retryWrite(ctx, s.records.rewriteFormat)
	}
	return nil
}

// retryWrite writes to a file that refused a write, and clears the refusal if the write succeeds.
func (h *health) retryWrite(ctx context.Context, touch func(context.Context) error) error {
	if err := h.foundDamage(); err != nil {
		return err
	}
	if err := touch(ctx); err != nil {
		return err
	}
	h.clearRefusal()
	return nil
}

// rewriteFormat writes the format number that the file has already.
func (s *Store) rewriteFormat(ctx context.Context) error {
	return s.write(ctx, func(t *tx) error { return t.c.rewriteFormat(ctx, storeSchema) })
}

func (f *recordFile) rewriteFormat(ctx context.Context) error {
	return f.runInTx(ctx, "BEGIN IMMEDIATE", func(c *conn) error { return c.rewriteFormat(ctx, recordSchema) })
}

func (c *conn) rewriteFormat(ctx context.Context, s schema) error {
	return sqlstore.Each(ctx, c, func(sqlstore.Row) error { return nil }, fmt.Sprintf("PRAGMA user_version = %d", s.version))
}
