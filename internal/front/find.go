package front

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

type findIn struct {
	Words string `json:"words" minlen:"2" maxlen:"300" alias:"query" jsonschema:"What you want to do, or an operation's name."`
	Limit int    `json:"limit,omitzero" default:"4" min:"1" max:"20" jsonschema:"Largest number of operations."`
}

type findOut struct {
	Operations []operationFound `json:"operations"`
	Note       string           `json:"note,omitzero"`
}

type operationFound struct {
	Operation string   `json:"operation"`
	Does      string   `json:"does,omitzero"`
	AskedAs   string   `json:"asked_as,omitzero" jsonschema:"Ways to ask for it that are near to the words."`
	CallBy    string   `json:"call_by"`
	Takes     []string `json:"takes,omitempty" jsonschema:"Its arguments; * marks required ones."`
	Example   string   `json:"example,omitzero"`
}

// minKnown is the share of a question that an operation must know. A question of whose words no
// operation knows more is about the world and not about its tools: it is for a search.
const minKnown = 0.38

// The doors to operations, and the names of the tools that open them.
const (
	callTool   = "call_operation"
	changeTool = "change_by_operation"
	openTool   = "open_set"
	findTool   = "find_operation"
)

func (f *Front) findOp() *op.Operation {
	return op.Define(op.Spec{
		Name: findTool, Title: "Find an operation", Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true,
		TextOnly: true,
		Doc: "Find any other operation by what it does, with its arguments and the tool that calls it. " +
			"There are more than a hundred: tags, labels and secrecy, trash and undo, bulk edits, queries, " +
			"renaming, files, " +
			"spoilers; game sessions, what players know, revealing secrets, contradictions, factions and calendars; " +
			"weather, time, players and their commands; " +
			"review of proposals; plans, 3D scenes, terrain, textures and renders in Blender and Godot; games of " +
			"social " +
			"deduction; backups and costs.",
		Examples: []op.Example{{Title: "By purpose", Input: `{"words": "reveal a secret to the players"}`}},
	}, f.find)
}

func (f *Front) find(_ context.Context, c *op.Call, in findIn) (out findOut, err error) {
	caller := c.Grant.Caller()
	listed := f.listed(caller)
	found, unknown := f.words.rankParts(slices.Concat(f.reachable(caller), listed), in.Words)
	if unknown && len(found) > 0 {
		found = preferAnswers(found, listed)
	}
	found = found[:min(len(found), in.Limit)]
	out.Operations = []operationFound{}
	for _, h := range found {
		d := operationFound{Operation: h.o.Name, CallBy: h.o.Name + " itself, a tool of this list"}
		if !slices.Contains(h.o.Surfaces, Surface) {
			d = describe(h.o, caller)
		}
		d.AskedAs = h.asked
		out.Operations = append(out.Operations, d)
	}
	if len(found) == 0 {
		var sets []string
		for _, s := range f.engine.Surfaces() {
			if s.Name != Surface && len(f.engine.Operations(caller, s.Name)) > 0 {
				sets = append(sets, s.Name+": "+s.Doc)
			}
		}
		out.Note = "No operation that you may use fits these words. A question about the world itself is for " +
			"search or " +
			"ask_canon; else ask in other words. The sets are\n" + strings.Join(sets, "\n")
	}
	return out, nil
}

// answerTools are the tools that answer questions about the world.
var answerTools = []string{"search", "ask_canon"}

// preferAnswers puts the tools that answer questions about the world before all others.
func preferAnswers(found []hit, listed []*op.Operation) []hit {
	var first []hit
	for _, o := range listed {
		if slices.Contains(answerTools, o.Name) {
			first = append(first, hit{o: o})
		}
	}
	return append(first, slicesx.Filter(found, func(h hit) bool { return !slices.Contains(answerTools, h.o.Name) })...)
}

