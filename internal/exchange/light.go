package exchange

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// ImportLight brings in text worlds in the format of the LIGHT project: JSON files with
// the members nodes, rooms, agents and objects, in a folder. A room becomes a Location,
// its neighbours exits; an agent becomes a Character that stands in its room, an object
// an Item that its room, bearer or container holds. Nodes are told apart by their ids,
// which are a name and a number; each file is a world of its own.
func ImportLight(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o SourceOptions) (Summary, error) {
	return importSource(ctx, c, g, "light", o, func(s *source) error {
		names, err := s.jsonFiles(files)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, ok := s.read(files, name)
			if !ok {
				continue
			}
			x := &light{s: s, file: name, nodes: map[string]*lightNode{}, ways: ways{}}
			if err := x.read(ctx, data); err != nil {
				return err
			}
		}
		if len(s.c.sheets) == 0 {
			return s.none("no file holds the nodes of a world")
		}
		return nil
	})
}

// light is one file.
type light struct {
	s     *source
	file  string
	nodes map[string]*lightNode
	order []*lightNode
	ways  ways
}

// lightNode is a node of a world and the card that it becomes.
type lightNode struct {
	entry
	kind  string // its type as a card; "" for what is none
	sheet *sheet
}

// void is what contains that which is contained by nothing.
const void = "VOID"

