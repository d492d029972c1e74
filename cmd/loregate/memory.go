package main

import (
	"os"
	"runtime/debug"

	"loregate/internal/app"
)

// collectAt is GOGC where the environment sets none: a request leaves much that is
// garbage when it is answered, and little lives on. See docs/adr/0009-garbage.md.
const collectAt = 400

// tuneCollector makes the garbage collector work less often, unless the environment says
// how it shall work.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}

// boundHeap bounds what that may cost: near the bound the collector works as often as it
// must.
func boundHeap(c app.Config) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.Heap())
	}
}
