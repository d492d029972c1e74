package native

import (
	"context"
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
//	hidden_fields                      names of fields that only the GM reads
//	text_digest, hidden_parts          ranges of the text that are hidden, each "from-to" or "from-to label" in
//	                                   bytes, as long as the text has the digest; else its marks count
//	head_digest                        marks in front matter and in the path hide nothing beyond level, subjects
//	                                   and hidden_fields, as long as they have the digest
//	beside                             true for a card that holds hidden parts of the text above: the
//	                                   note has its other text
//	links                              [{id, kind, to, to_id, attrs, level, subjects}]
//	layers                             [{id, layer, value, from, to, level, subjects}]
//	exits                              direction: name, or {to, description, …}
//	entrances                          direction: name, or {from, …}: the exit from there to here
//	within, member_of, at, on_route,   names: links from here
//	vassal_of, allied_with, at_war_with
//	borders                            names: links in both directions
//	held_by                            name: a "holds" link from there, with quantity 1
type Reader struct {
	Files   fs.FS            // holds the attachments
	Options exchange.Options // File, Starter and Progress have no effect
	// Marks returns the marks of the folders of a note, and of settings; nil: those in the names of its folders.
	Marks func(path string) []secrecy.Mark
	// Judge decides whether a mark hides a note, or a part of it; nil: each does.
	Judge func(m secrecy.Mark, path string, part bool) bool
	// Seen returns the part of a card that players read now; nil: there is none.
	Seen func(context.Context, canon.CardID) (Seen, error)
	// FindMembers finds the members of the world that a note names; see exchange.Members.
	FindMembers func(names []string) (found []access.Subject, known bool, err error)
	Collection  *exchange.Collection
}

// dialectKeys are the keys of the dialect. All other keys are kept in the card's fields.
var dialectKeys = append([]string{"loregate", "name", "id", "type", "level", "subjects", "at_least", "parent",
	"codename", "tags", "tags_id",
	"aliases", "fields", "hidden_fields", "text_digest", "hidden_parts", "head_digest",
	"beside", "format", "text_format", "file",
	"links", "layers", "exits", "entrances", "borders", "held_by"}, relations...)

// relations are the keys that list links from a card. Each is also the kind of its links.
var relations = []string{"within", "member_of", "at", "on_route", "vassal_of", "allied_with", "at_war_with"}

// Add adds the cards, links and layers of one note.
func (x *Reader) Add(ctx context.Context, n *markdown.Note) error {
	headIsOurs := n.Text("head_digest") == digestHead(n)
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
	if n.Broken {
		s.Label = s.Label.Meet(access.NewLabel(access.LevelGM))
	}
	s.HideFields, s.Beside = decoded.ListOf(n.Meta["hidden_fields"]), n.Text("beside") == "true"
	if err := x.readFields(n, s); err != nil {
		return err
	}
	readExported(n, s)
	j := judgement{Reader: x, n: n, s: s, headIsOurs: headIsOurs}
	if err := j.judgeNote(ctx); err != nil {
		return err
	}
	hides, err := j.readContent(ctx)
	if err != nil {
		return err
	}
	n.Body = ""
	if !x.Collection.Add(s) {
		return nil
	}
	if hides || len(s.HideFields) > 0 {
		x.Collection.Hidden++
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
			if all[k] = v; secrecy.IsSecretField(k, v) {
				all[k] = decoded.RestoreLinks(v)
			}
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

// readExported reads the ranges of the text that an export says are hidden.
func readExported(n *markdown.Note, s *exchange.Sheet) {
	digest := n.Text("text_digest")
	if digest == "" {
		return
	}
	s.Exported = &exchange.Exported{Digest: digest}
	for _, text := range decoded.ListOf(n.Meta["hidden_parts"]) {
		place, label, named := strings.Cut(text, " ")
		r := secrecy.Range{Label: access.NewLabel(access.LevelGM)}
		_, err := fmt.Sscanf(place, "%d-%d", &r.From, &r.To)
		if named && err == nil {
			err = r.Label.UnmarshalText([]byte(label))
		}
		if err != nil || r.From < 0 || r.To <= r.From || r.Label.Level < access.LevelGM {
			n.AddReport(0, "hidden_parts has %q, which is no range; the marks in the text count", text)
			s.Exported = nil
			return
		}
		s.Exported.Parts = append(s.Exported.Parts, r)
	}
}

// partRanges is the inverse of readExported.
func partRanges(t secrecy.Text) []string {
	list := make([]string, len(t.Parts))
	for i, r := range t.Places() {
		list[i] = fmt.Sprintf("%d-%d", r.From, r.To)
		if label := t.Parts[i].Label; !label.Equal(access.NewLabel(access.LevelGM)) {
			list[i] += " " + label.String()
		}
	}
	return list
}

// isInFolder reports whether a file that a note names lies in the note's folder. at is its path.
func isInFolder(file, at string) bool { return fs.ValidPath(at) && !strings.Contains(file, "/") }

func (x *Reader) addTags(n *markdown.Note, above *exchange.Sheet) {
	tags := decoded.ListOf(n.Meta["tags"])
	if all := len(tags); above.Label.Level < access.LevelGM {
		if tags = slices.DeleteFunc(tags, secrecy.HasAnyMark); len(tags) < all {
			n.AddReport(0, "tags with a mark of a secret are left out")
		}
	}
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
