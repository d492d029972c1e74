package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
)

// fieldInput is the input of a form for one field of a card.
type fieldInput struct {
	Name     string
	Kind     inputKind
	Label    string
	Hint     string
	Text     string // as the input shows it
	Stored   string // text of the value that the card has; "" if it has none
	Theirs   string // text of the value that somebody else wrote meanwhile, if Clash
	Clash    bool   // both have changed the field since
	Options  []fieldOption
	Required bool
	Declared bool // the schema of the type has the field
	Problem  string
}

// inputKind is the kind of an input. It stands in the input's name, so that its text can be read without the schema.
type inputKind string

// The kinds of input.
const (
	inputText    inputKind = "text"
	inputLong    inputKind = "long" // text of several lines
	inputNumber  inputKind = "number"
	inputInteger inputKind = "integer"
	inputBoolean inputKind = "boolean" // "true" or ""
	inputDate    inputKind = "date"
	inputChoice  inputKind = "choice" // the JSON of a value
	inputList    inputKind = "list"   // one text a line
	inputJSON    inputKind = "json"
)

// fieldOption is a value of an inputChoice.
type fieldOption struct{ Value, Label string }

// fieldPrefix begins the names of inputs: it is followed by the kind, a dot and the name of the field.
const fieldPrefix = "field."

// key is the name of the input in the form.
func (f fieldInput) key() string { return fieldPrefix + string(f.Kind) + "." + f.Name }

// listInputs returns the inputs for the fields of a card: first those of the type's schema, wide ones last and
// required ones first, then those that the card has besides.
func listInputs(schema json.RawMessage, held map[string]json.RawMessage) []fieldInput {
	var root jsonschema.Schema
	if len(schema) > 0 && json.Unmarshal(schema, &root) != nil {
		root = jsonschema.Schema{} // the canon refuses writes until the type is mended
	}
	var list []fieldInput
	for name := range root.Properties {
		list = append(list, declaredInput(&root, name, held[name]))
	}
	slices.SortFunc(list, func(a, b fieldInput) int {
		return cmp.Or(compareBools(a.isWide(), b.isWide()), compareBools(b.Required, a.Required),
			strings.Compare(a.Name, b.Name))
	})
	for _, name := range slices.Sorted(maps.Keys(held)) {
		if root.Properties[name] == nil && name != "pins" { // which the map edits
			list = append(list, heldInput(name, held[name]))
		}
	}
	return list
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// heldInput returns the input for a field that no schema describes, by its value.
func heldInput(name string, value json.RawMessage) fieldInput {
	f := fieldInput{Name: name, Label: strings.ReplaceAll(name, "_", " "), Kind: kindOfValue(value)}
	f.Text = textOfValue(f.Kind, value)
	f.Stored = f.Text
	return f
}

// declaredInput returns the input for a property of a schema. A value that its kind cannot show is shown as JSON.
func declaredInput(root *jsonschema.Schema, name string, value json.RawMessage) fieldInput {
	s := resolveProperty(root, root.Properties[name])
	f := heldInput(name, value)
	f.Declared, f.Required, f.Hint = true, slices.Contains(root.Required, name), s.Description
	f.Label = cmp.Or(s.Title, f.Label)
	kind := kindOfSchema(s)
	if kind == "" || value != nil && !kind.shows(value) {
		return f
	}
	f.Kind = kind
	f.Text = textOfValue(kind, value)
	f.Stored = f.Text
	for _, v := range append(slices.Clone(s.Enum), constOf(s)...) {
		if b, err := json.Marshal(v); err == nil {
			f.Options = append(f.Options, fieldOption{string(b), readable(b)})
		}
	}
	if f.Text != "" && kind == inputChoice && !slices.ContainsFunc(f.Options, func(o fieldOption) bool {
		return o.Value == f.Text
	}) {
		f.Options = append(f.Options, fieldOption{f.Text, readable(value)})
	}
	return f
}

func constOf(s *jsonschema.Schema) []any {
	if s.Const == nil {
		return nil
	}
	return []any{*s.Const}
}

// resolveProperty follows a reference of a property to the definitions of its schema.
func resolveProperty(root, s *jsonschema.Schema) *jsonschema.Schema {
	for prefix, definitions := range map[string]map[string]*jsonschema.Schema{"#/$defs/": root.Defs,
		"#/definitions/": root.Definitions} {
		if name, ok := strings.CutPrefix(s.Ref, prefix); ok && definitions[name] != nil {
			return definitions[name]
		}
	}
	return s
}

// kindOfSchema returns the kind of input for a property, or "" if the value decides.
func kindOfSchema(s *jsonschema.Schema) inputKind {
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	switch {
	case len(s.Enum) > 0 || s.Const != nil:
		return inputChoice
	case len(types) != 1:
		return ""
	}
	switch types[0] {
	case "string":
		if s.Format == "date" {
			return inputDate
		}
		if s.MaxLength != nil && *s.MaxLength > longText || s.MaxLength == nil && s.ContentMediaType != "" {
			return inputLong
		}
		return inputText
	case "number":
		return inputNumber
	case "integer":
		return inputInteger
	case "boolean":
		return inputBoolean
	case "array":
		if s.Items != nil && s.Items.Type == "string" && s.Items.Enum == nil {
			return inputList
		}
	}
	return inputJSON
}

// longText is the length from which a text gets several lines.
const longText = 120

var datePattern = lazyregexp.New(`^\d{4}-\d{2}-\d{2}$`)

// shows reports whether inputs of a kind can show a value without loss.
func (k inputKind) shows(value json.RawMessage) bool {
	switch is := kindOfValue(value); k {
	case inputDate:
		return datePattern.MatchString(textOfValue(inputText, value))
	case inputText:
		return is == inputText
	case inputLong:
		return is == inputText || is == inputLong
	case inputNumber, inputInteger:
		return is == inputNumber
	case inputChoice, inputJSON:
		return true
	default:
		return is == k
	}
}

// kindOfValue returns the kind of input for a value of a field. Without a value it is a text.
func kindOfValue(value json.RawMessage) inputKind {
	var text string
	var list []string
	switch {
	case len(value) == 0:
		return inputText
	case json.Unmarshal(value, &text) == nil && value[0] == '"':
		if strings.ContainsAny(text, "\n\r") || len(text) > longText {
			return inputLong
		}
		return inputText
	case value[0] == 't' || value[0] == 'f':
		return inputBoolean
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		return inputNumber
	case json.Unmarshal(value, &list) == nil && value[0] == '[' && !slices.ContainsFunc(list, isNoLine):
		return inputList
	}
	return inputJSON
}

// isNoLine reports whether a text does not survive as a line of an inputList.
func isNoLine(text string) bool {
	return text == "" || strings.TrimSpace(text) != text || strings.ContainsAny(text, "\r\n")
}

// textOfValue returns the text in which an input shows a value.
func textOfValue(kind inputKind, value json.RawMessage) string {
	switch kind {
	case inputText, inputLong, inputDate:
		var text string
		_ = json.Unmarshal(value, &text) // no value has no text
		return unixLines(text)
	case inputBoolean:
		if string(value) == "true" {
			return "true"
		}
		return ""
	case inputList:
		var list []string
		_ = json.Unmarshal(value, &list)
		return strings.Join(list, "\n")
	case inputJSON:
		var b bytes.Buffer
		if json.Indent(&b, value, "", "  ") == nil {
			return b.String()
		}
	}
	return string(value)
}

// unixLines returns a text as a form sends it, with the line ends that cards have.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// parseInput returns the value that a text of an input stands for; nil removes the field.
func parseInput(kind inputKind, text string) (any, error) {
	switch kind {
	case inputBoolean:
		return text == "true", nil
	case inputText, inputLong, inputDate:
		if text == "" {
			return nil, nil
		}
		return text, nil
	}
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	switch kind {
	case inputNumber, inputInteger:
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || !json.Valid([]byte(text)):
			return nil, fault.New(fault.Invalid, "must be a number, such as 12 or 3.5")
		case kind == inputInteger && n != float64(int64(n)):
			return nil, fault.New(fault.Invalid, "must be a whole number, such as 12")
		}
	case inputList:
		var list []string
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		return list, nil
	}
	if err := json.Unmarshal([]byte(text), new(any)); err != nil {
		return nil, fault.New(fault.Invalid, "is no JSON: %s; mend it, or empty the field to remove it", err)
	}
	return json.RawMessage(text), nil
}

