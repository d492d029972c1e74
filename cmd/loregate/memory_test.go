package main

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// The bound grows with the live heap, and returns to the configured bound.
func TestHeapBoundGrowsWithLiveHeap(t *testing.T) {
	before := debug.SetMemoryLimit(64 << 20)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	runtime.GC()
	asked := raiseHeapBound(0)
	if now := debug.SetMemoryLimit(-1); asked != 64<<20 || now != asked {
		t.Fatalf("with little alive the bound is %d MiB, of %d asked for", now>>20, asked>>20)
	}
	lives := make([]byte, 100<<20)
	runtime.GC()
	raiseHeapBound(asked)
	if now := debug.SetMemoryLimit(-1); now < 200<<20 || now > 300<<20 {
		t.Errorf("with 100 MiB alive the bound is %d MiB", now>>20)
	}
	runtime.KeepAlive(lives)
	runtime.GC()
	raiseHeapBound(asked)
	if now := debug.SetMemoryLimit(-1); now != asked {
		t.Errorf("with little alive again the bound is %d MiB", now>>20)
	}
}