// reachable returns the operations that the caller may reach through the set.
func (f *Front) reachable(c access.Caller) []*op.Operation {
	if slices.Contains(c.Surfaces, Surface) {
		c.Surfaces = nil
	}
	return slices.DeleteFunc(slices.Clone(f.engine.Operations(c, "")), func(o *op.Operation) bool {
		return o.NoTool && !o.ByDoor || o.Unlisted || o.AliasOf != "" || slices.Contains(o.Surfaces, Surface)
	})
}

// listed returns the tools of the set itself, without the doors.
func (f *Front) listed(c access.Caller) []*op.Operation {
	return slices.DeleteFunc(slices.Clone(f.engine.Operations(c, Surface)), func(o *op.Operation) bool {
		return slices.Contains([]string{callTool, changeTool, openTool, findTool}, o.Name)
	})
}

// describe describes an operation for a model that is going to call it.
func describe(o *op.Operation, c access.Caller) operationFound {
	d := operationFound{Operation: o.Name, Does: o.Doc, CallBy: doorOf(o)}
	brief := o.BriefFields()
	for _, name := range o.In().PropertyOrder {
		if slices.Contains(o.Envelope, name) || name == "campaign_id" && !c.SeveralWorlds() {
			continue
		}
		star := ""
		if slices.Contains(o.In().Required, name) {
			star = "*"
		}
		about := cmp.Or(brief[name], o.In().Properties[name].Description)
		d.Takes = append(d.Takes, name+star+" ("+kindOf(o.In().Properties[name])+"): "+about)
	}
	if len(o.Examples) > 0 && len(o.Examples[0].Input) < 300 {
		d.Example = o.Examples[0].Input
		if !c.SeveralWorlds() {
			d.Example = string(withoutMembers(json.RawMessage(d.Example), "campaign_id"))
		}
	}
	return d
}

// doorOf returns the tool that calls an operation.
func doorOf(o *op.Operation) string {
	switch {
	case o.Effect == access.Read:
		return callTool
	case o.Effect == access.Destroy && o.Destroys == nil:
		return o.Name + " itself, after " + openTool + ` {"set":"` + o.Surfaces[0] + `"} or at /mcp/` + o.Surfaces[0]
	}
	return changeTool
}

// kindOf returns the type of a field in few words, or its schema if it is an object.
func kindOf(s *jsonschema.Schema) string {
	switch {
	case s.Type == "array" && s.Items != nil && s.Items.Properties == nil:
		return "list of " + kindOf(s.Items)
	case len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, isObject):
		var kinds []string
		for _, a := range slices.Backward(s.AnyOf) {
			kinds = append(kinds, kindOf(a))
		}
		return strings.Join(kinds, " or ")
	case len(s.Enum) > 0:
		var words []string
		for _, e := range s.Enum {
			b, _ := json.Marshal(e)
			words = append(words, strings.Trim(string(b), `"`))
		}
		return strings.Join(words, "|")
	case s.Properties != nil || s.Items != nil || s.AnyOf != nil || s.Ref != "":
		plain := *s
		plain.Description = "" // it follows
		if b, err := json.Marshal(&plain); err == nil && len(b) <= 2000 {
			return "schema " + string(b)
		}
	}
	kind := cmp.Or(s.Type, strings.Join(s.Types, " or "), "any")
	if s.Default != nil {
		kind += "=" + string(s.Default)
	}
	return kind
}

// notFound is the error for an operation that does not exist for the caller.
func (f *Front) notFound(c *op.Call, name string) error {
	e := fault.BadField("operation", "there is no operation %q for you; find one with %s", name, findTool)
	var near []string
	for _, h := range f.words.rank(f.reachable(c.Grant.Caller()), name) {
		near = append(near, h.o.Name)
	}
	if len(near) > 0 {
		near = near[:min(len(near), 3)]
		e = fault.BadField("operation", "there is no operation %q for you; near it are %s", name, joinWords(near))
		return e.With("did_you_mean", near)
	}
	return e
}

func isObject(s *jsonschema.Schema) bool { return s.Properties != nil }
