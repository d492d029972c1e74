package main

import (
	"cmp"
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

// defaultGOGC is the value of GOGC if the environment sets none: a request leaves much garbage
// after its answer, and little of its memory stays live. See docs/adr/0009-garbage.md.
const defaultGOGC = 400

// tuneCollector makes the garbage collector run less often, unless the environment sets GOGC.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(defaultGOGC)
	}
}

// boundHeap limits the memory that this costs: near the limit the collector runs as often as
// necessary. If profiles are not served, it turns memory profiling off, which costs some 2% of a
// call.
func boundHeap(c app.Config) {
	if c.Admin.Address == "" {
		runtime.MemProfileRate = 0
	}
	if !hasHeapLimit() {
		debug.SetMemoryLimit(c.Heap())
	}
}

// hasHeapLimit reports whether the environment limits the heap.
func hasHeapLimit() bool { return os.Getenv("GOMEMLIMIT") != "" }

// adjustHeapBound keeps the limit of the heap at no less than twice the live heap, until ctx ends.
// If more memory is live than the setting expects, for example with thousands of open streams, a
// collector held to the limit would do little but collect, and every call would wait for it.
func adjustHeapBound(ctx context.Context) {
	for asked := int64(0); wait.For(ctx, heapCheckEvery); {
		asked = raiseHeapBound(asked)
	}
}

// heapCheckEvery is the interval between checks of the live heap.
const heapCheckEvery = 2 * time.Second

// raiseHeapBound sets the heap limit to twice the live heap, but never below asked, the configured
// limit, which it returns. If asked is 0, it takes the current limit.
func raiseHeapBound(asked int64) int64 {
	bound := debug.SetMemoryLimit(-1)
	asked = cmp.Or(asked, bound)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	want := max(asked, int64(min(live[0].Value.Uint64(), math.MaxInt64/2))*2)
	if asked == math.MaxInt64 || want == bound {
		return asked
	}
	debug.SetMemoryLimit(want)
	if bound == asked {
		slog.Info("more memory is needed than the setting allows", "setting", "memory", "heap_mib", asked>>20, "needed_mib",
			want>>20)
	}
	return asked
}
