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
	"loregate/internal/op"
)

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// operation serves one operation at one of its addresses, which stands for the input
// fields of preset: who calls, what it sends, what came of it.
func (s *server) operation(o *op.Operation, preset string) handler {
	return func(x *exchange, vars map[string]string) {
		x.answerWithin(answerWait + o.Timeout + s.BodyWait*uploadSlower)
		c, err := s.caller(x, o.Audience)
		if err != nil {
			s.fail(x, o.Name, err)
			return
		}
		in, err := s.request(x, o, vars, preset)
		if err != nil {
			s.refuse(x, c, o, err)
			return
		}
		a, err := s.Engine.Invoke(x.r.Context(), c, in)
		if err != nil {
			s.fail(x, o.Name, err)
			return
		}
		s.answer(x, o, a)
	}
}

// refuse answers a request that did not become an invocation: too large, unreadable. It
// counts and is recorded as one all the same.
func (s *server) refuse(x *exchange, c access.Caller, o *op.Operation, err error) {
	if limited := s.Engine.Refused(x.r.Context(), c, o, x.correlation, err); limited != nil {
		err = limited
	}
	s.fail(x, o.Name, err)
}

// request makes an invocation of a request. Path variables, query and If-Match become
// input fields, put before those of a JSON body, so that a field given in two places is
// one given twice, which the engine refuses. A body that repeats what its path says is fine.
func (s *server) request(x *exchange, o *op.Operation, vars map[string]string, preset string) (op.Request, error) {
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
	if err := in.query(x.r.URL.RawQuery, &r); err != nil {
		return r, err
	}
	if err := in.ifMatch(x.r.Header.Values("If-Match")); err != nil {
		return r, err
	}
	if x.r.Method == http.MethodGet || x.r.Method == http.MethodHead {
		r.Input = in.object(nil)
		return r, nil
	}
	wait := s.BodyWait
	if o.BodyLimit > 0 {
		wait *= uploadSlower
	}
	x.bodyWithin(wait)
	body, err := s.body(x, o, &in, &r)
	r.Input = in.object(withoutPath(body, o.PathVars(), vars))
	return r, err
}

// body reads a request's body: JSON, or for an operation that takes a file, the file as
// it is or as a form.
func (s *server) body(x *exchange, o *op.Operation, in *fields, r *op.Request) ([]byte, error) {
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
		return s.read(x, limit*4/3+bodyLeftover, limit)
	case isJSON:
		return s.read(x, limit, limit)
	case takesFile && kind == "multipart/form-data":
		return nil, s.form(x, in, r, params["boundary"], limit)
	case takesFile:
		in.filename(x.r.Header.Get("Content-Disposition"))
		r.Upload, err = s.read(x, limit, limit)
		return nil, err
	}
	return nil, refusal(http.StatusUnsupportedMediaType, "send application/json, not %s", short(kind, 60))
}

func mediaType(r *http.Request) (string, map[string]string, error) {
	line := r.Header.Get("Content-Type")
	if line == "" {
		return "", nil, nil
	}
	kind, params, err := mime.ParseMediaType(line)
	if err != nil {
		return "", nil, refusal(http.StatusUnsupportedMediaType, "the Content-Type could not be read; send application/json")
	}
	if c := params["charset"]; c != "" && !strings.EqualFold(c, "utf-8") {
		return "", nil, refusal(http.StatusUnsupportedMediaType, "send UTF-8, not %s", short(c, 30))
	}
	return kind, params, nil
}

// read reads the body up to a limit; said is the limit that the refusal names.
func (s *server) read(x *exchange, limit, said int64) ([]byte, error) {
	if x.r.ContentLength > limit {
		return nil, tooLarge(said)
	}
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, limit))
	return body, bodyFault(err, said)
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "the body is larger than the %d bytes that are taken here; send less at once", limit).With("limit_bytes", limit)
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
	return fault.New(fault.Invalid, "the body did not arrive whole; send it again").Because(err)
}

// form reads a multipart form: the file, and text fields beside it. The engine holds the
// file to its cap; what is read here is bounded a little above.
func (s *server) form(x *exchange, in *fields, r *op.Request, boundary string, limit int64) error {
	if boundary == "" {
		return refusal(http.StatusUnsupportedMediaType, "the form has no boundary")
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
				return fault.BadField(short(name, 64), "must be text in UTF-8")
			}
			in.add(name, string(data))
		case r.Upload != nil:
			return fault.BadField(in.o.UploadField(), "is given twice; send one file")
		default:
			r.Upload = data
			in.filename(part.Header.Get("Content-Disposition"))
		}
	}
}
