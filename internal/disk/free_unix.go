//go:build linux || darwin

package disk

import "syscall"

// Free is how much of the disk that a folder is on is free for others than root, and
// how much there is, in bytes.
func Free(dir string) (free, total uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
