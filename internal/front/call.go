package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

type callIn struct {
	Operation string          `json:"operation" minlen:"1" maxlen:"64" jsonschema:"Its name, from find_operation."`
	Arguments json.RawMessage `json:"arguments,omitzero" jsonschema:"Its arguments as find_operation lists them, an object; a name will do for an id such as locationId."`
}

// Schema shows the arguments as an object; the operation itself checks them.
func (callIn) Schema(s *jsonschema.Schema) { s.Properties["arguments"].Type = "object" }

// callOut is the output of the called operation, and how to go on if it was cut.
type callOut struct {
	Result    json.RawMessage `json:"result"`
	Truncated bool            `json:"truncated,omitzero"`
	Next      *nextCall       `json:"next,omitzero"`
}

type nextCall struct {
	Tool      string `json:"tool"`
	Arguments args   `json:"arguments"`
}

func (f *Front) callOp() *op.Operation {
	return define(op.Spec{
		Name: callTool, Title: "Call an operation that reads", Effect: access.Read, Unwrap: "result",
		Doc: "Call an operation that find_operation found and that only reads. It changes nothing.",
		Examples: []op.Example{{Title: "The tags of the wiki",
			Input: `{"operation": "get_tags", "arguments": {"limit": 5}}`}},
	}, f.call)
}

func (f *Front) changeOp() *op.Operation {
	return define(op.Spec{
		Name: changeTool, Title: "Call an operation that changes something", Effect: access.Write, Unwrap: "result",
		Interactive: true,
		Doc: "Call an operation that find_operation found and that writes, builds or proposes. Operations that " +
			"delete or overwrite are tools of their own set; find_operation names it.",
		Examples: []op.Example{{Title: "Only show a change",
			Input: `{"operation": "rename_tag", "arguments": {"from": "history", "to": "chronicle", "dry_run": true}}`}},
	}, f.changeByCall)
}

func (f *Front) call(ctx context.Context, c *op.Call, in callIn) (callOut, error) {
	o, err := f.target(c, in)
	if err != nil {
		return callOut{}, err
	}
	if o.Effect != access.Read {
		return callOut{}, fault.BadField("operation", "%s changes something; call it by %s", o.Name, doorOf(o))
	}
	return f.pass(ctx, c, o, in)
}

func (f *Front) changeByCall(ctx context.Context, c *op.Call, in callIn) (callOut, error) {
	o, err := f.target(c, in)
	if err != nil {
		return callOut{}, err
	}
	switch {
	case o.Effect == access.Read:
		return callOut{}, fault.BadField("operation", "%s only reads; call it by %s", o.Name, callTool)
	case o.Effect == access.Destroy && destroys(o, in.Arguments):
		return callOut{}, fault.BadField("operation",
			"%s can remove or overwrite data, and this tool destroys nothing; call %s itself, after %s {\"set\":%q} or at "+
				"/mcp/%s",
			o.Name, o.Name, openTool, o.Surfaces[0], o.Surfaces[0])
	}
	return f.pass(ctx, c, o, in)
}

// target returns the operation that a call names. The operations of the set are called by their own
// names.
func (f *Front) target(c *op.Call, in callIn) (*op.Operation, error) {
	caller := c.Grant.Caller()
	reach := caller
	reach.Surfaces = nil // its admission refuses what the key does not open
	o, ok := f.engine.Find(in.Operation)
	switch {
	case !ok || o.NoTool && !o.ByDoor || !f.engine.Exists(reach, "", in.Operation):
		return nil, f.notFound(c, in.Operation)
	case o.Delegates || o.Surfaces[0] == Surface:
		return nil, fault.BadField("operation", "%s is a tool of this list; call it by its name", o.Name)
	}
	return o, nil
}

// destroys reports whether a call of an operation with the effect Destroy removes or overwrites
// data. A dry run does not.
func destroys(o *op.Operation, input json.RawMessage) bool {
	var in struct {
		DryRun bool `json:"dry_run"`
	}
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	if o.In().Properties["dry_run"] != nil && json.Unmarshal(input, &in) == nil && in.DryRun {
		return false
	}
	return o.Destroys == nil || o.Destroys(input)
}

// callBytes is the number of bytes above which the output of a called operation is cut. Codex cuts
// results at 12,000 characters, in the middle.
const callBytes = 10_000

