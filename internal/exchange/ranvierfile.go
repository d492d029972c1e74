package exchange

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"go.yaml.in/yaml/v3"
)

// manifest reads what an area says of itself.
func (x *ranvier) manifest(files fs.FS, a *ranvierArea) bool {
	data, ok := x.s.read(files, a.file)
	if !ok {
		return false
	}
	if err := yaml.Unmarshal(data, a); err != nil {
		x.yamlProblem(a.file, 0, err, "the area is left out")
		return false
	}
	return true
}

// ranvierList is a file of things, not yet taken apart.
type ranvierList struct {
	x     *ranvier
	file  string
	nodes []*yaml.Node
}

// list reads a file of things; nil where there is none.
func (x *ranvier) list(files fs.FS, file string) *ranvierList {
	if !exists(files, file) {
		return nil
	}
	data, ok := x.s.read(files, file)
	if !ok {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		x.yamlProblem(file, 0, err, "the file is left out")
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.SequenceNode {
		x.s.c.problem(file, root.Line, "is not a list; left out")
		return nil
	}
	return &ranvierList{x, file, root.Content}
}

func (x *ranvier) yamlProblem(file string, line int, err error, what string) {
	if lineForm.MatchString(err.Error()) {
		line = yamlLine(err)
	}
	why := yamlWhy(err)
	if bad := (*yaml.TypeError)(nil); errors.As(err, &bad) && len(bad.Errors) > 0 {
		why = strings.TrimLeft(lineForm.ReplaceAllString(bad.Errors[0], ""), ": ")
	}
	x.s.c.problem(file, line, "%s; %s", why, what)
}

// thing is a pointer to what a list holds.
type thing[T any] interface {
	*T
	common() *ranvierThing
}

func (t *ranvierThing) common() *ranvierThing { return t }

// readThings takes a file apart. What cannot be read is reported, with its line, and so
// is what lacks an id or bears one that another has.
func readThings[T any, P thing[T]](l *ranvierList, known map[string]P, a *ranvierArea) (all []P) {
	for _, node := range l.nodes {
		p := P(new(T))
		if err := node.Decode(p); err != nil {
			l.x.yamlProblem(l.file, node.Line, err, "left out")
			continue
		}
		t := p.common()
		t.file, t.line, t.ref = l.file, node.Line, a.name+":"+t.ID
		switch {
		case t.ID == "":
			l.x.s.c.problem(l.file, node.Line, "has no id; left out")
			continue
		case known[t.ref] != nil:
			l.x.s.c.problem(l.file, node.Line, "%q is there twice; left out", t.ref)
			continue
		}
		known[t.ref] = p
		all = append(all, p)
	}
	return all
}

// placing is a reference to an npc or item: a text, or an object with more.
type placing struct {
	ID  string `yaml:"id"`
	Max int    `yaml:"maxLoad"`
}

// UnmarshalYAML reads either form.
func (p *placing) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		p.ID = node.Value
		return nil
	}
	type plain placing
	return node.Decode((*plain)(p))
}

// jsonable is a YAML mapping as JSON can hold it.
func jsonable(m map[string]any) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = jsonValue(v)
	}
	return out
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return jsonable(v)
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
