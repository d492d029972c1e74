// Package fault defines the kinds of error that a caller can react to, and the only table from a
// kind to its wire code and HTTP status.
//
// Its invariant: the parts of an Error that a client sees (Message, Fields, Details) never hold
// internal detail. That belongs in Cause, which only the log reads. The code that detects a failure
// decides its kind; transports only look it up in the table.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"
)

// Kind is a way in which a caller can react to a failure. A Kind is itself an error: errors.Is(err,
// fault.NotFound) tests for it.
type Kind uint8

// The kinds. The zero Kind is Internal: an unclassified error is our fault.
const (
	Internal     Kind = iota // our fault; shows only a correlation id
	Invalid                  // bad input: malformed, missing, out of range
	Rule                     // well-formed input that breaks a rule of the world
	Unauthorized             // missing, invalid or expired credentials
	Denied                   // the role may not do this
	NotFound                 // absent or hidden; clients cannot tell these apart
	Conflict                 // a name is taken, or an idempotency key was used for another body
	Stale                    // the version named by If-Match is not the current one
	TooLarge                 // over a size cap
	RateLimited              // over a limit; RetryAfter is the time to wait
	Unavailable              // a required component does not respond
)

type tableRow struct {
	code   string
	status int
}

var table = [...]tableRow{
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

// Code returns the error code of the kind on the wire.
func (k Kind) Code() string { return table[k].code }

// HTTPStatus returns the HTTP status of the kind.
func (k Kind) HTTPStatus() int { return table[k].status }

// KindOfStatus returns the kind with an HTTP status; Internal if none has it.
func KindOfStatus(status int) Kind {
	return Kind(max(slices.IndexFunc(table[:], func(k tableRow) bool { return k.status == status }), 0))
}

// IsOurs reports whether the product or a component failed, so that the caller's request is not the cause.
func (k Kind) IsOurs() bool { return k == Internal || k == Unavailable }

// Error makes Kind an error, so that it can be the target of errors.Is.
func (k Kind) Error() string { return k.Code() }

// Field is an error in one input field. Field is a path such as "ops[3].name".
type Field struct {
	Field string `json:"field"`
	Error string `json:"error"`
}

// Error is a failure with all facts that its client may learn.
type Error struct {
	Kind       Kind
	Message    string         // the failure, and the next step for the caller
	Fields     []Field        // for Invalid and Rule: all errors, by field
	Details    map[string]any // additional facts for programs
	RetryAfter time.Duration  // for RateLimited and Unavailable
	Code       string         // a more specific code, from a surface's own set; "" means the code of Kind
	Cause      error          // for the log only
}

// New returns an Error of a kind with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// BadField returns an Invalid error about one field.
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

// Unwrap returns the cause for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is e's Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && k == e.Kind
}

// KindOf returns the kind of err, or Internal if it has none.
func KindOf(err error) Kind {
	if e := Classify(err); e != nil {
		return e.Kind
	}
	return Internal
}

// Classify returns the Error in err; nil if it has none. A full disk is told as one whatever the layer above made of it:
// any write may meet it, and no place that writes a file needs to know it.
func Classify(err error) *Error {
	e, ok := errors.AsType[*Error](err)
	if IsDiskFull(err) && (!ok || e.Kind.IsOurs() && e.Message != diskFull) {
		return DiskFull(err)
	}
	return e
}

const diskFull = "the disk is full: writes are refused until there is space, and no acknowledged write is lost; " +
	"ask the " +
	"operator to free space, and try again"

var errNoSpace = errors.New("no space is left")

// IsDiskFull reports whether a full disk is a cause of an error.
func IsDiskFull(err error) bool {
	return errors.Is(err, errNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// DiskFull returns the error for a write that a full disk refused.
func DiskFull(cause error) *Error {
	e := Error{Kind: Unavailable, Message: diskFull, RetryAfter: time.Second}
	return e.Because(fmt.Errorf("%w: %w", errNoSpace, cause))
}

// Wrap adds context to *errp. Use it once per function: defer fault.Wrap(&err, "…"). It does not
// change the kind or the parts that a client sees.
func Wrap(errp *error, format string, args ...any) {
	if *errp != nil {
		*errp = fmt.Errorf(format+": %w", append(args, *errp)...)
	}
}

// Panicked returns the error for a recovered panic. The log gets the stack, but not the text of the
// value, which may quote stored data.
func Panicked(what string, value any) *Error {
	return New(Internal, "%s panicked", what).Because(fmt.Errorf("panic: %s\n%s", panicText(value), debug.Stack()))
}

// panicText returns the text of a runtime error; for any other value it returns only the type.
func panicText(value any) string {
	if r, ok := value.(runtime.Error); ok {
		return fmt.Sprintf("%.200s", r.Error())
	}
	return fmt.Sprintf("a value of type %T", value)
}

// Body is the error object that all surfaces send.
type Body struct {
	Code             string         `json:"code"`
	Message          string         `json:"message"`
	Details          map[string]any `json:"details,omitempty"`
	ValidationErrors []Field        `json:"validation_errors,omitempty"`
	Retryable        bool           `json:"retryable"`
}

// Envelope wraps a Body in the form in which it is sent.
type Envelope struct {
	Error Body `json:"error"`
}

// Show returns the part of err that a client may see. For an unclassified error that is only the
// correlation id, under which the log has the rest.
func Show(err error, correlation string) Envelope {
	e := Classify(err)
	if e == nil || e.Kind == Internal {
		return Envelope{Body{
			Code:    Internal.Code(),
			Message: "the server failed; report the correlation id to its operator",
			Details: map[string]any{"correlation_id": correlation},
		}}
	}
	b := Body{Code: e.Kind.Code(), Message: e.Message, Details: e.Details, ValidationErrors: e.Fields}
	b.Retryable = e.Kind == RateLimited || e.Kind == Unavailable
	b.Code = cmp.Or(e.Code, b.Code)
	if e.RetryAfter > 0 {
		b.Details = e.With("retry_after_seconds", RetrySeconds(e.RetryAfter)).Details
	}
	return Envelope{b}
}

// RetrySeconds returns d in whole seconds, rounded up, for the Retry-After header.
func RetrySeconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}
