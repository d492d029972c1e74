package planner

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io/fs"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/exchange/unpack"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Rules of LegendKeeper that hide.
const (
	ruleHidden      = "isHidden"
	ruleSecretBlock = "secret block"
)

// maxExport is the maximum size of an export without gzip, in bytes.
const maxExport = 512 << 20

// ImportLegendKeeper imports exports of LegendKeeper: .lk files.
func ImportLegendKeeper(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS,
	o exchange.Options) (exchange.Summary, error) {
	return record.Walk{Format: "legendkeeper", Suffixes: []string{".lk", ".json"}, Open: (*record.Source).ReadBytes,
		Empty: "no file is an export of LegendKeeper",
		Add: func(ctx context.Context, s *record.Source, name string, data []byte) error {
			s.Relabel("") // the ids of resources are random
			data, err := unpack.Decode(data, maxExport)
			if err != nil {
				return err
			}
			m, err := exchange.DecodeObject(name, data)
			if err != nil {
				return err
			}
			if m["resources"] == nil {
				s.AddProblem(name, 0, "is not an export of LegendKeeper; left out")
				return nil
			}
			x := &legendKeeper{book: newBook(s), file: name, hidden: map[string]bool{}}
			x.addResources(decoded.ObjectsOf(m["resources"]))
			if n := len(decoded.ObjectsOf(m["calendars"])); n > 0 {
				s.AddProblem(name, 0, "%d calendars are left out", n)
			}
			if err := x.write(ctx); err != nil {
				return err
			}
			x.addLinks()
			for _, told := range []struct {
				count int
				what  string
			}{{x.pictures, "pictures stand on the servers of LegendKeeper"}, {x.events, "events of timelines have no place here"}} {
				if told.count > 0 {
					s.AddProblem(name, 0, "%d %s; left out", told.count, told.what)
				}
			}
			return nil
		}}.Import(ctx, c, g, files, o)
}

// legendKeeper is the import of one file.
type legendKeeper struct {
	*book
	file   string
	hidden map[string]bool // resources that are hidden, or whose parents are
	links  []func()

	pictures, events int // that are left out
}

func (x *legendKeeper) addResources(list []map[string]any) {
	parent, own := map[string]string{}, map[string]bool{}
	for _, r := range list {
		id := decoded.TextOf(r["id"])
		parent[id], own[id] = decoded.TextOf(r["parentId"]), r["isHidden"] == true
	}
	x.hideBelow(parent, own)
	for _, r := range list {
		x.addResource(r, parent)
	}
}

// hideBelow hides the resources that are hidden themselves and all that stand below one.
func (x *legendKeeper) hideBelow(parent map[string]string, own map[string]bool) {
	known := map[string]bool{}
	for id := range own {
		var path []string
		at := id
		for ; at != "" && !known[at]; at = parent[at] {
			known[at] = true
			path = append(path, at)
		}
		hidden := x.hidden[at]
		if i := slices.Index(path, at); i >= 0 { // a ring: each of its resources is below all others
			hidden = slices.ContainsFunc(path[i:], func(at string) bool { return own[at] })
		}
		for _, at := range slices.Backward(path) {
			if hidden = hidden || own[at]; hidden {
				x.hidden[at] = true
			}
		}
	}
}

func (x *legendKeeper) addResource(r map[string]any, parent map[string]string) {
	id := decoded.TextOf(r["id"])
	p := &page{id: id, file: x.file + "/" + id, name: decoded.TextOf(r["name"]), aliases: decoded.ListOf(r["aliases"]),
		tags: decoded.ListOf(r["tags"])}
	for _, tag := range p.tags {
		if typ, _ := record.TypeFor(tag); typ != "Lore" && p.word == "" {
			p.word = tag
		}
	}
	if x.hidden[id] {
		p.marks = []secrecy.Mark{{Rule: ruleHidden}}
	}
	for _, d := range decoded.ObjectsOf(r["documents"]) {
		x.addDocument(p, d)
	}
	for _, property := range decoded.ObjectsOf(r["properties"]) {
		x.addProperty(p, property)
	}
	x.add(p)
	x.links = append(x.links, func() { x.link(x.file, "within", id, parent[id], nil, false) })
}

