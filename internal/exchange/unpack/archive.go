package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"loregate/internal/fault"
)

// Limits bound an archive. Zero values mean the defaults.
type Limits struct {
	Files int   // number of entries; default 100,000
	Bytes int64 // unpacked size of all entries; default 2 GiB
	Ratio int64 // how many times larger it may become; default 100, not applied below 16 MiB
	// Space holds the unpacked files; nil is a space in the folder of temporary files.
	Space *Space
}

// ratioFrom is the unpacked size from which the ratio counts: small texts may shrink a lot.
const ratioFrom = 16 << 20

const (
	maxFiles = 100_000
	maxBytes = 2 << 30
	maxRatio = 100
)

func (l Limits) fillDefaults() Limits {
	l.Files, l.Bytes, l.Ratio = cmp.Or(l.Files, maxFiles), cmp.Or(l.Bytes, maxBytes), cmp.Or(l.Ratio, maxRatio)
	if l.Space == nil {
		l.Space = NewSpace(os.TempDir(), 2*l.Bytes)
	}
	return l
}

func refuse(archive, entry, why string) error {
	return fault.New(fault.Invalid,
		"import: %s is refused because of its entry %q: %s; unpack the archive and import the folder", archive, entry, why)
}

// checkGrowth refuses an archive of packed bytes that has become too many bytes.
func (l Limits) checkGrowth(archive string, packed, unpacked int64) error {
	switch {
	case unpacked > l.Bytes:
		return l.tooLarge(archive)
	case unpacked > ratioFrom && packed > 0 && unpacked/packed > l.Ratio:
		return fault.New(fault.TooLarge, "import: %s becomes more than %d times larger when it is unpacked; it is refused: "+
			"unpack it and import the folder", archive, l.Ratio)
	}
	return nil
}

func (l Limits) tooLarge(archive string) error {
	return fault.New(fault.TooLarge, "import: %s contains more than %d MiB; import it in parts", archive, l.Bytes>>20)
}

func (l Limits) tooMany(archive string) error {
	return fault.New(fault.TooLarge, "import: %s has more than %d entries; import it in parts", archive, l.Files)
}

// openZip checks all entries of a zip file, which are read from the file itself.
func openZip(f io.ReaderAt, size int64, name string, l Limits) (*tree, error) {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fault.New(fault.Invalid, "import: %s is not a complete zip file", name).Because(err)
	}
	if len(z.File) > l.Files {
		return nil, l.tooMany(name)
	}
	seen, total := newNames(name), int64(0)
	entries := make([]entry, 0, len(z.File))
	for _, e := range z.File {
		if isSystemFile(e.Name) {
			continue
		}
		if err := seen.add(e.Name, e.FileInfo().Mode()); err != nil {
			return nil, err
		}
		at, err := e.DataOffset()
		switch {
		case e.Flags&1 != 0:
			return nil, refuse(name, e.Name, "it is encrypted")
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return nil, refuse(name, e.Name, "it is compressed in a way that cannot be read")
		case e.UncompressedSize64 > uint64(l.Bytes-total):
			return nil, l.tooLarge(name)
		case err != nil || e.CompressedSize64 > uint64(size-at):
			return nil, refuse(name, e.Name, "its content is missing")
		}
		total += int64(e.UncompressedSize64)
		entries = append(entries, entry{name: e.Name, at: at, packed: int64(e.CompressedSize64),
			size: int64(e.UncompressedSize64), sum: e.CRC32, summed: e.CRC32 != 0, deflated: e.Method == zip.Deflate})
	}
	if err := l.checkGrowth(name, size, total); err != nil {
		return nil, err
	}
	return newTree(f, entries), nil
}

// isSystemFile reports whether an entry was written by a system and not by a person.
func isSystemFile(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || path.Base(name) == ".DS_Store" || path.Base(name) == "Thumbs.db"
}

// names holds the names of an archive's entries.
type names struct {
	archive string
	files   map[string]string // entry by collision key
	folders map[string]string
}

func newNames(archive string) *names {
	return &names{archive, map[string]string{}, map[string]string{}}
}

