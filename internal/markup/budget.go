package markup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
)

const (
	// MaxConvert is the maximum length of a text to convert, in bytes.
	MaxConvert = 2 << 20
	// maxConverted is the maximum length of the result, in bytes.
	maxConverted = 8 << 20
	// maxColumns and maxCells limit the tables of one text. Spans and the cells that a converter
	// adds to short rows count too.
	maxColumns = 250
	maxCells   = 50_000
	// maxWork is the maximum number of steps of one conversion. A step takes about a nanosecond, so
	// the most expensive text takes less than a second.
	maxWork = 200 << 20
	// checkEvery is the number of steps between two checks of the context.
	checkEvery = 1 << 20
)

// The errors of a conversion that refuses a text.
var (
	ErrTooLong  = errors.New("the text is longer than 2 MiB: convert it in pieces")
	ErrTooDeep  = errors.New("the text is nested too deeply: remove lists or quotes inside one another")
	ErrTooDense = errors.New("a paragraph has too many brackets or stars for its length: divide it with blank lines")
	ErrTooWide  = fmt.Errorf("a table has more than %d columns, or the tables of the text have more than %d cells, "+
		"spans counted: split them", maxColumns, maxCells)
	ErrTooMuch = fmt.Errorf("the converted text would be longer than %d MiB: repeat fewer references", maxConverted>>20)
)

// Refuses reports whether a conversion failed because of the text, with one of the errors above,
// and not because its context ended.
func Refuses(err error) bool {
	return slices.ContainsFunc([]error{ErrTooLong, ErrTooDeep, ErrTooDense, ErrTooWide, ErrTooMuch}, func(e error) bool {
		return errors.Is(err, e)
	})
}

// budget counts the steps of one conversion. It ends the conversion when the steps are used up or
// the context has ended. The libraries below support neither, so it panics with a halt, which
// recoverHalt recovers.
type budget struct {
	ctx       context.Context
	left      int
	unchecked int
	cells     int
}

func newBudget(ctx context.Context) *budget { return &budget{ctx: ctx, left: maxWork} }

// halt is the value that a budget panics with.
type halt struct{ err error }

// recoverHalt stores the error of a halt in *errp. It must be deferred directly.
func recoverHalt(errp *error) {
	switch p := recover().(type) {
	case nil:
	case halt:
		*errp = p.err
	default:
		panic(p)
	}
}

func (b *budget) spend(steps int) {
	if b.left -= steps; b.left < 0 {
		panic(halt{ErrTooDense})
	}
	if b.unchecked += steps; b.unchecked >= checkEvery {
		b.unchecked = 0
		b.checkContext()
	}
}

func (b *budget) checkContext() {
	if err := b.ctx.Err(); err != nil {
		panic(halt{err})
	}
}

// addTable adds the cells of a table.
func (b *budget) addTable(columns, rows int) {
	if columns > maxColumns || rows > maxCells {
		panic(halt{ErrTooWide})
	}
	if b.cells += columns * rows; b.cells > maxCells {
		panic(halt{ErrTooWide})
	}
}

// boundedWriter ends a conversion that writes more than maxConverted bytes.
type boundedWriter struct {
	io.Writer
	budget *budget
	size   int
}

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.size += len(p); w.size > maxConverted {
		panic(halt{ErrTooMuch})
	}
	w.budget.spend(len(p))
	return w.Writer.Write(p)
}

// checkedReader returns the context's error once the context has ended, so that the library that
// reads from it stops.
type checkedReader struct {
	io.Reader
	ctx context.Context
}

func (r checkedReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
