package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/slicesx"
)

// BrokenRule is BadField for well-formed input that breaks a rule of the world.
func BrokenRule(field, format string, args ...any) *Error {
	e := BadField(field, format, args...)
	e.Kind = Rule
	return e
}

// Below returns an error about a part of an input as one about the whole input: it puts the part's
// path, such as "ops[3].", before the fields of an Error. Any other err is returned as it is.
func Below(path string, err error) error {
	var e *Error
	if path == "" || !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	c := *e
	c.Fields = slices.Clone(e.Fields)
	for i := range c.Fields {
		c.Fields[i].Field = path + c.Fields[i].Field
	}
	return &c
}

// Problems collects the errors in an input, by field. The zero value holds none.
type Problems struct{ list []Field }

// Add adds an error in a field.
func (p *Problems) Add(field, format string, args ...any) {
	p.list = append(p.list, Field{field, fmt.Sprintf(format, args...)})
}

// shownProblems is the number of errors in the message of an Error from Problems; its Fields have
// all of them.
const shownProblems = 3

// Err returns all errors as one Invalid error, or nil if there are none.
func (p *Problems) Err() error {
	if len(p.list) == 0 {
		return nil
	}
	said := slicesx.Map(p.list[:min(len(p.list), shownProblems)], func(f Field) string { return f.Field + ": " + f.Error })
	if more := len(p.list) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return &Error{Kind: Invalid, Message: strings.Join(said, "; "), Fields: p.list}
}
