package mcpd

import (
	"context"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/op"
)

// maxResult is the size that Claude Code is told to accept from a tool whose output cannot be cut.
// Without it, Claude Code cuts at 50,000 characters in the middle of the JSON.
const maxResult = 200_000

// toolCache caches the JSON of listed tools.
type toolCache struct{ tools sync.Map } // toolKey -> []byte

type toolKey struct {
	op   *op.Operation
	form toolForm
}

// toolForm is the form in which a tool is listed.
type toolForm struct {
	advisory bool // its writes answer with a proposal, which does not match the output schema
	short    bool // without the fields that every call may have
	several  bool // the caller can mean several worlds
	outputs  bool // with the output schema
}

// outputsMember is the member of the _meta of tools/list with which a client asks for output
// schemas.
const outputsMember = "outputSchemas"

// formOf returns the form in which a call of tools/list is answered.
func (s *Server) formOf(ctx context.Context, c *call) toolForm {
	asked, _ := c.meta[outputsMember].(bool)
	short := s.isShort(c.scope)
	return toolForm{advisory: c.caller.Suggests(), short: short, outputs: asked || !short,
		several: s.cfg.DefaultSet == "" || s.opensSeveral(ctx, c.caller)}
}

// toolJSON returns the JSON of a tool as a caller is shown it.
func (s *Server) toolJSON(o *op.Operation, f toolForm) []byte {
	f.advisory = f.advisory && o.Writes()
	key := toolKey{o, f}
	if b, ok := s.shown.tools.Load(key); ok {
		return b.([]byte)
	}
	t := toolFromOperation(o)
	t.InputSchema = shownInput(o, f)
	switch {
	case f.advisory || o.TextOnly || !f.outputs:
		t.OutputSchema = nil
	case s.cfg.DefaultSet != "":
		t.OutputSchema = withoutWords(o.OutputSchema())
	}
	b := mustJSON(t)
	s.shown.tools.Store(key, b)
	return b
}

// shownInput returns the input schema of a tool without the fields that the form leaves out, and with
// words in place of long schemas. The engine accepts the fields and checks the schemas all the same.
func shownInput(o *op.Operation, f toolForm) *jsonschema.Schema {
	var drop []string
	if !f.several {
		drop = append(drop, "world", "campaign_id")
	}
	if f.short {
		drop = append(append(drop, "idempotency_key", "idempotencyKey"), o.Envelope...)
	}
	s, brief := o.InputSchema(), o.BriefFields()
	if len(brief) == 0 && !slices.ContainsFunc(drop, func(name string) bool { return s.Properties[name] != nil }) {
		return s
	}
	s = s.CloneSchemas()
	for name, words := range brief {
		s.Properties[name] = &jsonschema.Schema{Type: "object", Description: words}
		s.Defs = nil
	}
	isDropped := func(name string) bool { return slices.Contains(drop, name) }
	for _, name := range drop {
		delete(s.Properties, name)
	}
	s.PropertyOrder = slices.DeleteFunc(slices.Clone(s.PropertyOrder), isDropped)
	s.Required = slices.DeleteFunc(slices.Clone(s.Required), isDropped)
	return s
}

// withoutWords returns a schema without its descriptions.
func withoutWords(s *jsonschema.Schema) *jsonschema.Schema {
	s = s.CloneSchemas()
	var strip func(s *jsonschema.Schema)
	strip = func(s *jsonschema.Schema) {
		if s == nil {
			return
		}
		words := s.Description
		if s.Description = ""; string(mustJSON(s)) == "true" {
			s.Description = words // Claude Code refuses the schema true, and with it every tool of the list
		}
		for _, all := range []map[string]*jsonschema.Schema{s.Properties, s.Defs} {
			for _, sub := range all {
				strip(sub)
			}
		}
		for _, sub := range append(slices.Clone(s.AnyOf), s.Items, s.AdditionalProperties) {
			strip(sub)
		}
	}
	strip(s)
	return s
}

// toolFromOperation makes a tool of an operation.
func toolFromOperation(o *op.Operation) *mcp.Tool {
	reads, closed, destroys := o.Effect == access.Read, false, o.Effect == access.Destroy
	t := &mcp.Tool{
		Name: o.Name, Title: o.Title, Description: o.Doc, InputSchema: o.InputSchema(), OutputSchema: o.OutputSchema(),
		Annotations: &mcp.ToolAnnotations{
			Title: o.Title, ReadOnlyHint: reads, DestructiveHint: &destroys,
			IdempotentHint: reads || o.Idempotent, OpenWorldHint: &closed,
		},
		Meta: mcp.Meta{},
	}
	if reads && o.OutputSchema().Properties["truncated"] == nil {
		t.Meta["anthropic/maxResultSizeChars"] = maxResult
	}
	for k, v := range o.Meta {
		t.Meta[k] = v
	}
	return t
}