// pass invokes an operation with the arguments of a call.
func (f *Front) pass(ctx context.Context, c *op.Call, o *op.Operation, in callIn) (out callOut, err error) {
	input, unknown, err := f.inputOf(ctx, c, o, in.Arguments)
	if err != nil {
		return out, err
	}
	r := c.PartOf(o.Name, input)
	if c.OverMCP() {
		r.MaxText = callBytes
	}
	if bytes.Contains(in.Arguments, []byte(`"full"`)) {
		r.MaxText = c.MaxText // a whole text is wanted, as far as the transport goes
	}
	a, err := f.engine.Invoke(ctx, c.Grant.Caller(), r)
	if err != nil {
		return out, explainNames(err, unknown)
	}
	if a.Asks != nil {
		return out, &op.Asking{Form: *a.Asks}
	}
	c.Reply.Replayed, c.Reply.Images, c.Reply.Note = a.Reply.Replayed, a.Reply.Images, a.Reply.Note
	if ref, ok := a.Reply.Meta["contextRef"]; ok {
		c.Reply.Meta = map[string]any{"contextRef": ref}
	}
	var cut struct {
		Truncated bool      `json:"truncated"`
		Next      *nextCall `json:"next"`
	}
	if bytes.Contains(a.Output, []byte(`"truncated":true`)) && json.Unmarshal(a.Output, &cut) == nil && cut.Truncated {
		out.Truncated, out.Next = true, f.throughDoor(o, cut.Next)
		out.Result = withoutMembers(a.Output, "truncated", "next")
		return out, nil
	}
	out.Result = o.Shown(a)
	if note := noteDryRun(o, input); note != "" {
		out.Result = append([]byte(`{"note":`+note+`,`), bytes.TrimPrefix(out.Result, []byte(`{`))...)
	}
	return out, nil
}

// noteDryRun returns, as JSON, a note with the call that makes a change which an operation has only shown,
// because it does so unless told otherwise; "" if it has made the change, or was told to show it.
func noteDryRun(o *op.Operation, input json.RawMessage) string {
	dry := o.In().Properties["dry_run"]
	var given args
	if dry == nil || string(dry.Default) != "true" || json.Unmarshal(input, &given) != nil ||
		given["dry_run"] != nil {
		return ""
	}
	given["dry_run"] = false
	call, _ := json.Marshal(nextCall{changeTool, args{"operation": o.Name, "arguments": given}}) // JSON values only
	note, _ := json.Marshal("Shown, and not yet made. The call that makes the change: " + string(call))
	return string(note)
}

// inputOf returns the input of an operation that is called with arguments: names of cards become ids. unknown has the
// names that no card has, by argument.
func (f *Front) inputOf(ctx context.Context, c *op.Call, o *op.Operation, arguments json.RawMessage) (
	input json.RawMessage, unknown map[string]string, err error) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var given args
	if d.Decode(&given) != nil || given == nil {
		return arguments, nil, nil // the operation refuses them
	}
	known := maps.Clone(given)
	maps.DeleteFunc(known, func(name string, _ any) bool { return o.In().Properties[name] == nil })
	l := newLookup(f, c)
	ids, err := l.withIDs(ctx, known)
	if err != nil || reflect.DeepEqual(ids, known) {
		return arguments, l.unknown, err
	}
	maps.Copy(given, ids)
	input, err = json.Marshal(given)
	return input, l.unknown, err
}

// explainNames returns an error about an argument that takes an id and was given a name, as one that says that no
// card has the name.
func explainNames(err error, unknown map[string]string) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Kind != fault.Invalid {
		return err
	}
	for _, field := range e.Fields {
		if name, ok := unknown[field.Field]; ok {
			told := fault.BadField(field.Field, "nothing is called %q here; give an id, or a name that search finds: search "+
				"{\"query\": %q}", name, name)
			told.Code = e.Code
			return told
		}
	}
	return err
}

// throughDoor returns the call of this set that makes the next call of a cut answer.
func (f *Front) throughDoor(o *op.Operation, next *nextCall) *nextCall {
	if next == nil || next.Tool == "" {
		return nil
	}
	door := callTool
	if o.Effect != access.Read {
		door = changeTool
	}
	return &nextCall{door, args{"operation": next.Tool, "arguments": next.Arguments}}
}

// withoutMembers returns an object without some of its members.
func withoutMembers(object json.RawMessage, names ...string) json.RawMessage {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return object
	}
	b := []byte{'{'}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return object
		}
		text := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return object
		}
		if slices.Contains(names, text) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, text)
		b = append(append(b, ':'), v...)
	}
	return append(b, '}')
}
