package unpack

import (
	"cmp"
	"compress/flate"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// tree is a read-only file system over one file that holds the contents of all entries, as they are or deflated.
type tree struct {
	data    io.ReaderAt
	entries []entry // sorted by name
	under   string  // the folder that is its root, with a final slash; "" is the top
	flaters *sync.Pool
}

// entry is a file, or an empty folder, whose name ends with a slash.
type entry struct {
	name     string
	at       int64 // of its content in the file
	packed   int64 // bytes there
	size     int64 // bytes of its content
	sum      uint32
	summed   bool // sum is known
	deflated bool
}

func newTree(data io.ReaderAt, entries []entry) *tree {
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return &tree{data: data, entries: entries, flaters: new(sync.Pool)}
}

// enter enters the folder that contains everything else, repeatedly. It returns the name of the innermost folder that
// it entered, or "".
func (t *tree) enter() (top string) {
	for {
		list, err := t.ReadDir(".")
		if err != nil || len(list) != 1 || !list[0].IsDir() {
			return top
		}
		top = list[0].Name()
		t.under += top + "/"
	}
}

// from returns the index of the first entry whose name is not before name.
func (t *tree) from(name string) int {
	i, _ := slices.BinarySearchFunc(t.entries, name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
	return i
}

// findEntry returns the entry of a file, or nil. isFolder reports whether a folder has the name.
func (t *tree) findEntry(name string) (e *entry, isFolder bool) {
	full := t.under + name
	if i := t.from(full); i < len(t.entries) && t.entries[i].name == full {
		return &t.entries[i], false
	}
	if name == "." {
		return nil, true
	}
	i := t.from(full + "/")
	return nil, i < len(t.entries) && strings.HasPrefix(t.entries[i].name, full+"/")
}

// Open opens a file or a folder.
func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	e, isFolder := t.findEntry(name)
	switch {
	case isFolder:
		return &treeFolder{tree: t, name: name}, nil
	case e == nil:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return t.openEntry(e), nil
}

// Stat describes a file or a folder.
func (t *tree) Stat(name string) (fs.FileInfo, error) {
	e, isFolder := t.findEntry(name)
	switch {
	case isFolder:
		return info{name: path.Base(name), folder: true}, nil
	case e == nil || !fs.ValidPath(name):
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return info{name: path.Base(name), size: e.size}, nil
}

// ReadDir returns what lies in a folder, by name.
func (t *tree) ReadDir(name string) (list []fs.DirEntry, err error) {
	if _, isFolder := t.findEntry(name); !isFolder || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	prefix := t.under
	if name != "." {
		prefix += name + "/"
	}
	for i := t.from(prefix); i < len(t.entries) && strings.HasPrefix(t.entries[i].name, prefix); {
		first, _, deeper := strings.Cut(t.entries[i].name[len(prefix):], "/")
		switch {
		case first == "": // the folder itself
			i++
		case deeper:
			list = append(list, info{name: first, folder: true})
			i = t.from(prefix + first + "0") // '0' follows '/'
		default:
			list = append(list, info{name: first, size: t.entries[i].size})
			i++
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// openEntry returns an entry as an open file.
func (t *tree) openEntry(e *entry) *treeFile {
	f := &treeFile{tree: t, entry: e, plain: io.NewSectionReader(t.data, e.at, e.packed)}
	if e.summed {
		f.sum = crc32.NewIEEE()
	}
	if e.deflated {
		if z, ok := t.flaters.Get().(io.ReadCloser); ok {
			_ = z.(flate.Resetter).Reset(f.plain, nil) //nolint:forcetypeassert // Resetter returns no error here
			f.plain, f.flater = z, z
		} else {
			f.flater = flate.NewReader(f.plain)
			f.plain = f.flater
		}
	}
	return f
}

// treeFile reads one entry. It ends with an error if the content is not as long as the archive says, or has another
// sum.
type treeFile struct {
	tree   *tree
	entry  *entry
	plain  io.Reader
	flater io.ReadCloser // nil if the entry is not deflated
	sum    hash.Hash32   // nil if the archive has none
	read   int64
}

var errChanged = errors.New("the content is not as the archive describes it")

func (f *treeFile) Stat() (fs.FileInfo, error) {
	return info{name: path.Base(f.entry.name), size: f.entry.size}, nil
}

func (f *treeFile) Read(b []byte) (int, error) {
	n, err := f.plain.Read(b)
	if f.read += int64(n); f.read > f.entry.size {
		return 0, errChanged
	}
	if f.sum != nil {
		f.sum.Write(b[:n])
	}
	if errors.Is(err, io.EOF) && (f.read < f.entry.size || f.sum != nil && f.sum.Sum32() != f.entry.sum) {
		err = errChanged
	}
	return n, err
}

func (f *treeFile) Close() error {
	if f.flater != nil {
		f.tree.flaters.Put(f.flater)
		f.flater, f.plain = nil, strings.NewReader("")
	}
	return nil
}

// treeFolder is an open folder of a tree.
type treeFolder struct {
	tree *tree
	name string
	list []fs.DirEntry
	read bool
}

func (d *treeFolder) Stat() (fs.FileInfo, error) { return d.tree.Stat(d.name) }
func (d *treeFolder) Close() error               { return nil }
func (d *treeFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a folder")}
}

// ReadDir returns the next n entries, or all for n <= 0.
func (d *treeFolder) ReadDir(n int) (list []fs.DirEntry, err error) {
	if !d.read {
		if d.list, err = d.tree.ReadDir(d.name); err != nil {
			return nil, err
		}
		d.read = true
	}
	if n <= 0 || n > len(d.list) {
		if n > 0 && len(d.list) == 0 {
			return nil, io.EOF
		}
		n = len(d.list)
	}
	list, d.list = d.list[:n], d.list[n:]
	return list, nil
}

// info describes a file or folder of a tree.
type info struct {
	name   string
	size   int64
	folder bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.size }
func (i info) IsDir() bool                { return i.folder }
func (i info) ModTime() time.Time         { return time.Time{} }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
