package archive

import (
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

// maxChildren is the depth to which children nest in one input, and maxParts the number of cards
// that one input may write.
const (
	maxChildren = 5
	maxParts    = 500
)

// textIn is the content in an operation's input.
type textIn struct {
	Content         *string `json:"content,omitzero" jsonschema:"Content in the form of the card: HTML for RichText, Markdown for Markdown, one item per line for Pointer and List. Links are [[Name]] or [[Name|text]]."`
	MarkdownContent *string `json:"markdown_content,omitzero" jsonschema:"Content as Markdown; converted for types that store HTML. Not together with content."`
	formIn
}

func (t textIn) hasContent() bool { return t.Content != nil || t.MarkdownContent != nil }

// cardIn is the input for a card without its name.
type cardIn struct {
	Type string `json:"type,omitzero" maxlen:"255" jsonschema:"Name of the type, such as RichText (the default of a new card), Markdown, Pointer or Character; list_types lists all types."`
	textIn
	Fields map[string]json.RawMessage `json:"fields,omitzero" jsonschema:"Values by name, merged into the card's; null removes one. A name that begins with * or + is a child card instead: its value is the content, or {type, content or markdown_content, level}."`
	Level  string                     `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Who may see a new card; default user, raised by the cards above it, by parts such as +GM and by hidden cards that a list in its text names."`
}

// childIn is a card to write together with its parent.
type childIn struct {
	Name string `json:"name" minlen:"1" maxlen:"1020" jsonschema:"If it begins with * or +, it is a name below the card; otherwise it is a full name."`
	cardIn
	Children []childIn `json:"children,omitzero" maxitems:"100" jsonschema:"Cards to write below this one."`
}

// sheet is a card to write, parsed from an input and checked as far as possible without reading
// cards.
type sheet struct {
	path     string // path in the input, including the final dot; "" for the whole input
	name     string
	below    bool         // name is put under the name of the parent sheet's card
	parent   canon.CardID // that card, if the name has one part
	typ      string
	codename *string
	text     textIn
	patch    *patchIn
	ifMatch  op.ReadTag      // tag of the content that the author has read; "" if none is given
	fields   json.RawMessage // own fields to merge; nil if there are none
	level    access.Level    // LevelNone if none is given
	orphan   bool            // do not create missing ancestors
	parts    []sheet
	drops    []string // names below the card to remove
}

// problems collects the faults of an input by field.
type problems struct{ fault.Problems }

// checkNewName checks a name for a new card.
func (p *problems) checkNewName(field, name string) {
	if isHandle(name) {
		p.Add(field, "a new name cannot begin with ~ or :, which stand for ids and codenames")
		return
	}
	if err := markup.CheckName(name); err != nil {
		p.Add(field, "%v", err)
	}
}

// checkText checks that content is given in only one form.
func (p *problems) checkText(path string, t textIn) {
	if t.Content != nil && t.MarkdownContent != nil {
		p.Add(path+"markdown_content", "give either content or markdown_content")
	}
	if t.MarkdownContent != nil && t.Format == "html" {
		p.Add(path+"format", "markdown_content is Markdown; give the HTML as content")
	}
}

// checkPatch checks that a patch is not given together with the whole content.
func (p *problems) checkPatch(field string, patch *patchIn, t textIn) {
	if patch != nil && t.hasContent() {
		p.Add(field, "give either a patch or the whole content")
	}
	if patch != nil && t.TextFormat != "" {
		p.Add(field, "give either a patch or a text_format")
	}
}

// readSheet parses a card with its children.
func (p *problems) readSheet(path, name string, in cardIn, children []childIn) sheet {
	s := p.readCard(path, name, in)
	p.readChildren(&s, children, 1)
	if n := s.countCards(); n > maxParts {
		p.Add(path+"children", "%d cards at once are too many; send at most %d", n, maxParts)
	}
	return s
}

// readCard parses a card without its children.
func (p *problems) readCard(path, name string, in cardIn) sheet {
	s := sheet{path: path, name: name, typ: in.Type, text: in.textIn}
	s.level, _ = access.ParseLevel(in.Level) // the schema allows nothing else; "" is none
	p.checkText(path, in.textIn)
	p.readFields(&s, in.Fields)
	return s
}

func (s *sheet) countCards() int {
	n := 1
	for i := range s.parts {
		n += s.parts[i].countCards()
	}
	return n
}

// isPart reports whether a name is relative to its card.
func isPart(name string) bool { return name != "" && (name[0] == '*' || name[0] == '+') }

// partFullName returns the full name of a part of a card.
func partFullName(card, part string) string { return card + "+" + strings.TrimLeft(part, "+ ") }

func (p *problems) readChildren(s *sheet, children []childIn, depth int) {
	if depth > maxChildren && len(children) > 0 {
		p.Add(s.path+"children", "children nest at most %d deep", maxChildren)
		return
	}
	for i, in := range children {
		path := fmt.Sprintf("%schildren[%d].", s.path, i)
		part := p.readCard(path, in.Name, in.cardIn)
		p.checkPartName(path+"name", &part)
		p.readChildren(&part, in.Children, depth+1)
		s.parts = append(s.parts, part)
	}
}

// checkPartName checks the name of a child. An id or a codename refers to an existing card and is
// not checked.
func (p *problems) checkPartName(field string, part *sheet) {
	switch part.below = isPart(part.name); {
	case part.below:
		p.checkNewName(field, strings.TrimLeft(part.name, "+ "))
	case !isHandle(part.name):
		p.checkNewName(field, part.name)
	}
}

// readFields separates the card's own fields from those that are child cards.
func (p *problems) readFields(s *sheet, in map[string]json.RawMessage) {
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
		part, ok := cardFromField(in[key])
		if !ok {
			p.Add(path, "is a child card: give its text, null, or {type, content or markdown_content, level}")
			continue
		}
		card := p.readCard(path+".", key, part)
		p.checkPartName(path, &card)
		s.parts = append(s.parts, card)
	}
	if len(own) == 0 {
		return
	}
	b, err := json.Marshal(own)
	if err != nil {
		p.Add(s.path+"fields", "could not be read")
	}
	s.fields = b
}

// cardFromField parses the value of a field that is a child card.
func cardFromField(value json.RawMessage) (in cardIn, ok bool) {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return cardIn{textIn: textIn{Content: &text}}, true
	}
	var object struct {
		Type            string  `json:"type"`
		Content         *string `json:"content"`
		MarkdownContent *string `json:"markdown_content"`
		Format          string  `json:"format"`
		TextFormat      string  `json:"text_format"`
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
	for _, name := range []string{object.Format, object.TextFormat} {
		if _, known := canon.ParseFormat(name); name != "" && !known {
			return cardIn{}, false
		}
	}
	return cardIn{Type: object.Type, Level: object.Level, textIn: textIn{object.Content, object.MarkdownContent,
		formIn{object.Format, object.TextFormat}}}, true
}

// nameArgs returns all name arguments of a sheet, for the check against the name rules.
func (s *sheet) nameArgs() []string {
	list := append([]string{s.name}, s.drops...)
	for i := range s.parts {
		list = append(list, s.parts[i].nameArgs()...)
	}
	return list
}
