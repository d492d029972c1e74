package ranvier

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"

	"go.yaml.in/yaml/v4"

	"loregate/internal/decoded"
)

// readManifest reads an area's manifest. It returns false if the manifest cannot be read.
func (x *reader) readManifest(files fs.FS, a *area) bool {
	data, ok := x.s.ReadFile(files, a.file)
	if !ok {
		return false
	}
	if err := yaml.Unmarshal(data, a); err != nil {
		x.addYAMLProblem(a.file, 0, err, "the area is left out")
		return false
	}
	return true
}

// list is a file with a list of entities, not yet decoded.
type list struct {
	x     *reader
	file  string
	nodes []*yaml.Node
}

// readList reads a file of entities. It returns nil if there is no such file or it cannot be read.
func (x *reader) readList(files fs.FS, file string) *list {
	if !fileExists(files, file) {
		return nil
	}
	data, ok := x.s.ReadFile(files, file)
	if !ok {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		x.addYAMLProblem(file, 0, err, "the file is left out")
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.SequenceNode {
		x.s.AddProblem(file, root.Line, "is not a list; left out")
		return nil
	}
	return &list{x, file, root.Content}
}

func (x *reader) addYAMLProblem(file string, line int, err error, what string) {
	found := decoded.YAMLFaults(err)[0]
	x.s.AddProblem(file, cmp.Or(found.Line, line), "%s; %s", found.Why, what)
}

// entityPointer is a pointer to a struct that embeds entity.
type entityPointer[T any] interface {
	*T
	asEntity() *entity
}

func (t *entity) asEntity() *entity { return t }

// readEntities decodes a list. It reports, with their lines, entities that cannot be decoded, have
// no id, or have the id of another.
func readEntities[T any, P entityPointer[T]](l *list, known map[string]P, a *area) (all []P) {
	for _, node := range l.nodes {
		p := P(new(T))
		if err := node.Decode(p); err != nil {
			l.x.addYAMLProblem(l.file, node.Line, err, "left out")
			continue
		}
		t := p.asEntity()
		t.file, t.line, t.ref = l.file, node.Line, a.name+":"+t.ID
		switch {
		case t.ID == "":
			l.x.s.AddProblem(l.file, node.Line, "has no id; left out")
			continue
		case known[t.ref] != nil:
			l.x.s.AddProblem(l.file, node.Line, "%q occurs twice; left out", t.ref)
			continue
		}
		known[t.ref] = p
		all = append(all, p)
	}
	return all
}

// placement is a reference to an npc or item: either a string or an object.
type placement struct {
	ID  string `yaml:"id"`
	Max int    `yaml:"maxLoad"`
}

// UnmarshalYAML reads both forms.
func (p *placement) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		p.ID = node.Value
		return nil
	}
	type plain placement
	return node.Decode((*plain)(p))
}

// jsonMap converts a YAML mapping to values that JSON can represent.
func jsonMap(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = jsonValue(v)
	}
	return out
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return jsonMap(v)
	case map[any]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[fmt.Sprint(k)] = jsonValue(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = jsonValue(v[i])
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v)
		}
	}
	return v
}
