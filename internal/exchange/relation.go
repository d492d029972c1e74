package exchange

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// graph notes down links and layers.
func (x *native) graph(n *note, s *sheet) {
	here := end{sheet: s}
	add := func(kind string, from, to end, attrs map[string]any) *edge {
		e := &edge{file: n.path, kind: kind, from: from, to: to, attrs: attrs}
		x.c.edges = append(x.c.edges, e)
		return e
	}
	for _, kind := range relations {
		for _, name := range listOf(n.meta[kind]) {
			add(kind, here, named(name), nil)
		}
	}
	for _, name := range listOf(n.meta["borders"]) {
		add("borders", here, named(name), nil)
		add("borders", named(name), here, nil)
	}
	for _, name := range listOf(n.meta["held_by"]) {
		add("holds", named(name), here, map[string]any{"quantity": json.Number("1")})
	}
	x.passages(n, "exits", "to", func(other end, attrs map[string]any) *edge { return add("exit", here, other, attrs) })
	x.passages(n, "entrances", "from", func(other end, attrs map[string]any) *edge { return add("exit", other, here, attrs) })
	x.links(n, here, add)
	x.layers(n, s)
}

// named is an end by its name, which may stand in brackets.
func named(name string) end {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "[["), "]]")
	name, _, _ = strings.Cut(name, "|")
	return end{name: strings.TrimSpace(name)}
}

func (x *native) passages(n *note, key, other string, add func(end, map[string]any) *edge) {
	ways, _ := n.meta[key].(map[string]any)
	if n.meta[key] != nil && ways == nil {
		n.report(0, "%s is not a list of directions and places; left out", key)
	}
	for _, direction := range sorted(ways) {
		attrs := map[string]any{"direction": direction}
		more, ok := relink(ways[direction]).(map[string]any)
		if !ok {
			more = map[string]any{other: relink(ways[direction])}
		}
		for k, v := range more {
			if k != other && k != "level" && k != "subjects" && v != nil {
				attrs[k] = v
			}
		}
		name := textOf(more[other])
		if name == "" {
			n.report(0, "the way %s of %s leads nowhere; left out", direction, key)
			continue
		}
		x.labelled(n, more, add(named(name), attrs))
	}
}

// labelled gives an edge the label that is written with it.
func (x *native) labelled(n *note, m map[string]any, e *edge) {
	if m["level"] != nil || m["subjects"] != nil {
		label := x.label(n, m)
		e.label = &label
	}
}

func (x *native) links(n *note, here end, add func(string, end, end, map[string]any) *edge) {
	for _, m := range objects(n.meta["links"]) {
		to := named(textOf(relink(m["to"])))
		if id, err := uuid.Parse(textOf(m["to_id"])); err == nil {
			to.id = canon.CardID(id)
		}
		kind := textOf(m["kind"])
		if kind == "" || to.name == "" && to.id.IsZero() {
			n.report(0, "a link without kind or to; left out")
			continue
		}
		attrs, _ := m["attrs"].(map[string]any)
		e := add(kind, here, to, attrs)
		if text, ok := m["attrs"].(string); ok {
			e.attrs = objectOf(text)
		}
		if id, err := uuid.Parse(textOf(m["id"])); err == nil {
			e.id = canon.LinkID(id)
		}
		x.labelled(n, m, e)
	}
}

func (x *native) layers(n *note, s *sheet) {
	for i, m := range objects(n.meta["layers"]) {
		o := &overlay{file: n.path, on: s, kind: textOf(m["layer"]), number: i}
		o.text, _ = m["value"].(string)
		var err1, err2 error
		o.from, err1 = ticks(m["from"])
		o.to, err2 = ticks(m["to"])
		if o.kind == "" || err1 != nil || err2 != nil {
			n.report(0, "a layer without kind, or whose from or to is no number; left out")
			continue
		}
		if id, err := uuid.Parse(textOf(m["id"])); err == nil {
			o.id = canon.LayerID(id)
		}
		if m["level"] != nil || m["subjects"] != nil {
			label := x.label(n, m)
			o.label = &label
		}
		x.c.overlays = append(x.c.overlays, o)
	}
}

func ticks(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	return strconv.ParseInt(textOf(v), 10, 64)
}

// objects gives the objects of a list.
func objects(v any) []map[string]any {
	list, _ := v.([]any)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func objectOf(text string) map[string]any {
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// fieldsOf makes fields of values that JSON holds.
func fieldsOf(m map[string]any) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return b
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
