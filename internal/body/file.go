package body

import (
	"bytes"
	"crypto/sha256"
	"io"
	"os"
)

// File is a file that came with a request or goes with an answer: on disk, or in memory if it is small. It can be read
// until the Hold that it belongs to is released.
type File struct {
	data []byte   // if it is in memory
	disk *os.File // nil if it is in memory
	name string   // to remove at the end, where the system cannot remove an open file; "" for none
	size int64
	sum  [sha256.Size]byte
}

// Bytes returns a File of bytes in memory, which belongs to no Hold and is not counted.
func Bytes(data []byte) *File {
	return &File{data: data, size: int64(len(data)), sum: sha256.Sum256(data)}
}

// Size returns the number of bytes.
func (f *File) Size() int64 { return f.size }

// Sum returns the SHA-256 of the bytes. It is zero for a file of an answer.
func (f *File) Sum() [sha256.Size]byte { return f.sum }

// Open returns a reader of the bytes. Each has a place of its own.
func (f *File) Open() io.ReadSeeker {
	if f.disk == nil {
		return bytes.NewReader(f.data)
	}
	return io.NewSectionReader(f.disk, 0, f.size)
}

// WriteTo writes all bytes.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	if f.disk == nil {
		n, err := w.Write(f.data)
		return int64(n), err
	}
	return io.Copy(w, io.NewSectionReader(f.disk, 0, f.size))
}

func (f *File) close() {
	if f.disk == nil {
		return
	}
	_ = f.disk.Close() // it was written and read; nothing of it is kept
	if f.name != "" {
		_ = os.Remove(f.name) // New removes leftovers
	}
}
