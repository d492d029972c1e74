package unpack

import (
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loregate/internal/bound"
	"loregate/internal/fault"
)

// Source is an open source of an import.
type Source struct {
	Files fs.FS
	Label string // the name of the folder or archive; part of derived ids
	File  string // the only file to read; "" means all files
	Size  bound.Size
	close func() error
}

// Close releases the source. Files must not be used afterwards.
func (s *Source) Close() error { return s.close() }

// Open opens a folder, a file or an archive. A file is opened as its folder with File set. A zip file,
// a tar file and a file compressed with gzip are opened as a folder of their entries; a folder that
// contains everything else in the archive is entered. When ctx is cancelled, all reads fail.
func Open(ctx context.Context, name string, l Limits) (*Source, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	if info.IsDir() {
		return openFolder(ctx, name, full, "")
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "import: %q is not a regular file; give a file or folder", name)
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	t, closeAll, err := openArchive(ctx, f, info.Size(), filepath.Base(full), l.fillDefaults())
	if err != nil || t == nil {
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		return openFolder(ctx, name, filepath.Dir(full), filepath.Base(full))
	}
	s := &Source{Files: t, Label: stem(filepath.Base(full)), close: func() error {
		return errors.Join(closeAll(), f.Close())
	}}
	if top := t.enter(); top != "" {
		s.Label = top
	}
	for _, e := range t.entries {
		s.Size.Add(e.size)
	}
	return s, nil
}

func openFolder(ctx context.Context, name, dir, file string) (*Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	s := &Source{Files: root.FS(), Label: filepath.Base(dir), File: file, close: root.Close}
	if err := s.measure(ctx); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// maxMeasured is the maximum number of files of a folder whose sizes are read. A folder with more counts as its first
// ones; the importers have limits of their own.
const maxMeasured = 1_000_000

// measure finds the sizes of the files of a folder, or of its one file.
func (s *Source) measure(ctx context.Context) error {
	if s.File != "" {
		info, err := fs.Stat(s.Files, s.File)
		if err != nil {
			return explainUnreadable(s.File, err)
		}
		s.Size.Add(info.Size())
		return nil
	}
	n := 0
	return fs.WalkDir(s.Files, ".", func(_ string, d fs.DirEntry, err error) error {
		if n++; n > maxMeasured {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return ctx.Err() // the importer reports a folder that cannot be read
		}
		if info, err := d.Info(); err == nil {
			s.Size.Add(info.Size())
		}
		return ctx.Err()
	})
}

// explainUnreadable returns an error that tells a person why a path cannot be read.
func explainUnreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Invalid, "import: %q does not exist; give a file or folder", name).Because(err)
	}
	return fault.New(fault.Invalid, "import: %q cannot be read (%v)", name, errors.Unwrap(err)).Because(err)
}

// archiveSuffixes are the endings of archives' names.
var archiveSuffixes = []string{".zip", ".gz", ".tgz", ".tar", ".charx", ".lore", ".bz2", ".7z"}

// stem returns a file's name without the endings of archives.
func stem(name string) string {
	for {
		short := name
		for _, s := range archiveSuffixes {
			if strings.HasSuffix(strings.ToLower(short), s) && len(short) > len(s) {
				short = short[:len(short)-len(s)]
			}
		}
		if short == name {
			return name
		}
		name = short
	}
}

// headSize is the number of bytes by which a kind of archive is recognized.
const headSize = 512

// openArchive returns the entries of an archive, or nil if the file is no archive. closeAll releases them.
func openArchive(ctx context.Context, f io.ReaderAt, size int64, name string, l Limits) (t *tree,
	closeAll func() error, err error) {
	head := make([]byte, headSize)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, explainUnreadable(name, err)
	}
	head = head[:n]
	whole := io.NewSectionReader(f, 0, size)
	var open func(x *unpacking) error
	kind := "complete gzip or bzip2 data"
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		open = func(x *unpacking) error { return openGzip(whole, x) }
	case isTar(head):
		kind, open = "a complete tar file", func(x *unpacking) error { return openTar(whole, x) }
	case bytes.HasPrefix(head, []byte("BZh")):
		open = func(x *unpacking) error { return openPacked(bzip2.NewReader(whole), x) }
	case bytes.HasPrefix(head, []byte(sevenSignature)):
		kind, open = "a complete 7-Zip file", func(x *unpacking) error { return openSevenZip(f, x) }
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return nil, nil, fault.New(fault.Invalid, "import: %s is packed with xz; unpack it and import the result", name)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) ||
		bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}) && strings.HasSuffix(strings.ToLower(name), ".charx"):
		t, err = openZip(f, size, name, l) // a picture may precede the zip data of a .charx
		return t, func() error { return nil }, err
	default:
		return nil, nil, nil
	}
	to, err := l.Space.NewFile()
	if err != nil {
		return nil, nil, err
	}
	x := &unpacking{kind: kind, names: newNames(name), limit: l, packed: size, to: to, check: ctx.Err}
	if err := open(x); err != nil {
		return nil, nil, errors.Join(err, to.Close())
	}
	return newTree(to, x.entries), to.Close, nil
}

// isTar reports whether a file begins like a tar file.
func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }
