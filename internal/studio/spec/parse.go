package spec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"

	"loregate/internal/decoded"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// The bounds of a text. maxText is the length in bytes, maxValues the number of values in it,
// maxNesting the depth of its lists and mappings.
const (
	maxText    = 2 << 20
	maxValues  = 400_000
	maxNesting = 60
)

var shape = op.ShapeOf[Scene]()

// Schema returns the JSON Schema of the language.
func Schema() (*jsonschema.Schema, error) { return op.For[Scene]() }

// Brief returns the fields of a scene, of its parts and of their kinds, each with the names of its own.
func Brief() (string, error) {
	s, err := Schema()
	if err != nil {
		return "", err
	}
	part := s.Defs["Part"]
	var places, kinds []string
	for _, name := range part.PropertyOrder {
		if _, isBody := bodyFields[name]; isBody && name != "use" {
			kinds = append(kinds, name+" {"+strings.Join(part.Properties[name].PropertyOrder, ", ")+"}")
			continue
		}
		places = append(places, name)
	}
	return "{" + strings.Join(s.PropertyOrder, ", ") + "}, where parts is an object of parts by name. A part has one " +
		"kind, or parts of its own, and may have " + strings.Join(places, ", ") + ". Kinds: " +
		strings.Join(kinds, ", ") + ".", nil
}

// Parse parses a scene from YAML or JSON and checks it. Errors name the field or path.
func Parse(text []byte) (*Scene, error) {
	if len(text) > maxText {
		return nil, fault.BadField("spec",
			"has %d bytes; at most %d are allowed: use define and repeat for parts that recur",
			len(text), maxText)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fault.BadField("spec", "is neither YAML nor JSON: %v", decoded.YAMLFaults(err)[0])
	}
	if len(root.Content) != 1 {
		return nil, fault.BadField("spec", "is empty; give at least version, name and parts")
	}
	c := converter{}
	if err := c.appendNode(root.Content[0], "spec", 0); err != nil {
		return nil, err
	}
	return Decode(c.out.Bytes())
}

// Decode decodes a scene from JSON and checks it.
func Decode(data []byte) (*Scene, error) {
	out := &Scene{}
	if err := shape.Decode(data, out); err != nil {
		return nil, err
	}
	return out, out.Check()
}

// Encode returns the scene as JSON: the same bytes for the same scene.
func (s *Scene) Encode() ([]byte, error) { return json.Marshal(s) }

// converter turns YAML into JSON.
type converter struct {
	out    bytes.Buffer
	values int
}

func (c *converter) appendNode(n *yaml.Node, path string, depth int) error {
	c.values++
	switch {
	case c.values > maxValues:
		return fault.BadField(path,
			"the text has more than %d values; use define and repeat for parts that recur", maxValues)
	case depth > maxNesting:
		return fault.BadField(path, "is nested more than %d deep; use define for inner groups", maxNesting)
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fault.BadField(path, "uses a YAML anchor; use define and use instead")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return c.appendMapping(n, path, depth)
	case yaml.SequenceNode:
		c.out.WriteByte('[')
		for i, v := range n.Content {
			c.writeComma(i)
			if err := c.appendNode(v, fmt.Sprintf("%s[%d]", path, i), depth+1); err != nil {
				return err
			}
		}
		c.out.WriteByte(']')
		return nil
	}
	return c.appendScalar(n, path)
}

func (c *converter) writeComma(i int) {
	if i > 0 {
		c.out.WriteByte(',')
	}
}

func (c *converter) appendMapping(n *yaml.Node, path string, depth int) error {
	c.out.WriteByte('{')
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return fault.BadField(path, "has a key that is not a text in line %d", key.Line)
		}
		if seen[key.Value] {
			return fault.BadField(path, "has two fields %q", key.Value)
		}
		seen[key.Value] = true
		c.writeComma(i)
		if err := c.appendJSON(key.Value, path); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.appendNode(n.Content[i+1], path+"."+key.Value, depth+1); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

func (c *converter) appendScalar(n *yaml.Node, path string) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return fault.BadField(path, "cannot be read: %v", err)
	}
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fault.BadField(path, "is %s; give a finite number", n.Value)
		}
	case nil, bool, int, int64, uint64, string:
	default:
		v = n.Value // a date
	}
	return c.appendJSON(v, path)
}

func (c *converter) appendJSON(v any, path string) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fault.BadField(path, "cannot be read: %v", err)
	}
	c.out.Write(b)
	return nil
}
