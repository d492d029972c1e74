package unpack

import (
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"loregate/internal/fault"
)

// Source is an open source of an import.
type Source struct {
	Files fs.FS
	Label string // the name of the folder or archive; part of derived ids
	File  string // the only file to read; "" means all files
	close func() error
}

// Close releases the source. Files must not be used afterwards.
func (s *Source) Close() error { return s.close() }

// Open opens a folder, a file or an archive. A file is opened as its folder with File set. A zip file,
// a tar file and a file compressed with gzip are opened as a folder of their entries; a folder that
// contains everything else in the archive is entered.
func Open(name string, l Limits) (*Source, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	info, err := os.Stat(full)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	if info.IsDir() {
		return openFolder(name, full, "")
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Invalid, "import: %q is not a regular file; give a file or folder", name)
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	z, err := openArchive(f, info.Size(), filepath.Base(full), l.fillDefaults())
	if err != nil || z == nil {
		err = errors.Join(err, f.Close())
		if err != nil {
			return nil, err
		}
		return openFolder(name, filepath.Dir(full), filepath.Base(full))
	}
	files, top := enterFolders(z)
	s := &Source{Files: files, Label: stem(filepath.Base(full)), close: f.Close}
	if top != "" {
		s.Label = top
	}
	return s, nil
}

func openFolder(name, dir, file string) (*Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, explainUnreadable(name, err)
	}
	return &Source{Files: root.FS(), Label: filepath.Base(dir), File: file, close: root.Close}, nil
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

// enterFolders enters the folder that contains everything else, repeatedly. top is the name of the
// innermost folder entered, or "".
func enterFolders(z *zip.Reader) (files fs.FS, top string) {
	files = z
	for {
		list, err := fs.ReadDir(files, ".")
		if err != nil || len(list) != 1 || !list[0].IsDir() {
			return files, top
		}
		inner, err := fs.Sub(files, list[0].Name())
		if err != nil {
			return files, top
		}
		files, top = inner, path.Base(list[0].Name())
	}
}

// openArchive returns the entries of an archive, or nil if the file is no archive.
func openArchive(f io.ReaderAt, size int64, name string, l Limits) (*zip.Reader, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, explainUnreadable(name, err)
	}
	head = head[:n]
	whole := io.NewSectionReader(f, 0, size)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return openGzip(whole, size, name, l)
	case isTar(head):
		return openTar(whole, size, name, l)
	case bytes.HasPrefix(head, []byte("BZh")):
		return openPacked(bzip2.NewReader(whole), size, name, l)
	case bytes.HasPrefix(head, []byte(sevenSignature)):
		return openSevenZip(f, size, name, l)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		return nil, fault.New(fault.Invalid, "import: %s is packed with xz; unpack it and import the result", name)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) ||
		bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}) && strings.HasSuffix(strings.ToLower(name), ".charx"):
		return openZip(f, size, name, l) // a picture may precede the zip data of a .charx
	}
	return nil, nil
}

// isTar reports whether a file begins like a tar file.
func isTar(head []byte) bool { return len(head) >= 262 && string(head[257:262]) == "ustar" }
