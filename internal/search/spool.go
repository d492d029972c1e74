package search

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/edsrzf/mmap-go"
)

// scratch is the place of a merge's large parts, so that the merge does not take as much
// memory as the segment that it makes.
type scratch struct {
	dir  string // of its files; "" keeps all on the heap
	from int    // how many bytes are large
}

// largeMerge is how many bytes are kept in files.
const largeMerge = 1 << 20

// spool gathers bytes that are written from the front and not read before the end. Many of
// them lie in a file.
type spool struct {
	in   scratch
	b    []byte
	file *os.File // what came before b; nil for nothing
	gone int      // how many bytes that is
	err  error
}

func (s *spool) len() int { return s.gone + len(s.b) }

// spill moves what was gathered to the file, where it is much. An error stays.
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

// scratchFile makes a file that nobody else finds, and that is gone when it is closed.
func scratchFile(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, "merge-*") // 0600
	if err == nil {
		_ = os.Remove(f.Name()) // a system that cannot does it at the end
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

// mapScratch maps what f writes to a file in a folder.
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
