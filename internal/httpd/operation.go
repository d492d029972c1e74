package httpd

import (
	"crypto/sha256"
	"encoding/hex"
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
		x.caller = c
		defer s.beginHold(x, c)()
		in, err := s.readRequest(x, o, vars, preset)
		if err != nil {
			s.refuseRequest(x, c, o, err)
			return
		}
		in.Hold = x.hold
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
	if err := s.foresee(x, r); err != nil {
		return r, err
	}
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
	switch {
	case isJSONType(kind) && takesFile:
		return s.readFileJSON(x, o, r)
	case isJSONType(kind):
		return s.readBody(x, bodyLimit)
	case takesFile && kind == "multipart/form-data":
		return nil, s.readForm(x, in, r, params["boundary"], o.BodyLimit)
	case takesFile:
		in.addFilename(x.r.Header.Get("Content-Disposition"))
		r.Upload, err = s.spoolBody(x, o.BodyLimit)
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
