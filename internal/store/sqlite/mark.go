package sqlite

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/edsrzf/mmap-go"

	"loregate/internal/canon"
)

// marker detects commits by reading the WAL index header in the memory that SQLite shares between
// processes: https://sqlite.org/walformat.html, "The WAL-Index Header". It needs no statement and
// no lock: the header is stored twice, and is valid if both copies agree.
type marker struct {
	once sync.Once
	mu   sync.RWMutex // held while mem is read
	file *os.File
	mem  mmap.MMap // empty if the file could not be mapped
}

// The header is 48 bytes: among them the number of commits, the last frame and its checksums, the
// salts of the log, and a checksum of the header.
const walIndexWords = 12

func (m *marker) open(path string) {
	f, err := os.Open(path + "-shm")
	if err != nil {
		return
	}
	mem, err := mmap.MapRegion(f, 4*2*walIndexWords, mmap.RDONLY, 0, 0)
	if err != nil {
		_ = f.Close() // opened for reading only
		return
	}
	m.file, m.mem = f, mem
}

// read returns the header; false if it is just being written or cannot be read.
func (m *marker) read(path string) (mark canon.Mark, ok bool) {
	m.once.Do(func() { m.open(path) })
	m.mu.RLock()
	defer m.mu.RUnlock()
	if len(m.mem) == 0 {
		return mark, false
	}
	words := (*[2 * walIndexWords]uint32)(unsafe.Pointer(&m.mem[0])) // aligned: a page begins there
	for i := range walIndexWords {
		mark[i] = atomic.LoadUint32(&words[i])
	}
	for i := range walIndexWords {
		if atomic.LoadUint32(&words[walIndexWords+i]) != mark[i] {
			return mark, false
		}
	}
	return mark, mark != canon.Mark{}
}

func (m *marker) close() error {
	m.once.Do(func() {})
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.mem) == 0 {
		return nil
	}
	return errors.Join(m.mem.Unmap(), m.file.Close())
}

// Mark implements canon.Marker.
func (s *Store) Mark() (canon.Mark, bool) { return s.marker.read(s.cfg.Path) }
