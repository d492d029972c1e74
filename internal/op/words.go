package op

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	resyntax "regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

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

// meant is the allowed word that a text resembles, as a question; "" where there is none.
func meant(n *node, enum []any) string {
	if n.kind != '"' {
		return ""
	}
	words := make([]string, 0, len(enum))
	for _, e := range enum {
		if w, ok := e.(string); ok {
			words = append(words, w)
		}
	}
	near := nearest(n.text, words)
	for _, w := range words {
		if near == "" && n.text != "" && (strings.HasPrefix(w, n.text) || strings.HasPrefix(n.text, w)) {
			near = w
		}
	}
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// idWords says what an id looks like and, by the field's own description, of what it is.
func idWords(hint string) string {
	said := "must be an id such as 01920000-0000-7000-8000-000000000001, as lists and searches give it"
	if hint != "" {
		said += " (" + strings.TrimRight(firstSentence(hint), ". ") + ")"
	}
	return said
}

// patternWords says in words which texts a pattern takes: a caller learns nothing from the
// pattern itself.
func patternWords(s *jsonschema.Schema) string {
	switch {
	case s.Pattern == "":
		return ""
	case strings.Contains(s.Pattern, "[0-9a-fA-F]{8}-"):
		return idWords(s.Description)
	}
	said := "has a form that is not taken"
	if signs := signsOf(s.Pattern); signs != "" {
		said += ": use " + signs
	}
	if s.Description != "" {
		said += "; it is: " + strings.TrimRight(firstSentence(s.Description), ". ")
	}
	if s.Default != nil {
		said += ", such as " + string(s.Default)
	}
	return said
}

// signsOf names the characters that a pattern of ASCII takes; "" for other patterns.
func signsOf(pattern string) string {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil {
		return ""
	}
	var taken [128]bool
	if !collect(re, &taken) {
		return ""
	}
	var words []string
	for _, r := range []struct {
		from, to byte
		name     string
	}{{'a', 'z', "small letters"}, {'A', 'Z', "capital letters"}, {'0', '9', "digits"}} {
		if taken[r.from] && taken[r.to] {
			words = append(words, r.name)
			clear(taken[r.from : r.to+1])
		}
	}
	if len(words) > 1 && words[0] == "small letters" && words[1] == "capital letters" {
		words = append([]string{"letters"}, words[2:]...)
	}
	for c := range taken {
		switch {
		case !taken[c]:
		case c == ' ':
			words = append(words, "spaces")
		default:
			words = append(words, string(rune(c)))
		}
	}
	return strings.Join(words, ", ")
}

// collect notes the characters of a pattern; it gives up on those beyond ASCII.
func collect(re *resyntax.Regexp, taken *[128]bool) bool {
	for i := 0; re.Op == resyntax.OpCharClass && i < len(re.Rune); i += 2 {
		if re.Rune[i+1] >= 128 {
			return false
		}
		for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
			taken[c] = true
		}
	}
	for i := 0; re.Op == resyntax.OpLiteral && i < len(re.Rune); i++ {
		if re.Rune[i] >= 128 {
			return false
		}
		taken[re.Rune[i]] = true
	}
	if re.Op == resyntax.OpAnyChar || re.Op == resyntax.OpAnyCharNotNL {
		return false
	}
	for _, sub := range re.Sub {
		if !collect(sub, taken) {
			return false
		}
	}
	return true
}

// formWords says which forms a schema of several takes.
func formWords(s *jsonschema.Schema) string {
	var forms []string
	for _, alt := range append(slices.Clone(s.AnyOf), s.OneOf...) {
		switch {
		case len(alt.Enum) > 0:
			forms = append(forms, enumWords(alt.Enum))
		case alt.Type == "array" && alt.Items != nil && alt.Items.Type == "string":
			forms = append(forms, "a list of texts")
		case len(alt.Required) > 0:
			forms = append(forms, "an object with "+strings.Join(alt.Required, ", "))
		case alt.Type != "":
			forms = append(forms, typeNames[alt.Type])
		}
	}
	if len(forms) == 0 {
		return "breaks a rule of this field: " + cmp.Or(strings.TrimRight(s.Description, ". "), "see the example")
	}
	return "must be " + strings.Join(forms, ", or ")
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
	switch {
	case errors.Is(s.Err, strconv.ErrRange) || s.Err != nil && strings.Contains(s.Err.Error(), "out of range"):
		why = "the number is out of range; give a smaller one"
	case s.Err != nil:
		why = clip(s.Err.Error(), 120)
	}
	return fault.BadField(path.String(), "%s", why)
}
