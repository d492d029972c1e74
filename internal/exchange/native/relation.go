package native

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
)

// readGraph adds the links and layers of a note.
func (x *Reader) readGraph(n *markdown.Note, s *exchange.Sheet) {
	here := exchange.End{Sheet: s}
	add := func(kind string, from, to exchange.End, attrs map[string]any) *exchange.Edge {
		e := &exchange.Edge{File: n.Path, Kind: kind, From: from, To: to, Attrs: attrs}
		x.Collection.Edges = append(x.Collection.Edges, e)
		return e
	}
	for _, kind := range relations {
		for _, name := range decoded.ListOf(n.Meta[kind]) {
			add(kind, here, namedEnd(name), nil)
		}
	}
	for _, name := range decoded.ListOf(n.Meta["borders"]) {
		add("borders", here, namedEnd(name), nil)
		add("borders", namedEnd(name), here, nil)
	}
	for _, name := range decoded.ListOf(n.Meta["held_by"]) {
		add("holds", namedEnd(name), here, map[string]any{"quantity": json.Number("1")})
	}
	x.readPassages(n, "exits", "to",
		func(other exchange.End, attrs map[string]any) *exchange.Edge { return add("exit", here, other, attrs) })
	x.readPassages(n, "entrances", "from",
		func(other exchange.End, attrs map[string]any) *exchange.Edge { return add("exit", other, here, attrs) })
	x.readLinks(n, here, add)
	x.readLayers(n, s)
}

// namedEnd returns a link end by card name, which may be written in [[brackets]].
func namedEnd(name string) exchange.End {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(name), "[["), "]]")
	name, _, _ = strings.Cut(name, "|")
	return exchange.End{Name: strings.TrimSpace(name)}
}

func (x *Reader) readPassages(n *markdown.Note, key, other string, add func(exchange.End,
	map[string]any) *exchange.Edge) {
	ways, _ := n.Meta[key].(map[string]any)
	if n.Meta[key] != nil && ways == nil {
		n.AddReport(0, "%s is not a list of directions and places; left out", key)
	}
	for _, direction := range decoded.SortedKeys(ways) {
		attrs := map[string]any{"direction": direction}
		more, ok := decoded.RestoreLinks(ways[direction]).(map[string]any)
		if !ok {
			more = map[string]any{other: decoded.RestoreLinks(ways[direction])}
		}
		for k, v := range more {
			if k != other && k != "level" && k != "subjects" && v != nil {
				attrs[k] = v
			}
		}
		name := decoded.TextOf(more[other])
		if name == "" {
			n.AddReport(0, "%[2]s: the direction %[1]s names no place; left out", direction, key)
			continue
		}
		x.setEdgeLabel(n, more, add(namedEnd(name), attrs))
	}
}

// setEdgeLabel sets an edge's label if level or subjects are given.
func (x *Reader) setEdgeLabel(n *markdown.Note, m map[string]any, e *exchange.Edge) {
	if m["level"] != nil || m["subjects"] != nil {
		label := x.parseLabel(n, m)
		e.Label = &label
	}
}

func (x *Reader) readLinks(n *markdown.Note, here exchange.End, add func(string, exchange.End, exchange.End,
	map[string]any) *exchange.Edge) {
	for _, m := range decoded.ObjectsOf(n.Meta["links"]) {
		to := namedEnd(decoded.TextOf(decoded.RestoreLinks(m["to"])))
		if id, err := uuid.Parse(decoded.TextOf(m["to_id"])); err == nil {
			to.ID = canon.CardID(id)
		}
		kind := decoded.TextOf(m["kind"])
		if kind == "" || to.Name == "" && to.ID.IsZero() {
			n.AddReport(0, "a link has no kind or no to; left out")
			continue
		}
		attrs, _ := m["attrs"].(map[string]any)
		e := add(kind, here, to, attrs)
		if text, ok := m["attrs"].(string); ok {
			e.Attrs = decoded.ParseObject(text)
		}
		if id, err := uuid.Parse(decoded.TextOf(m["id"])); err == nil {
			e.ID = canon.LinkID(id)
		}
		x.setEdgeLabel(n, m, e)
	}
}

func (x *Reader) readLayers(n *markdown.Note, s *exchange.Sheet) {
	for i, m := range decoded.ObjectsOf(n.Meta["layers"]) {
		o := &exchange.Overlay{File: n.Path, On: s, Kind: decoded.TextOf(m["layer"]), Number: i}
		o.Text, _ = m["value"].(string)
		var err1, err2 error
		o.From, err1 = parseTick(m["from"])
		o.To, err2 = parseTick(m["to"])
		if o.Kind == "" || err1 != nil || err2 != nil {
			n.AddReport(0, "a layer has no kind, or its from or to is not a number; left out")
			continue
		}
		if id, err := uuid.Parse(decoded.TextOf(m["id"])); err == nil {
			o.ID = canon.LayerID(id)
		}
		if m["level"] != nil || m["subjects"] != nil {
			label := x.parseLabel(n, m)
			o.Label = &label
		}
		x.Collection.Overlays = append(x.Collection.Overlays, o)
	}
}

func parseTick(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	return strconv.ParseInt(decoded.TextOf(v), 10, 64)
}