// addProperty adds a property of the sidebar: texts and rows as fields, links as relationships.
func (x *legendKeeper) addProperty(p *page, property map[string]any) {
	title, hidden := decoded.TextOf(property["title"]), property["isHidden"] == true
	data, _ := property["data"].(map[string]any)
	if decoded.TextOf(data["url"]) != "" {
		x.pictures++
	}
	for _, item := range decoded.ObjectsOf(data["items"]) {
		to := decoded.TextOf(item["resourceId"])
		x.links = append(x.links, func() {
			x.link(x.file, "relationship", p.id, to, map[string]any{"type": cmp.Or(title, "related to")}, hidden)
		})
	}
	if p.fields == nil {
		p.fields = map[string]any{}
	}
	for _, row := range rowsOf(property) {
		w := &proseWriter{x: x, file: p.file}
		w.write(row.value, 0)
		text := strings.TrimSpace(markup.Text(markForm.ReplaceAllString(w.open.String(), "$2")))
		switch {
		case hidden && text != "":
			x.s.Choices.Decide(secrecy.Mark{Rule: ruleHidden, What: "properties"}, p.file, true)
			p.writeGM("", "<p>"+html.EscapeString(row.key+": "+text)+"</p>\n")
		case text != "" && p.fields[row.key] == nil:
			p.fields[row.key] = text
		}
		p.writeGM("", w.secret.String())
	}
}

// propertyRow is a text of a property with its key.
type propertyRow struct {
	key   string
	value map[string]any
}

// rowsOf returns the texts of a property: one under its title, or one for each of its rows.
func rowsOf(property map[string]any) (rows []propertyRow) {
	data, _ := property["data"].(map[string]any)
	if text, ok := data["fragment"].(map[string]any); ok {
		rows = append(rows, propertyRow{decoded.TextOf(property["title"]), text})
	}
	for _, r := range decoded.ObjectsOf(first(data["rows"], property["rows"])) {
		text, _ := r["value"].(map[string]any)
		rows = append(rows, propertyRow{decoded.TextOf(r["key"]), text})
	}
	return slices.DeleteFunc(rows, func(r propertyRow) bool { return r.key == "" || r.value == nil })
}

// addDocument adds the text of a page, or the pins of a map.
func (x *legendKeeper) addDocument(p *page, d map[string]any) {
	if d["type"] == "map" {
		m, _ := d["map"].(map[string]any)
		for _, pin := range decoded.ObjectsOf(first(d["pins"], m["pins"])) {
			at, _ := pin["pos"].([]any)
			attrs := map[string]any{}
			if len(at) == 2 {
				attrs["y"], attrs["x"] = at[0], at[1]
			}
			to, hidden := decoded.TextOf(pin["linkedResourceId"]), pin["isHidden"] == true || d["isHidden"] == true
			x.links = append(x.links, func() { x.link(x.file, "pin", p.id, to, attrs, hidden) })
		}
		return
	}
	w := &proseWriter{x: x, file: p.file}
	content, _ := d["content"].(map[string]any)
	x.events += len(decoded.ObjectsOf(content["events"]))
	w.write(content, 0)
	if d["isHidden"] == true {
		x.s.Choices.Decide(secrecy.Mark{Rule: ruleHidden, What: "documents"}, p.file, true)
		p.writeGM("", w.open.String()+w.secret.String())
		return
	}
	p.writeSection(decoded.TextOf(d["name"]), "", w.open.String())
	p.writeGM("", w.secret.String())
}

func (x *legendKeeper) addLinks() {
	for _, add := range x.links {
		add()
	}
	x.links = nil
}

// proseWriter renders a document of ProseMirror. Secret blocks are written apart.
type proseWriter struct {
	x            *legendKeeper
	file         string
	open, secret strings.Builder
	inSecret     bool
}

func (w *proseWriter) out() *strings.Builder {
	if w.inSecret {
		return &w.secret
	}
	return &w.open
}

