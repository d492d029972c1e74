package intake

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Limits of a .blend file. Blender's factory file has 2,000 blocks and one megabyte.
const (
	maxUnpacked = 1 << 30 // bytes, unpacked
	maxBlocks   = 4 << 20
	maxCatalog  = 4 << 20 // bytes of the list of structs, which has 100 KB
)

// magics are the beginnings of .blend files: plain, compressed by Zstandard and by gzip.
var magics = []string{"BLENDER", "\x28\xb5\x2f\xfd", "\x1f\x8b"}

func isBlend(data []byte) bool {
	return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(data, []byte(m)) })
}

// errBroken is the error for a file whose blocks cannot be followed.
var errBroken = refuseModel("it is no sound .blend file of Blender 2.5 to 4.5; save it again, or export the " +
	"model as GLB")

// inspectBlend refuses a .blend file that names other files. It reads the blocks twice: the list of structs,
// which tells where a block has a path, is behind all others.
func inspectBlend(data []byte) error {
	var structs *catalog
	err := walkBlend(data, func(b *blendReader, k block) (err error) {
		if k.code == "DNA1" {
			structs, err = readCatalog(b, k)
		}
		return err
	})
	if err == nil && structs == nil {
		err = errBroken
	}
	if err == nil {
		err = walkBlend(data, structs.checkBlock)
	}
	if err == nil {
		err = structs.checkPacked()
	}
	if err != nil && !errors.Is(err, ErrRefused) {
		return errBroken
	}
	return err
}

// block is the head of a file block.
//
// Its bytes: a code of four letters, the length of the content (int32), the address that it had (a pointer), the
// number of its struct in the file's own list (int32), and the number of such structs (int32).
type block struct {
	code    string
	length  int
	address uint64
	index   int // of its struct
}

// blendReader reads the bytes of a .blend file, unpacked. Read is limited to the present block.
type blendReader struct {
	from    *bufio.Reader
	order   binary.ByteOrder
	pointer int // size of a pointer, in bytes
	left    int // of the present block, in bytes
}

func (b *blendReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.from.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// walkBlend calls visit for each block, in order. visit may read the block's content.
func walkBlend(data []byte, visit func(*blendReader, block) error) error {
	r, err := unpackBlend(data)
	if err != nil {
		return err
	}
	defer r.Close()
	b := &blendReader{from: bufio.NewReaderSize(io.LimitReader(r, maxUnpacked), 1<<16)}
	if err := b.readHeader(); err != nil {
		return err
	}
	for range maxBlocks {
		k, err := b.readBlock()
		if err != nil || k.code == "ENDB" {
			return err
		}
		if err := visit(b, k); err != nil {
			return err
		}
		if _, err := b.from.Discard(b.left); err != nil {
			return err
		}
	}
	return errBroken
}

// unpackBlend returns the plain bytes of a .blend file. Close it.
func unpackBlend(data []byte) (io.ReadCloser, error) {
	switch {
	case bytes.HasPrefix(data, []byte(magics[1])):
		d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case bytes.HasPrefix(data, []byte(magics[2])):
		return gzip.NewReader(bytes.NewReader(data))
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// readHeader reads "BLENDER", the size of a pointer ('_' for 4, '-' for 8), the order of bytes ('v' for the
// little end, 'V' for the big end) and a version of three digits.
func (b *blendReader) readHeader() error {
	var head [12]byte
	if _, err := io.ReadFull(b.from, head[:]); err != nil || string(head[:7]) != "BLENDER" {
		return errBroken
	}
	sizes := map[byte]int{'_': 4, '-': 8}
	orders := map[byte]binary.ByteOrder{'v': binary.LittleEndian, 'V': binary.BigEndian}
	b.pointer, b.order = sizes[head[7]], orders[head[8]]
	if b.pointer == 0 || b.order == nil {
		return errBroken
	}
	return nil
}

// address reads a pointer.
func (b *blendReader) address(p []byte) uint64 {
	if b.pointer == 4 {
		return uint64(b.order.Uint32(p))
	}
	return b.order.Uint64(p)
}

// readBlock reads the head of the next block. Blocks of libraries, and placeholders of their data, are refused.
func (b *blendReader) readBlock() (block, error) {
	head := make([]byte, 16+b.pointer)
	if _, err := io.ReadFull(b.from, head); err != nil {
		return block{}, err
	}
	number := func(at int) int { return int(int32(b.order.Uint32(head[at:]))) }
	k := block{string(bytes.TrimRight(head[:4], "\x00")), number(4), b.address(head[8:]), number(8 + b.pointer)}
	switch {
	case k.length < 0 || k.index < 0:
		return k, errBroken
	case k.code == "LI" || k.code == "ID":
		return k, refuseModel("it links to another .blend file; make all data local (Object, Relations, Make Local, " +
			"All) and save it")
	}
	b.left = k.length
	return k, nil
}
