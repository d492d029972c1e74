package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/op"
)

// maxChildren is how deep children nest in one input, and maxParts how many cards one
// input may write.
const (
	maxChildren = 5
	maxParts    = 500
)

// textIn is what a caller gives as content.
type textIn struct {
	Content         *string `json:"content,omitzero" jsonschema:"Content as it is stored: HTML for RichText, Markdown for Markdown, one item a line for Pointer and List. Links are [[Name]] or [[Name|text]]."`
	MarkdownContent *string `json:"markdown_content,omitzero" jsonschema:"Content as Markdown; converted to HTML for types that hold HTML. Not together with content."`
}

func (t textIn) given() bool { return t.Content != nil || t.MarkdownContent != nil }

// stored is the given text in the form that a type keeps.
func (t textIn) stored(ctx context.Context, typ string) (*string, error) {
	switch {
	case !t.given():
		return nil, nil
	case canon.TextOf(typ) == canon.TextFile:
		return nil, ruleOn("content", "cards of type %s hold a file; send it with upload_attachment", typ)
	case t.Content != nil:
		return t.Content, nil
	case canon.TextOf(typ) != canon.TextHTML:
		return t.MarkdownContent, nil
	}
	html, err := markup.ToHTML(ctx, *t.MarkdownContent)
	if err != nil {
		return nil, unconvertible("markdown_content", err)
	}
	return &html, nil
}

// cardIn is what a caller gives of a card beside its name.
type cardIn struct {
	Type string `json:"type,omitzero" maxlen:"255" jsonschema:"Name of the type, such as RichText (the default of a new card), Markdown, Pointer or Character; list_types has all."`
	textIn
	Fields map[string]json.RawMessage `json:"fields,omitzero" jsonschema:"Values by name, merged into the card's; null removes one. A name that begins with * or + is a child card instead: its value is the content, or {type, content or markdown_content, level}."`
	Level  string                     `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Who may see a new card; default user, raised by the cards above it and by parts such as +GM."`
}

// childIn is a card to write along with another.
type childIn struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Beginning with * or +, it is put under the card; else it is a whole name."`
	cardIn
	Children []childIn `json:"children,omitzero" maxitems:"100" jsonschema:"Cards to write below this one."`
}

// sheet is a card as a caller wants it, checked as far as that goes without a look-up.
type sheet struct {
	path     string // of the input it came from, up to the dot; "" for the whole input
	name     string
	below    bool // name goes under the card that the sheet is a part of
	typ      string
	codename *string
	text     textIn
	patch    *patchIn
	ifMatch  op.ReadTag      // what its author has read; "" where that is not said
	fields   json.RawMessage // own fields to merge; nil for none
	level    access.Level    // LevelNone where none is given
	orphan   bool            // make no missing ancestors
	parts    []sheet
	drops    []string // names under the card to remove
}

// problems collects what is wrong with an input, by field.
type problems struct{ list []fault.Field }

func (p *problems) add(field, format string, args ...any) {
	p.list = append(p.list, fault.Field{Field: field, Error: fmt.Sprintf(format, args...)})
}

// err is everything that is wrong as one fault; nil where nothing is.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	said := make([]string, 0, 3)
	for _, f := range p.list[:min(len(p.list), 3)] {
		said = append(said, f.Field+": "+f.Error)
	}
	if more := len(p.list) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return &fault.Error{Kind: fault.Invalid, Message: strings.Join(said, "; "), Fields: p.list}
}

// newName checks a name that a card may get.
func (p *problems) newName(field, name string) {
	if isHandle(name) {
		p.add(field, "a new name cannot begin with ~ or :, which stand for ids and codenames")
		return
	}
	if err := markup.CheckName(name); err != nil {
		p.add(field, "%v", err)
	}
}

// text checks that content comes in one way only.
func (p *problems) text(path string, t textIn) {
	if t.Content != nil && t.MarkdownContent != nil {
		p.add(path+"markdown_content", "give either content or markdown_content")
	}
}

// patch checks that a patch does not come together with the whole content.
func (p *problems) patch(field string, patch *patchIn, t textIn) {
	if patch != nil && t.given() {
		p.add(field, "give either a patch or the whole content")
	}
}

