package exchange

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// readGraph adds the links and layers of a note.
func (x *nativeReader) readGraph(n *mdNote, s *sheet) {
	here := linkEnd{sheet: s}
	add := func(kind string, from, to linkEnd, attrs map[string]any) *edge {
		e := &edge{file: n.path, kind: kind, from: from, to: to, attrs: attrs}
		x.c.edges = append(x.c.edges, e)
		return e
	}
	for _, kind := range relations {
		for _, name := range listOf(n.meta[kind]) {
			add(kind, here, namedEnd(name), nil)
		}
	}
	for _, name := range listOf(n.meta["borders"]) {
		add("borders", here, namedEnd(name), nil)
		add("borders", namedEnd(name), here, nil)
	}
	for _, name := range listOf(n.meta["held_by"]) {
		add("holds", namedEnd(name), here, map[string]any{"quantity": json.Number("1")})
	}
	x.readPassages(n, "exits", "to",
		func(other linkEnd, attrs map[string]any) *edge { return add("exit", here, other, attrs) })
	x.readPassages(n, "entrances", "from",
		func(other linkEnd, attrs map[string]any) *edge { return add("exit", other, here, attrs) })
	x.readLinks(n, here, add)
	x.readLayers(n, s)
}

// namedEnd returns a link end by card name, which may be written in [[brackets]].
func namedEnd(name string) linkEnd {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "[["), "]]")
	name, _, _ = strings.Cut(name, "|")
	return linkEnd{name: strings.TrimSpace(name)}
}

func (x *nativeReader) readPassages(n *mdNote, key, other string, add func(linkEnd, map[string]any) *edge) {
	ways, _ := n.meta[key].(map[string]any)
	if n.meta[key] != nil && ways == nil {
		n.addReport(0, "%s is not a list of directions and places; left out", key)
	}
	for _, direction := range sortedKeys(ways) {
		attrs := map[string]any{"direction": direction}
		more, ok := restoreLinks(ways[direction]).(map[string]any)
		if !ok {
			more = map[string]any{other: restoreLinks(ways[direction])}
		}
		for k, v := range more {
			if k != other && k != "level" && k != "subjects" && v != nil {
				attrs[k] = v
			}
		}
		name := textOf(more[other])
		if name == "" {
			n.addReport(0, "the way %s of %s leads nowhere; left out", direction, key)
			continue
		}
		x.setEdgeLabel(n, more, add(namedEnd(name), attrs))
	}
}

// setEdgeLabel sets an edge's label if level or subjects are given.
func (x *nativeReader) setEdgeLabel(n *mdNote, m map[string]any, e *edge) {
	if m["level"] != nil || m["subjects"] != nil {
		label := x.parseLabel(n, m)
		e.label = &label
	}
}

func (x *nativeReader) readLinks(n *mdNote, here linkEnd, add func(string, linkEnd, linkEnd, map[string]any) *edge) {
	for _, m := range objectsOf(n.meta["links"]) {
		to := namedEnd(textOf(restoreLinks(m["to"])))
		if id, err := uuid.Parse(textOf(m["to_id"])); err == nil {
			to.id = canon.CardID(id)
		}
		kind := textOf(m["kind"])
		if kind == "" || to.name == "" && to.id.IsZero() {
			n.addReport(0, "a link without kind or to; left out")
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
		x.setEdgeLabel(n, m, e)
	}
}

func (x *nativeReader) readLayers(n *mdNote, s *sheet) {
	for i, m := range objectsOf(n.meta["layers"]) {
		o := &overlay{file: n.path, on: s, kind: textOf(m["layer"]), number: i}
		o.text, _ = m["value"].(string)
		var err1, err2 error
		o.from, err1 = parseTick(m["from"])
		o.to, err2 = parseTick(m["to"])
		if o.kind == "" || err1 != nil || err2 != nil {
			n.addReport(0, "a layer without kind, or whose from or to is no number; left out")
			continue
		}
		if id, err := uuid.Parse(textOf(m["id"])); err == nil {
			o.id = canon.LayerID(id)
		}
		if m["level"] != nil || m["subjects"] != nil {
			label := x.parseLabel(n, m)
			o.label = &label
		}
		x.c.overlays = append(x.c.overlays, o)
	}
}

func parseTick(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	return strconv.ParseInt(textOf(v), 10, 64)
}
