package app

// minMemory is the smallest memory setting, in MiB. With less, the garbage collector would take
// most of the processor.
const minMemory = 64

// Heap returns the soft limit of the heap, in bytes.
func (c Config) Heap() int64 { return int64(c.Memory)<<20 - int64(c.pageCacheKiB())<<10 }

// pageCacheKiB returns the size of the page caches in KiB: 0 with a database, which has caches of
// its own.
func (c Config) pageCacheKiB() int {
	if c.Database != "" {
		return 0
	}
	return c.Memory << 10 * 3 / 8
}