// add checks an entry and adds its name.
func (n *names) add(name string, mode fs.FileMode) error {
	if problem := nameProblem(name); problem != "" {
		return refuse(n.archive, name, problem)
	}
	if !mode.IsRegular() && !mode.IsDir() {
		return refuse(n.archive, name, "it is a link or a device")
	}
	file := strings.TrimSuffix(name, "/")
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if err := n.addFolder(dir, name); err != nil {
			return err
		}
	}
	if mode.IsDir() || file != name {
		return n.addFolder(file, name)
	}
	key := collisionKey(file)
	if other, ok := n.files[key]; ok {
		return refuse(n.archive, name, "some systems take it for the same name as "+other)
	}
	if other, ok := n.folders[key]; ok {
		return refuse(n.archive, name, "it is a file and "+other+" is a folder of that name")
	}
	n.files[key] = name
	return nil
}

// addFolder notes a folder of an entry.
func (n *names) addFolder(dir, entry string) error {
	key := collisionKey(dir)
	if other, ok := n.files[key]; ok {
		return refuse(n.archive, entry, other+" is a file of the name of its folder")
	}
	if other, ok := n.folders[key]; ok && other != dir {
		return refuse(n.archive, entry, "some systems take its folder for the same as "+other)
	}
	n.folders[key] = dir
	return nil
}

// openGzip unpacks a gzip file.
func openGzip(r io.Reader, x *unpacking) error {
	z, err := gzip.NewReader(r)
	if err != nil {
		return fault.New(fault.Invalid, "import: %s is not complete gzip data", x.names.archive).Because(err)
	}
	return openPacked(z, x)
}

// openPacked unpacks one stream: either a tar file or one file.
func openPacked(r io.Reader, x *unpacking) error {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return x.damaged(err)
	}
	if isTar(head) {
		return openTar(b, x)
	}
	inner := stem(x.names.archive)
	if nameProblem(inner) != "" {
		inner = "content"
	}
	return x.addRest(inner, b)
}

// openTar unpacks a tar file.
func openTar(r io.Reader, x *unpacking) error {
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return x.damaged(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader || isSystemFile(strings.TrimPrefix(h.Name, "./")) || h.Name == "./" {
			continue
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode = fs.ModeSymlink
		}
		if err := x.add(strings.TrimPrefix(h.Name, "./"), mode, h.Size, t); err != nil {
			return err
		}
	}
}

// unpacking writes the entries of an archive to a file on the disk, one after the other. It counts them and their
// bytes while they are unpacked, so that an archive that is too large ends at its limit.
type unpacking struct {
	kind    string // of the archive, for errors
	names   *names
	limit   Limits
	packed  int64 // size of the archive
	to      *File
	entries []entry
	check   func() error // returns an error once the import is cancelled
}

// Write appends unpacked bytes.
func (x *unpacking) Write(b []byte) (int, error) {
	if err := cmp.Or(x.check(), x.limit.checkGrowth(x.names.archive, x.packed, x.to.size+int64(len(b)))); err != nil {
		return 0, err
	}
	return x.to.Write(b)
}

// add unpacks an entry of a known size.
func (x *unpacking) add(name string, mode fs.FileMode, size int64, r io.Reader) error {
	if err := x.addName(name, mode); err != nil {
		return err
	}
	if mode.IsDir() || strings.HasSuffix(name, "/") {
		x.entries = append(x.entries, entry{name: strings.TrimSuffix(name, "/") + "/"})
		return nil
	}
	if size > x.limit.Bytes-x.to.size {
		return x.limit.tooLarge(x.names.archive)
	}
	return x.copyEntry(name, io.LimitReader(r, size), size)
}

// addRest unpacks an entry that reaches to the end of r.
func (x *unpacking) addRest(name string, r io.Reader) error {
	if err := x.addName(name, 0o644); err != nil {
		return err
	}
	return x.copyEntry(name, r, -1)
}

func (x *unpacking) addName(name string, mode fs.FileMode) error {
	if err := x.names.add(name, mode); err != nil {
		return err
	}
	if len(x.entries) == x.limit.Files {
		return x.limit.tooMany(x.names.archive)
	}
	return nil
}

// copyEntry copies an entry to the disk; size is -1 if it is not known.
func (x *unpacking) copyEntry(name string, r io.Reader, size int64) error {
	at := x.to.size
	n, err := io.Copy(x, r)
	switch {
	case err != nil:
		return x.damaged(err)
	case size >= 0 && n != size:
		return fault.New(fault.Invalid, "import: %s ends within its entry %q", x.names.archive, name)
	}
	x.entries = append(x.entries, entry{name: name, at: at, packed: n, size: n})
	return nil
}

// damaged returns the error for an archive that cannot be read. An error that has a message for a person is
// returned unchanged.
func (x *unpacking) damaged(err error) error {
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	return fault.New(fault.Invalid, "import: %s is not %s", x.names.archive, x.kind).Because(err)
}
