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

// Form is a question that a handler puts to the person behind a call, in its midst.
type Form struct {
	Key     string // names it among the forms of the call; the same question has the same key
	Message string // what is asked, in a sentence or two
	Blanks  []Blank
}

// Blank is a text to fill in.
type Blank struct {
	Name, Title, Doc string
	Options          []string // the only texts that will do; nil: any
	MaxLen           int      // characters of a text of any kind; 0 is 200
	Optional         bool     // may be left empty
}

// Outcome is what became of a form.
type Outcome string

// The outcomes.
const (
	Unasked    Outcome = ""           // nobody can be asked: the handler does without
	Answered   Outcome = "answered"   // every blank that is needed is filled in
	Declined   Outcome = "declined"   // the person does not want to say
	Dismissed  Outcome = "dismissed"  // the person wants no more of the call
	Unanswered Outcome = "unanswered" // nobody answered in time, or the client could not ask
)

// Reaction is what came of asking.
type Reaction struct {
	Outcome Outcome
	Values  map[string]string // by blank, where it was answered; those left empty are missing
}

// Asker puts forms to the person behind a call. A transport that cannot wait for an
// answer ends the call with the form and calls again with what was answered: a handler
// does nothing that lasts before it has asked.
type Asker interface {
	// Ask gives what came of a form. Its error is fault.Invalid where the answer does not
	// fit the form; any other, [Asking] among them, is handed on as it is.
	Ask(ctx context.Context, f Form) (Reaction, error)
	// Asked reports whether the form of a key was put before this call of the handler, so
	// that what led to it need not be done again.
	Asked(key string) bool
}

// Asking is the error that ends a handler whose question has to travel.
type Asking struct{ Form Form }

func (a *Asking) Error() string { return "op: the call goes on when it is answered: " + a.Form.Message }

// Ask puts a form to the person behind the call; see [Asker]. Where nobody can be asked it
// is Unasked.
func (c *Call) Ask(ctx context.Context, f Form) (Reaction, error) {
	if c.Asker == nil {
		return Reaction{}, nil
	}
	return c.Asker.Ask(ctx, f)
}

// Asked reports whether a form was put before this call of the handler; see [Asker].
func (c *Call) Asked(key string) bool { return c.Asker != nil && c.Asker.Asked(key) }

// anyLength bounds a blank that names no bound.
const anyLength = 200

func (b Blank) most() int {
	if b.MaxLen > 0 {
		return b.MaxLen
	}
	return anyLength
}

// Schema is the form as clients are shown it: an object of texts.
func (f Form) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, b := range f.Blanks {
		p := &jsonschema.Schema{Type: "string", Title: b.Title, Description: b.Doc}
		for _, o := range b.Options {
			p.Enum = append(p.Enum, o)
		}
		if b.Options == nil {
			p.MaxLength = jsonschema.Ptr(b.most())
		}
		s.Properties[b.Name] = p
		s.PropertyOrder = append(s.PropertyOrder, b.Name)
		if !b.Optional {
			s.Required = append(s.Required, b.Name)
		}
	}
	return s
}

// Read takes what a client says was filled in. It is as untrusted as any input: what does
// not fit is fault.Invalid by the blank's name, and what was not asked for is passed over.
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
		return "", fault.BadField("answer."+b.Name, "must be a text; call again, and answer the question as it is put")
	case b.Options == nil && utf8.RuneCountInString(text) > b.most():
		return "", fault.BadField("answer."+b.Name, "is longer than %d characters; call again, and say it shorter", b.most())
	case b.Options == nil:
		text = strings.TrimSpace(markup.Clean(text))
	case text != "" && !slices.Contains(b.Options, text):
		return "", fault.BadField("answer."+b.Name, "is none of the %d that were offered; call again, and choose one of them", len(b.Options))
	}
	if text == "" && !b.Optional {
		return "", fault.BadField("answer."+b.Name, "is needed; answer the question, or decline it")
	}
	return text, nil
}
