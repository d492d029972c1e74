package op

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Form is a question that a handler puts to the person behind a call while the call runs.
type Form struct {
	Key     string // identifies it among the forms of the call; the same question has the same key
	Message string // the question, in a sentence or two
	Blanks  []Blank
}

// Blank is a text to fill in.
type Blank struct {
	Name, Title, Doc string
	Options          []string // the only texts accepted; nil: any
	MaxLen           int      // characters of a free text; 0 is 200
	Optional         bool     // may be left empty
}

// Outcome is the result of putting a form.
type Outcome string

// The outcomes.
const (
	Unasked    Outcome = ""           // nobody can be asked: the handler does without
	Answered   Outcome = "answered"   // every required blank is filled in
	Declined   Outcome = "declined"   // the person does not want to answer
	Dismissed  Outcome = "dismissed"  // the person wants the call to end
	Unanswered Outcome = "unanswered" // nobody answered in time, or the client could not ask
)

// Reaction is the result of a form with its values.
type Reaction struct {
	Outcome Outcome
	Values  map[string]string // by blank, if answered; empty ones are missing
}

// Asker puts forms to the person behind a call. A transport that cannot wait for an answer ends the
// call with the form and runs the handler again with the answer. Therefore a handler does nothing
// lasting before it has asked.
type Asker interface {
	// Ask puts a form and returns the result. Its error is fault.Invalid if the answer does not fit
	// the form; the handler returns any other error, such as [Asking], unchanged.
	Ask(ctx context.Context, f Form) (Reaction, error)
	// Asked reports whether the form with this key was put in an earlier run of the handler, so
	// that the work that led to it need not be repeated.
	Asked(key string) bool
}

// Asking is the error that ends a handler whose question must be sent to the client.
type Asking struct{ Form Form }

func (a *Asking) Error() string {
	return "op: the call continues when the client answers: " + a.Form.Message
}

// Ask puts a form to the person behind the call; see [Asker]. If nobody can be asked, the outcome
// is Unasked.
func (c *Call) Ask(ctx context.Context, f Form) (Reaction, error) {
	if c.Asker == nil {
		return Reaction{}, nil
	}
	return c.Asker.Ask(ctx, f)
}

// Asked reports whether a form was put in an earlier run of the handler; see [Asker].
func (c *Call) Asked(key string) bool { return c.Asker != nil && c.Asker.Asked(key) }

// defaultMaxLength bounds a blank without a MaxLen.
const defaultMaxLength = 200

func (b Blank) lengthLimit() int {
	if b.MaxLen > 0 {
		return b.MaxLen
	}
	return defaultMaxLength
}

// Schema returns the form's schema as shown to clients: an object of texts.
func (f Form) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, b := range f.Blanks {
		p := &jsonschema.Schema{Type: "string", Title: b.Title, Description: b.Doc}
		for _, o := range b.Options {
			p.Enum = append(p.Enum, o)
		}
		if b.Options == nil {
			p.MaxLength = jsonschema.Ptr(b.lengthLimit())
		}
		s.Properties[b.Name] = p
		s.PropertyOrder = append(s.PropertyOrder, b.Name)
		if !b.Optional {
			s.Required = append(s.Required, b.Name)
		}
	}
	return s
}

// Read reads the values that a client sent for the form. They are as untrusted as any input: a
// value that does not fit is fault.Invalid with the blank's name; values of other names are
// ignored.
func (f Form) Read(content map[string]any) (map[string]string, error) {
	values := map[string]string{}
	for _, b := range f.Blanks {
		v, err := b.read(content[b.Name])
		if err != nil {
			return nil, err
		}
		if v != "" {
			values[b.Name] = v
		}
	}
	return values, nil
}

func (b Blank) read(given any) (string, error) {
	text, ok := given.(string)
	switch {
	case given != nil && !ok:
		return "", fault.BadField("answer."+b.Name, "must be a text; call again, and answer with a text")
	case b.Options == nil && utf8.RuneCountInString(text) > b.lengthLimit():
		return "", fault.BadField("answer."+b.Name, "is longer than %d characters; call again with a shorter answer",
			b.lengthLimit())
	case b.Options == nil:
		text = strings.TrimSpace(markup.Clean(text))
	case text != "" && !slices.Contains(b.Options, text):
		return "", fault.BadField("answer."+b.Name, "is not one of the %d choices; call again, and choose one of them",
			len(b.Options))
	}
	if text == "" && !b.Optional {
		return "", fault.BadField("answer."+b.Name, "is missing; answer the question, or decline it")
	}
	return text, nil
}
