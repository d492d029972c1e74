package exchange

import (
	"context"
	"io"
)

// ShelfFile is the file of a Shelf.
type ShelfFile interface {
	io.Writer // appends
	io.ReaderAt
}

// Shelf keeps texts in a file, so that a large import does not hold them in memory. It is for one goroutine. A nil
// Shelf keeps them in memory.
type Shelf struct {
	file ShelfFile
	size int64
}

// NewShelf returns a shelf with an empty file, which the caller closes after the import.
func NewShelf(file ShelfFile) *Shelf { return &Shelf{file: file} }

// shelfFrom is the length in bytes from which a text is put into the file: to find it again takes that much memory.
const shelfFrom = 64

// Keep keeps a text and returns the sheet body that reads it.
func (s *Shelf) Keep(text string) (func(context.Context) (string, error), error) {
	if s == nil || len(text) < shelfFrom {
		return PlainBody(text), nil
	}
	n, err := io.WriteString(s.file, text)
	if err != nil {
		return nil, err
	}
	at := s.size
	s.size += int64(n)
	return func(context.Context) (string, error) {
		b := make([]byte, n)
		_, err := s.file.ReadAt(b, at)
		return string(b), err
	}, nil
}
