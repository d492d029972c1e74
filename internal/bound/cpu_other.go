//go:build !linux

package bound

import "time"

// threadTime returns a function that reads the time since now: the clock of a thread is not known on this system.
func threadTime() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
