package search

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/edsrzf/mmap-go"
)

// scratch configures where a merge keeps its large sections, so that the merge does not need as
// much memory as the segment that it makes.
type scratch struct {
	dir  string // folder of the temporary files; "" keeps everything on the heap
	from int    // the size in bytes from which a section is large
}

// largeMerge is the size in bytes from which data is kept in files.
const largeMerge = 1 << 20

// spool gathers bytes that are written sequentially and read only at the end. Large amounts are
// kept in a file.
type spool struct {
	in   scratch
	b    []byte
	file *os.File // the bytes before b; nil for none
	gone int      // number of bytes in file
	err  error
}

func (s *spool) len() int { return s.gone + len(s.b) }

// spill moves the gathered bytes to the file if they are large. It records an error in s.err.
func (s *spool) spill() {
	if s.in.dir == "" || len(s.b) < s.in.from || s.err != nil {
		return
	}
	if s.file == nil {
		if s.file, s.err = scratchFile(s.in.dir); s.err != nil {
			return
		}
	}
	var n int
	n, s.err = s.file.Write(s.b)
	s.b, s.gone = s.b[:0], s.gone+n
}

func (s *spool) writeTo(w io.Writer) error {
	if s.err != nil {
		return s.err
	}
	if s.file != nil {
		if _, err := s.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(w, s.file); err != nil {
			return err
		}
	}
	_, err := w.Write(s.b)
	return err
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return closeScratch(s.file)
}

// scratchFile creates a temporary file that is removed at once, or when it is closed.
func scratchFile(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "merge-*") // 0600
	if err == nil {
		_ = os.Remove(f.Name()) // where an open file cannot be removed, closeScratch does it
	}
	return f, err
}

func closeScratch(f *os.File) error {
	err := f.Close()
	if rerr := os.Remove(f.Name()); !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	return err
}

// mapScratch calls write with a temporary file in dir and maps the file into memory.
func mapScratch(dir string, write func(io.Writer) error) (m mmap.MMap, unmap func() error, err error) {
	f, err := scratchFile(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeScratch(f))
		}
	}()
	w := bufio.NewWriterSize(f, largeMerge)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return nil, nil, err
	}
	if m, err = mmap.Map(f, mmap.RDONLY, 0); err != nil {
		return nil, nil, err
	}
	return m, func() error { return errors.Join(m.Unmap(), closeScratch(f)) }, nil
}
