package light

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// Import imports text worlds in the format of the LIGHT project: a folder of JSON files with
// the members nodes, rooms, agents and objects. A room becomes a Location and its neighbours become
// exits. An agent becomes a Character in its room. An object becomes an Item, held by the room,
// agent or container that it is in. Nodes are identified by their ids, which consist of a name and
// a number. Each file is a separate world.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "light", o, func(s *record.Source) error {
		names, err := s.JSONFiles(files)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, ok := s.ReadFile(files, name)
			if !ok {
				continue
			}
			x := &worldFile{s: s, file: name, nodes: map[string]*node{}, directions: record.UsedDirections{}}
			if err := x.readNodes(ctx, data); err != nil {
				return err
			}
		}
		if !s.HasCards() {
			return s.EmptyError("no file contains the nodes of a world")
		}
		return nil
	})
}

// worldFile is the import of one file.
type worldFile struct {
	s          *record.Source
	file       string
	nodes      map[string]*node
	order      []*node
	directions record.UsedDirections
}

// node is a node of a world and the card that it becomes.
type node struct {
	record.Entry
	kind  string // the card type; "" if the node does not become a card
	sheet *exchange.Sheet
}

// rootContainer is LIGHT's root container: every node without a container is inside it.
const rootContainer = "VOID"

