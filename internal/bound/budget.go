package bound

import (
	"fmt"
	"time"
)

// The law of a budget.
const (
	baseMemory   = 64 << 20
	memoryFactor = 8
	maxMemory    = 1 << 30
	baseCPU      = 30 * time.Second
	cpuPerMB     = 3 * time.Second
	// A vault of 99,000 notes of 70 bytes is a world too: each file may take the memory of its name, place and
	// digests, and the time in which a store writes its cards.
	memoryPerFile = 4 << 10
	cpuPerFile    = 3 * time.Millisecond
	// The time that passes is longer: the store writes, and other work runs beside it on a busy machine.
	timeFactor = 10
)

// MaxWhole is the size of the largest input that may be held in memory as a whole: more would need more than the
// largest budget.
const MaxWhole = (maxMemory - baseMemory) / memoryFactor

// Budget limits the work on one input.
type Budget struct {
	Memory int64         // bytes of the heap, above those in use before
	CPU    time.Duration // processor time
	Time   time.Duration // time that passes; 0 for any
}

// Size is the size of an input when it is unpacked.
type Size struct {
	Files   int
	Largest int64 // bytes of the largest file
	Total   int64 // bytes of all files
}

// Add adds a file.
func (s *Size) Add(bytes int64) {
	s.Files, s.Largest, s.Total = s.Files+1, max(s.Largest, bytes), s.Total+bytes
}

// BudgetOf returns the budget of an input: 64 MiB, 8 times the largest file and 4 KiB for each file, at most 1 GiB;
// 30 s, 3 s for each MiB and 3 ms for each file; and 10 times as long until it is done.
func BudgetOf(s Size) Budget {
	cpu := baseCPU + time.Duration(float64(s.Total)/(1<<20)*float64(cpuPerMB)) + time.Duration(s.Files)*cpuPerFile
	return Budget{
		Memory: min(baseMemory+memoryFactor*min(s.Largest, maxMemory)+memoryPerFile*int64(s.Files), maxMemory),
		CPU:    cpu, Time: timeFactor * cpu}
}

// String returns the budget as it is shown to a person.
func (b Budget) String() string {
	return fmt.Sprintf("%d MiB of memory and %d s of processor time", b.Memory>>20, int(b.CPU.Seconds()))
}
