package textworld

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
	"loregate/internal/lazyregexp"
)

// ImportEvennia imports batch files of Evennia: the commands that dig rooms, open exits, create objects
// and describe them are carried out as if a builder had typed them. All others are counted.
func ImportEvennia(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "evennia", Suffixes: []string{".ev"}, Empty: "no file ending in .ev digs a room",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			x := &evennia{s: s, file: name, byName: map[string]*thing{}, inside: map[placed]*thing{},
				exits: map[placed]*passage{}, lost: map[string]int{}}
			for _, c := range batchCommands(string(data)) {
				x.run(c)
			}
			return x.addThings(ctx)
		}}.Import(ctx, c, g, files, o)
}

// command is a command of a batch file.
type command struct {
	name, switches string
	left, right    string // of the first =
	text           string // the whole command
	line           int
}

// batchCommands divides a batch file: commands end at a line that begins with #.
func batchCommands(text string) (all []command) {
	var block []string
	start := 0
	end := func() {
		if joined := strings.TrimSpace(strings.Join(block, "\n")); joined != "" {
			all = append(all, parseCommand(joined, start))
		}
		block = nil
	}
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(text, "\r\n", "\n")) {
		n++
		if strings.HasPrefix(line, "#") {
			end()
			continue
		}
		if len(block) == 0 {
			start = n
		}
		block = append(block, strings.TrimRight(line, "\n"))
	}
	end()
	return all
}

func parseCommand(text string, line int) command {
	word, rest := text, ""
	if i := strings.IndexAny(text, " \t\n"); i >= 0 {
		word, rest = text[:i], text[i:]
	}
	c := command{line: line, text: text}
	c.name, c.switches, _ = strings.Cut(strings.TrimPrefix(strings.ToLower(word), "@"), "/")
	left, right, _ := strings.Cut(rest, "=")
	c.left, c.right = strings.TrimSpace(left), strings.TrimSpace(right)
	return c
}

// thing is a room, an exit or an object.
type thing struct {
	names []string // the name and its aliases
	room  bool
	text  []string // paragraphs
	at    *thing   // the room of an object
	line  int
	exits []*passage
	sheet *exchange.Sheet
}

// passage is an exit of a room.
type passage struct {
	names  []string
	to     *thing
	target string // the name of a room that is dug later
	text   string
	line   int
	lock   string
}

// evennia carries out the commands of one file.
type evennia struct {
	s      *record.Source
	file   string
	here   *thing
	all    []*thing
	byName map[string]*thing
	inside map[placed]*thing   // the last thing of a name in a room
	exits  map[placed]*passage // the first exit of a name from a room
	lost   map[string]int
}

// placed is a name in a room, after exchange.FoldCase.
type placed struct {
	room *thing
	name string
}

// quotedNames returns the name and aliases of "name;alias : typeclass".
func quotedNames(text string) []string {
	names, _, _ := strings.Cut(text, ":")
	return decoded.TrimAll(strings.Split(names, ";"))
}

// find finds a thing by a name, first among those at the current place.
func (x *evennia) find(name string) *thing {
	key := exchange.FoldCase(strings.TrimSpace(name))
	if key == "here" {
		return x.here
	}
	if t := x.inside[placed{x.here, key}]; t != nil && x.here != nil {
		return t
	}
	return x.byName[key]
}

func (x *evennia) add(t *thing) *thing {
	x.all = append(x.all, t)
	for _, n := range t.names {
		key := exchange.FoldCase(n)
		x.byName[key], x.inside[placed{t.at, key}] = t, t
	}
	return t
}

// addExit adds an exit to a room.
func (x *evennia) addExit(room *thing, p *passage) {
	room.exits = append(room.exits, p)
	for _, n := range p.names {
		if at := (placed{room, exchange.FoldCase(n)}); x.exits[at] == nil {
			x.exits[at] = p
		}
	}
}

func (x *evennia) run(c command) {
	switch c.name {
	case "dig", "tunnel":
		x.dig(c)
	case "open":
		x.open(c)
	case "tel", "teleport":
		if t := x.find(c.left); t != nil && t.room && c.right == "" {
			x.here = t
		}
	case "create":
		if names := quotedNames(c.left); len(names) > 0 {
			x.add(&thing{names: names, at: x.here, line: c.line})
		}
	case "desc":
		x.describe(c)
	case "lock":
		if p := x.passageNamed(c.left); p != nil {
			p.lock = c.right
			return
		}
		x.lost["lock"]++
	case "detail":
		if x.here != nil {
			x.here.text = append(x.here.text, strings.ReplaceAll(c.left, ";", ", ")+": "+unwrap(c.right))
		}
	default:
		if p := x.passageNamed(c.text); p != nil && p.to != nil { // the builder walks
			x.here = p.to
			return
		}
		x.lost[c.name]++
	}
}

