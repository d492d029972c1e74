// Package disk tells how much room the disk of a folder has, and puts a full disk into
// words: one text for callers, which names no place, and one for the operator, who gets
// the folder and what to do.
package disk

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"

	"loregate/internal/fault"
)

// LeastRoom is how many bytes must be free before a disk counts as having room again. A
// small commit may fit into less, and the next one would be refused.
const LeastRoom = 1 << 20

// Full is the failure of a write into a folder whose disk has no room.
func Full(dir string, cause error) *fault.Error {
	e := fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
		Message: "the disk is full: nothing can be written until there is room, and nothing that was acknowledged is lost; ask the operator to free space, and try again"}
	return e.Because(fmt.Errorf("free space on the disk of %s%s, or move the folder to a larger disk; a running server goes on by itself then: %w", absolutePath(dir), freeText(dir), cause))
}

// Explain gives err in words where it says that the disk of a folder is full, and else as
// it is.
func Explain(dir string, err error) error {
	var known *fault.Error
	if !errors.As(err, &known) && (errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)) {
		return Full(dir, err)
	}
	return err
}

// HasRoom tells whether a folder's disk has LeastRoom, or cannot be asked.
func HasRoom(dir string) bool {
	free, _, err := Free(dir)
	return err != nil || free >= LeastRoom
}

// Need refuses work that writes size bytes into a folder whose disk has no room for them. A
// disk that cannot be asked is tried.
func Need(dir string, size uint64, work string) error {
	if free, _, err := Free(dir); err == nil && free < size {
		return Full(dir, fmt.Errorf("%s needs %d MB", work, size>>20+1))
	}
	return nil
}

func freeText(dir string) string {
	free, total, err := Free(dir)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%d MB of %d MB are free)", free>>20, total>>20)
}

// absolutePath is the folder as an operator can find it from anywhere.
func absolutePath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
