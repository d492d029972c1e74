package gltftest

import (
	"fmt"
	"math"
)

// attributeTypes are the accessor types of vertex attributes.
var attributeTypes = map[string]string{"POSITION": "VEC3", "NORMAL": "VEC3", "TANGENT": "VEC4", "TEXCOORD_0": "VEC2",
	"TEXCOORD_1": "VEC2", "COLOR_0": "VEC4"}

const (
	float    = 5126
	triangle = 4
	// unitTolerance is the allowed deviation of a unit vector's length from 1: the validator's
	// bound.
	unitTolerance = 0.00674
)

// checkPrimitive checks a primitive's attributes and indices.
func (c *checker) checkPrimitive(at string, p primitive) {
	pos, ok := p.Attributes["POSITION"]
	if !c.checkThat(ok && inRange(pos, len(c.Accessors)), "%s has no positions", at) {
		return
	}
	c.checkThat(p.Material == nil || inRange(*p.Material, len(c.Materials)), "%s is of a material that is not there", at)
	c.checkBounds(pos)
	for name, i := range p.Attributes {
		if c.checkThat(inRange(i, len(c.Accessors)), "%s: %s is not there", at, name) {
			c.checkAttribute(at+", "+name, name, i, c.Accessors[pos].Count)
		}
	}
	if p.Indices == nil {
		return
	}
	if !c.checkThat(inRange(*p.Indices, len(c.Accessors)), "%s: its indices are not there", at) {
		return
	}
	a := c.Accessors[*p.Indices]
	v := c.BufferViews[*a.View]
	c.checkThat(a.Type == "SCALAR" && (a.Component == 5121 || a.Component == 5123 || a.Component == 5125),
		"%s: its indices are no whole numbers", at)
	c.checkThat(v.Stride == 0 && (v.Target == nil || *v.Target == 34963), "%s: its indices lie in a view for vertices", at)
	c.checkThat(p.Mode != nil && *p.Mode != triangle || a.Count%3 == 0, "%s: %d indices make no triangles", at, a.Count)
	out := 0
	c.eachElement(*p.Indices, func(row []float64) {
		if int(row[0]) >= c.Accessors[pos].Count {
			out++
		}
	})
	c.checkThat(out == 0, "%s: %d indices lead to no vertex", at, out)
}

// checkAttribute checks one vertex attribute.
func (c *checker) checkAttribute(at, name string, i, vertices int) {
	a := c.Accessors[i]
	v := c.BufferViews[*a.View]
	c.checkThat(a.Count == vertices, "%s: it has %d values for %d vertices", at, a.Count, vertices)
	c.checkThat((v.Offset+a.Offset)%4 == 0 && a.Offset%4 == 0 &&
		(v.Stride > 0 || widths[a.Component]*counts[a.Type]%4 == 0), "%s is not aligned to 4 bytes", at)
	c.checkThat(v.Target == nil || *v.Target == 34962, "%s lies in a view for indices", at)
	if shape, ok := attributeTypes[name]; ok {
		c.checkThat(a.Type == shape || name == "COLOR_0" && a.Type == "VEC3", "%s is a %s", at, a.Type)
	}
	if a.Component != float {
		return
	}
	bad, crooked := 0, 0
	c.eachElement(i, func(row []float64) {
		for _, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				bad++
			}
		}
		if (name == "NORMAL" || name == "TANGENT") && math.Abs(vectorLength(row[:3])-1) > unitTolerance ||
			name == "TANGENT" && math.Abs(row[3]) != 1 {
			crooked++
		}
	})
	c.checkThat(bad == 0, "%s: %d values are no numbers", at, bad)
	c.checkThat(crooked == 0, "%s: %d are not of unit length", at, crooked)
}

func vectorLength(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// checkNodes checks that the nodes form trees under the scenes.
func (c *checker) checkNodes() {
	parent := make([]int, len(c.Nodes))
	for i, n := range c.Nodes {
		c.checkThat(n.Mesh == nil || inRange(*n.Mesh, len(c.Meshes)), "node %d is of a mesh that is not there", i)
		c.checkThat(n.Matrix == nil || n.Rotation == nil && n.Scale == nil && n.Translation == nil,
			"node %d has a matrix and parts of one", i)
		c.checkThat(n.Rotation == nil || len(n.Rotation) == 4 && math.Abs(vectorLength(n.Rotation)-1) <= unitTolerance,
			"node %d has a rotation of another length than 1", i)
		for _, k := range n.Children {
			if c.checkThat(inRange(k, len(c.Nodes)) && k != i, "node %d has a child that is not there", i) {
				parent[k]++
				c.checkThat(parent[k] == 1, "node %d has two parents", k)
			}
		}
	}
	c.checkThat(c.Scene == nil || inRange(*c.Scene, len(c.Scenes)), "its scene is not there")
	for i, s := range c.Scenes {
		for _, k := range s.Nodes {
			c.checkThat(inRange(k, len(c.Nodes)) && parent[k] == 0,
				"scene %d begins with a node that is not there or has a parent", i)
		}
	}
}

// checkMaterials checks materials, textures and images.
func (c *checker) checkMaterials() {
	for i, m := range c.Materials {
		for _, t := range []*texture{m.Metal.Base, m.Metal.Both, m.Normal, m.Occlude, m.Emit} {
			c.checkThat(t == nil || inRange(t.Index, len(c.Textures)), "material %d has a texture that is not there", i)
		}
		for _, list := range [][]float64{m.Metal.Color, m.Emissive, optionalValue(m.Metal.Metallic),
			optionalValue(m.Metal.Rough)} {
			for _, x := range list {
				c.checkThat(x >= 0 && x <= 1, "material %d has the factor %v", i, x)
			}
		}
		c.checkThat(m.Metal.Color == nil || len(m.Metal.Color) == 4, "material %d has a colour of %d parts", i,
			len(m.Metal.Color))
	}
	for i, t := range c.Textures {
		c.checkThat(t.Source != nil && inRange(*t.Source, len(c.Images)) &&
			(t.Sampler == nil || inRange(*t.Sampler, len(c.Samplers))), "texture %d is of a picture that is not there", i)
	}
	for i := range c.Images {
		c.checkImage(i)
	}
}

func optionalValue(x *float64) []float64 {
	if x == nil {
		return nil
	}
	return []float64{*x}
}

// Summary returns the first few faults, for a test's message.
func Summary(wrong []string) string {
	if len(wrong) > 5 {
		return fmt.Sprintf("%q and %d more", wrong[:5], len(wrong)-5)
	}
	return fmt.Sprintf("%q", wrong)
}
