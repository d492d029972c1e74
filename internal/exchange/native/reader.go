package native

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Reader makes cards, links and layers of notes in our own dialect.
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
//	text_format                        "markdown" if the card's text is Markdown; default HTML
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
type Reader struct {
	Files    fs.FS                  // holds the attachments
	Options  exchange.Options       // File, Starter and Progress have no effect
	IsHidden func(path string) bool // reports whether a setting hides a file; nil: no file is hidden
	// FindMembers finds the members of the world that a note names; see exchange.Members.
	FindMembers func(names []string) (found []access.Subject, known bool, err error)
	Collection  *exchange.Collection
}

// dialectKeys are the keys of the dialect. All other keys are kept in the card's fields.
var dialectKeys = append([]string{"loregate", "name", "id", "type", "level", "subjects", "at_least", "parent",
	"codename", "tags", "tags_id",
	"aliases", "fields", "format", "text_format", "file", "links", "layers", "exits", "entrances", "borders", "held_by"}, relations...)

// relations are the keys that list links from a card. Each is also the kind of its links.
var relations = []string{"within", "member_of", "at", "on_route", "vassal_of", "allied_with", "at_war_with"}

// Add adds the cards, links and layers of one note.
func (x *Reader) Add(n *markdown.Note) error {
	s := &exchange.Sheet{File: n.Path, Name: n.Text("name"), Type: n.Text("type"), Codename: n.Text("codename"),
		Exact: true}
	if s.Name == "" {
		s.Name = exchange.PlainName(path.Base(n.Stem()))
	}
	if s.Type == "" {
		s.Type = canon.TypeRichText
	}
	var ok bool
	if s.ID, ok = x.parseID(n, "id"); !ok {
		s.ID = CardID(x.Options.Label, n.Path)
	}
	if s.Root = n.Text("parent") == "none"; !s.Root {
		s.Parent, _ = x.parseID(n, "parent")
	}
	if text := n.Text("at_least"); text != "" {
		if s.MinLevel, ok = access.ParseLevel(text); !ok {
			s.MinLevel = access.LevelGM
		}
	}
	s.Label = x.parseLabel(n, n.Meta).Meet(x.Options.CardLabel())
	if err := x.narrow(n, s); err != nil {
		return err
	}
	if n.Broken || x.IsHidden != nil && x.IsHidden(n.Path) {
		s.Label = s.Label.Meet(access.NewLabel(access.LevelGM))
	}
	under := takeSecretFields(n)
	if err := x.readFields(n, s); err != nil {
		return err
	}
	secret := x.readContent(n, s)
	n.Body = ""
	if !x.Collection.Add(s) {
		return nil
	}
	if secret != "" || len(under) > 0 {
		x.addSecret(n, s, secret, under)
	}
	x.addTags(n, s)
	x.readGraph(n, s)
	return nil
}

// CardID derives the id of a card without an id of its own from its place in a folder of notes.
func CardID(label, place string) canon.CardID {
	return exchange.CardID("markdown", label, norm.NFC.String(place))
}

func (x *Reader) parseID(n *markdown.Note, key string) (canon.CardID, bool) {
	text := n.Text(key)
	id, err := uuid.Parse(text)
	if err != nil && text != "" {
		n.AddReport(0, "%s %q is not a UUID; left out", key, text)
	}
	return canon.CardID(id), err == nil && id != uuid.UUID{}
}

// parseLabel reads level and subjects. An unreadable level becomes gm, and an unreadable subject is
// left out.
func (x *Reader) parseLabel(n *markdown.Note, m map[string]any) access.Label {
	level := access.LevelUser
	if text := decoded.TextOf(m["level"]); text != "" || m["level"] != nil {
		var ok bool
		if level, ok = access.ParseLevel(text); !ok {
			n.AddReport(0, "level %q is not user, gm or admin; gm is used", text)
			level = access.LevelGM
		}
	}
	var subjects []access.Subject
	for _, s := range decoded.ListOf(m["subjects"]) {
		if err := access.CheckSubject(access.Subject(s)); err != nil {
			n.AddReport(0, "subject %q: %v; left out", s, err)
			continue
		}
		subjects = append(subjects, access.Subject(s))
	}
	if len(decoded.ListOf(m["subjects"])) > 0 {
		level = max(level, access.LevelGM) // at the level user everybody is meant, and names have no effect
	}
	return access.NewLabel(level, subjects...)
}

