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

// ImportLight imports text worlds in the format of the LIGHT project: a folder of JSON files with
// the members nodes, rooms, agents and objects. A room becomes a Location and its neighbours become
// exits. An agent becomes a Character in its room. An object becomes an Item, held by the room,
// agent or container that it is in. Nodes are identified by their ids, which consist of a name and
// a number. Each file is a separate world.
func ImportLight(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o Options) (Summary, error) {
	return importSource(ctx, c, g, "light", o, func(s *source) error {
		names, err := s.jsonFiles(files)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, ok := s.readText(files, name)
			if !ok {
				continue
			}
			x := &lightFile{s: s, file: name, nodes: map[string]*lightNode{}, directions: usedDirections{}}
			if err := x.readNodes(ctx, data); err != nil {
				return err
			}
		}
		if !s.hasCards() {
			return s.emptyError("no file holds the nodes of a world")
		}
		return nil
	})
}

// lightFile is the import of one file.
type lightFile struct {
	s          *source
	file       string
	nodes      map[string]*lightNode
	order      []*lightNode
	directions usedDirections
}

// lightNode is a node of a world and the card that it becomes.
type lightNode struct {
	entry
	kind  string // the card type; "" if the node does not become a card
	sheet *sheet
}

// rootContainer is LIGHT's root container: every node without a container is inside it.
const rootContainer = "VOID"

func (x *lightFile) readNodes(ctx context.Context, data []byte) error {
	for _, e := range x.s.readEntries(x.file, data, "nodes") {
		n := &lightNode{entry: e, kind: lightKind(e)}
		switch {
		case x.nodes[e.key] != nil:
			x.addProblem(n, "is there twice; left out")
			continue
		case n.kind == "":
			x.addProblem(n, "is neither a room nor an agent nor an object; left out")
			continue
		}
		x.nodes[e.key] = n
		x.order = append(x.order, n)
	}
	for _, n := range x.order {
		if err := x.addNode(ctx, n); err != nil {
			return err
		}
	}
	for _, n := range x.order {
		x.linkContainer(n)
		x.addExits(n)
	}
	return nil
}

func lightKind(e entry) string {
	switch {
	case e.isTrue("room"):
		return "Location"
	case e.isTrue("agent"):
		return "Character"
	case e.isTrue("object"):
		return "Item"
	}
	return ""
}

func (x *lightFile) addProblem(n *lightNode, format string, args ...any) {
	x.s.addProblem(x.file, n.line, "%q "+format, append([]any{n.key}, args...)...)
}

// idNumber returns the number at the end of a node's id. It distinguishes nodes of one name.
func (n *lightNode) idNumber() string {
	_, rest, _ := strings.Cut(n.key, "_")
	return strings.ReplaceAll(rest, "_", ".")
}

func (x *lightFile) addNode(ctx context.Context, n *lightNode) (err error) {
	name := n.memberText("name")
	if recordName(name) == "" {
		x.addProblem(n, "has no name; its id stands for it")
		name = n.key
	}
	n.sheet, err = x.s.addRecord(ctx, record{key: []string{x.file, n.key}, file: fmt.Sprintf("%s:%d", x.file, n.line),
		name:     name,
		suffixes: []string{n.idNumber(), strings.TrimSuffix(x.file, ".json") + " " + n.idNumber()}, typ: n.kind,
		codename: "light-" + strings.TrimSuffix(x.file, ".json") + "-" + n.key,
		fields:   n.cardFields(), tags: n.memberTexts("tags"), body: n.cardHTML})
	return err
}

// lightText lists the members of a node that become the card's text, links or name.
var lightText = map[string]bool{"name": true, "desc": true, "descripton": true, "extra_desc": true, "persona": true,
	"neighbors":      true,
	"container_node": true, "contained_nodes": true, "room": true, "agent": true, "object": true, "tags": true,
	"node_id": true, "names": true}

// cardFields returns all other members of a node, and its alternative names as aliases.
func (n *lightNode) cardFields() map[string]any {
	rest := map[string]any{}
	for k, v := range n.data {
		if !lightText[k] && v != nil {
			rest[k] = v
		}
	}
	fields := map[string]any{"light": rest}
	var aliases []string
	for _, name := range n.memberTexts("names") {
		if !strings.EqualFold(name, n.memberText("name")) {
			aliases = append(aliases, name)
		}
	}
	if len(aliases) > 0 {
		fields["aliases"] = aliases
	}
	if n.kind == "Item" {
		fields["portable"] = n.isTrue("gettable")
	}
	return fields
}

