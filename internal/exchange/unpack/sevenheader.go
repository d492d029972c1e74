package unpack

import (
	"encoding/binary"
	"io/fs"
	"strings"
	"unicode/utf16"

	"loregate/internal/fault"
)

// The ids of the header's parts, as 7zFormat.txt of the LZMA SDK names them.
const (
	idEnd = iota
	idHeader
	idArchiveProperties
	idAdditionalStreams
	idMainStreams
	idFiles
	idPackInfo
	idUnpackInfo
	idSubStreams
	idSize
	idSum
	idFolder
	idUnpackSize
	idStreamsInFolder
	idEmptyStream
	idEmptyFile
	idAnti
	idNames
	idEncodedHeader = 0x17
	idAttributes    = 0x15
)

// sevenHeader reads the parts of a header. After the first error it reads zeros.
type sevenHeader struct {
	rest    []byte
	bad     bool
	unknown bool  // a folder is packed by several methods or encrypted
	large   bool  // a limit is exceeded
	files   int   // maximum number of files and folders
	bytes   int64 // maximum number of unpacked bytes
	size    int64 // of the archive
}

func (h *sevenHeader) err() error {
	switch {
	case h.large:
		return fault.New(fault.TooLarge, "more than the limit")
	case h.bad:
		return errDamaged
	case h.unknown:
		return errMethod
	}
	return nil
}

func (h *sevenHeader) take(n int) []byte {
	if h.bad || n < 0 || n > len(h.rest) {
		h.bad = true
		return nil
	}
	b := h.rest[:n]
	h.rest = h.rest[n:]
	return b
}

