package op

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// applyTags adds the rules in a field's tags to its schema.
func applyTags(s *jsonschema.Schema, f field) error {
	tag := f.sf.Tag
	s.Description = cmp.Or(tag.Get("jsonschema"), s.Description)
	of := s // the schema that tags about single values change
	if s.Type == "array" && s.Items != nil {
		of = s.Items
	}
	for key, set := range map[string]func(string) error{
		"min":      func(v string) error { return setFloat(&of.Minimum, v) },
		"max":      func(v string) error { return setFloat(&of.Maximum, v) },
		"minlen":   func(v string) error { return setInt(&of.MinLength, v) },
		"maxlen":   func(v string) error { return setInt(&of.MaxLength, v) },
		"minitems": func(v string) error { return setInt(&s.MinItems, v) },
		"maxitems": func(v string) error { return setInt(&s.MaxItems, v) },
		"pattern":  func(v string) error { of.Pattern = v; return nil },
		"format":   func(v string) error { of.Format = v; return nil },
		"enum":     func(v string) error { return setEnum(of, v) },
		"numeric":  func(string) error { return setNumeric(s) },
		"default":  func(v string) error { return setDefault(s, f, v) },
	} {
		if v, ok := tag.Lookup(key); ok {
			if err := set(v); err != nil {
				return fmt.Errorf("tag %s:%q: %w", key, v, err)
			}
		}
	}
	return nil
}

func setFloat(p **float64, v string) error {
	n, err := strconv.ParseFloat(v, 64)
	*p = &n
	return err
}

func setInt(p **int, v string) error {
	n, err := strconv.Atoi(v)
	*p = &n
	return err
}

func setEnum(s *jsonschema.Schema, v string) error {
	for word := range strings.SplitSeq(v, ",") {
		if s.Type == "string" {
			s.Enum = append(s.Enum, word)
			continue
		}
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return err
		}
		s.Enum = append(s.Enum, n)
	}
	return nil
}

// setNumeric lets a number be sent as a string too; the engine turns it into a number before the
// handler's input is read.
func setNumeric(s *jsonschema.Schema) error {
	if s.Type != "integer" && s.Type != "number" {
		return fmt.Errorf("is for numbers")
	}
	s.Types, s.Type = []string{s.Type, "string"}, ""
	return nil
}

func setDefault(s *jsonschema.Schema, f field, v string) error {
	if !f.optional {
		return fmt.Errorf("a field with a default is optional: add omitzero to its json tag")
	}
	if s.Type == "string" {
		s.Default, _ = jsontext.AppendQuote(nil, v)
		return nil
	}
	if !jsontext.Value(v).IsValid() {
		return fmt.Errorf("is not JSON")
	}
	s.Default = []byte(v)
	return nil
}
