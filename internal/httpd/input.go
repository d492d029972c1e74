package httpd

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// fields collects input fields sent as text, in path, query, headers or a form, and writes each as
// JSON of the type in the operation's schema. A text that does not fit the type stays a string,
// which the engine refuses by name.
type fields struct {
	o      *op.Operation
	json   []byte // members, each with a comma after it
	rest   []byte // members of the field that takes unknown parameters
	listed []string
	lists  map[string][]string
}

func (f *fields) add(name, text string) {
	s := f.o.In().Properties[name]
	if s != nil && s.Type == "array" {
		if f.lists == nil {
			f.lists = map[string][]string{}
		}
		if !slices.Contains(f.listed, name) {
			f.listed = append(f.listed, name)
		}
		f.lists[name] = append(f.lists[name], strings.Split(text, ",")...)
		return
	}
	f.json = appendMember(f.json, name, encodeTyped(s, text))
}

func appendMember(b []byte, name string, value []byte) []byte {
	b = append(append(b, quoteJSON(name)...), ':')
	return append(append(b, value...), ',')
}

func quoteJSON(s string) []byte {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return nil
	}
	return b
}

// encodeTyped encodes a text as JSON of the schema's type.
func encodeTyped(s *jsonschema.Schema, text string) []byte {
	if s == nil {
		return quoteJSON(text)
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[0]
	}
	switch kind {
	case "string":
		return quoteJSON(text)
	case "boolean":
		switch text {
		case "true", "1", "":
			return []byte("true")
		case "false", "0":
			return []byte("false")
		}
	case "integer", "number":
		if v := jsontext.Value(text); v.IsValid() && v.Kind() == '0' {
			return bytes.TrimSpace(v)
		}
	default:
		if v := jsontext.Value(text); v.IsValid() && (v.Kind() == '{' || v.Kind() == '[') {
			return v
		}
	}
	return quoteJSON(text)
}

// addQuery reads a query string. A "+" in it is a plus, as it is in card names, and not a space.
// The world of the call is not an input field.
func (f *fields) addQuery(raw string, r *op.Request) error {
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err1 := url.PathUnescape(name)
		value, err2 := url.PathUnescape(value)
		if err1 != nil || err2 != nil || !utf8.ValidString(name+value) {
			return fault.New(fault.Invalid, "the query could not be read at %q; percent-encode it as UTF-8",
				strings.ToValidUTF8(markup.Shorten(pair, 60), "?"))
		}
		name = f.o.Field(name)
		known := f.o.In().Properties[name] != nil
		switch {
		case name == "world" && !known && !f.o.NoWorld:
			if r.World != "" && r.World != value {
				return fault.BadField("world", "is given twice")
			}
			r.World = value
		case !known && f.o.RestField() != "":
			f.rest = appendMember(f.rest, name, quoteJSON(value))
		default:
			f.add(name, value)
		}
	}
	return nil
}

// ifMatch sets the operation's if_match from the If-Match header. A write without that field is
// refused, because it would ignore the caller's condition.
func (f *fields) ifMatch(lines []string) error {
	if len(lines) == 0 || lines[0] == "*" {
		return nil
	}
	s := f.o.In().Properties["if_match"]
	if s == nil {
		if !f.o.Writes() {
			return nil
		}
		return fault.BadField("If-Match", "is not accepted here; leave it out")
	}
	tag := strings.TrimPrefix(strings.TrimSpace(lines[0]), "W/")
	if len(lines) > 1 || strings.Contains(tag, ",") || !utf8.ValidString(tag) {
		return fault.BadField("If-Match", "must be one entity tag")
	}
	f.json = appendMember(f.json, "if_match", encodeTyped(s, strings.Trim(tag, `"`)))
	return nil
}

// addFilename gives the operation the name of an uploaded file, if it has a field for it.
func (f *fields) addFilename(disposition string) {
	if disposition == "" || f.o.In().Properties["filename"] == nil || bytes.Contains(f.json, []byte(`"filename":`)) {
		return
	}
	_, params, err := mime.ParseMediaType(disposition)
	if err != nil || params["filename"] == "" || !utf8.ValidString(params["filename"]) {
		return
	}
	name := params["filename"]
	f.add("filename", name[strings.LastIndexAny(name, `/\`)+1:])
}

// withoutPath removes the members of a body that repeat the values in its path, as examples of an
// operation's whole input do. Members with other values stay, and are refused as given twice.
func withoutPath(body []byte, names []string, vars map[string]string) []byte {
	if !slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(body, quoteJSON(name)) }) {
		return body
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	before := len(members)
	for _, name := range names {
		var text string
		if v, ok := members[name]; ok && json.Unmarshal(v, &text) == nil && text == vars[name] {
			delete(members, name)
		}
	}
	if len(members) == before {
		return body
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return rest
}

// buildObject returns all fields, and those of a body, as one JSON object. A body that is not an
// object is passed on unchanged, for the engine to refuse.
func (f *fields) buildObject(body []byte) []byte {
	members := f.json
	for _, name := range f.listed {
		members = appendMember(members, name, encodeList(f.o.In().Properties[name].Items, f.lists[name]))
	}
	if len(f.rest) > 0 {
		members = appendMember(members, f.o.RestField(), slices.Concat([]byte{'{'}, f.rest[:len(f.rest)-1], []byte{'}'}))
	}
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		body = []byte("{}")
	}
	if len(members) == 0 || body[0] != '{' {
		return body
	}
	after := bytes.TrimLeft(body[1:], " \t\r\n")
	if len(after) > 0 && after[0] == '}' {
		// Each member ends with a comma. Before "}" the last one has nothing to separate.
		members = members[:len(members)-1]
	}
	return slices.Concat([]byte{'{'}, members, after)
}

func encodeList(items *jsonschema.Schema, texts []string) []byte {
	b := []byte{'['}
	for i, t := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encodeTyped(items, t)...)
	}
	return append(b, ']')
}
