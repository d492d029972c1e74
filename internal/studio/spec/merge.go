package spec

import "slices"

// Conflict is a field of a part that was changed by hand and, differently, in the plan.
type Conflict struct {
	Path  string `json:"path" jsonschema:"The part."`
	Field string `json:"field,omitzero" jsonschema:"Empty: the part itself, which one side removed or both added."`
	Base  any    `json:"base,omitzero" jsonschema:"Its value before both changes."`
	Hand  any    `json:"hand,omitzero" jsonschema:"Its value by hand; absent if it was removed."`
	Plan  any    `json:"plan,omitzero" jsonschema:"Its value in the plan; absent if it was removed."`
}

// Merge merges the changes from base to hand into plan, by the names of parts. Fields that both sides changed to
// different values are conflicts; in their place the result has the value of the preferred side: hand or plan.
func Merge(base, hand, plan *Scene, prefer string) (*Scene, []Conflict, error) {
	var trees [3]object
	for i, s := range []*Scene{base, hand, plan} {
		var err error
		if trees[i], err = toTree(s); err != nil {
			return nil, nil, err
		}
	}
	m := merger{preferHand: prefer == "hand", conflicts: []Conflict{}}
	m.mergeParts("", trees[0], trees[1], trees[2])
	out, err := fromTree(trees[2])
	return out, m.conflicts, err
}

type merger struct {
	preferHand bool
	conflicts  []Conflict
}

// mergeParts changes plan, a part or a scene, and the parts in it.
func (m *merger) mergeParts(path string, base, hand, plan object) {
	for _, name := range fieldsOf(base, hand, plan) {
		if name != "parts" && name != "repeat" {
			m.mergeField(path, name, base, hand, plan)
		}
	}
	m.mergeChildren(path, base, hand, plan, "parts")
	from, _ := base["repeat"].(object)
	by, _ := hand["repeat"].(object)
	into, ok := plan["repeat"].(object)
	switch {
	case equalJSON(from, by):
	case !ok || from == nil || by == nil:
		m.mergeField(path, "repeat", base, hand, plan)
	default:
		for _, name := range fieldsOf(from, by, into) {
			if name != "members" {
				m.mergeField(path, name, from, by, into)
			}
		}
		m.mergeChildren(path, from, by, into, "members")
	}
}

// mergeChildren merges the parts below a field.
func (m *merger) mergeChildren(path string, base, hand, plan object, field string) {
	a, _ := base[field].(object)
	b, _ := hand[field].(object)
	c, _ := plan[field].(object)
	for _, name := range fieldsOf(a, b, c) {
		was, had := a[name].(object)
		by, kept := b[name].(object)
		now, has := c[name].(object)
		switch {
		case had && kept && has:
			m.mergeParts(JoinPath(path, name), was, by, now)
		case equalJSON(was, by), equalJSON(by, now):
		case equalJSON(was, now):
			setField(mapOf(plan, field), name, b[name])
		default:
			m.conflicts = append(m.conflicts, Conflict{JoinPath(path, name), "", a[name], b[name], c[name]})
			if m.preferHand {
				setField(mapOf(plan, field), name, b[name])
			}
		}
	}
}

func (m *merger) mergeField(path, name string, base, hand, plan object) {
	was, by, now := base[name], hand[name], plan[name]
	switch {
	case equalJSON(was, by), equalJSON(by, now):
		return
	case !equalJSON(was, now):
		m.conflicts = append(m.conflicts, Conflict{path, name, was, by, now})
		if !m.preferHand {
			return
		}
	}
	setField(plan, name, by)
}

func setField(in object, name string, v any) {
	if v == nil {
		delete(in, name)
		return
	}
	in[name] = v
}

// fieldsOf returns the names of the fields of all objects, sorted.
func fieldsOf(all ...object) (names []string) {
	for _, o := range all {
		names = append(names, sortedKeys(o)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