// narrow hides a note by keys of its front matter that are not those of the dialect: by marks that can only mean a
// secret, and by the names of the people who read it.
func (x *Reader) narrow(n *markdown.Note, s *exchange.Sheet) error {
	other := map[string]any{}
	for k, v := range n.Meta {
		if !slices.Contains(dialectKeys, k) {
			other[k] = v
		}
	}
	names, keys := secrecy.ReaderNames(other)
	if len(names) > 0 {
		readers := access.NewLabel(access.LevelGM)
		if x.FindMembers != nil {
			found, known, err := x.FindMembers(names)
			if err != nil {
				return err
			}
			if readers = access.NewLabel(access.LevelGM, found...); !known {
				n.AddReport(0, "it names readers that are not members of the world (%s); it is for the GM only",
					exchange.FirstNames(names))
			}
		}
		s.Label = s.Label.Meet(readers)
	}
	for _, m := range secrecy.WithoutReaders(secrecy.MetaMarks(other), keys) {
		if !m.Doubt {
			n.AddReport(0, "%q hides it from players; it is for the GM only", m.What)
			s.Label = s.Label.Meet(access.NewLabel(access.LevelGM))
			return nil
		}
	}
	return nil
}

// readFields reads the card's fields. They are an object, or the JSON text of an object if YAML
// would change its numbers.
func (x *Reader) readFields(n *markdown.Note, s *exchange.Sheet) error {
	all := map[string]any{}
	switch f := n.Meta["fields"].(type) {
	case map[string]any:
		all = f
	case string:
		d := json.NewDecoder(strings.NewReader(f))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			n.AddReport(0, "fields cannot be read; left out")
		}
	}
	for k, v := range n.Meta {
		if !slices.Contains(dialectKeys, k) && v != nil {
			all[k] = v
		}
	}
	if aliases := decoded.ListOf(n.Meta["aliases"]); len(aliases) > 0 {
		all["aliases"] = aliases
	}
	if n.Raw != "" {
		all["front_matter"] = n.Raw
	}
	if len(all) == 0 {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("fields of %s: %w", n.Path, err)
	}
	s.Fields = b
	return nil
}

// readContent reads the note's text or file, and returns the secrets taken out of the text.
// Markdown text may contain the same secret marks as in vaults; an export writes no text that looks
// like such a mark.
func (x *Reader) readContent(n *markdown.Note, s *exchange.Sheet) (secret string) {
	if file := n.Text("file"); file != "" {
		at := path.Join(path.Dir(n.Path), file)
		if !fs.ValidPath(at) || strings.Contains(file, "/") {
			n.AddReport(0, "file %q is not in the folder of the note; left out", file)
			at = ""
		}
		s.Data = exchange.FileData(x.Files, at)
		return ""
	}
	body := strings.TrimSuffix(n.Body, "\n")
	if f, ok := canon.ParseFormat(n.Text("text_format")); ok {
		s.Format = f
	} else if n.Meta["text_format"] != nil {
		n.AddReport(0, "text_format %q is not html or markdown; html is used", n.Text("text_format"))
	}
	kind := canon.KindOf(s.Type, s.Format)
	switch format := n.Text("format"); {
	case format == "json":
		var text string
		if err := json.Unmarshal([]byte(body), &text); err != nil {
			n.AddReport(n.Line, "the text is not a JSON string; it is imported as written")
			text = body
		}
		body = text
	case format == "html" || kind != canon.TextHTML && kind != canon.TextMarkdown:
	default:
		h := secrecy.Split(body, secrecy.Markdown, nil)
		if h.UnclosedAt >= 0 {
			n.AddReport(n.Line+strings.Count(body[:h.UnclosedAt], "\n"),
				"a hidden part begins here and has no end; all text after it is for the GM")
		}
		body, secret = h.Open, h.Secret()
		if kind == canon.TextHTML {
			s.Body = exchange.HTMLBody(body)
			return secret
		}
	}
	s.Body = exchange.PlainBody(body)
	return secret
}

// takeSecretFields removes the fields of the front matter that only the GM reads, and returns them.
func takeSecretFields(n *markdown.Note) map[string]any {
	taken := map[string]any{}
	for k, v := range n.Meta {
		if !slices.Contains(dialectKeys, k) && secrecy.IsSecretField(k, v) {
			taken[k] = decoded.RestoreLinks(v)
			delete(n.Meta, k)
		}
	}
	return taken
}

func (x *Reader) addSecret(n *markdown.Note, above *exchange.Sheet, secret string, under map[string]any) {
	gm := &exchange.Sheet{File: n.Path, ID: exchange.ChildID(above.ID, "hidden"), Above: above, Name: exchange.GMPart +
		"+Hidden",
		Type:   canon.TypeRichText,
		Format: canon.FormatMarkdown,
		Label:  access.NewLabel(access.LevelGM), Body: exchange.PlainBody(secret), Fields: decoded.EncodeFields(under)}
	if x.Collection.Add(gm) {
		x.Collection.Hidden++
	}
}

func (x *Reader) addTags(n *markdown.Note, above *exchange.Sheet) {
	tags := decoded.ListOf(n.Meta["tags"])
	if len(tags) == 0 {
		return
	}
	for i := range tags {
		tags[i] = exchange.TagName(tags[i])
	}
	s := exchange.NewTagsSheet(above, markup.SetItems(tags))
	s.Exact, s.Items = true, false
	if id, ok := x.parseID(n, "tags_id"); ok {
		s.ID = id
	}
	x.Collection.Add(s)
}
