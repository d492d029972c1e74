package op

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
)

// Define makes an operation from its declaration, types and handler. The types are read when they are first needed,
// with a panic if they are wrong; [Local.Check] finds that.
//
// In and Out are structs. Their tags are the whole schema:
//
//	json:"name"             the wire name; the field is required
//	json:"name,omitzero"    optional (omitempty too)
//	jsonschema:"text"       description of the field; every input field of the first level has one
//	enum:"a,b"              the values allowed
//	default:"50"            used where the caller sends none; the field must be optional
//	min:"1" max:"100"       bounds of a number
//	minlen:"1" maxlen:"255" bounds of a string, in characters
//	pattern:"^[a-z]+$"      RE2 that a string matches
//	minitems:"1" maxitems:"100" bounds of a list
//	format:"uri"            a word of JSON Schema, shown; of them only uuid and date-time are checked
//	numeric:"string"        a number that is shown as one that may come as a string too
//	query:"rest"            a map that takes the unknown query parameters of a GET route
//	alias:"a,b"             further names of a field of the first level, understood and not shown
//
// Any number may be sent as a string of its digits. Common other names of a field, such as query
// for q, are accepted too unless another field is declared with that name.
//
// On a list, enum, min, max, minlen, maxlen and pattern apply to its items. A null for an optional
// field counts as absent. A *T of the output without omitzero may be null; no other part of an
// input or output is. A nil slice or map is sent as [] or {}. time.Time is RFC 3339; a date alone
// means its first instant in UTC. []byte is base64, and over REST a raw or multipart body fills it.
// [encoding/json.RawMessage] and any hold any JSON; types with text methods are strings. A
// recursive type becomes a $ref. For rules that tags cannot express, a type has the method
// Schema(*jsonschema.Schema).
//
// The names world, idempotency_key, wait_for_previous and _meta belong to the engine: it removes
// them before the handler's input is read, unless In declares them. An input field dry_run that is
// true makes the call a dry run: its grant commits nothing. An input field campaign_id names the
// world. An input field idempotencyKey is another name for the key.
func Define[In, Out any](s Spec, handle func(ctx context.Context, c *Call, in In) (Out, error)) *Operation {
	o := &Operation{Spec: s}
	o.input = sync.OnceValue(func() *inputForm { return newInputForm(o, reflect.TypeFor[In]()) })
	o.output = sync.OnceValue(func() *outputForm { return newOutputForm(o, reflect.TypeFor[Out]()) })
	o.handle = func(ctx context.Context, c *Call, input, upload []byte) (any, error) {
		var v In
		if err := json.Unmarshal(input, &v, json.RejectUnknownMembers(true)); err != nil {
			return nil, faultFromDecode(err)
		}
		if index := o.input().uploadIndex; upload != nil && index != nil {
			reflect.ValueOf(&v).Elem().FieldByIndex(index).SetBytes(upload)
		}
		return handle(ctx, c, v)
	}
	return o
}

// inputForm is all that the type of an operation's input says. It is made at its first use: a process uses few of the
// operations that it offers.
type inputForm struct {
	schema, shown *jsonschema.Schema
	shape         *shape
	upload        string            // field that a raw body fills; "" for none
	uploadIndex   []int             // of that field; nil for none
	rest          string            // field that takes unknown query parameters; "" for none
	aliases       map[string]string // further names of fields
}

func newInputForm(o *Operation, t reflect.Type) *inputForm {
	schema, err := inferInput(t)
	if err != nil {
		panic("op: input of " + o.Name + ": " + err.Error())
	}
	f := formOf(o, schema)
	f.upload, f.rest = specialFields(t)
	f.uploadIndex = uploadIndex(t, f.upload)
	f.aliases = aliasesOf(t)
	return f
}

// formOf is the form of an input with a schema.
func formOf(o *Operation, schema *jsonschema.Schema) *inputForm {
	s, err := compileSchema(schema)
	if err != nil {
		panic("op: input of " + o.Name + ": " + err.Error())
	}
	return &inputForm{schema: schema, shown: shownInput(o, schema), shape: s}
}

