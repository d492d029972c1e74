package graph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// memberVisibility is the member of an entity or relation with the label of those who see it. An export writes it;
// the memory server does not.
const memberVisibility = "visibility"

// entity is a node of the graph.
type entity struct {
	visibility   any
	label        *access.Label // nil: all who see the import see it
	name, kind   string
	observations []string
	line         int
	sheet        *exchange.Sheet
}

// relation is an edge of the graph.
type relation struct {
	from, to, kind string
	line           int
	label          *access.Label
}

// reader reads one file.
type reader struct {
	s         *record.Source
	file      string
	entities  []*entity
	byName    map[string][]*entity
	relations []relation
}

// Import imports knowledge graphs. An entity becomes a card of the type that its entityType names, with
// its observations as a list; a relation becomes a relationship.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Walk{Format: "memory", Suffixes: []string{".jsonl", ".json", ".ndjson"},
		Empty: "no line is an entity with a name and an entityType",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			x := &reader{s: s, file: name, byName: map[string][]*entity{}}
			x.readValues(data)
			return x.addEntities(ctx)
		}}.Import(ctx, c, g, files, o)
}

// readValues reads the JSON values of a file. Usually each has a line of its own; a line may hold two, and
// a file may be one list or one object. A broken value may seem to go on to the end of the file: after it each line is
// read by itself.
func (x *reader) readValues(data []byte) {
	lines := record.LineCounter{Data: data}
	at := x.readPart(&lines, 0, len(data))
	for at < len(data) {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		x.readPart(&lines, at, end)
		at = end
	}
}

// readPart reads the values of a part of the file, up to a broken one. It returns the end of the part, or the beginning
// of the line after the broken value's first.
func (x *reader) readPart(lines *record.LineCounter, from, to int) (next int) {
	part := lines.Data[from:to]
	d := json.NewDecoder(bytes.NewReader(part))
	d.UseNumber()
	for {
		start := int(d.InputOffset())
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return to
		}
		start += len(part[start:]) - len(bytes.TrimLeft(part[start:], " \t\r\n"))
		line := lines.At(int64(from + start))
		if err == nil {
			x.readValue(v, line)
			continue
		}
		x.s.AddProblem(x.file, line, "is not JSON; left out")
		if i := bytes.IndexByte(part[start:], '\n'); i >= 0 {
			return from + start + i + 1
		}
		return to
	}
}

// readValue reads a list, an entity or a relation.
func (x *reader) readValue(v any, line int) {
	if list, ok := v.([]any); ok {
		for _, inner := range list {
			x.readValue(inner, line)
		}
		return
	}
	m, _ := v.(map[string]any)
	entities, many := m["entities"].([]any)
	relations, _ := m["relations"].([]any)
	text := func(k string) string { return decoded.TextOf(m[k]) }
	switch {
	case many:
		x.readValue(entities, line)
		x.readValue(relations, line)
	case text("from") != "" && text("to") != "":
		x.relations = append(x.relations, relation{text("from"), text("to"), text("relationType"), line,
			record.LabelOf(m[memberVisibility])})
	case text("name") != "":
		e := &entity{name: text("name"), kind: text("entityType"), line: line, visibility: m[memberVisibility],
			label: record.LabelOf(m[memberVisibility]), observations: decoded.ListOf(m["observations"])}
		if old := x.findEntity(e.name, e.label); old != nil {
			x.s.AddProblem(x.file, line, "the entity %q occurs twice; its observations are joined", e.name)
			old.observations = append(old.observations, e.observations...)
			return
		}
		x.byName[e.name] = append(x.byName[e.name], e)
		x.entities = append(x.entities, e)
	default:
		x.s.AddProblem(x.file, line, "is neither an entity nor a relation; left out")
	}
}

// findEntity returns the entity of a name and label.
func (x *reader) findEntity(name string, label *access.Label) *entity {
	for _, e := range x.byName[name] {
		if e.label == nil && label == nil || e.label != nil && label != nil && e.label.Equal(*label) {
			return e
		}
	}
	return nil
}

