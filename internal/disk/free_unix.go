//go:build linux || darwin

package disk

import "syscall"

// Free returns the size of the disk that holds a folder, and its space that is free for users other
// than root, in bytes.
func Free(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
