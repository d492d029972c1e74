package httpd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"loregate/internal/body"
	"loregate/internal/fault"
	"loregate/internal/identity"
	"loregate/internal/op"
)

func formatInt(n int) string { return strconv.Itoa(n) }

// status is an error whose HTTP status differs from its kind's.
type status struct {
	error
	code int
}

func (s *status) Unwrap() error { return s.error }

// newRefusal is the error for requests that HTTP itself refuses, by method or media type.
func newRefusal(code int, format string, args ...any) error {
	return &status{fault.New(fault.Invalid, format, args...), code}
}

// writeError writes the error object, with the error codes of the operation's surface.
func (s *server) writeError(x *exchange, operation string, err error) {
	kind := fault.KindOf(err)
	code := kind.HTTPStatus()
	if own, ok := errors.AsType[*status](err); ok {
		code = own.code
	}
	h := x.w.Header()
	if f, ok := errors.AsType[*fault.Error](err); ok && f.RetryAfter > 0 {
		h.Set("Retry-After", formatInt(fault.RetrySeconds(f.RetryAfter)))
	} else if kind == fault.Unavailable || kind == fault.RateLimited {
		h.Set("Retry-After", "1")
	}
	if kind == fault.Unauthorized {
		h.Set("WWW-Authenticate", identity.Challenge(err, identity.Style{}))
	}
	if kind == fault.Internal && operation == "" {
		s.Logger.ErrorContext(x.r.Context(), "request failed", "route", x.route, "correlation_id", x.correlation,
			"error", err)
	}
	shown := s.Engine.Show(operation, "", err, x.correlation)
	if strings.HasPrefix(x.r.URL.Path, "/api/mcp/") {
		s.writeJSON(x, code, olderError{shown, shown.Error.Message, olderDetails(shown.Error)})
		return
	}
	s.writeJSON(x, code, shown)
}

// olderDetails returns the details and, by field, the faults of the input.
func olderDetails(b fault.Body) map[string]any {
	all := make(map[string]any, len(b.Details)+len(b.ValidationErrors))
	for _, f := range b.ValidationErrors {
		list, _ := all[f.Field].([]string)
		all[f.Field] = append(list, f.Error)
	}
	maps.Copy(all, b.Details)
	return all
}

// olderError is the error object, with the members that older clients of the card wiki read.
type olderError struct {
	fault.Envelope
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

// writeJSON writes a value as JSON. Only values of our own are passed, so one that cannot be
// encoded is a bug.
func (s *server) writeJSON(x *exchange, code int, v any) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		panic(fmt.Errorf("httpd: encoding an answer: %w", err))
	}
	s.writeBytes(x, code, b)
}

func (s *server) writeBytes(x *exchange, code int, b []byte) {
	if x.hold != nil && len(b) > body.Uncounted {
		s.writeLarge(x, code, b)
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", formatInt(len(b)))
	x.w.WriteHeader(code)
	_, _ = x.w.Write(b) // a client that has gone learns nothing
}

// writeLarge writes JSON that its client may read slowly.
func (s *server) writeLarge(x *exchange, code int, b []byte) {
	f, err := x.hold.KeepAnswer(x.r.Context(), b)
	if err != nil {
		s.writeError(x, "", err)
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", formatInt(int(f.Size())))
	x.w.WriteHeader(code)
	_, _ = f.WriteTo(s.Bodies.PaceAnswer(x.w, answerWait)) // a client that has gone learns nothing
}

// writeAnswer writes the answer of an operation.
func (s *server) writeAnswer(x *exchange, o *op.Operation, a *op.Answer) {
	h, r := x.w.Header(), a.Reply
	if r.ETag != "" {
		h.Set("ETag", `"`+r.ETag+`"`)
		h.Set("Cache-Control", "private, no-cache")
		h.Set("Vary", "Authorization")
	}
	if r.Location != "" {
		h.Set("Location", r.Location)
	}
	if r.Replayed {
		h.Set("Idempotency-Replayed", "true")
	}
	if ref, ok := r.Meta["contextRef"].(string); ok {
		h.Set("X-Context-Ref", ref) // MCP has it in _meta: a proposal cites the answer by it
	}
	reads := x.r.Method == http.MethodGet || x.r.Method == http.MethodHead
	if reads && r.ETag != "" && matchesETag(x.r.Header.Values("If-None-Match"), r.ETag) {
		x.w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.File != nil {
		s.writeFile(x, r.File)
		return
	}
	code := cmp.Or(r.Status, o.Status, http.StatusOK)
	if r.Diverted {
		code = cmp.Or(r.Status, http.StatusAccepted)
	}
	shown := o.Shown(a)
	if a.Older != nil && x.r.Header.Get("Accept") != op.PlainJSON {
		shown = a.Older
	}
	s.writeBytes(x, code, shown)
}

// matchesETag reports whether If-None-Match names an entity tag, compared weakly.
func matchesETag(lines []string, etag string) bool {
	for _, tag := range strings.Split(strings.Join(lines, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || strings.TrimPrefix(tag, "W/") == `"`+etag+`"` {
			return true
		}
	}
	return false
}

// writeFile sends a file such that no browser renders it as a page of ours: as an attachment, of
// the sniffed type only.
func (s *server) writeFile(x *exchange, f *op.File) {
	content, err := f.Keep(x.r.Context(), x.hold)
	if err != nil {
		s.writeError(x, "", err)
		return
	}
	h := x.w.Header()
	h.Set("Content-Type", cmp.Or(f.Type, "application/octet-stream"))
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' {
			return '_'
		}
		return r
	}, cmp.Or(f.Name, "file"))
	h.Set("Content-Disposition", cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": name}),
		"attachment"))
	http.ServeContent(s.Bodies.PaceAnswer(x.w, answerWait), x.r, "", time.Time{}, content)
}

// document is a text that is built once, with its entity tag.
type document struct {
	body []byte
	etag string
}

func newDocument(body []byte) document { return document{body, etagOf(body)} }

func (d document) writeTo(x *exchange) {
	h := x.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", `"`+d.etag+`"`)
	http.ServeContent(x.w, x.r, "", time.Time{}, bytes.NewReader(d.body))
}
