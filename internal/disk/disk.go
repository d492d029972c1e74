package disk

import (
	"errors"
	"fmt"
	"path/filepath"

	"loregate/internal/fault"
)

// LeastRoom is the number of free bytes from which a disk no longer counts as full. A small commit
// may fit into less space, but the next one would be refused.
const LeastRoom = 1 << 20

// Full returns the error for a write into a folder whose disk is full.
func Full(dir string, cause error) *fault.Error {
	return fault.DiskFull(fmt.Errorf("free space on the disk of %s%s, or move the folder to a larger disk; a running "+
		"server then continues by itself: %w", absolutePath(dir), freeText(dir), cause))
}

// Explain returns err as the error of Full if it means that the disk of a folder is full; other
// errors are returned unchanged.
func Explain(dir string, err error) error {
	var known *fault.Error
	if !errors.As(err, &known) && fault.KindOf(err) == fault.Unavailable {
		return Full(dir, err)
	}
	return err
}

// HasRoom reports whether a folder's disk has LeastRoom bytes free. It is true if the free space
// cannot be determined.
func HasRoom(dir string) bool {
	free, _, err := Free(dir)
	return err != nil || free >= LeastRoom
}

// Need refuses work that writes size bytes into a folder if its disk has less free space. If the
// free space cannot be determined, the work is allowed.
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

// absolutePath returns the absolute path of a folder, for the operator.
func absolutePath(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
