package sqlite

import (
	"errors"
	"time"

	driverlib "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"loregate/internal/fault"
)

// translated gives the failures of the disk, and of others on the file, as what they are
// to callers: something to try again when it is mended.
func translated(err error) error {
	var known *fault.Error
	var e *driverlib.Error
	if err == nil || errors.As(err, &known) || !errors.As(err, &e) {
		return err
	}
	message := ""
	switch e.Code() & 0xff {
	case lib.SQLITE_FULL:
		message = "the disk that the store is on is full; ask the operator to make room, and try again"
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		message = "the disk that the store is on fails; ask the operator to look at it, and try again"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		message = "another process keeps the store busy; try again"
	default:
		return err
	}
	return (&fault.Error{Kind: fault.Unavailable, Message: message, RetryAfter: time.Second}).Because(err)
}