func (x *light) read(ctx context.Context, data []byte) error {
	for _, e := range x.s.entries(x.file, data, "nodes") {
		n := &lightNode{entry: e, kind: lightKind(e)}
		switch {
		case x.nodes[e.key] != nil:
			x.problem(n, "is there twice; left out")
			continue
		case n.kind == "":
			x.problem(n, "is neither a room nor an agent nor an object; left out")
			continue
		}
		x.nodes[e.key] = n
		x.order = append(x.order, n)
	}
	for _, n := range x.order {
		if err := x.add(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range x.order {
		x.place(n)
		x.exits(n)
	}
	return nil
}

func lightKind(e entry) string {
	switch {
	case e.flag("room"):
		return "Location"
	case e.flag("agent"):
		return "Character"
	case e.flag("object"):
		return "Item"
	}
	return ""
}

func (x *light) problem(n *lightNode, format string, args ...any) {
	x.s.c.problem(x.file, n.line, "%q "+format, append([]any{n.key}, args...)...)
}

// number is what the id of a node ends in, as it is told apart.
func (n *lightNode) number() string {
	_, rest, _ := strings.Cut(n.key, "_")
	return strings.ReplaceAll(rest, "_", ".")
}

func (x *light) add(ctx context.Context, n *lightNode) (err error) {
	name := n.text("name")
	if recordName(name) == "" {
		x.problem(n, "has no name; its id stands for it")
		name = n.key
	}
	n.sheet, err = x.s.add(ctx, record{key: []string{x.file, n.key}, file: fmt.Sprintf("%s:%d", x.file, n.line), name: name,
		or: []string{n.number(), strings.TrimSuffix(x.file, ".json") + " " + n.number()}, typ: n.kind, codename: "light-" + strings.TrimSuffix(x.file, ".json") + "-" + n.key,
		fields: n.fields(), tags: n.texts("tags"), body: n.html})
	return err
}

// lightText are members that make a card's text, its links and its name.
var lightText = map[string]bool{"name": true, "desc": true, "descripton": true, "extra_desc": true, "persona": true, "neighbors": true,
	"container_node": true, "contained_nodes": true, "room": true, "agent": true, "object": true, "tags": true, "node_id": true, "names": true}

// fields keeps what else a node says, and its other names.
func (n *lightNode) fields() map[string]any {
	rest := map[string]any{}
	for k, v := range n.data {
		if !lightText[k] && v != nil {
			rest[k] = v
		}
	}
	fields := map[string]any{"light": rest}
	var aliases []string
	for _, name := range n.texts("names") {
		if !strings.EqualFold(name, n.text("name")) {
			aliases = append(aliases, name)
		}
	}
	if len(aliases) > 0 {
		fields["aliases"] = aliases
	}
	if n.kind == "Item" {
		fields["portable"] = n.flag("gettable")
	}
	return fields
}

// html is a node's text. Some worlds misspell the key of the description.
func (n *lightNode) html(context.Context) string {
	blocks := nonEmpty(n.text("desc"), n.text("descripton"), n.text("extra_desc"), n.text("persona"))
	var parts []string
	for i, b := range blocks {
		if i == 0 || b != blocks[0] {
			parts = append(parts, b)
		}
	}
	return paragraphs(parts...)
}

// place links a node with what contains it.
func (x *light) place(n *lightNode) {
	in := textOf(n.object("container_node")["target_id"])
	x.contents(n)
	if in == "" || in == void {
		if n.kind != "Location" {
			x.problem(n, "stands nowhere")
		}
		return
	}
	holder := x.nodes[in]
	switch {
	case holder == nil:
		x.problem(n, "stands in %q, which is not there", in)
	case n.kind == "Location":
		x.s.tie(x.file, "within", n.sheet, holder.sheet, nil)
	case n.kind == "Character":
		x.s.tie(x.file, "at", n.sheet, holder.sheet, nil)
	default:
		x.s.tie(x.file, "holds", holder.sheet, n.sheet, holding(textOf(n.data["equipped"])))
	}
}

// contents reports where a container and what it says it contains do not agree. What is
// contained decides.
func (x *light) contents(n *lightNode) {
	for _, key := range sorted(n.object("contained_nodes")) {
		inner := x.nodes[key]
		if inner == nil {
			x.problem(n, "contains %q, which is not there", key)
		} else if at := textOf(inner.object("container_node")["target_id"]); at != n.key {
			x.problem(n, "contains %q, which says that it is in %q", key, at)
		}
	}
}

// holding are the attributes of a holds link.
func holding(equipped string) map[string]any {
	attrs := map[string]any{"quantity": 1}
	if equipped != "" && equipped != "false" {
		attrs["equipped"] = equipped
	}
	return attrs
}

// exits makes a room's neighbours its exits.
func (x *light) exits(n *lightNode) {
	if n.kind != "Location" {
		return
	}
	neighbours := n.object("neighbors")
	if neighbours == nil && n.data["neighbors"] != nil {
		x.problem(n, "has neighbors that are no object; left out")
	}
	for _, key := range sorted(neighbours) {
		way, _ := neighbours[key].(map[string]any)
		target := textOf(way["target_id"])
		if target == "" {
			target = key
		}
		to := x.nodes[target]
		if to == nil || to.kind != "Location" {
			x.problem(n, "leads to %q, which is no room here; left out", target)
			continue
		}
		x.exit(n, to, way)
	}
}

func (x *light) exit(n, to *lightNode, way map[string]any) {
	want := saidDirection(textOf(way["label"]))
	if want == "" {
		want = heading(n.grid(), to.grid())
	}
	direction, ok := x.ways.take(n.sheet, want)
	if !ok {
		x.problem(n, "has more than twelve exits; the one to %q is left out", to.key)
		return
	}
	switch {
	case want == "":
		x.problem(n, "leads to %q in no direction; it is %q now", to.key, direction)
	case direction != want:
		x.problem(n, "leads %s to two places; the way to %q is %q now", want, to.key, direction)
	}
	attrs := map[string]any{"direction": direction}
	if text := textOf(way["examine_desc"]); text != "" {
		attrs["description"] = text
	} else if text := textOf(way["label"]); text != "" {
		attrs["description"] = text
	}
	if lock, locked := way["locked_edge"].(map[string]any); locked || way["locked_edge"] == true {
		attrs["lockState"] = "locked"
		if lock["is_locked"] == false {
			attrs["lockState"] = "unlocked"
		}
	}
	x.s.tie(x.file, "exit", n.sheet, to.sheet, attrs)
}

// grid is where a room lies on the map, whose second number grows to the south; nil
// where it does not say.
func (n *lightNode) grid() []int {
	at := numbers(n.data["grid_location"])
	if len(at) == 3 {
		at[1] = -at[1]
	}
	return at
}

func numbers(v any) []int {
	list, _ := v.([]any)
	var out []int
	for _, item := range list {
		i, err := strconv.Atoi(textOf(item))
		if err != nil {
			return nil
		}
		out = append(out, i)
	}
	return out
}
