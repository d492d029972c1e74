package body

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"loregate/internal/fault"
)

// Reader reads the body of an HTTP request, and ends it if it comes too slowly: if in any window fewer bytes arrive
// than the minimum rate asks for, or if the whole takes too long. The bounds are deadlines of the connection, for
// HTTP/2 of the stream.
type Reader struct {
	in    *Intake
	src   io.ReadCloser
	rc    *http.ResponseController
	until time.Time // for the whole body
	due   int64     // bytes that have to arrive in this window
	read  time.Time // end of the last Read; zero before the first
	end   error     // of the body; nil before
}

// ReadRequest returns a Reader of a request's body, which arrives within a time. The time begins now.
func (in *Intake) ReadRequest(w http.ResponseWriter, r *http.Request, within time.Duration) *Reader {
	return &Reader{in: in, src: r.Body, rc: http.NewResponseController(w), until: time.Now().Add(within)}
}

// Read reads bytes of the body. Beyond its end it sets no deadline: net/http waits on the connection then, to learn
// that the client is gone, and would take a deadline for that.
func (r *Reader) Read(p []byte) (int, error) {
	if r.end != nil {
		return 0, r.end
	}
	if now := time.Now(); r.due <= 0 || now.Sub(r.read) > ownDelay {
		r.beginWindow(now)
	}
	n, err := r.src.Read(p)
	r.due -= int64(n)
	r.read = time.Now()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = r.tooSlow().Because(err)
	}
	r.end = err
	return n, err
}

// ownDelay is the time without a Read after which a window begins anew: the client did not cause the delay, for example
// a wait for room.
const ownDelay = 100 * time.Millisecond

func (r *Reader) beginWindow(now time.Time) {
	at := r.until
	if end := now.Add(r.in.window); end.Before(at) {
		at = end
	}
	r.due = r.in.due
	_ = r.rc.SetReadDeadline(at) // writers without deadlines, as in tests, have no bound
}

// Close closes the body.
func (r *Reader) Close() error { return r.src.Close() }

func (r *Reader) tooSlow() *fault.Error {
	if time.Now().Before(r.until) {
		return fault.New(fault.Invalid, "the body came too slowly: fewer than %d bytes in %d seconds; send it again over a "+
			"faster connection", r.in.due, int(r.in.window.Seconds()))
	}
	return fault.New(fault.Invalid, "the body did not arrive in time; send it again, in parts or over a faster connection")
}

// answer is the ResponseWriter of an answer that its client has to take at the minimum rate.
type answer struct {
	http.ResponseWriter
	in    *Intake
	rc    *http.ResponseController
	until time.Time // for the whole answer
	due   int64     // bytes that have to be taken in this window
}

// PaceAnswer returns a ResponseWriter that ends an answer if its client takes it too slowly, or not within a time,
// which begins now.
func (in *Intake) PaceAnswer(w http.ResponseWriter, within time.Duration) http.ResponseWriter {
	return &answer{ResponseWriter: w, in: in, rc: http.NewResponseController(w), until: time.Now().Add(within)}
}

// maxWrite bounds the bytes that are written within one deadline.
const maxWrite = 32 << 10

// Write writes bytes.
func (a *answer) Write(p []byte) (n int, err error) {
	for {
		if a.due <= 0 {
			a.beginWindow()
		}
		wrote, err := a.ResponseWriter.Write(p[n:min(len(p), n+maxWrite)])
		n += wrote
		a.due -= int64(wrote)
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

func (a *answer) beginWindow() {
	at := a.until
	if end := time.Now().Add(a.in.window); end.Before(at) {
		at = end
	}
	a.due = a.in.due
	_ = a.rc.SetWriteDeadline(at) // writers without deadlines, as in tests, have no bound
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
