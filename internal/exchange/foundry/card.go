package foundry

import (
	"context"
	"fmt"
	"html"
	"io/fs"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
)

// Import imports the documents of a source: journals and their pages, actors, items, scenes and tables.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, files fs.FS, o exchange.Options) (exchange.Summary,
	error) {
	return record.Import(ctx, c, g, "foundry", o, func(s *record.Source) error {
		x := &reader{s: s, files: files, byKey: map[string]*document{}, packs: map[string]string{},
			skipped: map[string]int{}, sheets: map[string]*exchange.Sheet{}}
		x.readSource()
		s.Relabel(x.world) // the ids of documents are random: they identify them in every pack
		for _, d := range x.docs {
			if err := x.addDocumentCards(ctx, d); err != nil {
				return err
			}
		}
		x.indexSources()
		x.addPins()
		x.reportSkipped()
		if !s.HasCards() {
			return s.EmptyError("no database and no file holds a document of Foundry")
		}
		return nil
	})
}

// content is the text of a document, divided by who reads it.
type content struct{ visible, secret string }

// add adds a text under a heading, and divides it.
func (c *content) add(x *reader, file, heading, text string, gm bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	visible, secret, n := splitSecrets(text)
	if gm {
		visible, secret = "", text
	}
	for range n {
		if !gm {
			x.s.Choices.Decide(exchange.Mark{Rule: ruleSection}, file, true)
		}
	}
	if heading != "" {
		heading = "<h2>" + html.EscapeString(heading) + "</h2>\n"
	}
	if strings.TrimSpace(visible) != "" {
		c.visible += heading + visible + "\n"
	}
	if secret != "" {
		c.secret += heading + secret + "\n"
	}
}

// addDocumentCards adds the cards of one document.
func (x *reader) addDocumentCards(ctx context.Context, d *document) error {
	var text content
	var err error
	switch d.collection {
	case "journal":
		return x.addJournal(ctx, d)
	case "actors":
		x.addSystemTexts(&text, d)
		text.add(x, d.file, "", namesOf("Items", d.kids["items"]), false)
		_, err = x.addCard(ctx, d, actorType(d), text, ownerLimited)
	case "items":
		x.addSystemTexts(&text, d)
		_, err = x.addCard(ctx, d, itemType(d), text, 0)
	case "scenes":
		_, err = x.addCard(ctx, d, "Location", text, 0)
	case "tables":
		text.add(x, d.file, "", textAt(d.data, "description"), false)
		text.add(x, d.file, "", tableRows(d), false)
		_, err = x.addCard(ctx, d, "Document", text, 0)
	case "adventures":
		text.add(x, d.file, "", textAt(d.data, "description"), false)
		_, err = x.addCard(ctx, d, "Document", text, 0)
	}
	return err
}

// addCard adds the card of a document. limited is the level of ownership from which players see the
// card without its text; 0 means that they see all of it or nothing.
func (x *reader) addCard(ctx context.Context, d *document, typ string, text content, limited int) (*exchange.Sheet,
	error) {
	level, marks := d.ownership(0)
	system, _ := d.data["system"].(map[string]any)
	if system["identified"] == false && d.collection == "items" {
		marks = append(marks, exchange.Mark{Rule: ruleItem})
	}
	fields := map[string]any{"foundry": map[string]any{"id": d.id, "type": d.data["type"], "system": plainData(system,
		0)}}
	switch {
	case level >= ownerObserve || level <= 0:
	case limited > 0 && level >= limited:
		text = content{secret: text.visible + text.secret}
		fields = nil
	default:
		marks = append(marks, exchange.Mark{Rule: ruleOwnership, What: "limited"})
	}
	r := record.Card{Key: []string{d.collection, d.id}, Name: exchange.TextOf(d.data["name"]), Type: typ,
		Suffixes: []string{strings.TrimSuffix(d.collection, "s"), d.id}, Fields: fields, Marks: marks, Tags: x.folders(d)}
	return x.addText(ctx, d, r, text)
}

// addText adds a card with its text, its secret text and its picture.
func (x *reader) addText(ctx context.Context, d *document, r record.Card, text content) (*exchange.Sheet, error) {
	r.File = d.file + "/" + d.id
	if record.CardName(r.Name) == "" {
		r.Name = "Untitled " + d.id
	}
	var sh *exchange.Sheet
	r.Body = func(context.Context) string { return x.renderText(sh, text.visible) }
	if text.secret != "" {
		r.Secret = func(context.Context) string {
			return x.renderText(&exchange.Sheet{Label: access.NewLabel(access.LevelGM)}, text.secret)
		}
	}
	sh, err := x.s.Add(ctx, r)
	if err != nil {
		return nil, err
	}
	x.sheets[d.id] = sh
	return sh, x.addPicture(ctx, d, sh)
}

