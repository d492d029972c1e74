package fault_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"loregate/internal/fault"
)

func Example() {
	read := func() (err error) {
		defer fault.Wrap(&err, "read %q", "Old Mill")
		return fault.New(fault.NotFound, "there is no card %q", "Old Mill")
	}
	err := read()
	fmt.Println(errors.Is(err, fault.NotFound), fault.KindOf(err).HTTPStatus())
	fmt.Println(fault.Show(err, "c1").Error.Message)
	// Output:
	// true 404
	// there is no card "Old Mill"
}

func TestTheTableOfKinds(t *testing.T) {
	for kind, want := range map[fault.Kind]string{
		fault.Internal: "internal_error 500", fault.Invalid: "validation_error 400", fault.Rule: "validation_error 422",
		fault.Unauthorized: "unauthorized 401", fault.Denied: "permission_denied 403", fault.NotFound: "not_found 404",
		fault.Conflict: "conflict 409", fault.Stale: "conflict 412", fault.TooLarge: "payload_too_large 413",
		fault.RateLimited: "rate_limited 429", fault.Unavailable: "unavailable 503",
	} {
		if got := fmt.Sprint(kind.Code(), " ", kind.HTTPStatus()); got != want {
			t.Errorf("kind %d is %s, want %s", kind, got, want)
		}
	}
}

func TestShow(t *testing.T) {
	limited := fault.New(fault.RateLimited, "too many calls").With("limit", "calls")
	limited.RetryAfter = 1200 * time.Millisecond
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errors.New("SQL logic error near SECRET"),
			`{"error":{"code":"internal_error","message":"the server failed; report the correlation id to its operator","details":{"correlation_id":"c1"},"retryable":false}}`},
		{fault.New(fault.Internal, "SECRET"),
			`{"error":{"code":"internal_error","message":"the server failed; report the correlation id to its operator","details":{"correlation_id":"c1"},"retryable":false}}`},
		{fault.BadField("name", "is needed").Because(errors.New("SECRET")),
			`{"error":{"code":"validation_error","message":"name: is needed","validation_errors":[{"field":"name","error":"is needed"}],"retryable":false}}`},
		{limited, `{"error":{"code":"rate_limited","message":"too many calls","details":{"limit":"calls","retry_after_seconds":2},"retryable":true}}`},
	} {
		got, err := json.Marshal(fault.Show(tc.err, "c1"))
		if err != nil || string(got) != tc.want {
			t.Errorf("Show(%v)\n got %s\nwant %s", tc.err, got, tc.want)
		}
	}
}

func TestWithLeavesTheOriginalAlone(t *testing.T) {
	e := fault.New(fault.Conflict, "taken")
	e.With("name", "x")
	if e.Details != nil {
		t.Errorf("details %v", e.Details)
	}
}

func TestErrorCodeOverride(t *testing.T) {
	e := fault.New(fault.Rule, "confirm it")
	e.Code = "CONFIRMATION_REQUIRED"
	if got := fault.Show(e, "c").Error.Code; got != "CONFIRMATION_REQUIRED" {
		t.Errorf("shown as %s", got)
	}
	hidden := fault.New(fault.Internal, "x")
	hidden.Code = "SECRET"
	if got := fault.Show(hidden, "c").Error.Code; got != "internal_error" {
		t.Errorf("an internal error is shown as %s", got)
	}
}

func TestPanicTextHidesTheValue(t *testing.T) {
	for what, fall := range map[string]func(){
		"a value of type string":              func() { panic("SECRET") },
		"a value of type *errors.errorString": func() { panic(errors.New("SECRET")) },
		"integer divide by zero":              func() { zero := 0; _ = 1 / zero },
	} {
		func() {
			defer func() {
				err := fault.Panicked("a test", recover())
				text := err.Error()
				if strings.Contains(text, "SECRET") || !strings.Contains(text, what) || !strings.Contains(text, "fault_test.go") {
					t.Errorf("the log reads %q; it wants %q, the stack, and no more", text, what)
				}
				if fault.KindOf(err) != fault.Internal {
					t.Errorf("it is %v", fault.KindOf(err))
				}
			}()
			fall()
		}()
	}
}

func TestProblemsNameEveryField(t *testing.T) {
	var p fault.Problems
	if err := p.Err(); err != nil {
		t.Error(err)
	}
	for i := range 5 {
		p.Add(fmt.Sprint("f", i), "is %d", i)
	}
	var e *fault.Error
	if err := p.Err(); !errors.As(err, &e) || !errors.Is(err, fault.Invalid) || len(e.Fields) != 5 ||
		e.Message != "f0: is 0; f1: is 1; f2: is 2; and 2 more" {
		t.Errorf("%+v", e)
	}
	if r := fault.BrokenRule("name", "is taken"); !errors.Is(r, fault.Rule) || r.Fields[0].Field != "name" {
		t.Errorf("%+v", r)
	}
}

func TestBelow(t *testing.T) {
	inner := fault.BadField("name", "is needed")
	var e *fault.Error
	if err := fault.Below("ops[3].", fmt.Errorf("op: %w", inner)); !errors.As(err, &e) ||
		e.Fields[0].Field != "ops[3].name" || inner.Fields[0].Field != "name" {
		t.Errorf("%+v", e)
	}
	for _, plain := range []error{nil, errors.New("no"), fault.New(fault.NotFound, "no")} {
		if got := fault.Below("ops[3].", plain); got != plain {
			t.Errorf("%v became %v", plain, got)
		}
	}
}
