package op

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// APIInfo holds the parts of an OpenAPI document.
type APIInfo struct {
	Title, Version string
	Operations     []*Operation // those without a Route are left out
	Feeds          []*Feed
	// Paths holds OpenAPI path items, by path, of routes that are not operations.
	Paths map[string]any
}

type object = map[string]any

// OpenAPI returns the OpenAPI 3.1 document of all routes. The same declarations give the same
// bytes. The document shows only structure, which is public.
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
		item[strings.ToLower(o.Method())] = d.describeOperation(o)
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
			"schemas": d.schemas,
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer",
				"description": "A token from POST /api/mcp/auth."}},
		},
		"security": []any{object{"bearer": []any{}}},
	}
	b, err := json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		panic("op: OpenAPI: " + err.Error()) // schemas were checked when they were declared
	}
	return append(b, '\n')
}

// apiDoc collects a document's components.schemas: the schemas that operations refer to by $ref.
type apiDoc struct{ schemas object }

func (d *apiDoc) describeOperation(o *Operation) object {
	in := d.moveDefs(o.In(), o.Name+"_in")
	out := d.moveDefs(o.OutputSchema(), o.Name+"_out")
	if o.Unwrap != "" {
		out = out.Properties[o.Unwrap]
	}
	m := object{
		"operationId": o.Name, "summary": o.Title, "description": o.Doc + accessWords(o),
		"tags":       o.Surfaces[:min(1, len(o.Surfaces))],
		"parameters": d.listParameters(o, in),
		"responses": object{
			strconv.Itoa(cmp.Or(o.Status, 200)): object{"description": "Done.", "content": answerContent(o, out)},
			"default": object{"description": "Refused or failed.",
				"content": jsonContent(&jsonschema.Schema{Ref: "#/components/schemas/Error"})},
		},
	}
	if o.Method() != "GET" && o.Method() != "DELETE" {
		m["requestBody"] = requestBody(o, in)
	}
	return m
}

// addExamples adds an operation's examples beside the schema of its body, each reduced to the
// fields that the body holds.
func addExamples(o *Operation, content object) {
	examples := object{}
	for _, e := range o.Examples {
		value := e.decodeInput()
		for _, name := range append(o.PathVars(), "if_match") {
			delete(value, name)
		}
		examples[e.Title] = object{"summary": e.Title, "value": value}
	}
	if len(examples) > 0 {
		content["application/json"].(object)["examples"] = examples
	}
}

// decodeInput returns the fields of an example's input.
func (e Example) decodeInput() object {
	var value object
	if err := json.Unmarshal([]byte(e.Input), &value); err != nil {
		panic("op: OpenAPI: " + err.Error()) // examples were checked when they were declared
	}
	return value
}

// exampleValue returns the first value that an operation's examples give to a field.
func (o *Operation) exampleValue(field string) (any, bool) {
	for _, e := range o.Examples {
		if v, ok := e.decodeInput()[field]; ok {
			return v, true
		}
	}
	return nil, false
}

// answerContent returns the media types of an operation's answer. A file may have any type.
func answerContent(o *Operation, out *jsonschema.Schema) object {
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

// feedItem returns the path item of a feed, which is a stream of server-sent events.
func feedItem(f *Feed) object {
	text := &jsonschema.Schema{Type: "string"}
	list := []any{newParameter("header", "Last-Event-ID",
		&jsonschema.Schema{Type: "string", Description: "Continue after this message."}, false)}
	for part := range strings.SplitSeq(f.Route, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			list = append(list, newParameter("path", strings.TrimSuffix(name, "}"), text, true))
		}
	}
	if !f.NoWorld && f.WorldVar == "" {
		list = append(list, newParameter("query", "world", text, false))
	}
	words := f.Doc
	for _, k := range f.Kinds {
		words += "\n- " + k.Event + ": " + k.Doc
	}
	return object{
		"operationId": f.Name, "summary": f.Title, "description": words, "tags": f.Surfaces[:min(1, len(f.Surfaces))],
		"parameters": list,
		"responses": object{
			"200": object{"description": "Messages, until the client or the server closes the stream.",
				"content": object{"text/event-stream": object{"schema": text}}},
			"default": object{"description": "Refused or failed.",
				"content": jsonContent(&jsonschema.Schema{Ref: "#/components/schemas/Error"})},
		},
	}
}