// addPicture adds the picture of a document if the source contains it.
func (x *reader) addPicture(ctx context.Context, d *document, above *exchange.Sheet) error {
	for _, member := range []string{"img", "src", "background.src"} {
		name := textAt(d.data, member)
		if x.world != "" {
			name = strings.TrimPrefix(name, "worlds/"+x.world+"/")
		}
		if !fs.ValidPath(name) || !exchange.IsPicture(name) {
			continue
		}
		if info, err := fs.Stat(x.files, name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		_, err := x.s.Add(ctx, record.Card{Key: []string{"picture", d.collection, d.id}, File: name, Name: "picture",
			Above: above, Type: canon.TypeImage, Data: exchange.FileData(x.files, name),
			Fields: map[string]any{"file_name": name}})
		return err
	}
	return nil
}

// folders returns the names of the folders of a document, as tags. Players see the folders of the
// documents that they see in Foundry too.
func (x *reader) folders(d *document) (names []string) {
	id := exchange.TextOf(d.data["folder"])
	for range 8 {
		f := x.byKey["folders!"+id]
		if f == nil {
			return names
		}
		names = append(names, exchange.TagName(record.CardName(exchange.TextOf(f.data["name"]))))
		id = exchange.TextOf(f.data["folder"])
	}
	return names
}

// addJournal adds a journal entry and its pages. The text of an only page is that of the entry.
func (x *reader) addJournal(ctx context.Context, d *document) error {
	level, marks := d.ownership(0)
	if level > 0 && level < ownerObserve {
		marks = append(marks, exchange.Mark{Rule: ruleOwnership, What: "limited"})
	}
	r := record.Card{Key: []string{"journal", d.id}, Name: exchange.TextOf(d.data["name"]), Type: "Document",
		Suffixes: []string{"journal", d.id}, Marks: marks, Tags: x.folders(d)}
	var text content
	text.add(x, d.file, "", textAt(d.data, "content"), false) // version 9 and before
	pages := d.kids["pages"]
	if len(pages) == 1 && numberOr(at(pages[0].data, "ownership.default"), ownerInherit) == ownerInherit {
		x.addPageTexts(&text, pages[0])
		sh, err := x.addText(ctx, d, r, text)
		if err == nil {
			x.sheets[pages[0].id] = sh
			err = x.addPicture(ctx, pages[0], sh)
		}
		return err
	}
	above, err := x.addText(ctx, d, r, text)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, p := range pages {
		if err := x.addPage(ctx, above, p, level, names); err != nil {
			return err
		}
	}
	return nil
}

func numberOr(v any, or int) int {
	if v == nil {
		return or
	}
	return exchange.IntOf(v)
}

// addPage adds a page below its entry. names are the names of the entry's earlier pages.
func (x *reader) addPage(ctx context.Context, above *exchange.Sheet, p *document, inherited int,
	names map[string]bool) error {
	level, marks := p.ownership(inherited)
	if level > 0 && level < ownerObserve {
		marks = append(marks, exchange.Mark{Rule: ruleOwnership, What: "limited"})
	}
	var text content
	x.addPageTexts(&text, p)
	name := record.CardName(exchange.TextOf(p.data["name"]))
	if name == "" {
		name = "Page"
	}
	// A page that is hidden must not change the name of a visible one.
	key := func() string { return fmt.Sprint(len(marks) > 0, exchange.FoldCase(name)) }
	for base, n := name, 2; names[key()]; n++ {
		name = fmt.Sprintf("%s (%d)", base, n)
	}
	names[key()] = true
	_, err := x.addText(ctx, p, record.Card{Key: []string{"page", p.id}, Name: name, Above: above, Type: "Document",
		Marks: marks}, text)
	return err
}

// addPageTexts adds the texts of a page. Modules keep theirs in the member system.
func (x *reader) addPageTexts(text *content, p *document) {
	body := textAt(p.data, "text.content")
	if md := textAt(p.data, "text.markdown"); body == "" && md != "" {
		body, _ = exchange.HTMLBody(md)(context.Background())
	}
	text.add(x, p.file, "", body, false)
	text.add(x, p.file, "", html.EscapeString(textAt(p.data, "image.caption")), false)
	if src := textAt(p.data, "src"); src != "" && !exchange.IsPicture(src) {
		text.add(x, p.file, "", "<p>"+html.EscapeString(src)+"</p>", false)
	}
	x.addSystemTexts(text, p)
}