// outputForm is all that the type of an operation's output says, made at its first use.
type outputForm struct {
	schema, shown *jsonschema.Schema
	list          *listShape // of a page of a list; nil for any other output
}

func newOutputForm(o *Operation, t reflect.Type) *outputForm {
	schema, err := inferOutput(t)
	if err != nil {
		panic("op: output of " + o.Name + ": " + err.Error())
	}
	list, err := listShapeOf(t)
	if err != nil {
		panic("op: output of " + o.Name + ": " + err.Error())
	}
	return &outputForm{schema: schema, shown: shownOutput(schema), list: list}
}

// In is the schema of the handler's input. It must not be changed.
func (o *Operation) In() *jsonschema.Schema { return o.input().schema }

// Out is the schema of the handler's output. It must not be changed.
func (o *Operation) Out() *jsonschema.Schema { return o.output().schema }

// InputSchema is the input schema shown to callers: In, plus the optional world and idempotency_key
// where the operation takes them. It must not be changed.
func (o *Operation) InputSchema() *jsonschema.Schema { return o.input().shown }

// OutputSchema is the output schema shown to callers: Out, plus truncated and next, because any
// output may be cut. It must not be changed.
func (o *Operation) OutputSchema() *jsonschema.Schema { return o.output().shown }

// BriefFields returns the words of Brief.
func (o *Operation) BriefFields() map[string]string {
	if o.Brief == nil {
		return nil
	}
	return o.Brief()
}

// UploadField is the input field that a raw or multipart body fills; "" for none.
func (o *Operation) UploadField() string { return o.input().upload }

// RestField is the input field that takes unknown query parameters; "" for none.
func (o *Operation) RestField() string { return o.input().rest }

// Writes reports whether the operation commits changes.
func (o *Operation) Writes() bool { return o.Effect == access.Write || o.Effect == access.Destroy }

// takesKey reports whether the operation takes an idempotency key.
func (o *Operation) takesKey() bool { return o.Effect != access.Read }

// declaresField reports whether the handler's input has the field.
func (o *Operation) declaresField(field string) bool { return o.In().Properties[field] != nil }

func shownInput(o *Operation, schema *jsonschema.Schema) *jsonschema.Schema {
	s := copyTop(schema)
	add := func(name string, p *jsonschema.Schema) {
		if s.Properties[name] == nil {
			s.Properties[name] = p
			s.PropertyOrder = append(s.PropertyOrder, name)
		}
	}
	if !o.NoWorld && schema.Properties["campaign_id"] == nil {
		add("world", &jsonschema.Schema{Type: "string",
			Description: "Slug or id of the world; needed only where the key opens several."})
	}
	if o.takesKey() && schema.Properties["idempotencyKey"] == nil {
		add("idempotency_key", &jsonschema.Schema{Type: "string", MaxLength: jsonschema.Ptr(maxKey),
			Description: "A text of your choice: repeating the call with it has no second effect."})
	}
	return s
}

func shownOutput(schema *jsonschema.Schema) *jsonschema.Schema {
	s := copyTop(schema)
	// No descriptions here: they would be repeated in every listed tool.
	for _, field := range []struct{ name, kind string }{{"truncated", "boolean"}, {"next", "object"}} {
		if s.Properties[field.name] == nil {
			s.Properties[field.name] = &jsonschema.Schema{Type: field.kind}
		}
		if !slices.Contains(s.PropertyOrder, field.name) {
			s.PropertyOrder = append(s.PropertyOrder, field.name)
		}
	}
	return s
}

// copyTop copies an object's schema so that fields can be added to it.
func copyTop(schema *jsonschema.Schema) *jsonschema.Schema {
	s := *schema
	s.Properties = make(map[string]*jsonschema.Schema, len(schema.Properties)+2)
	maps.Copy(s.Properties, schema.Properties)
	s.PropertyOrder = slices.Clone(schema.PropertyOrder)
	return &s
}