func (x *worldFile) readNodes(ctx context.Context, data []byte) error {
	for _, e := range x.s.ReadEntries(x.file, data, "nodes") {
		n := &node{Entry: e, kind: cardType(e)}
		switch {
		case x.nodes[e.Key] != nil:
			x.reportNode(n, "occurs twice; left out")
			continue
		case n.kind == "":
			x.reportNode(n, "is not a room, agent or object; left out")
			continue
		}
		x.nodes[e.Key] = n
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

func cardType(e record.Entry) string {
	switch {
	case e.IsTrue("room"):
		return "Location"
	case e.IsTrue("agent"):
		return "Character"
	case e.IsTrue("object"):
		return "Item"
	}
	return ""
}

func (x *worldFile) reportNode(n *node, format string, args ...any) {
	x.s.AddProblem(x.file, n.Line, "%q "+format, append([]any{n.Key}, args...)...)
}

// idNumber returns the number at the end of a node's id. It distinguishes nodes of one name.
func (n *node) idNumber() string {
	_, rest, _ := strings.Cut(n.Key, "_")
	return strings.ReplaceAll(rest, "_", ".")
}

func (x *worldFile) addNode(ctx context.Context, n *node) (err error) {
	name := n.Text("name")
	if record.CardName(name) == "" {
		x.reportNode(n, "has no name; its id is used as the name")
		name = n.Key
	}
	n.sheet, err = x.s.Add(ctx, record.Card{Key: []string{x.file, n.Key}, File: fmt.Sprintf("%s:%d", x.file, n.Line),
		Name:     name,
		Suffixes: []string{n.idNumber(), strings.TrimSuffix(x.file, ".json") + " " + n.idNumber()}, Type: n.kind,
		Codename: "light-" + strings.TrimSuffix(x.file, ".json") + "-" + n.Key,
		Fields:   n.cardFields(), Tags: n.Texts("tags"), Text: n.cardTexts(), Render: paragraph})
	return err
}

// textMembers lists the members of a node that become the card's text, links or name.
var textMembers = map[string]bool{"name": true, "desc": true, "descripton": true, "extra_desc": true, "persona": true,
	"neighbors":      true,
	"container_node": true, "contained_nodes": true, "room": true, "agent": true, "object": true, "tags": true,
	"node_id": true, "names": true}

// cardFields returns all other members of a node, and its alternative names as aliases.
func (n *node) cardFields() map[string]any {
	rest := map[string]any{}
	for k, v := range n.Data {
		if !textMembers[k] && v != nil {
			rest[k] = v
		}
	}
	fields := map[string]any{"light": rest}
	var aliases []string
	for _, name := range n.Texts("names") {
		if !strings.EqualFold(name, n.Text("name")) {
			aliases = append(aliases, name)
		}
	}
	if len(aliases) > 0 {
		fields["aliases"] = aliases
	}
	if n.kind == "Item" {
		fields["portable"] = n.IsTrue("gettable")
	}
	return fields
}

// cardTexts returns a node's text. Some worlds misspell the key of the description.
func (n *node) cardTexts() []record.Block {
	blocks := decoded.NonEmpty(n.Text("desc"), n.Text("descripton"), n.Text("extra_desc"),
		n.Text("persona"))
	var parts []string
	for i, b := range blocks {
		if i == 0 || b != blocks[0] {
			parts = append(parts, b)
		}
	}
	return record.Text(parts...)
}

func paragraph(_ *exchange.Sheet, text string) string { return record.Paragraphs(text) }

// linkContainer links a node with its container.
func (x *worldFile) linkContainer(n *node) {
	in := decoded.TextOf(n.Object("container_node")["target_id"])
	x.checkContents(n)
	if in == "" || in == rootContainer {
		if n.kind != "Location" {
			x.reportNode(n, "is in no container")
		}
		return
	}
	holder := x.nodes[in]
	switch {
	case holder == nil:
		x.reportNode(n, "is in %q, which does not exist", in)
	case n.kind == "Location":
		x.s.AddEdge(x.file, "within", n.sheet, holder.sheet, nil)
	case n.kind == "Character":
		x.s.AddEdge(x.file, "at", n.sheet, holder.sheet, nil)
	default:
		x.s.AddEdge(x.file, "holds", holder.sheet, n.sheet, holdsAttrs(decoded.TextOf(n.Data["equipped"])))
	}
}

// checkContents reports disagreements between the contents that a container lists and the
// containers that nodes name. The node's own container counts.
func (x *worldFile) checkContents(n *node) {
	for _, key := range decoded.SortedKeys(n.Object("contained_nodes")) {
		inner := x.nodes[key]
		if inner == nil {
			x.reportNode(n, "contains %q, which does not exist", key)
		} else if at := decoded.TextOf(inner.Object("container_node")["target_id"]); at != n.Key {
			x.reportNode(n, "contains %q, whose container is %q", key, at)
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
func (x *worldFile) addExits(n *node) {
	if n.kind != "Location" {
		return
	}
	neighbours := n.Object("neighbors")
	if neighbours == nil && n.Data["neighbors"] != nil {
		x.reportNode(n, "has neighbors that are not an object; left out")
	}
	for _, key := range decoded.SortedKeys(neighbours) {
		way, _ := neighbours[key].(map[string]any)
		target := decoded.TextOf(way["target_id"])
		if target == "" {
			target = key
		}
		to := x.nodes[target]
		if to == nil || to.kind != "Location" {
			x.reportNode(n, "leads to %q, which is not a room of this file; left out", target)
			continue
		}
		x.addExit(n, to, way)
	}
}

func (x *worldFile) addExit(n, to *node, way map[string]any) {
	want := record.DirectionIn(decoded.TextOf(way["label"]))
	if want == "" {
		want = record.DirectionBetween(n.gridPosition(), to.gridPosition())
	}
	direction, ok := x.directions.Take(n.sheet, want)
	if !ok {
		x.reportNode(n, "has more than twelve exits; the one to %q is left out", to.Key)
		return
	}
	switch {
	case want == "":
		x.reportNode(n, "has an exit to %q without a direction; the direction is now %q", to.Key, direction)
	case direction != want:
		x.reportNode(n, "has two exits %s; the direction of the one to %q is now %q", want, to.Key, direction)
	}
	attrs := map[string]any{"direction": direction}
	if text := decoded.TextOf(way["examine_desc"]); text != "" {
		attrs["description"] = text
	} else if text := decoded.TextOf(way["label"]); text != "" {
		attrs["description"] = text
	}
	if lock, locked := way["locked_edge"].(map[string]any); locked || way["locked_edge"] == true {
		attrs["lockState"] = "locked"
		if lock["is_locked"] == false {
			attrs["lockState"] = "unlocked"
		}
	}
	x.s.AddEdge(x.file, "exit", n.sheet, to.sheet, attrs)
}

// gridPosition returns a room's position on the map with the second number negated, because in the
// file it grows to the south. It returns nil if the node has no position.
func (n *node) gridPosition() []int {
	at := intsOf(n.Data["grid_location"])
	if len(at) == 3 {
		at[1] = -at[1]
	}
	return at
}

func intsOf(v any) []int {
	list, _ := v.([]any)
	var out []int
	for _, item := range list {
		i, err := strconv.Atoi(decoded.TextOf(item))
		if err != nil {
			return nil
		}
		out = append(out, i)
	}
	return out
}