// sheet reads a card and what comes with it.
func (p *problems) sheet(path, name string, in cardIn, children []childIn) sheet {
	s := p.card(path, name, in)
	p.children(&s, children, 1)
	if n := s.count(); n > maxParts {
		p.add(path+"children", "%d cards at once are too many; send at most %d", n, maxParts)
	}
	return s
}

// card reads a card without its children.
func (p *problems) card(path, name string, in cardIn) sheet {
	s := sheet{path: path, name: name, typ: in.Type, text: in.textIn}
	s.level, _ = access.ParseLevel(in.Level) // the schema allows nothing else; "" is none
	p.text(path, in.textIn)
	p.fields(&s, in.Fields)
	return s
}

func (s *sheet) count() int {
	n := 1
	for i := range s.parts {
		n += s.parts[i].count()
	}
	return n
}

// isPart reports whether a name is one that is put under its card.
func isPart(name string) bool { return name != "" && (name[0] == '*' || name[0] == '+') }

// under is the whole name of a part of a card.
func under(card, part string) string { return card + "+" + strings.TrimLeft(part, "+ ") }

func (p *problems) children(s *sheet, children []childIn, depth int) {
	if depth > maxChildren && len(children) > 0 {
		p.add(s.path+"children", "children nest at most %d deep", maxChildren)
		return
	}
	for i, in := range children {
		path := fmt.Sprintf("%schildren[%d].", s.path, i)
		part := p.card(path, in.Name, in.cardIn)
		p.partName(path+"name", &part)
		p.children(&part, in.Children, depth+1)
		s.parts = append(s.parts, part)
	}
}

// partName checks the name of a child; one that is an id or codename names a card that
// is there.
func (p *problems) partName(field string, part *sheet) {
	switch part.below = isPart(part.name); {
	case part.below:
		p.newName(field, strings.TrimLeft(part.name, "+ "))
	case !isHandle(part.name):
		p.newName(field, part.name)
	}
}

// fields parts the card's own fields from those that are child cards.
func (p *problems) fields(s *sheet, in map[string]json.RawMessage) {
	own := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(in)) {
		if !isPart(key) {
			own[key] = in[key]
			continue
		}
		path := s.path + "fields." + key
		if string(in[key]) == "null" {
			s.drops = append(s.drops, key)
			continue
		}
		part, ok := fieldCard(in[key])
		if !ok {
			p.add(path, "is a child card: give its text, null, or {type, content or markdown_content, level}")
			continue
		}
		card := p.card(path+".", key, part)
		p.partName(path, &card)
		s.parts = append(s.parts, card)
	}
	if len(own) == 0 {
		return
	}
	b, err := json.Marshal(own)
	if err != nil {
		p.add(s.path+"fields", "could not be read")
	}
	s.fields = b
}

// fieldCard reads the value of a field that is a child card.
func fieldCard(value json.RawMessage) (in cardIn, ok bool) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return cardIn{textIn: textIn{Content: &text}}, true
	}
	var object struct {
		Type            string  `json:"type"`
		Content         *string `json:"content"`
		MarkdownContent *string `json:"markdown_content"`
		Level           string  `json:"level"`
	}
	d := json.NewDecoder(strings.NewReader(string(value)))
	d.DisallowUnknownFields()
	if err := d.Decode(&object); err != nil {
		return cardIn{}, false
	}
	if _, known := access.ParseLevel(object.Level); object.Level != "" && !known {
		return cardIn{}, false
	}
	return cardIn{Type: object.Type, Level: object.Level, textIn: textIn{object.Content, object.MarkdownContent}}, true
}

// names are all name arguments of a sheet, for the gate.
func (s *sheet) names() []string {
	list := append([]string{s.name}, s.drops...)
	for i := range s.parts {
		list = append(list, s.parts[i].names()...)
	}
	return list
}

// ruleOn is a fault of well-formed input that breaks a rule of the world.
func ruleOn(field, format string, args ...any) *fault.Error {
	e := fault.BadField(field, format, args...)
	e.Kind = fault.Rule
	return e
}

// within puts the path of the input that a fault is about before its fields.
func within(path string, err error) error {
	f, ok := asFault(err)
	if path == "" || !ok || len(f.Fields) == 0 {
		return err
	}
	c := *f
	c.Fields = make([]fault.Field, len(f.Fields))
	for i, x := range f.Fields {
		c.Fields[i] = fault.Field{Field: path + x.Field, Error: x.Error}
	}
	return &c
}