// endOf returns the entity at an end of a relation: of several of one name, that with the label of the relation, or else
// the one that the most people see.
func (x *reader) endOf(name string, label *access.Label) *entity {
	if e := cmp.Or(x.findEntity(name, label), x.findEntity(name, nil)); e != nil || x.byName[name] == nil {
		return e
	}
	return x.byName[name][0]
}

// key returns the key of an entity's card. Beside one that fewer people see, an open one has a longer key, so that a
// card never opens because another entity takes its key.
func (x *reader) key(e *entity) []string {
	i := slices.IndexFunc(x.byName[e.name], func(o *entity) bool { return o.label != nil })
	switch {
	case i < 0 || x.byName[e.name][i] == e:
		return []string{e.name}
	case e.label == nil:
		return []string{e.name, access.LevelUser.String()}
	}
	return []string{e.name, e.label.String()}
}

func (x *reader) addEntities(ctx context.Context) (err error) {
	for _, e := range x.entities {
		typ, fields := record.TypeFor(e.kind)
		fields["memory"] = map[string]any{"entityType": e.kind}
		r := record.Card{Key: x.key(e), File: fmt.Sprintf("%s:%d", x.file, e.line),
			Name: e.name, Suffixes: []string{e.kind}, Type: typ, Codename: "memory-" + e.name, Fields: fields,
			Form: record.Markdown, Text: record.Text(asList(e.observations))}
		r.Narrow(e.visibility)
		if e.sheet, err = x.s.Add(ctx, r); err != nil {
			return err
		}
	}
	var dangling []string
	for _, r := range x.relations {
		from, to := x.endOf(r.from, r.label), x.endOf(r.to, r.label)
		if from == nil || to == nil {
			dangling = append(dangling, fmt.Sprintf("line %d, %s to %s", r.line, r.from, r.to))
			continue
		}
		err := x.s.Link(&exchange.Edge{File: x.file, Kind: "relationship", From: exchange.End{Sheet: from.sheet},
			To: exchange.End{Sheet: to.sheet}, Attrs: map[string]any{"type": r.kind}, Label: r.label})
		if err != nil {
			return err
		}
	}
	if len(dangling) > 0 {
		x.s.AddProblem(x.file, 0, "%d relations name entities that are not there; left out: %s", len(dangling),
			exchange.FirstNames(dangling))
	}
	return nil
}

// asList returns observations as a list in Markdown.
func asList(observations []string) string {
	var b strings.Builder
	for _, o := range observations {
		b.WriteString("- " + strings.ReplaceAll(o, "\n", "\n  ") + "\n")
	}
	return b.String()
}

// Format returns the description of this format.
func Format() exchange.Format {
	return exchange.Format{Name: "memory", Title: "knowledge graphs of the MCP memory server (JSON lines)",
		Import: Import,
		Recognize: func(p *exchange.Peek) string {
			for _, name := range p.WithSuffix(".jsonl", ".json", ".ndjson") {
				head := p.Head(name)
				if bytes.Contains(head, []byte(`"entityType"`)) || bytes.Contains(head, []byte(`"relationType"`)) {
					return name + " has entities with an entityType"
				}
			}
			return ""
		},
		Page: exchange.Page{
			Get:     "Take the file that `MEMORY_FILE_PATH` of the server names.",
			Example: "./memory.jsonl",
			Maps: "Entities become cards of the type that their entityType names, observations a list, " +
				"relations relationships. An export writes the cards with a text as entities.",
			Lost: "Lines that are not JSON, and relations to entities that are not there, are named.",
			Sight: "The format has no secrets of its own: the import's level, the member `visibility` that an export " +
				"adds, and the marks below in its texts.",
			Tried: "memory.jsonl of oshliaer/server-memory-editor"}}
}
