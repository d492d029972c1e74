package spec

import (
	"reflect"
	"strings"
)

// bodyFields are the indices of Part's fields that are bodies, by kind.
var bodyFields = func() map[string]int {
	fields := map[string]int{}
	t := reflect.TypeFor[Part]()
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.Pointer && name != "repeat" || name == "use" {
			fields[name] = i
		}
	}
	return fields
}()

// Kinds returns the kinds of bodies that the part has: one, or none if it is a group.
func (p *Part) Kinds() []string {
	var found []string
	v := reflect.ValueOf(p).Elem()
	for name, i := range bodyFields {
		if !v.Field(i).IsZero() {
			found = append(found, name)
		}
	}
	return found
}

// Body returns the part's kind and its description: a pointer to a Box, a House and so on. A group
// has the kind "group" and no description.
func (p *Part) Body() (kind string, body any) {
	for _, kind := range p.Kinds() {
		return kind, reflect.ValueOf(p).Elem().Field(bodyFields[kind]).Interface()
	}
	if p.Inner != nil {
		return p.Inner.Kind(), p.Inner
	}
	return "group", nil
}

// Override returns the part with the fields that change sets. A body replaces the body; the parts
// are merged by name.
func (p *Part) Override(change *Part) *Part {
	if change == nil {
		return p
	}
	out := *p
	if len(change.Kinds()) > 0 {
		out.Inner = nil
		for _, i := range bodyFields {
			reflect.ValueOf(&out).Elem().Field(i).SetZero()
		}
	}
	from, to := reflect.ValueOf(change).Elem(), reflect.ValueOf(&out).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	out.Materials = mergeMaps(p.Materials, change.Materials, func(_, b string) string { return b })
	out.Parts = mergeMaps(p.Parts, change.Parts, (*Part).Override)
	return &out
}

// mergeMaps returns the entries of both maps; both is called for names that both have.
func mergeMaps[V any](a, b map[string]V, both func(a, b V) V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]V, len(a)+len(b))
	for name, v := range a {
		out[name] = v
	}
	for name, v := range b {
		if old, ok := out[name]; ok {
			v = both(old, v)
		}
		out[name] = v
	}
	return out
}

// PartAt returns the part of a path, nil if the path is no part of a group or of a repeat's changed members; and the
// turn and scale of the groups around it.
func (s *Scene) PartAt(path string) (p *Part, around Part) {
	around.Scale = 1
	in := &Part{Parts: s.Parts}
	for name := range strings.SplitSeq(path, ".") {
		before := around
		around.Turn += in.Turn
		if in.Scale != 0 {
			around.Scale *= in.Scale
		}
		next := in.Parts[name]
		if in.Repeat != nil { // a member is placed like the part itself
			next = in.Repeat.Members[name]
			around.Turn, around.Scale = before.Turn, before.Scale
		}
		if next == nil {
			return nil, around
		}
		in = next
	}
	return in, around
}
