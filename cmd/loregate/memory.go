package main

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"loregate/internal/app"
	"loregate/internal/wait"
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
// must. Where nobody can read profiles, none are kept of what takes memory: they cost some
// 2% of a call.
func boundHeap(c app.Config) {
	if c.Admin.Address == "" {
		runtime.MemProfileRate = 0
	}
	if !heapIsGiven() {
		debug.SetMemoryLimit(c.Heap())
	}
}

// heapIsGiven tells whether the environment bounds the heap.
func heapIsGiven() bool { return os.Getenv("GOMEMLIMIT") != "" }

// keepRoom keeps the bound on the heap at twice what lives on it, until ctx ends: where
// more lives than was reckoned with, as with thousands of open streams, a collector held
// to the bound would do little but collect, and every call would wait for it.
func keepRoom(ctx context.Context) {
	for asked := int64(0); wait.For(ctx, roomEvery); {
		asked = giveRoom(asked)
	}
}

// roomEvery is how often what lives is looked at.
const roomEvery = 2 * time.Second

// giveRoom sets the bound for what lives now, but never below the one that was asked for,
// which it gives back.
func giveRoom(asked int64) int64 {
	bound := debug.SetMemoryLimit(-1)
	if asked == 0 {
		asked = bound
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	want := max(asked, int64(min(live[0].Value.Uint64(), math.MaxInt64/2))*2)
	if asked == math.MaxInt64 || want == bound {
		return asked
	}
	debug.SetMemoryLimit(want)
	if bound == asked {
		slog.Info("more memory is needed than the setting allows", "setting", "memory", "heap_mib", asked>>20, "needed_mib", want>>20)
	}
	return asked
}
