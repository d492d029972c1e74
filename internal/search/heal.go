package search

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// compareEvery is the interval at which the files of a loaded index are compared with their checksums.
const compareEvery = 10 * time.Minute

// guard runs f, which reads the index. If the disk or somebody has changed the files meanwhile, which are mapped,
// reading them goes wrong in any way, up to a fault of the processor. The index is then emptied, to be made anew, and
// guard returns ErrBehind. A panic over sound files is passed on.
func (l *Library) guard(s *worldIndex, f func() error) (err error) {
	s.mu.RLock()
	x := s.index
	s.mu.RUnlock()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		damage := error(nil)
		if p != nil || errors.Is(err, ErrDamaged) {
			damage = x.checkFiles(s.files.path)
		}
		switch {
		case damage != nil:
			l.warn(fmt.Errorf("%w; the index of the world is made anew", damage))
			err = errors.Join(ErrBehind, s.discard(x))
			l.wakeBackground()
		case p != nil:
			panic(p)
		}
	}()
	return f()
}

// discard empties an index whose files are damaged, unless another caller has done it.
func (s *worldIndex) discard(damaged *Index) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != damaged {
		return nil
	}
	s.index = New()
	s.index.scratch = damaged.scratch
	s.at, s.saved, s.recent, s.since, s.loaded = State{}, State{}, nil, 0, false
	return damaged.Clear()
}

// checkFiles returns ErrDamaged if a file of the index is not as it was written. A file that was removed is not missed:
// it stays mapped, and a merge of another process removes files.
func (x *Index) checkFiles(dir string) error {
	x.mu.RLock()
	sums := map[string]uint32{}
	for _, l := range x.levels {
		for _, p := range l.parts {
			if p.file != "" && p.unmap != nil {
				sums[p.file] = p.sum
			}
		}
	}
	x.mu.RUnlock()
	for name, sum := range sums {
		got, err := checksumFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || got != sum {
			return errors.Join(fmt.Errorf("%w: %s has another checksum", ErrDamaged, name), err)
		}
	}
	return nil
}

// checksumFile reads a file through a buffer: mapped, its pages would count as memory of the process.
func checksumFile(path string) (uint32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.New(castagnoli)
	_, err = io.Copy(sum, f)
	return sum.Sum32(), err
}

// checkIfDue compares the files of an index with their checksums if that was not done for compareEvery.
func (s *worldIndex) checkIfDue() error {
	s.mu.Lock()
	due := s.loaded && s.files.path != "" && time.Since(s.checked) >= compareEvery
	if due {
		s.checked = time.Now()
	}
	x := s.index
	s.mu.Unlock()
	if !due {
		return nil
	}
	return x.checkFiles(s.files.path)
}