// dig makes a room, with an exit there and one back.
func (x *evennia) dig(c command) {
	names := quotedNames(c.left)
	if len(names) == 0 {
		x.s.AddProblem(x.file, c.line, "digs a room without a name; left out")
		return
	}
	room := x.add(&thing{names: names, room: true, line: c.line})
	there, back, _ := strings.Cut(c.right, ",")
	if n := quotedNames(there); len(n) > 0 && x.here != nil {
		x.addExit(x.here, &passage{names: n, to: room, line: c.line})
	}
	if n := quotedNames(back); len(n) > 0 && x.here != nil {
		x.addExit(room, &passage{names: n, to: x.here, line: c.line})
	}
	if strings.HasPrefix(c.switches, "tel") {
		x.here = room
	}
}

// open makes an exit from the current room. Its destination may be dug later.
func (x *evennia) open(c command) {
	to, _, _ := strings.Cut(c.right, ",")
	if names := quotedNames(c.left); len(names) > 0 && x.here != nil {
		x.addExit(x.here, &passage{names: names, to: x.find(to), target: to, line: c.line})
	}
}

func (x *evennia) passageNamed(name string) *passage {
	if x.here == nil {
		return nil
	}
	return x.exits[placed{x.here, exchange.FoldCase(strings.TrimSpace(name))}]
}

func (x *evennia) describe(c command) {
	if c.right == "" && x.here != nil && c.left != "" && x.find(c.left) == nil {
		x.here.text = []string{unwrap(c.left)}
		return
	}
	if p := x.passageNamed(c.left); p != nil {
		p.text = unwrap(c.right)
		return
	}
	if t := x.find(c.left); t != nil {
		t.text = []string{unwrap(c.right)}
		return
	}
	name, _, more := strings.Cut(c.left, "\n")
	if more || x.here == nil {
		name = "a place"
	}
	x.s.AddProblem(x.file, c.line, "describes %s that does not exist here; left out", name)
}

// colourMark matches Evennia's codes for colours, such as |y and {w.
var colourMark = lazyregexp.New(`\|\[?[rRgGyYbBmMcCwWxXnN]|\{[rRgGyYbBmMcCwWxXn]`)

// unwrap joins the lines of a paragraph and removes codes for colours.
func unwrap(text string) string {
	var parts []string
	for _, block := range strings.Split(text, "\n\n") {
		parts = append(parts, strings.Join(strings.Fields(block), " "))
	}
	return colourMark.ReplaceAllString(strings.Join(parts, "\n\n"), "")
}

// addThings adds the cards of all rooms and objects.
func (x *evennia) addThings(ctx context.Context) (err error) {
	count := map[string]int{} // of things by kind and name
	for _, t := range x.all {
		kind, typ := "object", "Item"
		if t.room {
			kind, typ = "room", "Location"
		}
		nth := strconv.Itoa(count[kind+" "+t.names[0]])
		count[kind+" "+t.names[0]]++
		fields := map[string]any{}
		if len(t.names) > 1 {
			fields["aliases"] = t.names[1:]
		}
		if t.sheet, err = x.s.Add(ctx, record.Card{Key: []string{x.file, kind, t.names[0], nth},
			File: fmt.Sprintf("%s:%d", x.file, t.line), Name: t.names[0], Suffixes: []string{kind, kind + " " + nth},
			Type: typ, Codename: "evennia-" + kind + "-" + t.names[len(t.names)-1], Form: record.Plain, Fields: fields,
			Text: record.Text(strings.Join(t.text, "\n\n"))}); err != nil {
			return err
		}
	}
	directions := record.UsedDirections{}
	for _, t := range x.all {
		if t.at != nil {
			x.s.AddEdge(x.file, "holds", t.at.sheet, t.sheet, map[string]any{"quantity": 1})
		}
		for _, p := range t.exits {
			x.addPassage(directions, t, p)
		}
	}
	for _, name := range decoded.SortedKeys(x.lost) {
		x.s.AddProblem(x.file, 0, "%d commands @%s are left out", x.lost[name], name)
	}
	return nil
}

func (x *evennia) addPassage(directions record.UsedDirections, from *thing, p *passage) {
	if p.to == nil {
		p.to = x.byName[exchange.FoldCase(strings.TrimSpace(p.target))]
	}
	if p.to == nil || !p.to.room {
		x.s.AddProblem(x.file, p.line, "the exit %q leads to %q, which is no room of this file; left out", p.names[0],
			p.target)
		return
	}
	direction, ok := directions.Take(from.sheet, directionOf(p.names))
	if !ok {
		x.s.AddProblem(x.file, p.line, "%q has more than twelve exits; %q is left out", from.names[0], p.names[0])
		return
	}
	attrs := map[string]any{"direction": direction, "description": p.names[0]}
	if p.text != "" {
		attrs["description"] = p.names[0] + ". " + p.text
	}
	if p.lock != "" {
		attrs["lockState"] = "locked"
	}
	x.s.AddEdge(x.file, "exit", from.sheet, p.to.sheet, attrs)
}

// shortDirections are the short names of directions.
var shortDirections = map[string]string{"n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down",
	"ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest"}

// directionOf returns the direction that the names of an exit mean, or "".
func directionOf(names []string) string {
	for _, n := range names {
		n = exchange.FoldCase(n)
		if short, ok := shortDirections[n]; ok {
			return short
		}
		if n == "in" || n == "out" {
			return n
		}
		if d := record.DirectionIn(n); d != "" {
			return d
		}
	}
	return ""
}