// fillInputs puts the texts of a form into inputs. Fields that only the form has are added.
func fillInputs(inputs []fieldInput, form url.Values) []fieldInput {
	for _, key := range slices.Sorted(maps.Keys(form)) {
		kind, name, ok := strings.Cut(strings.TrimPrefix(key, fieldPrefix), ".")
		if !ok || !strings.HasPrefix(key, fieldPrefix) {
			continue
		}
		text := unixLines(form[key][len(form[key])-1]) // a box that is ticked follows one that is not
		i := slices.IndexFunc(inputs, func(f fieldInput) bool { return f.Name == name })
		if i < 0 {
			i = len(inputs)
			inputs = append(inputs, fieldInput{Name: name, Label: name, Kind: inputKind(kind)})
		}
		inputs[i].Text = text
	}
	if name := strings.TrimSpace(form.Get("new-field")); name != "" {
		i := slices.IndexFunc(inputs, func(f fieldInput) bool { return f.Name == name })
		if i < 0 {
			i = len(inputs)
			inputs = append(inputs, fieldInput{Name: name, Label: name, Kind: inputText})
		}
		inputs[i].Text = unixLines(form.Get("new-value"))
	}
	return inputs
}

// readChanges returns the values of the inputs whose text is not that of the card, and notes the problems at those
// that cannot be read.
func readChanges(inputs []fieldInput) (changed fields, sound bool) {
	changed, sound = fields{}, true
	for i, f := range inputs {
		missing := f.Required && f.Kind == inputBoolean && f.Stored == "" // an empty box is an answer
		if f.Text == f.Stored && !missing {
			continue
		}
		value, err := parseInput(f.Kind, f.Text)
		if err != nil {
			inputs[i].Problem, sound = fault.Show(err, "").Error.Message, false
			continue
		}
		changed[f.Name] = value
	}
	return changed, sound
}

// markInputs puts the errors of a write at the inputs that they are about, and returns the others.
func markInputs(inputs []fieldInput, problems []fault.Field) (others []fault.Field) {
	for _, p := range problems {
		name, _ := strings.CutPrefix(p.Field, "fields.")
		i := slices.IndexFunc(inputs, func(f fieldInput) bool { return f.Name == name })
		if i < 0 || name == p.Field {
			others = append(others, p)
			continue
		}
		inputs[i].Problem = p.Error
	}
	return others
}

// schemaOf returns the schema of the fields of a type; nil if it has none or the person sees no such type.
func (v *visit) schemaOf(typ string) (json.RawMessage, error) {
	t, err := call[cardType](v, "get_type", fields{"name": cmp.Or(typ, "RichText")})
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return nil, nil
	}
	return t.Schema, err
}
