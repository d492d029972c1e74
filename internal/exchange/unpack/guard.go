package unpack

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"loregate/internal/bound"
	"loregate/internal/fault"
)

// Guard makes all reads of the source's files fail once ctx is cancelled, and refuses to read a file as a whole that
// is larger than bound.MaxWhole.
func (s *Source) Guard(ctx context.Context) {
	s.Files = guarded{s.Files, func() error { return context.Cause(ctx) }}
}

// guarded is a file system whose reads end with check.
type guarded struct {
	fs.FS
	check func() error
}

func (g guarded) Open(name string) (fs.File, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	f, err := g.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return guardedFile{f, g.check}, nil
}

func (g guarded) Stat(name string) (fs.FileInfo, error) { return fs.Stat(g.FS, name) }

func (g guarded) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return fs.ReadDir(g.FS, name)
}

// ReadFile reads a file as a whole.
func (g guarded) ReadFile(name string) ([]byte, error) {
	info, err := g.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // reading a pipe would block, and a device has no end
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if info.Size() > bound.MaxWhole {
		return nil, fault.New(fault.TooLarge, "%s is larger than the %d MiB that can be read as a whole; divide it into "+
			"smaller files", name, bound.MaxWhole>>20)
	}
	f, err := g.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(f, make([]byte, 1)); !errors.Is(err, io.EOF) { // the end has the sum of its content
		return nil, cmp.Or(err, errChanged)
	}
	return data, nil
}

// guardedFile is an open file or folder whose reads end with check.
type guardedFile struct {
	fs.File
	check func() error
}

func (f guardedFile) Read(b []byte) (int, error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

// ReadDir lists an open folder.
func (f guardedFile) ReadDir(n int) ([]fs.DirEntry, error) {
	dir, ok := f.File.(fs.ReadDirFile)
	if !ok {
		return nil, fs.ErrInvalid
	}
	return dir.ReadDir(n)
}
