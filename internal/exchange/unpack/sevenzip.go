package unpack

import (
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"

	"github.com/ulikunitz/xz/lzma"

	"loregate/internal/fault"
)

// Limits of 7-Zip files. The known reader for Go allocates memory for as many files as a header names,
// and a dictionary of any size.
const (
	maxHeader     = 32 << 20 // bytes of the header, packed or unpacked
	maxDictionary = 64 << 20 // bytes of a dictionary, which is held in memory: the program's own for its best level
	minDictionary = 4 << 10
)

// sevenSignature begins a 7-Zip file.
const sevenSignature = "7z\xbc\xaf\x27\x1c"

var (
	errDamaged = errors.New("the file is damaged")
	errMethod  = errors.New("a method that is not supported")
)

// openSevenZip unpacks a 7-Zip file. Its folders may be packed with LZMA, LZMA2, Deflate or
// bzip2, or not at all, as the dumps of wikis are.
func openSevenZip(f io.ReaderAt, x *unpacking) error {
	a, err := readSevenHeader(f, x.packed, x.limit)
	if fault.KindOf(err) == fault.TooLarge {
		return fault.New(fault.TooLarge, "import: %s has more than %d entries or %d MiB; import it in parts",
			x.names.archive, x.limit.Files, x.limit.Bytes>>20)
	}
	if err == nil {
		err = a.extract(x)
	}
	if errors.Is(err, errMethod) {
		return fault.New(fault.Invalid, "import: %s is encrypted or packed with a method that cannot be read; "+
			"unpack it and import the result", x.names.archive)
	}
	if err != nil {
		return x.damaged(err)
	}
	return nil
}

// sevenZip is the header of a 7-Zip file.
type sevenZip struct {
	f       io.ReaderAt
	folders []sevenFolder
	files   []sevenFile
}

// sevenFolder is a stream that holds the contents of one or more files.
type sevenFolder struct {
	at, packed int64 // its bytes in the archive
	method     string
	props      []byte
	size       int64
	sum        *uint32
	sizes      []int64 // of the files in it
	sums       []*uint32
}

// sevenFile is an entry. Entries without a stream are folders or empty files.
type sevenFile struct {
	name   string
	mode   fs.FileMode
	stream bool
}

// readSevenHeader reads the header, which may be packed itself.
func readSevenHeader(f io.ReaderAt, size int64, l Limits) (*sevenZip, error) {
	start := make([]byte, 32)
	if _, err := f.ReadAt(start, 0); err != nil {
		return nil, err
	}
	at, n := binary.LittleEndian.Uint64(start[12:]), binary.LittleEndian.Uint64(start[20:])
	if crc32.ChecksumIEEE(start[12:]) != binary.LittleEndian.Uint32(start[8:]) || at > uint64(size) || n > maxHeader ||
		32+at+n > uint64(size) {
		return nil, errDamaged
	}
	text := make([]byte, n)
	if _, err := f.ReadAt(text, 32+int64(at)); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(text) != binary.LittleEndian.Uint32(start[28:]) {
		return nil, errDamaged
	}
	a := &sevenZip{f: f}
	for range maxLayers {
		h := sevenHeader{rest: text, files: l.Files, bytes: l.Bytes, size: size}
		switch id := h.byte(); {
		case h.bad || id != idHeader && id != idEncodedHeader:
			return nil, errDamaged
		case id == idHeader:
			return a, h.readHeader(a)
		}
		a.folders = h.readStreams()
		if err := h.err(); err != nil || len(a.folders) != 1 || a.folders[0].size > maxHeader {
			return nil, errors.Join(errDamaged, err)
		}
		r, err := a.folders[0].open(f)
		if err != nil {
			return nil, err
		}
		if text, err = io.ReadAll(io.LimitReader(r, a.folders[0].size)); err != nil {
			return nil, err
		}
		if sum := a.folders[0].sum; int64(len(text)) != a.folders[0].size || sum != nil && crc32.ChecksumIEEE(text) != *sum {
			return nil, errDamaged
		}
	}
	return nil, errDamaged
}

// open returns the unpacked bytes of a folder.
func (d sevenFolder) open(f io.ReaderAt) (io.Reader, error) {
	packed := io.NewSectionReader(f, d.at, d.packed)
	switch d.method {
	case "\x00":
		return packed, nil
	case "\x21":
		if len(d.props) != 1 || d.props[0] > 40 {
			return nil, errDamaged
		}
		dictionary, err := d.dictionary(int64(2|d.props[0]&1) << (d.props[0]/2 + 11))
		if err != nil {
			return nil, err
		}
		return lzma.Reader2Config{DictCap: int(dictionary)}.NewReader2(packed)
	case "\x03\x01\x01":
		if len(d.props) != 5 {
			return nil, errDamaged
		}
		dictionary, err := d.dictionary(int64(binary.LittleEndian.Uint32(d.props[1:])))
		if err != nil {
			return nil, err
		}
		head := binary.LittleEndian.AppendUint32(append([]byte{}, d.props[0]), uint32(dictionary))
		head = binary.LittleEndian.AppendUint64(head, uint64(d.size))
		return lzma.ReaderConfig{DictCap: maxDictionary}.NewReader(io.MultiReader(bytes.NewReader(head), packed))
	case "\x04\x01\x08":
		return flate.NewReader(packed), nil
	case "\x04\x02\x02":
		return bzip2.NewReader(packed), nil
	}
	return nil, errMethod
}

// dictionary returns the size of the dictionary that a folder needs: no larger than its content.
func (d sevenFolder) dictionary(size int64) (int64, error) {
	if size = max(min(size, d.size), minDictionary); size > maxDictionary {
		return 0, fault.New(fault.TooLarge, "import: the archive was packed with a dictionary of more than %d MiB; unpack "+
			"it and import the result", maxDictionary>>20)
	}
	return size, nil
}

// extract unpacks all entries and compares the sums of their contents.
func (a *sevenZip) extract(x *unpacking) error {
	folder, file := 0, 0
	var stream io.Reader
	for _, e := range a.files {
		if isSystemFile(e.name) && !e.stream {
			continue
		}
		if !e.stream {
			if err := x.add(e.name, e.mode, 0, strings.NewReader("")); err != nil {
				return err
			}
			continue
		}
		for ; folder < len(a.folders) && file >= len(a.folders[folder].sizes); folder++ {
			file, stream = 0, nil
		}
		if folder == len(a.folders) {
			return errDamaged
		}
		d := &a.folders[folder]
		if stream == nil {
			var err error
			if stream, err = d.open(a.f); err != nil {
				return err
			}
		}
		sum := crc32.NewIEEE()
		content := io.TeeReader(stream, sum)
		size, want := d.sizes[file], d.sums[file]
		file++
		if isSystemFile(e.name) {
			if _, err := io.CopyN(io.Discard, content, size); err != nil {
				return err
			}
		} else if err := x.add(e.name, e.mode, size, content); err != nil {
			return err
		}
		if want != nil && sum.Sum32() != *want {
			return errDamaged
		}
	}
	return nil
}
