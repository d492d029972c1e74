package main

import (
	"os"
	"runtime/debug"
)

const (
	// collectAt is GOGC where the environment sets none: a request leaves much that is
	// garbage when it is answered, and little lives on. See docs/adr/0009-garbage.md.
	collectAt = 400
	// softLimit bounds what that may cost: near it the collector works as often as it must.
	softLimit = 384 << 20
)

// tuneCollector makes the garbage collector work less often, within a bound of memory,
// unless the environment says how it shall work.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}
