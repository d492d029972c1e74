package httpd

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// jsonWeight is the number of bytes of memory that each byte of a JSON body takes while it is handled: the body, its
// values, and the canonical input.
const jsonWeight = 3

// beginHold begins to count the request's bytes for its caller, until leave is called.
func (s *server) beginHold(x *exchange, c access.Caller) (leave func()) {
	x.hold = s.Bodies.NewHold(string(c.Subject), "")
	return x.hold.Release
}

// hasLargeBody reports whether a request's body is or may be too large to be read before its caller is admitted.
func (x *exchange) hasLargeBody() bool {
	return x.r.ContentLength > body.Uncounted || x.r.ContentLength < 0
}

// foresee refuses a call with a large body before it is read, if it would be refused for its caller's rights or limits.
func (s *server) foresee(x *exchange, r op.Request) error {
	if !x.hasLargeBody() {
		return nil
	}
	world, err := s.Engine.Foresee(x.r.Context(), x.caller, r)
	if err == nil && !world.IsZero() {
		x.hold.SetWorld(world.String())
	}
	return err
}

// openBody returns the body, which has to arrive within the wait for one, or for a file.
func (s *server) openBody(x *exchange, isFile bool) *body.Reader {
	within := s.BodyWait
	if isFile {
		within *= uploadSlower
	}
	return s.Bodies.ReadRequest(x.w, x.r, within)
}

// readBody reads the body up to a limit into memory.
func (s *server) readBody(x *exchange, limit int64) ([]byte, error) {
	b, err := x.hold.ReadAll(x.r.Context(), body.Source{Reader: s.openBody(x, false), Size: x.r.ContentLength,
		Limit:  limit,
		Weight: jsonWeight})
	return b, bodyFault(err, limit)
}

// readUnknown reads the body of a request whose sender is not known yet: codes, keys, the names of clients. It is too
// short to be counted.
func (s *server) readUnknown(x *exchange) ([]byte, error) {
	b, err := x.hold.ReadAll(x.r.Context(), body.Source{Reader: s.openBody(x, false), Size: x.r.ContentLength,
		Limit: maxUnknown})
	return b, bodyFault(err, maxUnknown)
}

// spoolBody reads the body, which is a file, to disk.
func (s *server) spoolBody(x *exchange, limit int64) (*body.File, error) {
	f, err := x.hold.Spool(x.r.Context(), body.Source{Reader: s.openBody(x, true), Size: x.r.ContentLength, Limit: limit})
	return f, bodyFault(err, limit)
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes; send less at once",
		limit).With("limit_bytes", limit)
}

// bodyFault makes a fault of a body that could not be read.
func bodyFault(err error, limit int64) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, body.ErrTooLarge) {
		return tooLarge(limit)
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known
	}
	return fault.New(fault.Invalid, "the body did not arrive completely; send it again").Because(err)
}

// readForm reads a multipart form: the file, to disk, and text fields beside it.
func (s *server) readForm(x *exchange, in *fields, r *op.Request, boundary string, limit int64) error {
	if boundary == "" {
		return newRefusal(http.StatusUnsupportedMediaType,
			"the form has no boundary; send it as multipart/form-data with one")
	}
	if x.r.ContentLength > limit+bodyLeftover {
		return tooLarge(limit)
	}
	form := x.hold.NewForm(s.openBody(x, true), boundary)
	for {
		part, err := form.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return bodyFault(err, limit)
		}
		name := part.FormName()
		switch {
		case part.FileName() == "" && name != in.o.UploadField() && name != "file":
			data, err := form.Text(x.r.Context(), part)
			if err != nil {
				return bodyFault(err, limit)
			}
			if !utf8.Valid(data) || !utf8.ValidString(name) {
				return fault.BadField(markup.Shorten(name, 64), "must be text in UTF-8")
			}
			in.add(name, string(data))
		case r.Upload != nil:
			return fault.BadField(in.o.UploadField(), "is given twice; send one file")
		default:
			r.Upload, err = x.hold.Spool(x.r.Context(), body.Source{Reader: part, Size: min(x.r.ContentLength, limit),
				Limit: limit})
			if err != nil {
				return bodyFault(err, limit)
			}
			in.addFilename(part.Header.Get("Content-Disposition"))
		}
	}
}

// readFileJSON reads a JSON body that has a file as base64. The file goes to disk, and the rest is returned.
func (s *server) readFileJSON(x *exchange, o *op.Operation, r *op.Request) (rest []byte, err error) {
	if x.r.ContentLength > o.BodyLimit*4/3+bodyLeftover {
		return nil, tooLarge(o.BodyLimit)
	}
	ctx := x.r.Context()
	file, err := x.hold.Create(ctx, min(x.r.ContentLength, o.BodyLimit))
	if err != nil {
		return nil, err
	}
	split := &splitter{src: s.openBody(x, true), file: file, left: o.BodyLimit, field: o.UploadField(),
		isFile: func(name string) bool { return o.Field(name) == o.UploadField() }}
	rest, err = x.hold.ReadAll(ctx, body.Source{Reader: split, Size: -1, Limit: bodyLimit, Weight: jsonWeight})
	if errors.Is(err, body.ErrTooLarge) && split.left >= 0 {
		return nil, tooLarge(bodyLimit)
	}
	if err != nil {
		return nil, bodyFault(err, o.BodyLimit)
	}
	if split.taken {
		r.Upload = file.File()
	}
	return rest, nil
}

func isJSONType(kind string) bool {
	return kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")
}
