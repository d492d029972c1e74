// Package fault holds the kinds of error that a caller can react to, and the one
// table from a kind to its wire code and HTTP status.
//
// Its invariant: what an Error shows a client (Message, Fields, Details) never holds
// internal detail; that travels in Cause, which only the log reads. Which kind a
// failure is, is decided where it happens; transports only look the kind up.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"
)

// Kind is one way in which a caller can react to a failure. A Kind is itself an
// error, so errors.Is(err, fault.NotFound) asks for it.
type Kind uint8

// The kinds. The zero Kind is Internal: an error nobody classified is our fault.
const (
	Internal     Kind = iota // our fault; shows a correlation id only
	Invalid                  // bad input: malformed, missing, out of range
	Rule                     // well-formed input that breaks a rule of the world
	Unauthorized             // no, bad or expired credentials
	Denied                   // the role may not do this
	NotFound                 // absent or hidden, which look alike
	Conflict                 // a name is taken, or an idempotency key is used for another body
	Stale                    // the version named by If-Match is not the current one
	TooLarge                 // over a size cap
	RateLimited              // over a limit; RetryAfter says when to come back
	Unavailable              // a part that is needed does not answer
)

var table = [...]struct {
	code   string
	status int
}{
	Internal:     {"internal_error", http.StatusInternalServerError},
	Invalid:      {"validation_error", http.StatusBadRequest},
	Rule:         {"validation_error", http.StatusUnprocessableEntity},
	Unauthorized: {"unauthorized", http.StatusUnauthorized},
	Denied:       {"permission_denied", http.StatusForbidden},
	NotFound:     {"not_found", http.StatusNotFound},
	Conflict:     {"conflict", http.StatusConflict},
	Stale:        {"conflict", http.StatusPreconditionFailed},
	TooLarge:     {"payload_too_large", http.StatusRequestEntityTooLarge},
	RateLimited:  {"rate_limited", http.StatusTooManyRequests},
	Unavailable:  {"unavailable", http.StatusServiceUnavailable},
}

// Code is the word the kind has on the wire.
func (k Kind) Code() string { return table[k].code }

// HTTPStatus is the status the kind has over HTTP.
func (k Kind) HTTPStatus() int { return table[k].status }

// Error makes a Kind usable as the target of errors.Is.
func (k Kind) Error() string { return k.Code() }

// Field is one fault of one input field. Field is a path such as "ops[3].name".
type Field struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

// Error is a failure with everything its client may learn of it.
type Error struct {
	Kind       Kind
	Message    string         // what happened, and what to do next
	Fields     []Field        // for Invalid and Rule: every fault, by field
	Details    map[string]any // further facts for programs
	RetryAfter time.Duration  // for RateLimited and Unavailable
	Code       string         // a finer word for the client, of a surface's own set; "" is the Kind's
	Cause      error          // for the log only
}

// New makes an Error of a kind with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// BadField makes an Invalid error about one field.
func BadField(field, format string, args ...any) *Error {
	why := fmt.Sprintf(format, args...)
	return &Error{Kind: Invalid, Message: field + ": " + why, Fields: []Field{{field, why}}}
}

// With returns a copy of e with one detail added.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		c.Details[k] = v
	}
	c.Details[key] = value
	return &c
}

// Because returns a copy of e with its cause for the log set.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return e.Kind.Code() + ": " + e.Message + ": " + e.Cause.Error()
	}
	return e.Kind.Code() + ": " + e.Message
}

// Unwrap gives the cause, so that errors.Is and errors.As look through.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is e's Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// KindOf is the kind of err; Internal when nobody classified it.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Wrap adds context to *errp, once per function: defer fault.Wrap(&err, "…").
// It keeps the kind and what the client sees.
func Wrap(errp *error, format string, args ...any) {
	if *errp != nil {
		*errp = fmt.Errorf(format+": %w", append(args, *errp)...)
	}
}

// Panicked is the failure of what panicked, made where the panic is recovered. The log
// gets the stack, and of the value no text: that may quote what is stored.
func Panicked(what string, value any) *Error {
	return New(Internal, "%s panicked", what).Because(fmt.Errorf("panic: %s\n%s", panicText(value), debug.Stack()))
}

// panicText is what the runtime says of a panic; of any other value it is the type.
func panicText(value any) string {
	if r, ok := value.(runtime.Error); ok {
		return fmt.Sprintf("%.200s", r.Error())
	}
	return fmt.Sprintf("a value of type %T", value)
}

// Body is the error object that every surface shows.
type Body struct {
	Code             string         `json:"code"`
	Message          string         `json:"message"`
	Details          map[string]any `json:"details,omitempty"`
	ValidationErrors []Field        `json:"validation_errors,omitempty"`
	Retryable        bool           `json:"retryable"`
}

// Envelope wraps a Body as it is sent.
type Envelope struct {
	Error Body `json:"error"`
}

// Show is what a client sees of err. An unclassified error shows nothing but the
// correlation id under which the log has the rest.
func Show(err error, correlation string) Envelope {
	var e *Error
	if !errors.As(err, &e) || e.Kind == Internal {
		return Envelope{Body{
			Code:    Internal.Code(),
			Message: "something failed on our side; report the correlation id",
			Details: map[string]any{"correlation_id": correlation},
		}}
	}
	b := Body{Code: e.Kind.Code(), Message: e.Message, Details: e.Details, ValidationErrors: e.Fields}
	b.Retryable = e.Kind == RateLimited || e.Kind == Unavailable
	if e.Code != "" {
		b.Code = e.Code
	}
	if e.RetryAfter > 0 {
		b.Details = e.With("retry_after_seconds", RetrySeconds(e.RetryAfter)).Details
	}
	return Envelope{b}
}

// RetrySeconds is d in whole seconds, rounded up, as Retry-After wants it.
func RetrySeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
