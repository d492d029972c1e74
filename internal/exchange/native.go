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

// nativeReader makes cards, links and layers of notes in our own dialect.
//
// The dialect is Markdown with front matter. An export writes all keys and begins with "loregate:
// 1". Notes written by hand need only name.
//
//	name, id, type, codename, fields   the card; type defaults to RichText
//	level, subjects                    its own label; defaults to user
//	at_least                           level that name rules gave it in the exporting world
//	parent                             id of its parent if the name does not determine it; "none"
//	                                   if it has no parent
//	tags, tags_id                      the card X+tags, if it is nothing but a list
//	aliases                            the field aliases
//	format                             of the text: "html" or "json" (a JSON string); by default
//	                                   Markdown for HTML cards, unchanged text for others
//	file                               the attachment, in the same folder as the note
//	links                              [{id, kind, to, to_id, attrs, level, subjects}]
//	layers                             [{id, layer, value, from, to, level, subjects}]
//	exits                              direction: name, or {to, description, …}
//	entrances                          direction: name, or {from, …}: the exit from there to here
//	within, member_of, at, on_route,   names: links from here
//	vassal_of, allied_with, at_war_with
//	borders                            names: links in both directions
//	held_by                            name: a "holds" link from there, with quantity 1
type nativeReader struct {
	files    fs.FS                  // holds the attachments
	o        Options                // File, Starter and Progress have no effect
	isHidden func(path string) bool // reports whether a setting hides a file; nil: no file is hidden
	c        *collection
}

// nativeKeys are the keys of the dialect. All other keys are kept in the card's fields.
var nativeKeys = append([]string{"loregate", "name", "id", "type", "level", "subjects", "at_least", "parent",
	"codename", "tags", "tags_id",
	"aliases", "fields", "format", "file", "links", "layers", "exits", "entrances", "borders", "held_by"}, relations...)

// relations are the keys that list links from a card. Each is also the kind of its links.
var relations = []string{"within", "member_of", "at", "on_route", "vassal_of", "allied_with", "at_war_with"}

// addNote adds the cards, links and layers of one note.
func (x *nativeReader) addNote(n *mdNote) error {
	s := &sheet{file: n.path, name: n.metaText("name"), typ: n.metaText("type"), codename: n.metaText("codename"),
		exact: true}
	if s.name == "" {
		s.name = plainName(path.Base(n.pathStem()))
	}
	if s.typ == "" {
		s.typ = canon.TypeRichText
	}
	var ok bool
	if s.id, ok = x.parseID(n, "id"); !ok {
		s.id = markdownID(x.o.Label, n.path)
	}
	if s.root = n.metaText("parent") == "none"; !s.root {
		s.parent, _ = x.parseID(n, "parent")
	}
	if text := n.metaText("at_least"); text != "" {
		if s.minLevel, ok = access.ParseLevel(text); !ok {
			s.minLevel = access.LevelGM
		}
	}
	s.own = x.parseLabel(n, n.meta).Meet(x.o.cardLabel())
	if n.broken || x.isHidden != nil && x.isHidden(n.path) {
		s.own = s.own.Meet(access.NewLabel(access.LevelGM))
	}
	if err := x.readFields(n, s); err != nil {
		return err
	}
	secret := x.readContent(n, s)
	n.body = ""
	if !x.c.add(s) {
		return nil
	}
	if secret != "" {
		x.addSecret(n, s, secret)
	}
	x.addTags(n, s)
	x.readGraph(n, s)
	return nil
}

func (x *nativeReader) parseID(n *mdNote, key string) (canon.CardID, bool) {
	text := n.metaText(key)
	id, err := uuid.Parse(text)
	if err != nil && text != "" {
		n.addReport(0, "%s %q is not a UUID; left out", key, text)
	}
	return canon.CardID(id), err == nil && id != uuid.UUID{}
}

// parseLabel reads level and subjects. An unreadable level becomes gm, and an unreadable subject is
// left out.
func (x *nativeReader) parseLabel(n *mdNote, m map[string]any) access.Label {
	level := access.LevelUser
	if text := textOf(m["level"]); text != "" || m["level"] != nil {
		var ok bool
		if level, ok = access.ParseLevel(text); !ok {
			n.addReport(0, "level %q is not user, gm or admin; taken as gm", text)
			level = access.LevelGM
		}
	}
	var subjects []access.Subject
	for _, s := range listOf(m["subjects"]) {
		if err := access.CheckSubject(access.Subject(s)); err != nil {
			n.addReport(0, "subject %q: %v; left out", s, err)
			continue
		}
		subjects = append(subjects, access.Subject(s))
	}
	return access.NewLabel(level, subjects...)
}

// readFields reads the card's fields. They are an object, or the JSON text of an object if YAML
// would change its numbers.
func (x *nativeReader) readFields(n *mdNote, s *sheet) error {
	all := map[string]any{}
	switch f := n.meta["fields"].(type) {
	case map[string]any:
		all = f
	case string:
		d := json.NewDecoder(strings.NewReader(f))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			n.addReport(0, "fields cannot be read; left out")
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

// readContent reads the note's text or file, and returns the secrets taken out of the text.
// Markdown text may contain the same secret marks as in vaults; an export writes no text that looks
// like such a mark.
func (x *nativeReader) readContent(n *mdNote, s *sheet) (secret string) {
	if file := n.metaText("file"); file != "" {
		at := path.Join(path.Dir(n.path), file)
		if !fs.ValidPath(at) || strings.Contains(file, "/") {
			n.addReport(0, "file %q does not lie beside the note; left out", file)
			at = ""
		}
		s.data = readFile(x.files, at)
		return ""
	}
	body := strings.TrimSuffix(n.body, "\n")
	kind := canon.TextOf(s.typ)
	switch format := n.metaText("format"); {
	case format == "json":
		var text string
		if err := json.Unmarshal([]byte(body), &text); err != nil {
			n.addReport(n.line, "the text is not a JSON string; taken as it stands")
			text = body
		}
		body = text
	case format == "html" || kind != canon.TextHTML && kind != canon.TextMarkdown:
	default:
		h := splitSecrets(body, nil)
		if h.unclosedAt >= 0 {
			n.addReport(n.line+strings.Count(body[:h.unclosedAt], "\n"),
				"something hidden begins here and does not end; all that follows is for the GM")
		}
		if h.secret != "" {
			body, secret = h.open, h.secret
		}
		if kind == canon.TextHTML {
			s.body = htmlBody(body)
			return secret
		}
	}
	s.body = plainBody(body)
	return secret
}

func (x *nativeReader) addSecret(n *mdNote, above *sheet, secret string) {
	gm := &sheet{file: n.path, id: childID(above.id, "hidden"), above: above, name: gmPart + "+Hidden",
		typ: canon.TypeRichText,
		own: access.NewLabel(access.LevelGM), body: htmlBody(secret)}
	if x.c.add(gm) {
		x.c.hidden++
	}
}

func (x *nativeReader) addTags(n *mdNote, above *sheet) {
	tags := listOf(n.meta["tags"])
	if len(tags) == 0 {
		return
	}
	for i := range tags {
		tags[i] = tagName(tags[i])
	}
	s := newTagsSheet(above, markup.SetItems(tags))
	s.exact, s.items = true, false
	if id, ok := x.parseID(n, "tags_id"); ok {
		s.id = id
	}
	x.c.add(s)
}
