package op

import (
	"cmp"
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// schemer is a type that adds rules to its inferred schema that tags cannot express.
type schemer interface{ Schema(s *jsonschema.Schema) }

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
	bytesType    = reflect.TypeFor[[]byte]()
	rawType      = reflect.TypeFor[stdjson.RawMessage]()
	valueType    = reflect.TypeFor[jsontext.Value]()

	textTypes = []reflect.Type{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
		reflect.TypeFor[encoding.TextAppender]()}
	jsonTypes = []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.MarshalerTo](),
		reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()}
)

// inference infers a schema from a Go type, as Define documents. It differs from jsonschema.For in
// the tags, in treating text types as strings, in recursion, and in allowing null only where it is
// sent.
type inference struct {
	output bool
	open   map[reflect.Type]bool   // structs being inferred
	recurs map[reflect.Type]string // recursive structs, and their names
	defs   map[string]*jsonschema.Schema
}

func inferInput(t reflect.Type) (*jsonschema.Schema, error)  { return inferRoot(t, false) }
func inferOutput(t reflect.Type) (*jsonschema.Schema, error) { return inferRoot(t, true) }

func inferRoot(t reflect.Type, output bool) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	in := &inference{output: output, open: map[reflect.Type]bool{}, recurs: map[reflect.Type]string{},
		defs: map[string]*jsonschema.Schema{}}
	s, err := in.inferType(t)
	if err != nil {
		return nil, err
	}
	if s.Ref != "" {
		s = in.defs[strings.TrimPrefix(s.Ref, "#/$defs/")].CloneSchemas()
	}
	if len(in.defs) > 0 {
		s.Defs = in.defs
	}
	return s, nil
}

func (in *inference) inferType(t reflect.Type) (*jsonschema.Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s, err := in.inferKind(t)
	if err != nil || s.Ref != "" {
		return s, err
	}
	if h, ok := reflect.New(t).Interface().(schemer); ok {
		h.Schema(s)
	}
	return s, nil
}

func (in *inference) inferKind(t reflect.Type) (*jsonschema.Schema, error) {
	switch {
	case t == timeType:
		return &jsonschema.Schema{Type: "string", Format: "date-time"}, nil
	case t == durationType:
		return nil, fmt.Errorf("time.Duration has no agreed JSON form; use a number, with its unit in the name")
	case t == bytesType:
		return &jsonschema.Schema{Type: "string", ContentEncoding: "base64"}, nil
	case t == rawType || t == valueType || t.Kind() == reflect.Interface || implementsAny(t, jsonTypes):
		// An empty schema is encoded as true. Claude Code refuses that as the schema of a property,
		// and with it every tool of the list.
		return &jsonschema.Schema{Description: "Any JSON value."}, nil
	case implementsAny(t, textTypes):
		return &jsonschema.Schema{Type: "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.String:
		return &jsonschema.Schema{Type: "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: jsonschema.Ptr(0.0)}, nil
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}, nil
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return nil, fmt.Errorf("%s: map keys must be strings", t)
		}
		v, err := in.inferNullable(t.Elem())
		return &jsonschema.Schema{Type: "object", AdditionalProperties: v}, err
	case reflect.Slice, reflect.Array:
		v, err := in.inferNullable(t.Elem())
		s := &jsonschema.Schema{Type: "array", Items: v}
		if t.Kind() == reflect.Array {
			s.MinItems, s.MaxItems = jsonschema.Ptr(t.Len()), jsonschema.Ptr(t.Len())
		}
		return s, err
	case reflect.Struct:
		return in.inferStruct(t)
	}
	return nil, fmt.Errorf("%s has no JSON form", t)
}

// inferNullable infers the schema of a value that is sent as null when it is a nil pointer.
func (in *inference) inferNullable(t reflect.Type) (*jsonschema.Schema, error) {
	s, err := in.inferType(t)
	if err != nil || t.Kind() != reflect.Pointer || !in.output {
		return s, err
	}
	switch {
	case s.Ref != "":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}, nil
	case s.Type != "":
		s.Types, s.Type = []string{s.Type, "null"}, ""
	}
	return s, nil
}

func (in *inference) inferStruct(t reflect.Type) (*jsonschema.Schema, error) {
	if in.open[t] {
		if t.Name() == "" {
			return nil, fmt.Errorf("%s is recursive and has no name", t)
		}
		in.recurs[t] = t.Name()
		return &jsonschema.Schema{Ref: "#/$defs/" + t.Name()}, nil
	}
	in.open[t] = true
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	err := in.inferFields(t, s)
	delete(in.open, t)
	if err != nil {
		return nil, err
	}
	name, again := in.recurs[t]
	if !again {
		return s, nil
	}
	if h, ok := reflect.New(t).Interface().(schemer); ok {
		h.Schema(s)
	}
	in.defs[name] = s
	return &jsonschema.Schema{Ref: "#/$defs/" + name}, nil
}

func (in *inference) inferFields(t reflect.Type, s *jsonschema.Schema) error {
	for f := range structFields(t) {
		p, err := in.inferField(f)
		if err == nil {
			err = applyTags(p, f)
		}
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name(), f.sf.Name, err)
		}
		if s.Properties[f.name] != nil {
			return fmt.Errorf("%s has two fields %q", t.Name(), f.name)
		}
		s.Properties[f.name] = p
		s.PropertyOrder = append(s.PropertyOrder, f.name)
		if !f.optional {
			s.Required = append(s.Required, f.name)
		}
	}
	return nil
}

func (in *inference) inferField(f field) (*jsonschema.Schema, error) {
	if f.optional {
		return in.inferType(f.sf.Type)
	}
	return in.inferNullable(f.sf.Type)
}

// field is a struct field as JSON encodes it.
type field struct {
	sf       reflect.StructField
	name     string
	optional bool
	index    []int
}

// structFields yields the fields of a struct; fields of embedded structs are yielded in their
// place.
func structFields(t reflect.Type) func(yield func(field) bool) {
	return func(yield func(field) bool) { walkFields(t, nil, yield) }
}

func walkFields(t reflect.Type, at []int, yield func(field) bool) bool {
	for i := range t.NumField() {
		sf := t.Field(i)
		name, opts, _ := strings.Cut(sf.Tag.Get("json"), ",")
		index := append(append([]int(nil), at...), i)
		et := sf.Type
		for et.Kind() == reflect.Pointer {
			et = et.Elem()
		}
		if sf.Anonymous && name == "" && et.Kind() == reflect.Struct {
			if !walkFields(et, index, yield) {
				return false
			}
			continue
		}
		if !sf.IsExported() || name == "-" {
			continue
		}
		name = cmp.Or(name, sf.Name)
		optional := strings.Contains(","+opts+",", ",omitempty,") || strings.Contains(","+opts+",", ",omitzero,")
		if !yield(field{sf, name, optional, index}) {
			return false
		}
	}
	return true
}

func implementsAny(t reflect.Type, list []reflect.Type) bool {
	return slices.ContainsFunc(list, func(i reflect.Type) bool {
		return t.Implements(i) || reflect.PointerTo(t).Implements(i)
	})
}

// specialFields finds the field that an upload fills and the field for unknown query parameters.
func specialFields(t reflect.Type) (upload, rest string) {
	for f := range structFields(t) {
		if f.sf.Type == bytesType && upload == "" {
			upload = f.name
		}
		if f.sf.Tag.Get("query") == "rest" {
			rest = f.name
		}
	}
	return upload, rest
}

func uploadIndex(t reflect.Type, name string) []int {
	for f := range structFields(t) {
		if f.name == name && name != "" {
			return f.index
		}
	}
	return nil
}
