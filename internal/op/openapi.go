package op

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// APIInfo is what an OpenAPI document is made of.
type APIInfo struct {
	Title, Version string
	Operations     []*Operation // those without a Route are left out
	Feeds          []*Feed
	// Paths are routes that are no operations': path items of OpenAPI by path.
	Paths map[string]any
}

type object = map[string]any

// OpenAPI is the OpenAPI 3.1 document of all routes, the same bytes for the same
// declarations. It shows structure alone, which is public.
func OpenAPI(info APIInfo) []byte {
	d := &apiDoc{schemas: object{"Error": errorSchema()}}
	paths := object{}
	for _, o := range info.Operations {
		if o.Route == "" {
			continue
		}
		item, ok := paths[o.Path()].(object)
		if !ok {
			item = object{}
			paths[o.Path()] = item
		}
		item[strings.ToLower(o.Method())] = d.operation(o)
	}
	for _, f := range info.Feeds {
		method, path, _ := strings.Cut(f.Route, " ")
		paths[path] = object{strings.ToLower(method): feedItem(f)}
	}
	maps.Copy(paths, info.Paths)
	doc := object{
		"openapi": "3.1.0",
		"info":    object{"title": info.Title, "version": cmp.Or(info.Version, "0")},
		"paths":   paths,
		"components": object{
			"schemas":         d.schemas,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "A token from POST /api/mcp/auth."}},
		},
		"security": []any{object{"bearer": []any{}}},
	}
	b, err := json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("op: OpenAPI: " + err.Error()) // schemas were checked when they were declared
	}
	return append(b, '\n')
}

// apiDoc collects the shared schemas of a document: those that recur.
type apiDoc struct{ schemas object }

func (d *apiDoc) operation(o *Operation) object {
	in := d.local(o.In, o.Name+"_in")
	out := d.local(o.OutputSchema(), o.Name+"_out")
	if o.Unwrap != "" {
		out = out.Properties[o.Unwrap]
	}
	m := object{
		"operationId": o.Name, "summary": o.Title, "description": o.Doc + accessWords(o), "tags": o.Surfaces[:min(1, len(o.Surfaces))],
		"parameters": d.parameters(o, in),
		"responses": object{
			strconv.Itoa(cmp.Or(o.Status, 200)): object{"description": "Done.", "content": answers(o, out)},
			"default":                           object{"description": "Refused or failed.", "content": jsonContent(&jsonschema.Schema{Ref: "#/components/schemas/Error"})},
		},
	}
	if o.Deprecated != "" {
		m["deprecated"] = true
	}
	if o.Method() != "GET" && o.Method() != "DELETE" {
		m["requestBody"] = body(o, in)
	}
	return m
}

// exampled puts an operation's examples beside the schema of its body: what of each input
// comes there.
func exampled(o *Operation, content object) {
	examples := object{}
	for _, e := range o.Examples {
		value := e.members()
		for _, name := range append(o.PathVars(), "if_match") {
			delete(value, name)
		}
		examples[e.Title] = object{"summary": e.Title, "value": value}
	}
	if len(examples) > 0 {
		content["application/json"].(object)["examples"] = examples
	}
}

// members are the fields of an example's input.
func (e Example) members() object {
	var value object
	if err := json.Unmarshal([]byte(e.Input), &value); err != nil {
		panic("op: OpenAPI: " + err.Error()) // examples were read when they were declared
	}
	return value
}

// example is the first value that an operation's examples give a field.
func (o *Operation) example(field string) (any, bool) {
	for _, e := range o.Examples {
		if v, ok := e.members()[field]; ok {
			return v, true
		}
	}
	return nil, false
}

// answers are the media types of an operation's answer: a file has whichever is its own.
func answers(o *Operation, out *jsonschema.Schema) object {
	file := object{"schema": &jsonschema.Schema{Type: "string", Format: "binary"}}
	switch o.RESTBody {
	case RESTFile:
		return object{"*/*": file}
	case RESTEither:
		content := jsonContent(out)
		content["*/*"] = file
		return content
	}
	return jsonContent(out)
}

// feedItem is a feed, which is a stream of server-sent events.
func feedItem(f *Feed) object {
	text := &jsonschema.Schema{Type: "string"}
	list := []any{parameter("header", "Last-Event-ID", &jsonschema.Schema{Type: "string", Description: "Go on after this message."}, false)}
	for part := range strings.SplitSeq(f.Route, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, parameter("path", strings.TrimSuffix(name, "}"), text, true))
		}
	}
	if !f.NoWorld && f.WorldVar == "" {
		list = append(list, parameter("query", "world", text, false))
	}
	words := f.Doc
	for _, k := range f.Kinds {
		words += "\n- " + k.Event + ": " + k.Doc
	}
	return object{
		"operationId": f.Name, "summary": f.Title, "description": words, "tags": f.Surfaces[:min(1, len(f.Surfaces))], "parameters": list,
		"responses": object{
			"200":     object{"description": "Messages, until one of both ends goes.", "content": object{"text/event-stream": object{"schema": text}}},
			"default": object{"description": "Refused or failed.", "content": jsonContent(&jsonschema.Schema{Ref: "#/components/schemas/Error"})},
		},
	}
}

