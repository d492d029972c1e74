package front

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/meaning"
	"loregate/internal/op"
	"loregate/internal/stem"
)

type findIn struct {
	Words string `json:"words" minlen:"2" maxlen:"300" alias:"query" jsonschema:"What you want to do, or an operation's name."`
	Limit int    `json:"limit,omitzero" default:"3" min:"1" max:"20" jsonschema:"Most operations."`
}

type findOut struct {
	Operations []operationFound `json:"operations"`
	Note       string           `json:"note,omitzero"`
}

type operationFound struct {
	Operation string   `json:"operation"`
	Does      string   `json:"does"`
	CallBy    string   `json:"call_by"`
	Takes     []string `json:"takes,omitempty" jsonschema:"Its arguments; * marks required ones."`
	Example   string   `json:"example,omitzero"`
}

// The doors to operations, and the names of the tools that open them.
const (
	callTool   = "call_operation"
	changeTool = "change_by_operation"
	openTool   = "open_set"
	findTool   = "find_operation"
)

func (f *Front) findOp() *op.Operation {
	words := &catalogue{}
	return op.Define(op.Spec{
		Name: findTool, Title: "Find an operation", Surfaces: []string{Surface}, Effect: access.Read, NoWorld: true,
		TextOnly: true,
		Doc: "Find any other operation by what it does, with its arguments and the tool that calls it. " +
			"There are more than a hundred: tags, labels and secrecy, trash and undo, bulk edits, queries, renaming, files, " +
			"spoilers; game sessions, what players know, revealing secrets, contradictions, factions and calendars; " +
			"weather, time, players and their commands; " +
			"review of proposals; plans, 3D scenes, terrain, textures and renders in Blender and Godot; games of social " +
			"deduction; backups and costs.",
		Examples: []op.Example{{Title: "By purpose", Input: `{"words": "reveal a secret to the players"}`}},
	}, func(_ context.Context, c *op.Call, in findIn) (findOut, error) { return f.find(c, words, in) })
}

func (f *Front) find(c *op.Call, words *catalogue, in findIn) (out findOut, err error) {
	caller := c.Grant.Caller()
	all := f.reachable(caller)
	found := words.rank(all, in.Words)
	found = found[:min(len(found), in.Limit)]
	out.Operations = []operationFound{}
	for _, o := range found {
		out.Operations = append(out.Operations, describe(o, caller))
	}
	if len(found) == 0 {
		var sets []string
		for _, s := range f.engine.Surfaces() {
			if s.Name != Surface && len(f.engine.Operations(caller, s.Name)) > 0 {
				sets = append(sets, s.Name+": "+s.Doc)
			}
		}
		out.Note = "No operation that you may use fits these words. The sets are\n" + strings.Join(sets, "\n")
	}
	return out, nil
}

// reachable returns the operations that the caller may reach through the set.
func (f *Front) reachable(c access.Caller) []*op.Operation {
	if slices.Contains(c.Surfaces, Surface) {
		c.Surfaces = nil
	}
	return slices.DeleteFunc(slices.Clone(f.engine.Operations(c, "")), func(o *op.Operation) bool {
		return o.NoTool || o.Unlisted || o.AliasOf != "" || slices.Contains(o.Surfaces, Surface)
	})
}

// describe describes an operation for a model that is going to call it.
func describe(o *op.Operation, c access.Caller) operationFound {
	d := operationFound{Operation: o.Name, Does: o.Doc, CallBy: doorOf(o)}
	for _, name := range o.In.PropertyOrder {
		if slices.Contains(o.Envelope, name) || name == "campaign_id" && !c.SeveralWorlds() {
			continue
		}
		star := ""
		if slices.Contains(o.In.Required, name) {
			star = "*"
		}
		d.Takes = append(d.Takes, name+star+" ("+kindOf(o.In.Properties[name])+"): "+o.In.Properties[name].Description)
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

// catalogue holds the words of operations.
type catalogue struct{ words sync.Map } // *op.Operation -> map[string]float64

// lengthPart is the part of a score that depends on the number of words of an operation, as b of BM25:
// a long description shares words by chance.
const lengthPart = 0.3

// rank returns the operations that share words with a text, best first: each word counts the more,
// the fewer operations have it. The name of an operation finds it first.
func (k *catalogue) rank(all []*op.Operation, text string) []*op.Operation {
	in := map[string]int{}
	docs := make([]map[string]float64, len(all))
	for i, o := range all {
		docs[i] = k.wordsOf(o)
		for w := range docs[i] {
			in[w]++
		}
	}
	type hit struct {
		o     *op.Operation
		score float64
	}
	var hits []hit
	asked := stems(text)
	mean := 0.0
	for i := range docs {
		mean += float64(len(docs[i])) / float64(len(all))
	}
	for i, o := range all {
		h := hit{o: o}
		for _, w := range asked {
			h.score += docs[i][w] * math.Log(1+float64(len(all))/float64(max(in[w], 1)))
		}
		h.score /= 1 - lengthPart + lengthPart*float64(len(docs[i]))/mean
		if plain(o.Name) == plain(text) {
			h.score = math.MaxFloat64
		}
		if h.score > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := make([]*op.Operation, len(hits))
	for i, h := range hits {
		found[i] = h.o
	}
	return found
}

// plain returns a name without separators and case.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// wordsOf returns the words of an operation with their weights: name and title most, then the first
// sentence of the description, the rest, and the fields.
func (k *catalogue) wordsOf(o *op.Operation) map[string]float64 {
	if w, ok := k.words.Load(o); ok {
		return w.(map[string]float64)
	}
	weights := map[string]float64{}
	add := func(text string, weight float64) {
		for _, w := range stems(text) {
			weights[w] = max(weights[w], weight)
		}
	}
	first, rest, _ := strings.Cut(o.Doc, ". ")
	add(o.Name, 3)
	add(o.Title, 3)
	add(first, 2)
	add(rest, 1)
	for name, p := range o.In.Properties {
		add(name, 1)
		add(p.Description, 0.5)
	}
	k.words.Store(o, weights)
	return weights
}

// stems returns the stems of the words of a text, each once.
func stems(text string) (list []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(w) < 2 || meaning.IsFunctionWord(w) {
			continue
		}
		if s := stem.Of("english", w); !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// notFound is the error for an operation that does not exist for the caller.
func (f *Front) notFound(c *op.Call, name string) error {
	e := fault.BadField("operation", "there is no operation %q for you; find one with %s", name, findTool)
	var near []string
	for _, o := range (&catalogue{}).rank(f.reachable(c.Grant.Caller()), name) {
		near = append(near, o.Name)
	}
	if len(near) > 0 {
		near = near[:min(len(near), 3)]
		e = fault.BadField("operation", "there is no operation %q for you; near it are %s", name, joinWords(near))
		return e.With("did_you_mean", near)
	}
	return e
}
