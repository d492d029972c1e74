package proposal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/slicesx"
)

// checkSchema is the first gate. It lists every fault of the payload and of the members beside it.
func (s *Service) checkSchema(_ context.Context, c *candidate) (outcome, error) {
	o := outcome{input: c.input}
	if c.beside == nil && c.malformed == nil {
		return o, nil
	}
	o.issues = append(issuesOf(c.beside), issuesOf(c.malformed)...)
	list := slicesx.Map(o.issues, func(is Issue) string { return is.Field })
	why := fmt.Sprintf("the payload does not match the schema %s (%s)", c.kind.Schema(), strings.Join(list, ", "))
	if c.beside != nil {
		why = fmt.Sprintf("the members beside the payload are not valid (%s: %s)", o.issues[0].Field, o.issues[0].Error)
	}
	o.refused = &Rejection{Message: why + "; correct the listed issues and propose again",
		Details: map[string]any{"schema": c.kind.Schema(), "issues": o.issues}}
	return o, nil
}

// issuesOf returns an error's faults, one per field, and none for nil.
func issuesOf(err error) []Issue {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f):
		return []Issue{{Error: "could not be decoded"}}
	case len(f.Fields) == 0:
		return []Issue{{Error: f.Message}}
	}
	return slicesx.Map(f.Fields, func(field fault.Field) Issue { return Issue(field) })
}
