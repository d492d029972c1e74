package studio

import (
	"context"
	"errors"
	"fmt"

	"loregate/internal/fault"
)

// Code is the envelope's code for a kind of failure.
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

// Failure is the reason why a run ended in an error: the part that its caller may see, and the
// cause for the log.
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

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.cause }

// Fail makes a failure. It is retryable if a later attempt may succeed.
func Fail(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == TargetGone || code == TimedOut ||
		code == IOFailed}
}

// Because returns a copy of the failure with a cause for the log.
func (f *Failure) Because(err error) *Failure {
	c := *f
	c.cause = err
	return &c
}

// With returns a copy of the failure with one more detail for programs.
func (f *Failure) With(key string, value any) *Failure {
	c := *f
	c.Details = map[string]any{key: value}
	for k, v := range f.Details {
		c.Details[k] = v
	}
	return &c
}

// kindByCode maps codes to the kinds of errors that transports know. A code that is missing here is
// of kind fault.Rule: the input is well-formed but breaks a rule.
var kindByCode = map[Code]fault.Kind{
	Validation: fault.Invalid, PolicyDenied: fault.Denied, TargetGone: fault.Unavailable, TimedOut: fault.Unavailable,
	IOFailed: fault.Unavailable, ToolNotFound: fault.NotFound, InternalError: fault.Internal,
}

// codeByKind maps the kinds of errors that other packages return to codes of the envelope.
var codeByKind = map[fault.Kind]Code{
	fault.Invalid: Validation, fault.Rule: Validation, fault.NotFound: Validation, fault.Conflict: Validation,
	fault.Stale:    Validation,
	fault.TooLarge: Validation, fault.Denied: PolicyDenied, fault.Unauthorized: PolicyDenied,
	fault.RateLimited: OverBudget,
	fault.Unavailable: IOFailed,
}

// failureOf makes a failure of any error. The text of an unclassified error is not shown.
func failureOf(err error) *Failure {
	var f *Failure
	known := fault.Classify(err)
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return Fail(TimedOut, "the call took longer than timeout_s; reduce the work, or allow more time").Because(err)
	case errors.Is(err, context.Canceled):
		return Fail(Cancelled, "the run was cancelled; none of its changes were kept").Because(err)
	case known != nil && known.Kind != fault.Internal:
		f = Fail(codeByKind[known.Kind], "%s", known.Message).Because(err)
		f.Retryable, f.Details = known.Kind == fault.Unavailable, known.Details
		return f
	}
	return Fail(InternalError, "something failed on our side; the log has the cause under the run's id").Because(err)
}

// toFault converts a failure to the error type of the transports, with the code and, if head is not
// nil, the envelope.
func (f *Failure) toFault(head *Head) error {
	kind, ok := kindByCode[f.Code]
	if !ok {
		kind = fault.Rule
	}
	e := fault.New(kind, "%s", f.Message).Because(f)
	e.Code = string(f.Code)
	if known, ok := errors.AsType[*fault.Error](f.cause); ok {
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
