package remote

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/op"
)

// answer reads what the server sent: an output, or the error object.
func (r *reply) answer(o *op.Operation) (*op.Answer, error) {
	kind, _, _ := mime.ParseMediaType(r.header.Get("Content-Type")) // what cannot be read is no JSON
	object := kind == "application/json" && len(r.body) > 0 && r.body[0] == '{'
	if r.status < 200 || r.status > 299 {
		if r.mixed(object) {
			return r.output(o), nil
		}
		return nil, r.failure(object)
	}
	if !object {
		return nil, fault.New(fault.Unavailable, "%s answers with a file, which does not come this way; download it from the server", o.Name)
	}
	return r.output(o), nil
}

// mixed reports whether a refusal is an output all the same, as that of a batch of which
// nothing was applied.
func (r *reply) mixed(object bool) bool {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Results json.RawMessage `json:"results"`
	}
	return object && json.Unmarshal(r.body, &shape) == nil && shape.Error == nil && shape.Results != nil
}

func (r *reply) output(o *op.Operation) *op.Answer {
	a := &op.Answer{Output: r.body}
	if declared := o.Status; r.status != http.StatusOK && r.status != declared {
		a.Reply.Status = r.status
	}
	a.Reply.ETag = strings.Trim(strings.TrimPrefix(r.header.Get("ETag"), "W/"), `"`)
	a.Reply.Location = r.header.Get("Location")
	a.Reply.Replayed = r.header.Get("Idempotency-Replayed") == "true"
	return a
}

// failure makes a fault of the error object, in one line.
func (r *reply) failure(object bool) error {
	var shown fault.Envelope
	if !object || json.Unmarshal(r.body, &shown) != nil || shown.Error.Code == "" {
		f := fault.New(fault.Unavailable, "the server answered %d %s", r.status, http.StatusText(r.status))
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
