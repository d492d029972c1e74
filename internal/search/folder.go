package search

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"loregate/internal/disk"
)

// folder is where a world's index is kept. One process at a time writes there, by a lock
// that it holds from its first file on until it ends; all may read.
type folder struct {
	path   string // "" for an index in memory alone
	unlock func() error
}

const lockName = "lock"

func newFolder(dir string, world ID) *folder {
	if dir == "" {
		return &folder{}
	}
	return &folder{path: filepath.Join(dir, nameOf(world))}
}

// mine reports whether this process may write, and makes the folder where it may.
func (f *folder) mine() (bool, error) {
	if f.path == "" || f.unlock != nil {
		return f.path != "", nil
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return false, err
	}
	unlock, err := disk.TryLock(filepath.Join(f.path, lockName))
	f.unlock = unlock
	return unlock != nil, err
}

func (f *folder) release() error {
	if f.unlock == nil {
		return nil
	}
	unlock := f.unlock
	f.unlock = nil
	return unlock()
}

// loadTries is how often a folder is read that another process writes meanwhile.
const loadTries = 5

// load takes the index in the files for a start, where it is one of this world's past.
// What cannot be used is left: the next files that are written replace it. It is tried again
// where it fails, or answers ErrBehind.
func (s *shelf) load(ctx context.Context, from Source) error {
	for range loadTries {
		if s.files.path == "" {
			break
		}
		x, at, err := Load(s.files.path)
		if errors.Is(err, fs.ErrNotExist) {
			if _, there := os.Stat(filepath.Join(s.files.path, manifestName)); there == nil {
				continue // a segment was merged away since
			}
		}
		if err != nil {
			break // it is made anew
		}
		past, err := s.isPast(ctx, from, at)
		if err == nil && past {
			x.scratch = s.index.scratch
			s.index, s.at, s.saved, s.since, s.loaded = x, at.State, at.State, at.Gen, true
			return nil
		}
		if err = errors.Join(err, x.Clear()); err != nil {
			return err
		}
		break
	}
	s.loaded = ctx.Err() == nil
	return ctx.Err()
}

// isPast reports whether an index was made from what a world was once. One that goes further
// than the caller's snapshot is of before a backup was restored; or, where it was written
// since this process began, another process has gone on meanwhile, and ErrBehind says so.
func (s *shelf) isPast(ctx context.Context, from Source, at Position) (bool, error) {
	now, err := from.State(ctx)
	if err != nil || at.Tag != now.Tag || at.Epoch != now.Epoch {
		return false, err
	}
	if at.Gen > now.Gen {
		written, err := os.Stat(filepath.Join(s.files.path, manifestName))
		if err == nil && written.ModTime().After(s.began) {
			err = ErrBehind
		}
		return false, err
	}
	return from.HasCommit(ctx, at.Seq, at.Hash)
}

// save writes what changed of an index, where this process may.
func (l *Library) save(ctx context.Context, s *shelf, steps int) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.tried = time.Now()
	if ok, err := s.files.mine(); err != nil || !ok {
		return err
	}
	var at Position
	var now State
	err := l.cfg.Read(ctx, s.world, func(from Source) (err error) {
		if now, err = from.State(ctx); err != nil {
			return err
		}
		if at.Seq, at.Hash, err = from.Head(ctx); err != nil {
			return err
		}
		_, err = s.follow(ctx, from, now, steps)
		return err
	})
	if err != nil {
		return err
	}
	if s.saved.Scrub != now.Scrub {
		if err := s.index.Scrub(); err != nil {
			return err
		}
	}
	var frozen *Frozen
	if frozen, at.State = s.freeze(now); frozen == nil {
		return nil // it went on meanwhile, and is written another time
	}
	switch err := frozen.Save(s.files.path, at, lockName); {
	case errors.Is(err, errGone):
		return nil // it went on meanwhile too
	case err != nil:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = at.State
	return nil
}

// freeze gives the index and how far it goes, where that is not past a state. One that is
// behind is written too: it goes on from there, and may still hold what was erased since.
func (s *shelf) freeze(now State) (*Frozen, State) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.at.Tag != now.Tag || s.at.Epoch != now.Epoch || s.at.Gen > now.Gen {
		return nil, State{}
	}
	at := now
	if s.at.Gen < now.Gen {
		at.Gen, at.Scrub = s.at.Gen, s.saved.Scrub
	}
	return s.index.Freeze(), at
}

// Scrub writes the files of a world anew, without any text that is in no document now, and
// returns once they are. Where another process writes them, it does so as soon as it hears.
func (l *Library) Scrub(ctx context.Context, world ID) error {
	if l.cfg.Dir == "" {
		return nil
	}
	s := l.shelf(world)
	if _, err := os.Stat(s.files.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.save(ctx, s, waitFor)
}

// Flush writes the files of a world's index now, where this process may.
func (l *Library) Flush(ctx context.Context, world ID) error {
	return l.save(ctx, l.shelf(world), waitFor)
}

// removeOrphans removes the folders of worlds that the store has not.
func (l *Library) removeOrphans(ctx context.Context) error {
	if l.cfg.Dir == "" {
		return nil
	}
	list, err := os.ReadDir(l.cfg.Dir)
	if err != nil || len(list) == 0 {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	worlds, err := l.cfg.Worlds(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, w := range worlds {
		known[nameOf(w)] = true
	}
	for _, e := range list {
		if !known[e.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(l.cfg.Dir, e.Name())))
		}
	}
	return err
}