func (h *sevenHeader) byte() byte {
	if b := h.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

// number reads a number of 1 to 9 bytes: each leading 1 bit of the first stands for one further byte.
func (h *sevenHeader) number() (v int64) {
	first := h.byte()
	for i, mask := 0, byte(0x80); ; i, mask = i+1, mask>>1 {
		if first&mask == 0 {
			v |= int64(first&(mask-1)) << (8 * i)
			break
		}
		if v |= int64(h.byte()) << (8 * i); i == 7 {
			break
		}
	}
	if v < 0 {
		h.bad = true
		return 0
	}
	return v
}

// count reads a number of items.
func (h *sevenHeader) count() int {
	n := h.number()
	if n > int64(h.files) {
		h.large, h.bad = true, true
		return 0
	}
	return int(n)
}

// bits reads n bits.
func (h *sevenHeader) bits(n int) []bool {
	packed, out := h.take((n+7)/8), make([]bool, n)
	for i := range out {
		out[i] = !h.bad && packed[i/8]&(0x80>>(i%8)) != 0
	}
	return out
}

// optionalBits reads n bits that are all set if the first byte is not 0.
func (h *sevenHeader) optionalBits(n int) []bool {
	if h.byte() == 0 {
		return h.bits(n)
	}
	out := make([]bool, n)
	for i := range out {
		out[i] = true
	}
	return out
}

// sums reads the sums of n streams; nil for a stream without one.
func (h *sevenHeader) sums(n int) []*uint32 {
	out := make([]*uint32, n)
	for i, known := range h.optionalBits(n) {
		if b := []byte(nil); known {
			if b = h.take(4); b != nil {
				sum := binary.LittleEndian.Uint32(b)
				out[i] = &sum
			}
		}
	}
	return out
}

// readHeader reads the part after idHeader.
func (h *sevenHeader) readHeader(a *sevenZip) error {
	a.folders = nil
	for !h.bad {
		switch h.byte() {
		case idEnd:
			return h.err()
		case idArchiveProperties:
			for !h.bad && h.byte() != idEnd {
				h.take(int(h.number()))
			}
		case idMainStreams:
			a.folders = h.readStreams()
		case idFiles:
			a.files = h.readFiles()
		default:
			h.bad = true
		}
	}
	return h.err()
}

// readStreams reads the folders and their places in the archive.
func (h *sevenHeader) readStreams() (folders []sevenFolder) {
	var at int64
	var packed []int64
	for !h.bad {
		switch h.byte() {
		case idEnd:
			return h.finishStreams(folders, packed, at)
		case idPackInfo:
			at = 32 + h.number()
			packed = h.readPacked()
		case idUnpackInfo:
			folders = h.readFolders()
		case idSubStreams:
			h.readSubStreams(folders)
		default:
			h.bad = true
		}
	}
	return nil
}

// finishStreams gives each folder its place and, if the header names no files in it, its one file.
func (h *sevenHeader) finishStreams(folders []sevenFolder, packed []int64, at int64) []sevenFolder {
	if len(packed) != len(folders) {
		h.unknown = true
		return nil
	}
	var total int64
	for i := range folders {
		d := &folders[i]
		d.at, d.packed = at, packed[i]
		if at += packed[i]; at < 0 || at > h.size {
			h.bad = true
			return nil
		}
		if d.sizes == nil {
			d.sizes, d.sums = []int64{d.size}, []*uint32{d.sum}
		}
		if total += d.size; total < 0 || total > h.bytes {
			h.large, h.bad = true, true
			return nil
		}
	}
	return folders
}

func (h *sevenHeader) readPacked() []int64 {
	sizes := make([]int64, h.count())
	for !h.bad {
		switch h.byte() {
		case idEnd:
			return sizes
		case idSize:
			for i := range sizes {
				sizes[i] = h.number()
			}
		case idSum:
			h.sums(len(sizes))
		default:
			h.bad = true
		}
	}
	return nil
}

func (h *sevenHeader) readFolders() []sevenFolder {
	if h.byte() != idFolder {
		h.bad = true
		return nil
	}
	folders := make([]sevenFolder, h.count())
	if h.byte() != 0 { // the definitions stand elsewhere
		h.unknown = true
	}
	for i := range folders {
		h.readFolder(&folders[i])
	}
	if h.unknown || h.byte() != idUnpackSize {
		h.bad = h.bad || !h.unknown
		return nil
	}
	for i := range folders {
		folders[i].size = h.number()
	}
	for !h.bad {
		switch h.byte() {
		case idEnd:
			return folders
		case idSum:
			for i, sum := range h.sums(len(folders)) {
				folders[i].sum = sum
			}
		default:
			h.bad = true
		}
	}
	return nil
}

// readFolder reads the one method by which a folder is packed.
func (h *sevenHeader) readFolder(d *sevenFolder) {
	if h.unknown || h.number() != 1 {
		h.unknown = true
		return
	}
	flags := h.byte()
	d.method = string(h.take(int(flags & 15)))
	if flags&0xd0 != 0 { // several streams
		h.unknown = true
		return
	}
	if flags&0x20 != 0 {
		d.props = h.take(int(h.number()))
	}
}

// readSubStreams reads the sizes and sums of the files in each folder.
func (h *sevenHeader) readSubStreams(folders []sevenFolder) {
	id := h.byte()
	left := h.files
	for i := range folders {
		n := 1
		if id == idStreamsInFolder {
			n = h.count()
		}
		if left -= n; left < 0 {
			h.large, h.bad = true, true
			return
		}
		folders[i].sizes, folders[i].sums = make([]int64, n), make([]*uint32, n)
	}
	if id == idStreamsInFolder {
		id = h.byte()
	}
	for i := range folders {
		d := &folders[i]
		rest := d.size
		for j := range d.sizes {
			if d.sizes[j] = rest; j < len(d.sizes)-1 && id == idSize {
				d.sizes[j] = h.number()
			}
			if rest -= d.sizes[j]; rest < 0 {
				h.bad = true
				return
			}
		}
	}
	if id == idSize {
		id = h.byte()
	}
	if id == idSum {
		h.readSums(folders)
		id = h.byte()
	}
	h.bad = h.bad || id != idEnd
}

// readSums reads the sums of the files whose folder's sum is not theirs.
func (h *sevenHeader) readSums(folders []sevenFolder) {
	var open []**uint32
	for i := range folders {
		d := &folders[i]
		if len(d.sums) == 1 && d.sum != nil {
			d.sums[0] = d.sum
			continue
		}
		for j := range d.sums {
			open = append(open, &d.sums[j])
		}
	}
	for i, sum := range h.sums(len(open)) {
		*open[i] = sum
	}
}

// readFiles reads the entries.
func (h *sevenHeader) readFiles() []sevenFile {
	files := make([]sevenFile, h.count())
	for i := range files {
		files[i].stream = true
	}
	var empty []int
	isFile := map[int]bool{}
	for !h.bad {
		id := h.byte()
		if id == idEnd {
			break
		}
		part := sevenHeader{rest: h.take(int(h.number())), bad: h.bad, files: h.files}
		switch id {
		case idEmptyStream:
			for i, on := range part.bits(len(files)) {
				if on {
					files[i].stream, empty = false, append(empty, i)
				}
			}
		case idEmptyFile:
			for i, on := range part.bits(len(empty)) {
				isFile[empty[i]] = on
			}
		case idNames:
			part.readNames(files)
		case idAttributes:
			part.readAttributes(files)
		}
		h.bad, h.unknown = h.bad || part.bad, h.unknown || part.unknown
	}
	for _, i := range empty {
		if !isFile[i] {
			files[i].mode |= fs.ModeDir
		}
	}
	return files
}

// readNames reads names in UTF-16, each with a final 0.
func (h *sevenHeader) readNames(files []sevenFile) {
	if h.byte() != 0 {
		h.unknown = true
		return
	}
	var name []uint16
	for i := range files {
		for name = name[:0]; ; {
			b := h.take(2)
			if b == nil {
				return
			}
			c := binary.LittleEndian.Uint16(b)
			if c == 0 {
				break
			}
			name = append(name, c)
		}
		files[i].name = strings.TrimPrefix(string(utf16.Decode(name)), "./")
	}
}

// readAttributes finds the entries that are links or devices: programs on Unix put the mode into the
// upper half of the attributes of Windows.
func (h *sevenHeader) readAttributes(files []sevenFile) {
	known := h.optionalBits(len(files))
	if h.byte() != 0 {
		h.unknown = true
		return
	}
	for i := range files {
		b := []byte(nil)
		if known[i] {
			b = h.take(4)
		}
		if b == nil {
			continue
		}
		attributes := binary.LittleEndian.Uint32(b)
		const unixMode, link = 0x8000, 0x400
		kind := attributes >> 28 // 4 directory, 8 regular file
		if attributes&link != 0 || attributes&unixMode != 0 && kind != 4 && kind != 8 && kind != 0 {
			files[i].mode = fs.ModeIrregular
		}
	}
}
