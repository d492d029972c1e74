package remote

import (
	"encoding/json"
	"net/http"
	"strings"

	"loregate/internal/fault"
)

// failure makes a fault of the error object, in one line.
func (r *reply) failure(object bool) error {
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
		// Shown as it is, an internal fault would say that it happened here.
		kind, message = fault.Unavailable, "on the server: "+message
	}
	f := &fault.Error{Kind: kind, Message: message, Fields: shown.Error.ValidationErrors, Details: shown.Error.Details}
	if shown.Error.Code != kind.Code() && kind != fault.Unavailable {
		f.Code = shown.Error.Code // the word of a surface
	}
	f.RetryAfter, _ = retryAfter(r.header)
	return f
}

// kindOf is the kind of a status, by the table that made it.
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
