package body

import (
	"context"
	"errors"
	"io"
	"math"
	"mime/multipart"

	"loregate/internal/fault"
)

// Bounds of the parts of a form that are no file. The library bounds the header of a part at 10 MB, in memory.
const (
	maxPartHead = 16 << 10
	maxTexts    = 64 << 10 // of all text fields together
)

// Form reads a multipart form part by part.
type Form struct {
	hold  *Hold
	gate  *gate
	parts *multipart.Reader
	texts int64 // bytes of text fields that may still come
}

// NewForm returns a Form that reads from r.
func (h *Hold) NewForm(r io.Reader, boundary string) *Form {
	g := &gate{r: r}
	return &Form{hold: h, gate: g, parts: multipart.NewReader(g, boundary), texts: maxTexts}
}

// Next returns the next part, with its bytes as they were sent, and io.EOF after the last one.
func (f *Form) Next() (*multipart.Part, error) {
	f.gate.left = maxPartHead
	part, err := f.parts.NextRawPart()
	f.gate.left = math.MaxInt64
	return part, err
}

// Text returns the bytes of a part that is a text field.
func (f *Form) Text(ctx context.Context, part *multipart.Part) ([]byte, error) {
	b, err := f.hold.ReadAll(ctx, Source{Reader: part, Size: -1, Limit: f.texts})
	if errors.Is(err, ErrTooLarge) {
		return nil, fault.New(fault.TooLarge, "the text fields of the form have more than %d bytes; send less, and files as "+
			"files", maxTexts)
	}
	f.texts -= int64(len(b))
	return b, err
}

// gate is a reader that lets a number of bytes through.
type gate struct {
	r    io.Reader
	left int64
}

var errLongHead = fault.New(fault.Invalid, "a part of the form has a header of more than %d bytes; send a shorter name",
	maxPartHead)

func (g *gate) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errLongHead
	}
	n, err := g.r.Read(p[:min(int64(len(p)), g.left)])
	g.left -= int64(n)
	return n, err
}
