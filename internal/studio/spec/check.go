package spec

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
)

// The bounds of a scene. MaxParts is the number of parts after all repeats; package build also
// counts the bodies of composites against it.
const (
	MaxParts  = 20_000
	MaxDepth  = 12      // of parts in parts, after define is resolved
	maxMetres = 10_000. // the greatest number in a list
	maxNamed  = 200     // cameras, markers, materials and definitions, each
	maxWall   = 4_000.  // length of a chain of walls or of a palisade, in metres
)

var nameForm = lazyregexp.New(`^[a-z][a-z0-9_-]{0,39}$`)

// memberForm is the form of the number of a member of a repeat.
var memberForm = lazyregexp.New(`^[1-9][0-9]{0,4}$`)

// Check checks all that the schema cannot express. The error names the path of the part.
func (s *Scene) Check() error {
	for section, names := range map[string][]string{"materials": sortedKeys(s.Materials),
		"define":  sortedKeys(s.Define),
		"cameras": sortedKeys(s.Cameras), "markers": sortedKeys(s.Markers)} {
		if len(names) > maxNamed {
			return fault.BadField(section, "has %d entries; at most %d are allowed", len(names), maxNamed)
		}
		for _, name := range names {
			if err := checkName(section, name); err != nil {
				return err
			}
		}
	}
	if err := checkNumbers(reflect.ValueOf(s), "spec"); err != nil {
		return err
	}
	c := checker{scene: s}
	for _, name := range sortedKeys(s.Define) {
		if err := c.checkPart("define."+name, s.Define[name], false); err != nil {
			return err
		}
	}
	if err := c.checkParts("", s.Parts, false); err != nil {
		return err
	}
	_, err := c.countParts("", s.Parts, 0)
	return err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func checkName(section, name string) error {
	if nameForm.MatchString(name) {
		return nil
	}
	return fault.BadField(section,
		"%.60q is not a name: use up to 40 small letters, digits, _ and -, the first a letter", name)
}

// checkNumbers checks that all numbers are finite and small. Numbers in lists of lists have no
// other bounds.
func checkNumbers(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return checkNumbers(v.Elem(), path)
		}
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.Abs(x) > maxMetres {
			return fault.BadField(path, "is %v; give a number from -%.0f to %.0f", x, maxMetres, maxMetres)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := checkNumbers(v.Index(i), path); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if err := checkNumbers(v.MapIndex(key), path+"."+key.String()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if err := checkNumbers(v.Field(i), path+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checker checks the parts of a scene.
type checker struct{ scene *Scene }

// checkParts checks the parts of a group; they are changes if the group is a composite.
func (c *checker) checkParts(path string, parts map[string]*Part, changes bool) error {
	for _, name := range sortedKeys(parts) {
		if err := checkName(strings.TrimSuffix("parts."+path, "."), name); err != nil {
			return err
		}
		if err := c.checkPart(JoinPath(path, name), parts[name], changes); err != nil {
			return err
		}
	}
	return nil
}

// checkPart checks a part, or a change of a part.
func (c *checker) checkPart(path string, p *Part, change bool) error {
	if p == nil {
		return fault.BadField(path, "is empty; give it a body, such as box, or parts")
	}
	kinds := p.Kinds()
	slices.Sort(kinds)
	switch {
	case len(kinds) > 1:
		return fault.BadField(path, "has several bodies: %s; make a group of parts", strings.Join(kinds, ", "))
	case len(kinds) == 0 && len(p.Parts) == 0 && !change:
		return fault.BadField(path, "has no body; give it one, such as box or prop, or parts")
	case p.Tilt != nil && len(kinds) == 0 && !change:
		return fault.BadField(path, "tilt is only for single bodies; tilt the parts of the group")
	case p.Facing != nil && p.Turn != 0:
		return fault.BadField(path, "give facing or turn, not both")
	case p.Use != "" && c.scene.Define[p.Use] == nil:
		return fault.BadField(path, "use: there is no %q in define", p.Use)
	}
	for role, material := range p.Materials {
		if !nameForm.MatchString(role) || material == "" {
			return fault.BadField(path, "materials: give each role a material")
		}
	}
	if err := c.checkRepeat(path, p.Repeat); err != nil {
		return err
	}
	if err := checkBody(path, p); err != nil {
		return err
	}
	return c.checkParts(path, p.Parts, change || len(kinds) > 0)
}

func (c *checker) checkRepeat(path string, r *Repeat) error {
	if r == nil {
		return nil
	}
	given := 0
	for _, arrangement := range []bool{r.Row != nil, r.Ring != nil, r.Grid != nil, r.Along != nil, r.Scatter != nil} {
		if arrangement {
			given++
		}
	}
	switch {
	case given != 1:
		return fault.BadField(path, "repeat: give exactly one of row, ring, grid, along and scatter")
	case r.Along != nil && (r.Along.Count == 0) == (r.Along.Every == 0):
		return fault.BadField(path, "repeat.along: give count or every")
	case r.Along != nil && PathLength(r.Along.Path) == 0:
		return fault.BadField(path, "repeat.along: the path has no length")
	case r.Scatter != nil && (r.Scatter.Count == 0) == (r.Scatter.Density == 0):
		return fault.BadField(path, "repeat.scatter: give count or density")
	case r.Scatter != nil && (r.Scatter.Area[0] >= r.Scatter.Area[2] || r.Scatter.Area[1] >= r.Scatter.Area[3]):
		return fault.BadField(path,
			"repeat.scatter: the area is empty; give least x, least y, greatest x, greatest y")
	}
	for number, change := range r.Members {
		if !memberForm.MatchString(number) {
			return fault.BadField(path, "repeat.members: %.20q is not the number of a member, from 1", number)
		}
		if err := c.checkPart(JoinPath(path, number), change, true); err != nil {
			return err
		}
	}
	return nil
}

// checkBody checks the fields that depend on each other.
func checkBody(path string, p *Part) error {
	bad := func(text string) error { return fault.BadField(path, "%s", text) }
	switch {
	case p.Wall != nil:
		w := p.Wall
		if (w.Along != nil) == (w.Length > 0) && w.Radius == 0 || w.Radius > 0 && (w.Along != nil || w.Length > 0) {
			return bad("wall: give one of along, length and radius")
		}
		if PathLength(w.Along) > maxWall {
			return bad("wall: it is longer than 4,000 m; make several walls")
		}
		if w.Radius > 0 && w.Thick >= w.Radius*0.9 {
			return bad("wall: thick must be less than nine tenths of the radius")
		}
	case p.Palisade != nil && PathLength(p.Palisade.Along) > maxWall:
		return bad("palisade: it is longer than 4,000 m; make several")
	case p.Tower != nil:
		t := p.Tower
		if (t.Radius > 0) == (t.Side > 0) {
			return bad("tower: give radius or side")
		}
		if t.Thick >= max(t.Radius, t.Side/2)*0.8 {
			return bad("tower: thick must be less than four fifths of half its width")
		}
	case p.Roof != nil:
		if (p.Roof.Radius > 0) == (p.Roof.Size[0] > 0 && p.Roof.Size[1] > 0) {
			return bad("roof: give size or radius")
		}
		if p.Roof.Radius > 0 && p.Roof.Form != "spire" && p.Roof.Form != "flat" {
			return bad("roof: only spire and flat can be round; give size")
		}
	case p.Lathe != nil:
		for _, at := range p.Lathe.Profile {
			if at[0] < 0 {
				return bad("lathe: a radius is less than 0")
			}
		}
	case p.Cave != nil:
		return checkCave(p.Cave, bad)
	case p.Plan != nil:
		if len(p.Plan.Rooms) == 0 || len(p.Plan.Rooms) > 60 {
			return bad("plan: give 1 to 60 rooms")
		}
		for name, r := range p.Plan.Rooms {
			if !nameForm.MatchString(name) || r[0] >= r[2] || r[1] >= r[3] {
				return bad("plan: each room needs a name and least x, least y, greatest x, greatest y")
			}
		}
	}
	return nil
}

// maxCarved bounds the pieces of tunnels of a cave.
const maxCarved = 60

func checkCave(c *Cave, bad func(text string) error) error {
	pieces := len(c.Chambers)
	for _, t := range c.Tunnels {
		pieces += len(t.Path) - 1
	}
	if pieces == 0 || pieces > maxCarved {
		return bad("cave: give 1 to 60 chambers and straight pieces of tunnels; make several caves")
	}
	for _, room := range c.Chambers {
		if room[3] < 0.6 || room[3] > 100 {
			return bad("cave: the radius of a chamber is from 0.6 to 100 m")
		}
	}
	return nil
}

// JoinPath returns the path of a part in a group.
func JoinPath(group, name string) string {
	if group == "" {
		return name
	}
	return group + "." + name
}

// countParts counts the parts of a group after all repeats. It stops as soon as there are too many.
func (c *checker) countParts(path string, parts map[string]*Part, depth int) (int, error) {
	total := 0
	for _, name := range sortedKeys(parts) {
		p, at := parts[name], JoinPath(path, name)
		inner, err := c.countInner(at, p, depth)
		if err != nil {
			return 0, err
		}
		members := p.Repeat.Size()
		if total += inner * members; total > MaxParts || inner > MaxParts || members > MaxParts {
			return 0, fault.BadField(at,
				"makes %d parts of %d each; a scene has at most %d: lower its counts or density",
				members, inner, MaxParts)
		}
	}
	return total, nil
}

// countInner counts a part and the parts below it, without its own repeat.
func (c *checker) countInner(path string, p *Part, depth int) (int, error) {
	if depth >= MaxDepth {
		return 0, fault.BadField(path, "is more than %d groups deep, or uses itself; use fewer groups", MaxDepth)
	}
	switch {
	case p.Use != "":
		return c.countDefined(path, p, depth)
	case len(p.Kinds()) == 0:
		n, err := c.countParts(path, p.Parts, depth+1)
		return n + 1, err
	}
	return 1, nil
}

func (c *checker) countDefined(path string, p *Part, depth int) (int, error) {
	d := c.scene.Define[p.Use]
	n, err := c.countInner(path, d, depth+1)
	if err != nil {
		return 0, err
	}
	return max(n*d.Repeat.Size(), 1), nil
}