// proseTags are the tags of the nodes that have content.
var proseTags = map[string]string{"paragraph": "p", "bulletList": "ul", "orderedList": "ol", "listItem": "li",
	"taskList": "ul", "taskItem": "li",
	"blockquote": "blockquote", "codeBlock": "pre", "table": "table", "tableRow": "tr", "tableCell": "td",
	"tableHeader": "th"}

// proseMarks are the tags of the marks of a text.
var proseMarks = map[string]string{"strong": "b", "bold": "b", "em": "i", "italic": "i", "code": "code",
	"strike": "s", "underline": "u"}

// maxProse bounds the nesting of a document.
const maxProse = 200

func (w *proseWriter) write(n map[string]any, depth int) {
	if depth > maxProse {
		return
	}
	attrs, _ := n["attrs"].(map[string]any)
	kind := decoded.TextOf(n["type"])
	switch kind {
	case "text":
		w.writeText(n)
		return
	case "mention":
		w.out().WriteString(mark(decoded.TextOf(attrs["id"]),
			html.EscapeString(strings.TrimPrefix(decoded.TextOf(attrs["text"]), "@"))))
		return
	case "hardBreak":
		w.out().WriteString("<br/>")
		return
	case "media":
		w.x.pictures++
		return
	case "infoboxPmRow":
		value, _ := attrs["value"].(map[string]any)
		w.writeRows(value, depth)
		return
	case "rule":
		w.out().WriteString("<hr/>\n")
		return
	}
	title := decoded.TextOf(attrs["title"])
	if attrs["extensionKey"] == "block-secret" && !w.inSecret {
		w.x.s.Choices.Decide(secrecy.Mark{Rule: ruleSecretBlock}, w.file, true)
		defer w.beginSecret()()
	} else if !w.inSecret && w.x.s.HidesSection(w.file, title) {
		defer w.beginSecret()()
	}
	tag := proseTags[kind]
	if kind == "heading" {
		tag = fmt.Sprintf("h%d", max(min(decoded.IntOf(attrs["level"]), 6), 1))
	}
	if tag != "" {
		w.out().WriteString("<" + tag + ">")
	}
	if kind == "taskItem" && attrs["state"] == "DONE" {
		w.out().WriteString("done: ")
	}
	if attrs["extensionKey"] == "block-key-value" {
		parameters, _ := attrs["parameters"].(map[string]any)
		w.writeRows(parameters, depth)
	}
	if title != "" {
		w.out().WriteString("<p><b>" + html.EscapeString(title) + "</b></p>")
	}
	for _, inner := range decoded.ObjectsOf(n["content"]) {
		w.write(inner, depth+1)
	}
	if tag != "" {
		w.out().WriteString("</" + tag + ">\n")
	}
}

// writeRows writes the rows of a property that stands in a text.
func (w *proseWriter) writeRows(property map[string]any, depth int) {
	for _, row := range rowsOf(property) {
		end := func() {}
		if !w.inSecret && w.x.s.HidesSection(w.file, row.key) {
			end = w.beginSecret()
		}
		w.out().WriteString("<p><b>" + html.EscapeString(row.key) + "</b></p>\n")
		w.write(row.value, depth+1)
		end()
	}
}

// beginSecret makes the writer write apart until end is called.
func (w *proseWriter) beginSecret() (end func()) {
	w.inSecret = true
	return func() { w.inSecret = false }
}

func (w *proseWriter) writeText(n map[string]any) {
	text, _ := n["text"].(string)
	text = html.EscapeString(text)
	used := map[string]bool{} // marks that are repeated mean nothing more
	for _, m := range decoded.ObjectsOf(n["marks"]) {
		attrs, _ := m["attrs"].(map[string]any)
		kind := decoded.TextOf(m["type"])
		if used[kind] {
			continue
		}
		used[kind] = true
		if tag := proseMarks[kind]; tag != "" {
			text = "<" + tag + ">" + text + "</" + tag + ">"
		} else if href := decoded.TextOf(attrs["href"]); m["type"] == "link" && href != "" {
			text = `<a href="` + html.EscapeString(href) + `">` + text + "</a>"
		}
	}
	w.out().WriteString(text)
}
