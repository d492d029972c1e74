package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"loregate/internal/fault"
)

// Limits bound an archive. Zero values mean the defaults.
type Limits struct {
	Files  int   // number of entries; default 100,000
	Bytes  int64 // unpacked size of all entries; default 2 GiB
	Memory int64 // unpacked size of a tar or gzip file, which is held in memory; default 512 MiB
	Ratio  int64 // how many times larger it may become; default 100, not applied below 16 MiB
}

// ratioFrom is the unpacked size from which the ratio counts: small texts may shrink a lot.
const ratioFrom = 16 << 20

func (l Limits) fillDefaults() Limits {
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.Bytes == 0 {
		l.Bytes = 2 << 30
	}
	if l.Memory == 0 {
		l.Memory = 512 << 20
	}
	if l.Ratio == 0 {
		l.Ratio = 100
	}
	return l
}

func refuse(archive, entry, why string) error {
	return fault.New(fault.Invalid,
		"import: %s is refused because of its entry %q: %s; unpack the archive and import the folder", archive, entry, why)
}

func (l Limits) checkGrowth(archive string, packed, unpacked int64) error {
	if unpacked > ratioFrom && packed > 0 && unpacked/packed > l.Ratio {
		return fault.New(fault.TooLarge, "import: %s becomes more than %d times larger when it is unpacked; it is refused",
			archive, l.Ratio)
	}
	return nil
}

func (l Limits) tooLarge(archive string, limit int64) error {
	return fault.New(fault.TooLarge, "import: %s contains more than %d MiB; import it in parts", archive, limit>>20)
}

// openZip checks all entries of a zip file.
func openZip(f io.ReaderAt, size int64, name string, l Limits) (*zip.Reader, error) {
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fault.New(fault.Invalid, "import: %s is not a complete zip file", name).Because(err)
	}
	if len(z.File) > l.Files {
		return nil, fault.New(fault.TooLarge, "import: %s has more than %d entries; import it in parts", name, l.Files)
	}
	seen, total := newNames(name), int64(0)
	kept := z.File[:0]
	for _, e := range z.File {
		if isSystemFile(e.Name) {
			continue
		}
		if err := seen.add(e.Name, e.FileInfo().Mode()); err != nil {
			return nil, err
		}
		switch {
		case e.Flags&1 != 0:
			return nil, refuse(name, e.Name, "it is encrypted")
		case e.Method != zip.Store && e.Method != zip.Deflate:
			return nil, refuse(name, e.Name, "it is compressed in a way that cannot be read")
		case e.UncompressedSize64 > uint64(l.Bytes-total):
			return nil, l.tooLarge(name, l.Bytes)
		}
		total += int64(e.UncompressedSize64)
		kept = append(kept, e)
	}
	z.File = kept
	return z, l.checkGrowth(name, size, total)
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
func openGzip(r io.Reader, size int64, name string, l Limits) (*zip.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fault.New(fault.Invalid, "import: %s is not complete gzip data", name).Because(err)
	}
	return openPacked(z, size, name, l)
}

// openPacked unpacks one stream in memory: either a tar file or one file.
func openPacked(r io.Reader, size int64, name string, l Limits) (*zip.Reader, error) {
	data, err := readLimited(r, l.Memory)
	if err != nil {
		if fault.KindOf(err) == fault.TooLarge {
			return nil, l.tooLarge(name, l.Memory)
		}
		return nil, fault.New(fault.Invalid, "import: %s is not complete gzip or bzip2 data", name).Because(err)
	}
	if err := l.checkGrowth(name, size, int64(len(data))); err != nil {
		return nil, err
	}
	if isTar(data) {
		return openTar(bytes.NewReader(data), size, name, l)
	}
	inner := stem(name)
	if nameProblem(inner) != "" {
		inner = "content"
	}
	m := newMemory(name, l)
	if err := m.add(inner, 0o644, int64(len(data)), bytes.NewReader(data)); err != nil {
		return nil, err
	}
	return m.finish()
}

// readLimited reads a stream of at most limit bytes.
func readLimited(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fault.New(fault.TooLarge, "the file contains more than %d MiB", limit>>20)
	}
	return data, err
}

func gunzip(r io.Reader, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return readLimited(z, limit)
}

// openTar reads a tar file into memory.
func openTar(r io.Reader, size int64, name string, l Limits) (*zip.Reader, error) {
	m := newMemory(name, l)
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.New(fault.Invalid, "import: %s is not a complete tar file", name).Because(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader || isSystemFile(strings.TrimPrefix(h.Name, "./")) || h.Name == "./" {
			continue
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink {
			mode = fs.ModeSymlink
		}
		if err := m.add(strings.TrimPrefix(h.Name, "./"), mode, h.Size, t); err != nil {
			return nil, err
		}
	}
	z, err := m.finish()
	if err != nil {
		return nil, err
	}
	return z, l.checkGrowth(name, size, l.Memory-m.left)
}

// memory collects entries as a zip file in memory, so that all archives are read in the same way.
type memory struct {
	names *names
	limit Limits
	left  int64
	buf   bytes.Buffer
	zip   *zip.Writer
	count int
}

func newMemory(archive string, l Limits) *memory {
	m := &memory{names: newNames(archive), limit: l, left: l.Memory}
	m.zip = zip.NewWriter(&m.buf)
	return m
}

func (m *memory) add(name string, mode fs.FileMode, size int64, r io.Reader) error {
	if err := m.names.add(name, mode); err != nil {
		return err
	}
	if m.count++; m.count > m.limit.Files {
		return fault.New(fault.TooLarge, "import: %s has more than %d entries; import it in parts", m.names.archive,
			m.limit.Files)
	}
	if m.left -= size; m.left < 0 {
		return m.limit.tooLarge(m.names.archive, m.limit.Memory)
	}
	if mode.IsDir() || strings.HasSuffix(name, "/") {
		return nil
	}
	w, err := m.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	if _, err := io.CopyN(w, r, size); err != nil {
		return fault.New(fault.Invalid, "import: %s ends within its entry %q", m.names.archive, name).Because(err)
	}
	return nil
}

func (m *memory) finish() (*zip.Reader, error) {
	if err := m.zip.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(m.buf.Bytes()), int64(m.buf.Len()))
}

// maxLayers is the maximum number of encodings around the content of one file.
const maxLayers = 3

// Decode removes gzip and base64 around the content of one file. Content that is in neither is
// returned unchanged. The result is at most limit bytes long.
func Decode(data []byte, limit int64) ([]byte, error) {
	for range maxLayers {
		switch {
		case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
			plain, err := gunzip(bytes.NewReader(data), limit)
			if err != nil {
				if fault.KindOf(err) == fault.TooLarge {
					return nil, err
				}
				return nil, fault.New(fault.Invalid, "the file is not complete gzip data").Because(err)
			}
			data = plain
		case isBase64(data):
			plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
			if err != nil {
				return data, nil //nolint:nilerr // it only looks like base64
			}
			data = plain
		default:
			return data, nil
		}
	}
	return data, nil
}

// isBase64 reports whether the first bytes of a content are all characters of base64. A shorter
// content is not taken for base64.
func isBase64(data []byte) bool {
	if len(data) < 64 {
		return false
	}
	for _, b := range data[:64] {
		if (b < 'A' || b > 'Z') && (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '+' && b != '/' {
			return false
		}
	}
	return true
}
