package op

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Answers are input fields of operations that write texts: the answer of an author who hides parts of them, about
// marks of secrecy that may mean none. An operation embeds it; the engine reads it.
type Answers struct {
	AsWritten  bool `json:"as_written,omitzero" jsonschema:"For game masters: marks of secrecy without an end, and those that only look secret, are text."`
	HideUnsure bool `json:"hide_unsure,omitzero" jsonschema:"For game masters: these marks hide; one without an end hides the rest of the text."`
}

// detailUnsure is the detail of a fault about marks that need an answer.
const detailUnsure = "unsure_marks"

// MayAskBack reports whether a call may put a question to the person behind it.
func (o *Operation) MayAskBack() bool { return o.Interactive || o.declaresField(asWritten) }

// isUnsure returns the fault of a text whose marks need an answer, which the operation takes.
func (o *Operation) isUnsure(err error) (*fault.Error, bool) {
	var e *fault.Error
	if !errors.As(err, &e) || e.Details[detailUnsure] == nil || !o.declaresField(asWritten) {
		return nil, false
	}
	return e, true
}

// withAnswers adds to a fault about unsure marks how to answer.
func (o *Operation) withAnswers(err error) error {
	if !o.declaresField(asWritten) {
		return err
	}
	return WithAnswers(err)
}

// WithAnswers adds to a fault about unsure marks how to answer, for an operation that takes [Answers] and reports the
// fault itself.
func WithAnswers(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) || e.Details[detailUnsure] == nil || e.Details["answers"] != nil {
		return err
	}
	c := *e.With("answers", []string{asWritten, hidesUnsure})
	c.Message += "; or call again with as_written true, if such marks are text, or with hide_unsure true, if they hide"
	return &c
}

// askUnsure asks the person behind a call about the marks for which its handler has refused a text, and calls it
// again with the answer. Without an answer it returns the results of the first call.
func (o *Operation) askUnsure(ctx context.Context, c *Call, a Asker, input, upload []byte, out any,
	failed error) (any, error) {
	e, ok := o.isUnsure(failed)
	if !ok || a == nil || c.Grant.HasCommitted() {
		return out, failed
	}
	const isText, hides = "text for everybody", "hidden from players"
	sum := sha256.Sum256([]byte(e.Message))
	r, err := a.Ask(ctx, Form{Key: "unsure-" + hex.EncodeToString(sum[:6]), Message: e.Message + ". What are they?",
		Blanks: []Blank{{Name: "answer", Title: "These marks are", Options: []string{isText, hides}}}})
	if err != nil {
		return nil, err
	}
	answer := map[string]access.Unsure{isText: access.UnsureText, hides: access.UnsureHides}[r.Values["answer"]]
	if answer == access.UnsureRefused {
		return out, failed
	}
	answered := *c
	answered.Grant = c.Grant.Answering(answer)
	out, err = o.callHandler(ctx, &answered, input, upload)
	c.Reply = answered.Reply
	return out, err
}

// answerIn returns the answer in an input that has been checked.
func (o *Operation) answerIn(input json.RawMessage) access.Unsure {
	var in Answers
	if !o.declaresField(asWritten) || json.Unmarshal(input, &in) != nil {
		return access.UnsureRefused
	}
	switch {
	case in.AsWritten:
		return access.UnsureText
	case in.HideUnsure:
		return access.UnsureHides
	}
	return access.UnsureRefused
}
