package op

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

var typeNames = map[string]string{"string": "a string", "integer": "a whole number", "number": "a number",
	"boolean": "true or false", "array": "a list", "object": "an object", "null": "null"}

func typeWords(types []string) string {
	if numeric(types) {
		return typeNames[types[0]] + ", or its digits as a string"
	}
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = typeNames[t]
	}
	return strings.Join(words, " or ")
}

// numeric reports whether the types are those of a number that may come as a string.
func numeric(types []string) bool {
	return len(types) == 2 && (types[0] == "integer" || types[0] == "number") && types[1] == "string"
}

func kindWord(n *node) string {
	switch n.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "the number " + clip(n.text, 20)
}

func enumWords(enum []any) string {
	words := make([]string, len(enum))
	for i, e := range enum {
		words[i] = fmt.Sprint(e)
	}
	return strings.Join(words, ", ")
}

// unknown says that a field is not known, and the known one that was meant perhaps.
func unknown(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("is not known; did you mean %q?", near)
	}
	if len(known) == 0 {
		return "is not known; this takes no fields"
	}
	return "is not known; the fields are " + strings.Join(known, ", ")
}

// nearest is the known name most like a name, or "": within a third of its length in
// edits or two, which is one slip of two neighbours; case, dashes and underscores aside.
func nearest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	fold := func(s string) string { return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s)) }
	best, found := max(len(name)/3, min(len(name)/2, 2))+1, ""
	for _, k := range known {
		if d := markup.Distance([]byte(fold(name)), []byte(fold(k))); d < best {
			best, found = d, k
		}
	}
	return found
}

func isBase64(s string) bool {
	_, err := base64.StdEncoding.DecodeString(s)
	return err == nil
}

// lastCause is the innermost message of a jsonschema-go error, whose outer ones name
// schemas.
func lastCause(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return clip(err.Error(), 200)
		}
		err = next
	}
}

// mismatch makes a fault of an input that its Go type refuses although the schema held,
// such as a number too great for it or a text that a type's own reading refuses.
func mismatch(err error) error {
	var s *json.SemanticError
	if !errors.As(err, &s) {
		return fault.New(fault.Invalid, "the input could not be read: %s", clip(err.Error(), 200))
	}
	var path *where
	for part := range s.JSONPointer.Tokens() {
		path = &where{up: path, name: part, index: -1}
	}
	why := "does not fit"
	if s.Err != nil {
		why += ": " + clip(s.Err.Error(), 120)
	}
	return fault.BadField(path.String(), "%s", why)
}
