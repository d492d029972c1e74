package markup

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxConvert is the longest text that is converted, in bytes.
	MaxConvert = 2 << 20
	// maxConverted bounds what a conversion returns, in bytes.
	maxConverted = 8 << 20
	// maxColumns and maxCells bound the tables of one text. Spans and the cells that a
	// converter adds to short rows count.
	maxColumns = 250
	maxCells   = 50_000
	// maxWork bounds the steps of one conversion. A step takes about a nanosecond, so
	// that the most costly text takes less than a second.
	maxWork = 200 << 20
	// checkEvery is how many steps pass between two looks at the context.
	checkEvery = 1 << 20
)

// The errors of a conversion that refuses a text.
var (
	ErrTooLong  = errors.New("the text is longer than 2 MiB: convert it in pieces")
	ErrTooDeep  = errors.New("the text is nested too deeply: take out lists or quotes inside one another")
	ErrTooDense = errors.New("a paragraph has too many brackets or stars for its length: part it with blank lines")
	ErrTooWide  = fmt.Errorf("a table has more than %d columns, or the tables of the text have more than %d cells, spans counted: split them", maxColumns, maxCells)
	ErrTooMuch  = fmt.Errorf("the converted text would be longer than %d MiB: repeat fewer references", maxConverted>>20)
)

// Refuses reports whether an error of a conversion is about the text: one of those above,
// and not the end of a context.
func Refuses(err error) bool {
	for _, e := range []error{ErrTooLong, ErrTooDeep, ErrTooDense, ErrTooWide, ErrTooMuch} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// budget counts the steps of one conversion. It ends the conversion when the steps are
// used up or the caller has left. The libraries underneath know neither, so it ends them
// with a panic, which the conversion recovers by halted.
type budget struct {
	ctx       context.Context
	left      int
	unchecked int
	cells     int
}

func newBudget(ctx context.Context) *budget { return &budget{ctx: ctx, left: maxWork} }

// halt is the panic of a budget.
type halt struct{ err error }

// halted turns the panic of a budget into its error. It must be deferred itself.
func halted(errp *error) {
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
		b.check()
	}
}

func (b *budget) check() {
	if err := b.ctx.Err(); err != nil {
		panic(halt{err})
	}
}

// addTable counts the cells of a table.
func (b *budget) addTable(columns, rows int) {
	if columns > maxColumns || rows > maxCells {
		panic(halt{ErrTooWide})
	}
	if b.cells += columns * rows; b.cells > maxCells {
		panic(halt{ErrTooWide})
	}
}

// boundedWriter ends a conversion that writes too much.
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

// checkedReader ends a library that reads from it when the caller has left.
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
