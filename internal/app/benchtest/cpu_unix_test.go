//go:build unix

package benchtest

import (
	"syscall"
	"time"
)

// processTime is how long the process has had a processor.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
