package studio

import (
	"context"
	"errors"
	"fmt"

	"loregate/internal/fault"
)

// Code is what went wrong, in the words of the envelope.
type Code string

// The codes.
const (
	Validation    Code = "VALIDATION_ERROR"
	PolicyDenied  Code = "POLICY_DENIED"
	Confirmation  Code = "CONFIRMATION_REQUIRED"
	TargetGone    Code = "TARGET_UNAVAILABLE"
	TimedOut      Code = "TIMEOUT"
	Cancelled     Code = "CANCELLED"
	Missing       Code = "DEPENDENCY_MISSING"
	IOFailed      Code = "IO_ERROR"
	ExecFailed    Code = "EXECUTION_ERROR"
	ToolNotFound  Code = "TOOL_NOT_FOUND"
	NotSupported  Code = "NOT_SUPPORTED"
	OverBudget    Code = "BUDGET_EXCEEDED"
	InternalError Code = "INTERNAL_ERROR"
)

// Failure is why a run ended in an error: what its caller may know of it, and the cause
// for the log.
type Failure struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
	cause     error
}

func (f *Failure) Error() string {
	if f.cause != nil {
		return string(f.Code) + ": " + f.Message + ": " + f.cause.Error()
	}
	return string(f.Code) + ": " + f.Message
}

// Unwrap gives the cause.
func (f *Failure) Unwrap() error { return f.cause }

// Fail makes a failure. What a later try may mend is retryable.
func Fail(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == TargetGone || code == TimedOut || code == IOFailed}
}

// Because keeps a cause for the log.
func (f *Failure) Because(err error) *Failure {
	c := *f
	c.cause = err
	return &c
}

// With adds a fact for programs.
func (f *Failure) With(key string, value any) *Failure {
	c := *f
	c.Details = map[string]any{key: value}
	for k, v := range f.Details {
		c.Details[k] = v
	}
	return &c
}

// kindByCode says each code in the kinds that transports know. A code that is not here is a
// rule that well-formed input runs into.
var kindByCode = map[Code]fault.Kind{
	Validation: fault.Invalid, PolicyDenied: fault.Denied, TargetGone: fault.Unavailable, TimedOut: fault.Unavailable,
	IOFailed: fault.Unavailable, ToolNotFound: fault.NotFound, InternalError: fault.Internal,
}

// codeByKind says each kind that other parts answer with in the words of the envelope.
var codeByKind = map[fault.Kind]Code{
	fault.Invalid: Validation, fault.Rule: Validation, fault.NotFound: Validation, fault.Conflict: Validation, fault.Stale: Validation,
	fault.TooLarge: Validation, fault.Denied: PolicyDenied, fault.Unauthorized: PolicyDenied, fault.RateLimited: OverBudget,
	fault.Unavailable: IOFailed,
}

// failureOf makes a failure of any error. What nobody classified shows nothing of itself.
func failureOf(err error) *Failure {
	var f *Failure
	var known *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return Fail(TimedOut, "the call took longer than timeout_s allows; ask for less, or allow more").Because(err)
	case errors.Is(err, context.Canceled):
		return Fail(Cancelled, "the run was cancelled; nothing of it was kept").Because(err)
	case errors.As(err, &known) && known.Kind != fault.Internal:
		f = Fail(codeByKind[known.Kind], "%s", known.Message).Because(err)
		f.Retryable, f.Details = known.Kind == fault.Unavailable, known.Details
		return f
	}
	return Fail(InternalError, "something failed on our side; the log has it under the run's id").Because(err)
}

// toFault says a failure to the transports. The envelope's code and the run go along.
func (f *Failure) toFault(head *Head) error {
	kind, ok := kindByCode[f.Code]
	if !ok {
		kind = fault.Rule
	}
	e := fault.New(kind, "%s", f.Message).Because(f)
	e.Code = string(f.Code)
	var known *fault.Error
	if errors.As(f.cause, &known) {
		e.Fields = known.Fields
	}
	for k, v := range f.Details {
		e = e.With(k, v)
	}
	if head != nil {
		e = e.With("envelope", head)
	}
	return e
}
