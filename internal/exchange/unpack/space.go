package unpack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"loregate/internal/disk"
	"loregate/internal/fault"
)

// Limits of a Space.
const (
	spoolPrefix = "unpacked-" // begins the name of each file
	spoolStep   = 16 << 20    // bytes that are taken from the space at once
	keepFree    = 256 << 20   // bytes of the disk that stay free for everything else
)

// Space is the disk on which the unpacked files of all open sources lie. The files have no names once they are
// open, so that they are gone when their source is closed or the process ends, however it ends. On systems that
// keep the names, the next NewSpace removes what a crash left.
type Space struct {
	folder string
	size   int64

	mu   sync.Mutex
	used int64 // bytes of all files. Guarded by mu
}

// NewSpace returns a space of a number of bytes in a folder, which is created when it is needed.
func NewSpace(folder string, size int64) *Space {
	s := &Space{folder: folder, size: size}
	left, err := os.ReadDir(folder)
	if err != nil {
		return s // it does not exist yet
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), spoolPrefix) {
			_ = os.Remove(filepath.Join(folder, e.Name())) // on such systems a process that lives has it open
		}
	}
	return s
}

// Used returns the number of bytes that open sources have taken.
func (s *Space) Used() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// take takes bytes from the space, if it and the disk have them.
func (s *Space) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.size {
		return fault.New(fault.Unavailable, "the server is unpacking other files, and the %d MiB for that are taken; "+
			"try again later, or import less at once", s.size>>20)
	}
	if err := disk.Need(s.folder, uint64(n)+keepFree, "an import"); err != nil {
		return err
	}
	s.used += n
	return nil
}

func (s *Space) giveBack(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
}

// File is a file of a space without a name. What is written is appended.
type File struct {
	file  *os.File
	space *Space
	size  int64 // bytes written
	taken int64 // bytes taken from the space
	named bool  // the file still has its name
}

// NewFile returns an empty file. Close it.
func (s *Space) NewFile() (*File, error) {
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return nil, fmt.Errorf("unpack: %w", disk.Explain(s.folder, err))
	}
	f, err := os.CreateTemp(s.folder, spoolPrefix)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", disk.Explain(s.folder, err))
	}
	removed := os.Remove(f.Name())
	return &File{file: f, space: s, named: removed != nil && !errors.Is(removed, fs.ErrNotExist)}, nil
}

// Write appends bytes, after it has taken room for them.
func (p *File) Write(b []byte) (int, error) {
	for p.size+int64(len(b)) > p.taken {
		if err := p.space.take(spoolStep); err != nil {
			return 0, err
		}
		p.taken += spoolStep
	}
	n, err := p.file.Write(b)
	p.size += int64(n)
	if err != nil {
		err = fmt.Errorf("unpack: %w", disk.Explain(p.space.folder, err))
	}
	return n, err
}

// ReadAt reads what was written.
func (p *File) ReadAt(b []byte, at int64) (int, error) { return p.file.ReadAt(b, at) }

// Close removes the file.
func (p *File) Close() error {
	err := p.file.Close()
	if p.named {
		err = errors.Join(err, os.Remove(p.file.Name()))
	}
	p.space.giveBack(p.taken)
	return err
}
