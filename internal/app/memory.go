package app

// leastMemory is the least that the process can be told to keep within, in MiB: below it
// the collector would do little else than collect.
const leastMemory = 64

// Heap is how much of the memory the heap may have, softly, in bytes.
func (c Config) Heap() int64 { return int64(c.Memory)<<20 - int64(c.caches())<<10 }

// caches is how much of the memory page caches may have, in KiB. A database has its own.
func (c Config) caches() int {
	if c.Database != "" {
		return 0
	}
	return c.Memory << 10 * 3 / 8
}
