package foundry

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io/fs"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/secrecy"
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

// content is the text of a document.
type content []record.Block

// add adds a text in HTML under a heading.
func (c *content) add(heading, text string) {
	c.addBlock(record.Block{Name: heading, Head: heading, Text: text})
}

// addGM adds a text for the GM.
func (c *content) addGM(heading, text string) {
	c.addBlock(record.Block{Head: heading, Text: text, GM: true})
}

func (c *content) addBlock(b record.Block) {
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	if b.Head != "" {
		b.Head = "<h2>" + html.EscapeString(b.Head) + "</h2>\n"
	}
	b.Text += "\n"
	*c = append(*c, b)
}

// addPlain adds a text without markup.
func (x *reader) addPlain(c *content, file, text string) {
	open, secret := x.s.Hide(file, record.HTML, text)
	c.add("", html.EscapeString(open))
	c.addGM("", html.EscapeString(secret))
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
		x.addItemNames(&text, d.kids["items"])
		_, err = x.addCard(ctx, d, actorType(d), text, ownerLimited)
	case "items":
		x.addSystemTexts(&text, d)
		_, err = x.addCard(ctx, d, itemType(d), text, 0)
	case "scenes":
		_, err = x.addCard(ctx, d, "Location", text, 0)
	case "tables":
		text.add("", textAt(d.data, "description"))
		text.add("", tableRows(d))
		_, err = x.addCard(ctx, d, "Document", text, 0)
	case "adventures":
		text.add("", textAt(d.data, "description"))
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
	r := record.Card{Key: []string{d.collection, d.id}, Name: decoded.TextOf(d.data["name"]), Type: typ,
		Suffixes: []string{strings.TrimSuffix(d.collection, "s"), d.id}, Tags: x.folders(d),
		Fields: map[string]any{"foundry": map[string]any{"id": d.id, "type": d.data["type"], "system": plainData(system, 0)}}}
	if seen, is := unidentified(d); is && d.collection == "items" {
		if seen.name == "" {
			marks = append(marks, secrecy.Mark{Rule: ruleItem})
		} else {
			x.s.Choices.Decide(secrecy.Mark{Rule: ruleItem}, d.file+"/"+d.id, true)
			text = seen.replace(text, r.Name)
			r.Name, r.GMFields, r.Fields = seen.name, r.Fields, nil
		}
	}
	switch {
	case level >= ownerObserve || level <= 0:
	case limited > 0 && level >= limited:
		for i := range text {
			text[i].GM = true
		}
		r.Fields = nil
	default:
		marks = append(marks, secrecy.Mark{Rule: ruleOwnership, What: "limited"})
	}
	r.Marks = marks
	return x.addText(ctx, d, r, text)
}

// addText adds a card with its text and its picture.
func (x *reader) addText(ctx context.Context, d *document, r record.Card, text content) (*exchange.Sheet, error) {
	r.File = d.file + "/" + d.id
	if record.CardName(r.Name) == "" {
		r.Name = "Untitled " + d.id
	}
	r.Text, r.Render = text, x.renderText
	sh, err := x.s.Add(ctx, r)
	if err != nil {
		return nil, err
	}
	x.sheets[d.id] = sh
	return sh, x.addPicture(ctx, d, sh)
}

// addPicture adds the picture of a document if the source contains it. That of an item that players have not
// identified is for the GM, unless they see another one.
func (x *reader) addPicture(ctx context.Context, d *document, above *exchange.Sheet) error {
	level := access.LevelUser
	names := []string{textAt(d.data, "img"), textAt(d.data, "src"), textAt(d.data, "background.src")}
	if seen, is := unidentified(d); is {
		level = access.LevelGM
		if seen.picture != "" {
			level, names = access.LevelUser, []string{seen.picture}
		}
	}
	for _, name := range names {
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
			Above: above, Type: canon.TypeImage, Data: exchange.FileData(x.files, name), Level: level,
			Fields: map[string]any{"file_name": name}})
		return err
	}
	return nil
}

