package bound

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns a function that reads the processor time of the calling thread since now. Other threads may
// call it while the thread lives.
func threadTime() func() time.Duration {
	// The kernel names the clock of a thread by its id: MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED) of
	// include/linux/posix-timers.h.
	clock := int32(^unix.Gettid()<<3 | 6)
	read := func() time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(clock, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
	start := read()
	return func() time.Duration { return read() - start }
}
