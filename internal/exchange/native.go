package exchange

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// native makes cards, links and layers of notes in our own dialect.
//
// The dialect is Markdown with front matter. An export writes all of it, and "loregate: 1"
// first; who writes by hand needs name alone.
//
//	name, id, type, codename, fields   the card; type is RichText unless said
//	level, subjects                    its own label; user unless said
//	at_least                           level that rules of names gave it where it comes from
//	parent                             id of the card it lies below, where a name leaves that
//	                                   open; "none" where it lies below none
//	tags, tags_id                      the card X+tags, when it is nothing but a list
//	aliases                            the field aliases
//	format                             of the text: "html" or "json" (a JSON string); else
//	                                   Markdown for cards of HTML, as it stands for others
//	file                               the attachment, beside the note
//	links                              [{id, kind, to, to_id, attrs, level, subjects}]
//	layers                             [{id, layer, value, from, to, level, subjects}]
//	exits                              direction: name, or {to, description, …}
//	entrances                          direction: name, or {from, …}: the exit from there to here
//	within, member_of, at, on_route,   names: links from here
//	vassal_of, allied_with, at_war_with
//	borders                            names: links both ways
//	held_by                            name: the link holds from there, of quantity 1
type native struct {
	v *vault
	c *collection
}

// nativeKeys are the keys of the dialect. Others are kept in fields.
var nativeKeys = append([]string{"loregate", "name", "id", "type", "level", "subjects", "at_least", "parent", "codename", "tags", "tags_id",
	"aliases", "fields", "format", "file", "links", "layers", "exits", "entrances", "borders", "held_by"}, relations...)

// relations are the keys that name links from a card, which are kinds of links too.
var relations = []string{"within", "member_of", "at", "on_route", "vassal_of", "allied_with", "at_war_with"}

// note makes the cards of one note, and notes down its links and layers.
func (x *native) note(n *note) error {
	s := &sheet{file: n.path, name: n.text("name"), typ: n.text("type"), codename: n.text("codename"), exact: true}
	if s.name == "" {
		s.name = plainName(path.Base(n.stem()))
	}
	if s.typ == "" {
		s.typ = canon.TypeRichText
	}
	var ok bool
	if s.id, ok = x.id(n, "id"); !ok {
		s.id = x.v.cardID(n.path)
	}
	if s.root = n.text("parent") == "none"; !s.root {
		s.parent, _ = x.id(n, "parent")
	}
	if text := n.text("at_least"); text != "" {
		if s.least, ok = access.ParseLevel(text); !ok {
			s.least = access.LevelGM
		}
	}
	s.own = x.label(n, n.meta).Meet(access.NewLabel(max(x.v.o.Level, access.LevelUser)))
	if n.broken || x.v.inGMFolder(n.path) {
		s.own = s.own.Meet(access.NewLabel(access.LevelGM))
	}
	if err := x.fields(n, s); err != nil {
		return err
	}
	secret := x.content(n, s)
	n.body = ""
	if !x.c.add(s) {
		return nil
	}
	if secret != "" {
		x.secret(n, s, secret)
	}
	x.tags(n, s)
	x.graph(n, s)
	return nil
}

func (x *native) id(n *note, key string) (canon.CardID, bool) {
	text := n.text(key)
	id, err := uuid.Parse(text)
	if err != nil && text != "" {
		n.report(0, "%s %q is not a UUID; left out", key, text)
	}
	return canon.CardID(id), err == nil && id != uuid.UUID{}
}

// label reads level and subjects. What cannot be read means the GM, and nobody by name.
func (x *native) label(n *note, m map[string]any) access.Label {
	level := access.LevelUser
	if text := textOf(m["level"]); text != "" || m["level"] != nil {
		var ok bool
		if level, ok = access.ParseLevel(text); !ok {
			n.report(0, "level %q is not user, gm or admin; taken as gm", text)
			level = access.LevelGM
		}
	}
	var subjects []access.Subject
	for _, s := range listOf(m["subjects"]) {
		if err := access.CheckSubject(access.Subject(s)); err != nil {
			n.report(0, "subject %q: %v; left out", s, err)
			continue
		}
		subjects = append(subjects, access.Subject(s))
	}
	return access.NewLabel(level, subjects...)
}

// fields reads the fields, which are an object or, where YAML would not give the same
// numbers back, the text of one.
func (x *native) fields(n *note, s *sheet) error {
	all := map[string]any{}
	switch f := n.meta["fields"].(type) {
	case map[string]any:
		all = f
	case string:
		d := json.NewDecoder(strings.NewReader(f))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			n.report(0, "fields cannot be read; left out")
		}
	}
	for k, v := range n.meta {
		if !slices.Contains(nativeKeys, k) && v != nil {
			all[k] = v
		}
	}
	if aliases := listOf(n.meta["aliases"]); len(aliases) > 0 {
		all["aliases"] = aliases
	}
	if n.raw != "" {
		all["front_matter"] = n.raw
	}
	if len(all) == 0 {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("fields of %s: %w", n.path, err)
	}
	s.fields = b
	return nil
}

// content reads the text, and gives what is hidden in it: Markdown hides what it hides
// from readers in vaults too, and an export writes nothing that looks so.
func (x *native) content(n *note, s *sheet) (secret string) {
	if file := n.text("file"); file != "" {
		at := path.Join(path.Dir(n.path), file)
		if !fs.ValidPath(at) || strings.Contains(file, "/") {
			n.report(0, "file %q does not lie beside the note; left out", file)
			at = ""
		}
		s.data = readFile(x.v.files, at)
		return ""
	}
	body := strings.TrimSuffix(n.body, "\n")
	kind := canon.TextOf(s.typ)
	switch format := n.text("format"); {
	case format == "json":
		var text string
		if err := json.Unmarshal([]byte(body), &text); err != nil {
			n.report(n.line, "the text is not a JSON string; taken as it stands")
			text = body
		}
		body = text
	case format == "html" || kind != canon.TextHTML && kind != canon.TextMarkdown:
	default:
		h := split(body, nil)
		if h.loose >= 0 {
			n.report(n.line+strings.Count(body[:h.loose], "\n"), "something hidden begins here and does not end; all that follows is for the GM")
		}
		if h.secret != "" {
			body, secret = h.open, h.secret
		}
		if kind == canon.TextHTML {
			s.body = htmlOf(body)
			return secret
		}
	}
	s.body = asIs(body)
	return secret
}

func (x *native) secret(n *note, above *sheet, secret string) {
	gm := &sheet{file: n.path, id: childID(above.id, "hidden"), above: above, name: gmPart + "+Hidden", typ: canon.TypeRichText,
		own: access.NewLabel(access.LevelGM), body: htmlOf(secret)}
	if x.c.add(gm) {
		x.c.hidden++
	}
}

func (x *native) tags(n *note, above *sheet) {
	tags := listOf(n.meta["tags"])
	if len(tags) == 0 {
		return
	}
	for i := range tags {
		tags[i] = tagName(tags[i])
	}
	id, ok := x.id(n, "tags_id")
	if !ok {
		id = childID(above.id, tagsPart)
	}
	content := markup.SetItems(tags)
	x.c.add(&sheet{file: n.path, id: id, above: above, name: tagsPart, typ: canon.TypePointer, exact: true,
		own: access.NewLabel(access.LevelUser), body: asIs(content)})
}