// accessWords returns the last line of the description: the role or caller that is needed.
func accessWords(o *Operation) string {
	words := "\n\nNeeds the role " + o.MinRole.String() + "."
	switch {
	case o.Operator:
		words = "\n\nFor the instance's operator."
	case o.MinRole == access.RoleNone:
		words = "\n\nFor any authenticated caller."
	}
	if o.Manages {
		words += " A game master may call it in a world where gm_rights is all."
	}
	if o.People {
		words += " Only for people, not for the keys of programs."
	}
	return words
}

func jsonContent(s *jsonschema.Schema) object {
	return object{"application/json": object{"schema": s}}
}

func (d *apiDoc) listParameters(o *Operation, in *jsonschema.Schema) []any {
	list := []any{}
	inPath := o.PathVars()
	for _, name := range inPath {
		list = append(list, newParameter("path", name, in.Properties[name], true))
	}
	if o.Method() == "GET" || o.Method() == "DELETE" {
		for _, name := range PropertyNames(in) {
			if !slices.Contains(inPath, name) && name != "if_match" {
				list = append(list, newParameter("query", name, in.Properties[name], slices.Contains(in.Required, name)))
			}
		}
	}
	for _, p := range list {
		p := p.(object)
		if v, ok := o.exampleValue(p["name"].(string)); ok {
			p["example"] = v
		}
	}
	if !o.NoWorld && !o.declaresField("world") && !o.declaresField("campaign_id") {
		list = append(list, newParameter("query", "world", o.InputSchema().Properties["world"], false))
	}
	if o.takesKey() {
		list = append(list, newParameter("header", "Idempotency-Key",
			&jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(maxKey),
				Description: "Repeating the request with it has no second effect."}, false))
	}
	if o.declaresField("if_match") {
		list = append(list, newParameter("header", "If-Match",
			&jsonschema.Schema{Type: "string", Description: in.Properties["if_match"].Description}, false))
	}
	return list
}

func newParameter(in, name string, s *jsonschema.Schema, required bool) object {
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

// requestBody describes a request's body: the input without the fields sent in path and headers.
func requestBody(o *Operation, in *jsonschema.Schema) object {
	own := *in
	own.Properties = map[string]*jsonschema.Schema{}
	own.Required, own.PropertyOrder = nil, nil
	for _, name := range PropertyNames(in) {
		if slices.Contains(o.PathVars(), name) || name == "if_match" {
			continue
		}
		own.Properties[name] = in.Properties[name]
		own.PropertyOrder = append(own.PropertyOrder, name)
		if slices.Contains(in.Required, name) {
			own.Required = append(own.Required, name)
		}
	}
	content := jsonContent(&own)
	addExamples(o, content)
	if o.BodyLimit > 0 {
		raw := &jsonschema.Schema{Type: "string", Format: "binary"}
		content["application/octet-stream"] = object{"schema": raw}
		content["multipart/form-data"] = object{"schema": &jsonschema.Schema{Type: "object", Required: []string{"file"},
			Properties:    map[string]*jsonschema.Schema{"file": raw, "filename": {Type: "string"}},
			PropertyOrder: []string{"file", "filename"}}}
	}
	return object{"required": len(own.Required) > 0, "content": content}
}

// moveDefs copies a schema and moves its recurring parts to the document's shared schemas.
func (d *apiDoc) moveDefs(s *jsonschema.Schema, prefix string) *jsonschema.Schema {
	s = s.CloneSchemas()
	for name, def := range s.Defs {
		relocateRefs(def, prefix)
		d.schemas[prefix+"_"+name] = def
	}
	s.Defs = nil
	relocateRefs(s, prefix)
	return s
}

func relocateRefs(s *jsonschema.Schema, prefix string) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s.Ref = "#/components/schemas/" + prefix + "_" + name
	}
	for _, p := range s.Properties {
		relocateRefs(p, prefix)
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems,
		{s.Items, s.AdditionalProperties, s.Not, s.If, s.Then, s.Else}} {
		for _, p := range list {
			relocateRefs(p, prefix)
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
