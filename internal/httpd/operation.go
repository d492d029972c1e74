package httpd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

func etagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// serveOperation serves one operation at one of its addresses, which implies the input fields of
// preset. It authenticates, reads the input, invokes the operation and writes the answer.
func (s *server) serveOperation(o *op.Operation, preset string) handler {
	return func(x *exchange, vars map[string]string) {
		x.answerWithin(answerWait + o.Timeout + s.BodyWait*uploadSlower)
		c, err := s.findCaller(x, o.Audience)
		if err != nil {
			s.writeError(x, o.Name, err)
			return
		}
		in, err := s.readRequest(x, o, vars, preset)
		if err != nil {
			s.refuseRequest(x, c, o, err)
			return
		}
		a, err := s.Engine.Invoke(x.r.Context(), c, in)
		if err != nil {
			s.writeError(x, o.Name, err)
			return
		}
		s.writeAnswer(x, o, a)
	}
}

// refuseRequest answers a request that did not become an invocation, for example because it was too
// large or unreadable. It is counted and recorded like an invocation.
func (s *server) refuseRequest(x *exchange, c access.Caller, o *op.Operation, err error) {
	if limited := s.Engine.Refused(x.r.Context(), c, o, x.correlation, err); limited != nil {
		err = limited
	}
	s.writeError(x, o.Name, err)
}

// readRequest turns an HTTP request into an invocation. Path variables, query and If-Match become
// input fields, put before those of a JSON body, so that a field given in two places counts as
// given twice, which the engine refuses. A body may repeat the values of its path.
func (s *server) readRequest(x *exchange, o *op.Operation, vars map[string]string, preset string) (op.Request, error) {
	r := op.Request{Operation: o.Name, Correlation: x.correlation, Transport: "rest", BaseURL: s.baseURL(x)}
	if o.Effect != access.Read {
		r.IdempotencyKey = x.r.Header.Get("Idempotency-Key")
	}
	in := fields{o: o}
	if preset != "" {
		in.json = append([]byte(preset[1:len(preset)-1]), ',')
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if !utf8.ValidString(vars[name]) {
			return r, fault.BadField(name, "must be UTF-8, percent-encoded")
		}
		in.add(name, vars[name])
	}
	if err := in.addQuery(x.r.URL.RawQuery, &r); err != nil {
		return r, err
	}
	if err := in.ifMatch(x.r.Header.Values("If-Match")); err != nil {
		return r, err
	}
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		r.Input = in.buildObject(nil)
		return r, nil
	}
	wait := s.BodyWait
	if o.BodyLimit > 0 {
		wait *= uploadSlower
	}
	x.bodyWithin(wait)
	body, err := s.readInput(x, o, &in, &r)
	r.Input = in.buildObject(withoutPath(body, o.PathVars(), vars))
	return r, err
}

// readInput reads a request's body: JSON, or, for an operation that takes a file, the raw file or a
// form.
func (s *server) readInput(x *exchange, o *op.Operation, in *fields, r *op.Request) ([]byte, error) {
	kind, params, err := mediaType(x.r)
	if err != nil {
		return nil, err
	}
	takesFile := o.BodyLimit > 0
	limit := int64(bodyLimit)
	if takesFile {
		limit = o.BodyLimit
	}
	isJSON := kind == "" || kind == "application/json" || strings.HasSuffix(kind, "+json")
	switch {
	case isJSON && takesFile:
		return s.readBody(x, limit*4/3+bodyLeftover, limit)
	case isJSON:
		return s.readBody(x, limit, limit)
	case takesFile && kind == "multipart/form-data":
		return nil, s.readForm(x, in, r, params["boundary"], limit)
	case takesFile:
		in.addFilename(x.r.Header.Get("Content-Disposition"))
		r.Upload, err = s.readBody(x, limit, limit)
		return nil, err
	}
	return nil, newRefusal(http.StatusUnsupportedMediaType, "send application/json, not %s", markup.Shorten(kind, 60))
}

func mediaType(r *http.Request) (string, map[string]string, error) {
	line := r.Header.Get("Content-Type")
	if line == "" {
		return "", nil, nil
	}
	kind, params, err := mime.ParseMediaType(line)
	if err != nil {
		return "", nil, newRefusal(http.StatusUnsupportedMediaType,
			"the Content-Type could not be read; send application/json")
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return "", nil, newRefusal(http.StatusUnsupportedMediaType, "send UTF-8, not %s", markup.Shorten(c, 30))
	}
	return kind, params, nil
}

// readBody reads the body up to a limit; named is the limit that the refusal names.
func (s *server) readBody(x *exchange, limit, named int64) ([]byte, error) {
	if x.r.ContentLength > limit {
		return nil, tooLarge(named)
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, limit))
	return body, bodyFault(err, named)
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "the body is larger than %d bytes; send less at once",
		limit).With("limit_bytes", limit)
}

// bodyFault makes a fault of a body that could not be read.
func bodyFault(err error, limit int64) error {
	var max *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &max):
		return tooLarge(limit)
	}
	return fault.New(fault.Invalid, "the body did not arrive completely; send it again").Because(err)
}

// readForm reads a multipart form: the file, and text fields beside it. The engine enforces the
// file's limit; this bounds the whole form a little above it.
func (s *server) readForm(x *exchange, in *fields, r *op.Request, boundary string, limit int64) error {
	if boundary == "" {
		return newRefusal(http.StatusUnsupportedMediaType,
			"the form has no boundary; send it as multipart/form-data with one")
	}
	x.r.Body = http.MaxBytesReader(x.w, x.r.Body, limit+bodyLeftover)
	parts, err := x.r.MultipartReader()
	if err != nil {
		return bodyFault(err, limit)
	}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return bodyFault(err, limit)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return bodyFault(err, limit)
		}
		name := part.FormName()
		switch {
		case part.FileName() == "" && name != in.o.UploadField() && name != "file":
			if !utf8.Valid(data) || !utf8.ValidString(name) {
				return fault.BadField(markup.Shorten(name, 64), "must be text in UTF-8")
			}
			in.add(name, string(data))
		case r.Upload != nil:
			return fault.BadField(in.o.UploadField(), "is given twice; send one file")
		default:
			r.Upload = data
			in.addFilename(part.Header.Get("Content-Disposition"))
		}
	}
}
