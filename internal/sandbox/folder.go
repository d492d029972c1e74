package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrNotPlain is the error for a name in a Folder that is neither a regular file nor, where one is asked for, a
// folder of such files.
var ErrNotPlain = errors.New("sandbox: it is no regular file")

// Folder is a folder that a confined program can write. Any name in it may be a link or a pipe that the
// program made. Use names only by these methods: they follow no link out of the folder, and wait for no pipe.
type Folder struct {
	dir  string
	root *os.Root
}

// OpenFolder opens a folder, which need not exist before. Close releases it.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{dir, root}, nil
}

// Close releases the folder and keeps its files.
func (f *Folder) Close() error { return f.root.Close() }

// Path returns the path of a name for the program itself.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

// open opens a regular file for reading.
func (f *Folder) open(name string) (*os.File, error) {
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s", ErrNotPlain, name)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Read returns the content of a regular file, which may have at most most bytes.
func (f *Folder) Read(name string, most int64) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("sandbox: %s has more than %d bytes", name, most)
	}
	return data, err
}

// Has reports whether there is a regular file of this name.
func (f *Folder) Has(name string) bool {
	file, err := f.open(name)
	if err != nil {
		return false
	}
	_ = file.Close() // it was only looked at
	return true
}

// Write makes a file, in place of the one that has its name, and the folders above it.
func (f *Folder) Write(name string, data []byte) error {
	file, err := f.create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

func (f *Folder) create(name string) (*os.File, error) {
	name = filepath.FromSlash(name)
	if err := f.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if err := f.root.RemoveAll(name); err != nil {
		return nil, err
	}
	return f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// CopyIn copies a file of the server into the folder.
func (f *Folder) CopyIn(name, from string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := f.create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	return errors.Join(err, file.Close())
}

// CopyOut copies a regular file, or a folder of regular files, to a path of the server: together at most a GiB.
func (f *Folder) CopyOut(name, to string) error {
	left := int64(maxFileSize)
	return fs.WalkDir(f.root.FS(), name, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rest, err := filepath.Rel(filepath.FromSlash(name), filepath.FromSlash(at))
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rest), 0o700)
		}
		n, err := f.copyFile(at, filepath.Join(to, rest), left)
		left -= n
		return err
	})
}

// copyFile copies a file of at most most bytes, and returns their number.
func (f *Folder) copyFile(name, to string, most int64) (int64, error) {
	source, err := f.open(name)
	if err != nil {
		return 0, err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(file, io.LimitReader(source, most+1))
	if err == nil && n > most {
		err = fmt.Errorf("sandbox: %s is too large", name)
	}
	return n, errors.Join(err, file.Close())
}

// Make makes an empty folder, in place of the file or folder that has its name.
func (f *Folder) Make(name string) error {
	if err := f.Remove(name); err != nil {
		return err
	}
	return f.root.MkdirAll(filepath.FromSlash(name), 0o700)
}

// Remove removes a name and everything below it. It is no error if there is none.
func (f *Folder) Remove(name string) error { return f.root.RemoveAll(filepath.FromSlash(name)) }

// List returns the names directly below a folder; none if there is no such folder.
func (f *Folder) List(name string) ([]string, error) {
	list, err := fs.ReadDir(f.root.FS(), name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names, nil
}
