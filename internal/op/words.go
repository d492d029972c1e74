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
	"loregate/internal/slicesx"
)

var typeNames = map[string]string{"string": "a string", "integer": "a whole number", "number": "a number",
	"boolean": "true or false", "array": "a list", "object": "an object", "null": "null"}

func typeWords(types []string) string {
	if isNumericString(types) {
		return typeNames[types[0]] + ", or its digits as a string"
	}
	words := slicesx.Map(types, func(t string) string { return typeNames[t] })
	return strings.Join(words, " or ")
}

// isNumericString reports whether the types are those of a number that may be sent as a string.
func isNumericString(types []string) bool {
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
	return "the number " + markup.Shorten(n.text, 20)
}

func enumWords(enum []any) string {
	words := slicesx.Map(enum, func(e any) string { return fmt.Sprint(e) })
	return strings.Join(words, ", ")
}

// unknownFieldText is the error for an unknown field; it suggests the known field that was perhaps
// meant.
func unknownFieldText(name string, known []string) string {
	if near := nearestName(name, known); near != "" {
		return fmt.Sprintf("is not known; did you mean %q?", near)
	}
	if len(known) == 0 {
		return "is not known; there are no fields here"
	}
	return "is not known; the fields are " + strings.Join(known, ", ")
}

// nearestName returns the known name most similar to name, or "". It allows
// max(len/3, min(len/2, 2)) edits, since two edits are one swap of neighbours. It ignores case,
// dashes and underscores.
func nearestName(name string, known []string) string {
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

// suggestionText returns "; did you mean …?" with the allowed word that the text resembles, or "".
func suggestionText(n *node, enum []any) string {
	if n.kind != '"' {
		return ""
	}
	words := make([]string, 0, len(enum))
	for _, e := range enum {
		if w, ok := e.(string); ok {
			words = append(words, w)
		}
	}
	near := nearestName(n.text, words)
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

// idWords describes the form of an id and, from the field's description, the object it identifies.
func idWords(hint string) string {
	said := "must be an id such as 01920000-0000-7000-8000-000000000001; lists and searches return ids"
	if hint != "" {
		said += " (" + strings.TrimRight(firstSentence(hint), ". ") + ")"
	}
	return said
}

// patternWords describes in words the texts that a pattern accepts, because the pattern itself
// tells a caller nothing.
func patternWords(s *jsonschema.Schema) string {
	switch {
	case s.Pattern == "":
		return ""
	case strings.Contains(s.Pattern, "[0-9a-fA-F]{8}-"):
		return idWords(s.Description)
	}
	said := "does not have an allowed form"
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

// signsOf lists the characters that an ASCII pattern accepts; "" for other patterns.
func signsOf(pattern string) string {
	re, err := resyntax.Parse(pattern, resyntax.Perl)
	if err != nil {
		return ""
	}
	var taken [128]bool
	if !collectChars(re, &taken) {
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

// collectChars marks the ASCII characters of a pattern in taken. It returns false for other
// characters.
func collectChars(re *resyntax.Regexp, taken *[128]bool) bool {
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
	return !slices.ContainsFunc(re.Sub, func(sub *resyntax.Regexp) bool { return !collectChars(sub, taken) })
}

// formWords lists the forms that a schema with alternatives accepts.
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
		return "violates a rule of this field: " + cmp.Or(strings.TrimRight(s.Description, ". "), "see the example")
	}
	return "must be " + strings.Join(forms, ", or ")
}

// faultFromDecode converts the error of an input that passed its schema but not its Go type, such
// as a number too large for the type or a text that the type's own decoder refuses.
func faultFromDecode(err error) error {
	var s *json.SemanticError
	if !errors.As(err, &s) {
		return fault.New(fault.Invalid, "the input could not be read: %s", markup.Shorten(err.Error(), 200))
	}
	var path *fieldPath
	for part := range s.JSONPointer.Tokens() {
		path = &fieldPath{up: path, name: part, index: -1}
	}
	why := "does not fit"
	switch {
	case errors.Is(s.Err, strconv.ErrRange) || s.Err != nil && strings.Contains(s.Err.Error(), "out of range"):
		why = "the number is out of range; give a smaller one"
	case s.Err != nil:
		why = markup.Shorten(s.Err.Error(), 120)
	}
	return fault.BadField(path.String(), "%s", why)
}

func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