// cardHTML returns a node's text. Some worlds misspell the key of the description.
func (n *lightNode) cardHTML(context.Context) string {
	blocks := nonEmpty(n.memberText("desc"), n.memberText("descripton"), n.memberText("extra_desc"),
		n.memberText("persona"))
	var parts []string
	for i, b := range blocks {
		if i == 0 || b != blocks[0] {
			parts = append(parts, b)
		}
	}
	return paragraphsHTML(parts...)
}

// linkContainer links a node with its container.
func (x *lightFile) linkContainer(n *lightNode) {
	in := textOf(n.memberObject("container_node")["target_id"])
	x.checkContents(n)
	if in == "" || in == rootContainer {
		if n.kind != "Location" {
			x.addProblem(n, "stands nowhere")
		}
		return
	}
	holder := x.nodes[in]
	switch {
	case holder == nil:
		x.addProblem(n, "stands in %q, which is not there", in)
	case n.kind == "Location":
		x.s.addEdge(x.file, "within", n.sheet, holder.sheet, nil)
	case n.kind == "Character":
		x.s.addEdge(x.file, "at", n.sheet, holder.sheet, nil)
	default:
		x.s.addEdge(x.file, "holds", holder.sheet, n.sheet, holdsAttrs(textOf(n.data["equipped"])))
	}
}

// checkContents reports disagreements between the contents that a container lists and the
// containers that nodes name. The node's own container counts.
func (x *lightFile) checkContents(n *lightNode) {
	for _, key := range sortedKeys(n.memberObject("contained_nodes")) {
		inner := x.nodes[key]
		if inner == nil {
			x.addProblem(n, "contains %q, which is not there", key)
		} else if at := textOf(inner.memberObject("container_node")["target_id"]); at != n.key {
			x.addProblem(n, "contains %q, which says that it is in %q", key, at)
		}
	}
}

// holdsAttrs returns the attributes of a "holds" link.
func holdsAttrs(equipped string) map[string]any {
	attrs := map[string]any{"quantity": 1}
	if equipped != "" && equipped != "false" {
		attrs["equipped"] = equipped
	}
	return attrs
}

// addExits adds an exit for each neighbour of a room.
func (x *lightFile) addExits(n *lightNode) {
	if n.kind != "Location" {
		return
	}
	neighbours := n.memberObject("neighbors")
	if neighbours == nil && n.data["neighbors"] != nil {
		x.addProblem(n, "has neighbors that are no object; left out")
	}
	for _, key := range sortedKeys(neighbours) {
		way, _ := neighbours[key].(map[string]any)
		target := textOf(way["target_id"])
		if target == "" {
			target = key
		}
		to := x.nodes[target]
		if to == nil || to.kind != "Location" {
			x.addProblem(n, "leads to %q, which is no room here; left out", target)
			continue
		}
		x.addExit(n, to, way)
	}
}

func (x *lightFile) addExit(n, to *lightNode, way map[string]any) {
	want := directionInText(textOf(way["label"]))
	if want == "" {
		want = directionBetween(n.gridPosition(), to.gridPosition())
	}
	direction, ok := x.directions.takeDirection(n.sheet, want)
	if !ok {
		x.addProblem(n, "has more than twelve exits; the one to %q is left out", to.key)
		return
	}
	switch {
	case want == "":
		x.addProblem(n, "leads to %q in no direction; it is %q now", to.key, direction)
	case direction != want:
		x.addProblem(n, "leads %s to two places; the way to %q is %q now", want, to.key, direction)
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
	x.s.addEdge(x.file, "exit", n.sheet, to.sheet, attrs)
}

// gridPosition returns a room's position on the map with the second number negated, because in the
// file it grows to the south. It returns nil if the node has no position.
func (n *lightNode) gridPosition() []int {
	at := intsOf(n.data["grid_location"])
	if len(at) == 3 {
		at[1] = -at[1]
	}
	return at
}

func intsOf(v any) []int {
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
