package access

import (
	"syscall"
	"time"
)

// ProcessTime returns the processor time that the process has taken, for Config.CPU.
func ProcessTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var made, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &made, &ended, &kernel, &user); err != nil {
		return 0
	}
	hundreds := func(f syscall.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return time.Duration(100 * (hundreds(kernel) + hundreds(user)))
}
