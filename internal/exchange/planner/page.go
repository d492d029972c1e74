package planner

import (
	"cmp"
	"context"
	"strings"

	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/lazyregexp"
	"loregate/internal/secrecy"
)

// page is a page of any program, before its card.
type page struct {
	id, file, name, word string              // word names the type
	text                 []record.Block      // with references marked by mark
	form                 func(string) string // turns a part of the text into HTML; nil: it is HTML
	marks                []secrecy.Mark
	fields               map[string]any
	tags, aliases        []string
	above                *exchange.Sheet
	calendar             *record.Calendar // set for a calendar
	sheet                *exchange.Sheet
}

// write adds a part of the text that players read.
func (p *page) write(head, text string) {
	p.text = append(p.text, record.Block{Head: head, Text: text})
}

// writeSection adds a part of the text that players read, unless its name looks secret.
func (p *page) writeSection(name, head, text string) {
	p.text = append(p.text, record.Block{Name: name, Head: head, Text: text})
}

// writeGM adds a part of the text for the GM.
func (p *page) writeGM(head, text string) {
	p.text = append(p.text, record.Block{Head: head, Text: text, GM: true})
}

// book adds the cards of the pages of one source, and resolves the references between them.
type book struct {
	s     *record.Source
	pages []*page
	byID  map[string]*page
}

func newBook(s *record.Source) *book { return &book{s: s, byID: map[string]*page{}} }

// add adds a page. References can name it by its id.
func (b *book) add(p *page) {
	b.pages = append(b.pages, p)
	if p.id != "" && b.byID[p.id] == nil {
		b.byID[p.id] = p
	}
}

// mark returns the form of a reference inside a text, until all names are known.
func mark(id, label string) string {
	return "\ue000" + withoutMarks.Replace(id) + "\ue001" + withoutMarks.Replace(label) + "\ue002"
}

var (
	withoutMarks = strings.NewReplacer("\ue000", "", "\ue001", "", "\ue002", "")
	plainNests   = strings.NewReplacer("[[", "&#91;&#91;", "{{", "&#123;&#123;")
)

var markForm = lazyregexp.New("\ue000([^\ue001]*)\ue001([^\ue002]*)\ue002")

// render replaces the references in a text. A reference that nothing has becomes its label.
func (b *book) render(from *exchange.Sheet, text string) string {
	text = plainNests.Replace(text)
	return markForm.ReplaceAllStringFunc(text, func(m string) string {
		parts := markForm.FindStringSubmatch(m)
		if to := b.byID[parts[1]]; to != nil && to.sheet != nil {
			return b.s.LinkText(from, to.sheet, parts[2])
		}
		return parts[2]
	})
}

// write adds the cards of all pages.
func (b *book) write(ctx context.Context) error {
	for _, p := range b.pages {
		if err := b.writePage(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (b *book) writePage(ctx context.Context, p *page) (err error) {
	typ, fields := record.TypeFor(p.word)
	for k, v := range p.fields {
		fields[k] = v
	}
	if len(p.aliases) > 0 {
		fields["aliases"] = p.aliases
	}
	card := record.Card{Key: []string{cmp.Or(p.id, p.file+"/"+p.name)}, File: p.file, Name: p.name, Above: p.above,
		Suffixes: []string{p.word, p.id}, Type: typ, Fields: fields,
		Tags: p.tags, Marks: append(p.marks, record.NameMarks(p.name)...), Text: p.text,
		Render: func(from *exchange.Sheet, text string) string {
			if p.form != nil {
				text = p.form(text)
			}
			return b.render(from, text)
		}}
	if strings.TrimSpace(p.name) == "" {
		card.Name = "Untitled " + p.id
	}
	if p.calendar != nil {
		p.calendar.Fill(b.s, &card)
	}
	p.sheet, err = b.s.Add(ctx, card)
	return err
}

// link links two pages, for the GM only if hidden is set.
func (b *book) link(file, kind, from, to string, attrs map[string]any, hidden bool) bool {
	a, z := b.byID[from], b.byID[to]
	if a == nil || z == nil || a.sheet == nil || z.sheet == nil || a == z {
		return false
	}
	if hidden {
		b.s.AddGMEdge(file, kind, a.sheet, z.sheet, attrs)
	} else {
		b.s.AddEdge(file, kind, a.sheet, z.sheet, attrs)
	}
	return true
}
