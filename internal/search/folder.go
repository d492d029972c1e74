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

// folder is the folder that a world's index is saved in. Only one process at a time writes there:
// it holds a lock from its first write until it exits. All processes may read.
type folder struct {
	path   string // "" for an index that is only in memory
	unlock func() error
}

const lockName = "lock"

func newFolder(dir string, world ID) *folder {
	if dir == "" {
		return &folder{}
	}
	return &folder{path: filepath.Join(dir, folderName(world))}
}

// tryLock reports whether this process may write. If it may, the folder exists afterwards.
func (f *folder) tryLock() (bool, error) {
	if f.path == "" || f.unlock != nil {
		return f.path != "", nil
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return false, err
	}
	unlock, err := disk.TryLock(filepath.Join(f.path, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // removeOrphan has just removed the folder
	}
	f.unlock = unlock
	return unlock != nil, err
}

func (f *folder) releaseLock() error {
	if f.unlock == nil {
		return nil
	}
	unlock := f.unlock
	f.unlock = nil
	return unlock()
}

// loadTries is the number of attempts to load a folder while another process writes to it.
const loadTries = 5

// loadFiles loads the index from its files, if they are of an earlier state of this world. Unusable
// files are left in place; the next save replaces them. If loadFiles returns an error, such as
// ErrBehind, the next caller tries again.
func (s *worldIndex) loadFiles(ctx context.Context, from Source) error {
	s.checked = time.Now() // Load compares the files with their checksums
	for range loadTries {
		if s.files.path == "" {
			break
		}
		x, at, err := Load(s.files.path)
		if errors.Is(err, fs.ErrNotExist) {
			if _, there := os.Stat(filepath.Join(s.files.path, manifestName)); there == nil {
				continue // a merge has removed a segment meanwhile
			}
		}
		if err != nil {
			break // the index is rebuilt
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

// isPast reports whether an index was made from an earlier state of this world. If the index is
// ahead of the caller's snapshot, there are two cases. Files that were written before this process
// began are of the time before a backup was restored. Files written later were written by another
// process that has advanced meanwhile; then isPast returns ErrBehind.
func (s *worldIndex) isPast(ctx context.Context, from Source, at Position) (bool, error) {
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

// saveIndex brings an index up to date, in at most steps steps, and saves it, if this process may
// write.
func (l *Library) saveIndex(ctx context.Context, s *worldIndex, steps int) error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.tried = time.Now()
	if ok, err := s.files.tryLock(); err != nil || !ok {
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
		_, err = s.catchUp(ctx, from, now, steps)
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
	if frozen, at.State = s.freezeIndex(now); frozen == nil {
		return nil // the index has advanced meanwhile; a later save writes it
	}
	switch err := frozen.Save(s.files.path, at, lockName); {
	case errors.Is(err, errGone):
		return nil // as above
	case err != nil:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saved = at.State
	return nil
}

// freezeIndex returns a snapshot of the index and its state, or nil if the index is ahead of now.
// An index that is behind is saved too: the next process continues from there. Such files may still
// contain texts that were erased since, so they keep the Scrub number of the previous save.
func (s *worldIndex) freezeIndex(now State) (*Frozen, State) {
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

// Scrub rewrites the files of a world without any text that is no longer in a document, and returns
// when that is done. If another process writes the files, that process rewrites them as soon as it
// learns of the scrub.
func (l *Library) Scrub(ctx context.Context, world ID) error {
	if l.cfg.Dir == "" {
		return nil
	}
	s := l.indexFor(world)
	if _, err := os.Stat(s.files.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.guard(s, func() error { return l.saveIndex(ctx, s, maxSteps) })
}

// Flush saves the index of a world now, if this process may write.
func (l *Library) Flush(ctx context.Context, world ID) error {
	s := l.indexFor(world)
	return l.guard(s, func() error { return l.saveIndex(ctx, s, maxSteps) })
}

// removeOrphans removes the folders of worlds that are not in the store.
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
	known, err := l.listFolders(ctx)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.IsDir() && !known[e.Name()] {
			err = errors.Join(err, l.removeOrphan(ctx, e.Name()))
		}
	}
	return err
}

// listFolders returns the names of the folders of the store's worlds.
func (l *Library) listFolders(ctx context.Context) (map[string]bool, error) {
	worlds, err := l.cfg.Worlds(ctx)
	known := make(map[string]bool, len(worlds))
	for _, w := range worlds {
		known[folderName(w)] = true
	}
	return known, err
}

// removeOrphan removes a folder, unless somebody writes there or its world exists by now: a world
// may be created, and its index saved, at any time. The folder is renamed first, so that a writer
// who comes meanwhile creates a new one.
func (l *Library) removeOrphan(ctx context.Context, name string) error {
	path := filepath.Join(l.cfg.Dir, name)
	unlock, err := disk.TryLock(filepath.Join(path, lockName))
	if err != nil || unlock == nil {
		return err
	}
	gone := path + ".gone"
	known, err := l.listFolders(ctx)
	if err == nil && !known[name] {
		err = errors.Join(os.Rename(path, gone), os.RemoveAll(gone))
	}
	return errors.Join(err, unlock())
}
