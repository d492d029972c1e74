//go:build unix

package access

import (
	"syscall"
	"time"
)

// ProcessTime returns the processor time that the process has taken, for Config.CPU.
func ProcessTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
