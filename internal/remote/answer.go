package remote

import (
	"encoding/json"
	"net/http"
	"strings"

	"loregate/internal/fault"
)

// toFault converts an error reply to a fault whose message is one line. object reports whether the
// body is a JSON object.
func (r *reply) toFault(object bool) error {
	var shown fault.Envelope
	if !object || json.Unmarshal(r.body, &shown) != nil || shown.Error.Code == "" {
		kind := kindOf(r.status)
		if kind == fault.Internal {
			kind = fault.Unavailable
		}
		f := fault.New(kind, "the server answered %d %s", r.status, http.StatusText(r.status))
		f.RetryAfter, _ = retryAfter(r.header)
		return f
	}
	kind := kindOf(r.status)
	message := strings.Join(strings.Fields(shown.Error.Message), " ")
	if kind == fault.Internal {
		// An internal fault shown unchanged would seem to come from this process.
		kind, message = fault.Unavailable, "on the server: "+message
	}
	f := &fault.Error{Kind: kind, Message: message, Fields: shown.Error.ValidationErrors, Details: shown.Error.Details}
	if shown.Error.Code != kind.Code() && kind != fault.Unavailable {
		f.Code = shown.Error.Code // a surface's own code
	}
	f.RetryAfter, _ = retryAfter(r.header)
	return f
}

// kindOf returns the fault kind of an HTTP status, the inverse of Kind.HTTPStatus.
func kindOf(status int) fault.Kind {
	for k := fault.Invalid; k <= fault.Unavailable; k++ {
		if k.HTTPStatus() == status {
			return k
		}
	}
	if status >= 500 {
		return fault.Internal
	}
	return fault.Invalid
}