// folders returns the names of the folders of a document, as tags. Players see the folders of the
// documents that they see in Foundry too.
func (x *reader) folders(d *document) (names []string) {
	id := decoded.TextOf(d.data["folder"])
	for range 8 {
		f := x.byKey["folders!"+id]
		if f == nil {
			return names
		}
		open, _ := x.s.Hide(d.file, record.HTML, decoded.TextOf(f.data["name"]))
		names = append(names, record.CardName(open))
		id = decoded.TextOf(f.data["folder"])
	}
	return names
}

// addJournal adds a journal entry and its pages. The text of an only page is that of the entry.
func (x *reader) addJournal(ctx context.Context, d *document) error {
	level, marks := d.ownership(0)
	if level > 0 && level < ownerObserve {
		marks = append(marks, secrecy.Mark{Rule: ruleOwnership, What: "limited"})
	}
	name := decoded.TextOf(d.data["name"])
	r := record.Card{Key: []string{"journal", d.id}, Name: name, Type: "Document",
		Suffixes: []string{"journal", d.id}, Marks: append(marks, record.NameMarks(name)...), Tags: x.folders(d)}
	var text content
	text.add("", textAt(d.data, "content")) // version 9 and before
	pages := d.kids["pages"]
	if len(pages) == 1 && numberOr(at(pages[0].data, "ownership.default"), ownerInherit) == ownerInherit {
		var page content
		x.addPageTexts(&page, pages[0])
		for _, b := range page {
			b.Name = cmp.Or(b.Name, decoded.TextOf(pages[0].data["name"]))
			text = append(text, b)
		}
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
	names := pageNames{}
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
	return decoded.IntOf(v)
}

// pageNames has the number of the next try for a name that a page has.
type pageNames map[pageName]int

// pageName is a page's name after exchange.FoldCase. Hidden pages have names apart from those of visible ones.
type pageName struct {
	hidden bool
	name   string
}

// free returns a name that no page has: the given one, or that with a number.
func (names pageNames) free(hidden bool, name string) string {
	base := pageName{hidden, exchange.FoldCase(name)}
	for key, n := base, max(names[base], 1); ; n++ {
		if n > 1 {
			key.name = fmt.Sprintf("%s (%d)", base.name, n)
		}
		if names[key] == 0 {
			names[key] = 1
			if names[base] = n + 1; n == 1 {
				return name
			}
			return fmt.Sprintf("%s (%d)", name, n)
		}
	}
}

// addPage adds a page below its entry. names are the names of the entry's earlier pages.
func (x *reader) addPage(ctx context.Context, above *exchange.Sheet, p *document, inherited int,
	names pageNames) error {
	level, marks := p.ownership(inherited)
	if level > 0 && level < ownerObserve {
		marks = append(marks, secrecy.Mark{Rule: ruleOwnership, What: "limited"})
	}
	if m, ok := secrecy.TitleMark(decoded.TextOf(p.data["name"])); ok {
		marks = append(marks, m)
	}
	var text content
	x.addPageTexts(&text, p)
	name := record.WrittenName(decoded.TextOf(p.data["name"]))
	if name == "" {
		name = "Page"
	}
	// A page that is hidden must not change the name of a visible one.
	name = names.free(len(marks) > 0, name)
	_, err := x.addText(ctx, p, record.Card{Key: []string{"page", p.id}, Name: name, Above: above, Type: "Document",
		Marks: marks}, text)
	return err
}

// addPageTexts adds the texts of a page. Modules keep theirs in the member system.
func (x *reader) addPageTexts(text *content, p *document) {
	body := textAt(p.data, "text.content")
	text.add("", body)
	if md := textAt(p.data, "text.markdown"); body == "" && md != "" {
		// Most marks of secrecy do not outlast the conversion, nor do comments.
		open, secret := x.s.Hide(p.file, record.Markdown, md)
		open, _ = exchange.HTMLBody(open)(context.Background())
		text.add("", open)
		if secret != "" {
			text.addGM("", "<pre>"+html.EscapeString(secret)+"</pre>")
		}
	}
	x.addPlain(text, p.file, textAt(p.data, "image.caption"))
	if src := textAt(p.data, "src"); src != "" && !exchange.IsPicture(src) {
		x.addPlain(text, p.file, src)
	}
	x.addSystemTexts(text, p)
}
