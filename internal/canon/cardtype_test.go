package canon_test

import (
	"errors"
	"fmt"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/fault"
)

// TestAMismatchNamesEachField creates cards whose fields the schema of their type refuses.
func TestAMismatchNamesEachField(t *testing.T) {
	s := newScene(t)
	s.as("user").must(func(p *canon.Plan) error {
		if _, err := p.Create(canon.NewCard{Name: "Starship", Type: "Cardtype",
			Fields: []byte(`{"schema": {"required": ["crew", "port"], "additionalProperties": false, "properties": {
				"crew": {"type": "integer"}, "port": {"$ref": "#/$defs/name"}, "hold": {"properties": {
				"tons": {"minimum": 1}}}}, "$defs": {"name": {"minLength": 2}}}}`)}); err != nil {
			return err
		}
		for fields, want := range map[string]string{
			`{"crew": "two", "hold": {"tons": 0}}`: `[{fields.port is missing} {fields.crew type: two has type "string", ` +
				`want "integer"} {fields.hold minimum: 0 is less than 1}]`,
			`{"crew": 2, "port": "x"}`: `[{fields.port minLength: "x" contains 1 Unicode code points, fewer than 2}]`,
			`{"crew": 2, "port": "Lend", "mast": 1}`: `[{fields does not match type Starship: unexpected additional ` +
				`properties ["mast"]}]`,
		} {
			_, err := p.Create(canon.NewCard{Name: "Swan", Type: "Starship", Fields: []byte(fields)})
			var f *fault.Error
			if !errors.As(err, &f) || f.Kind != fault.Rule || fmt.Sprint(f.Fields) != want {
				t.Errorf("%s: %v, fields %v", fields, err, f.Fields)
			}
		}
		return nil
	})
}