// accessWords says who may call, as the description's last line.
func accessWords(o *Operation) string {
	words := "\n\nNeeds the role " + o.MinRole.String() + "."
	switch {
	case o.Operator:
		words = "\n\nFor the instance's operator."
	case o.MinRole == access.RoleNone:
		words = "\n\nFor any authenticated caller."
	}
	if o.Deprecated != "" {
		words += " Deprecated: " + o.Deprecated
	}
	return words
}

func jsonContent(s *jsonschema.Schema) object {
	return object{"application/json": object{"schema": s}}
}

func (d *apiDoc) parameters(o *Operation, in *jsonschema.Schema) []any {
	list := []any{}
	inPath := o.PathVars()
	for _, name := range inPath {
		list = append(list, parameter("path", name, in.Properties[name], true))
	}
	if o.Method() == "GET" || o.Method() == "DELETE" {
		for _, name := range propertyNames(in) {
			if !contains(inPath, name) && name != "if_match" {
				list = append(list, parameter("query", name, in.Properties[name], contains(in.Required, name)))
			}
		}
	}
	for _, p := range list {
		p := p.(object)
		if v, ok := o.example(p["name"].(string)); ok {
			p["example"] = v
		}
	}
	if !o.NoWorld && !o.declares("world") && !o.declares("campaign_id") {
		list = append(list, parameter("query", "world", o.shownIn.Properties["world"], false))
	}
	if o.keyed() {
		list = append(list, parameter("header", "Idempotency-Key", &jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(maxKey),
			Description: "Repeating the request with it has no second effect."}, false))
	}
	if o.declares("if_match") {
		list = append(list, parameter("header", "If-Match", &jsonschema.Schema{Type: "string", Description: in.Properties["if_match"].Description}, false))
	}
	return list
}

func parameter(in, name string, s *jsonschema.Schema, required bool) object {
	p := object{"in": in, "name": name, "schema": s}
	if s.Description != "" {
		own := *s
		own.Description = ""
		p["schema"], p["description"] = &own, s.Description
	}
	if required {
		p["required"] = true
	}
	return p
}

// body is what a request's body holds: the input without what comes in path and headers.
func body(o *Operation, in *jsonschema.Schema) object {
	own := *in
	own.Properties = map[string]*jsonschema.Schema{}
	own.Required, own.PropertyOrder = nil, nil
	for _, name := range propertyNames(in) {
		if contains(o.PathVars(), name) || name == "if_match" {
			continue
		}
		own.Properties[name] = in.Properties[name]
		own.PropertyOrder = append(own.PropertyOrder, name)
		if contains(in.Required, name) {
			own.Required = append(own.Required, name)
		}
	}
	content := jsonContent(&own)
	exampled(o, content)
	if o.BodyLimit > 0 {
		raw := &jsonschema.Schema{Type: "string", Format: "binary"}
		content["application/octet-stream"] = object{"schema": raw}
		content["multipart/form-data"] = object{"schema": &jsonschema.Schema{Type: "object", Required: []string{"file"},
			Properties: map[string]*jsonschema.Schema{"file": raw, "filename": {Type: "string"}}, PropertyOrder: []string{"file", "filename"}}}
	}
	return object{"required": len(own.Required) > 0, "content": content}
}

// local is a schema with its recurring parts moved among the document's.
func (d *apiDoc) local(s *jsonschema.Schema, prefix string) *jsonschema.Schema {
	s = s.CloneSchemas()
	for name, def := range s.Defs {
		relocate(def, prefix)
		d.schemas[prefix+"_"+name] = def
	}
	s.Defs = nil
	relocate(s, prefix)
	return s
}

func relocate(s *jsonschema.Schema, prefix string) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s.Ref = "#/components/schemas/" + prefix + "_" + name
	}
	for _, p := range s.Properties {
		relocate(p, prefix)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, {s.Items, s.AdditionalProperties, s.Not, s.If, s.Then, s.Else}} {
		for _, p := range list {
			relocate(p, prefix)
		}
	}
}

func errorSchema() *jsonschema.Schema {
	s, err := For[fault.Envelope]()
	if err != nil {
		panic("op: " + err.Error())
	}
	return s
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
