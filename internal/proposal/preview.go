package proposal

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// PreviewItem is one part of the change that a proposal would make, as its author would
// see it.
type PreviewItem struct {
	Act   string `json:"act" jsonschema:"create, update, rename, label, trash, restore, link, unlink, layer, unlayer, event, world, member or purge."`
	What  string `json:"what" jsonschema:"What is changed: a card's name, or a link with both ends."`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty" jsonschema:"Who will see it."`
	Diff  string `json:"diff,omitempty" jsonschema:"What changes in the text and, below it, the fields, line by line."`

	// What follows is for people who decide. It is no part of what an approval names: that
	// names the change itself.
	Was    *WasItem      `json:"was,omitempty" jsonschema:"Name, type and level before, where one of them changes."`
	Text   string        `json:"text,omitempty" jsonschema:"What changes in the text alone: a unified diff of its blocks."`
	Fields []FieldChange `json:"fields,omitempty" jsonschema:"Fields that change."`
}

// WasItem is what a card was called and how it was kept before a change.
type WasItem struct {
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty"`
}

// FieldChange is a field before and after a change; null where there is none.
type FieldChange struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// named is what of an item an approval names: the form of all records so far.
type named struct {
	Act   string `json:"act"`
	What  string `json:"what"`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty"`
	Diff  string `json:"diff,omitempty"`
}

// rehearse shows what a candidate would change, and notes what an approval has to name.
// What cannot be carried out is found wrong here.
func (s *Service) rehearse(ctx context.Context, c *candidate, o *outcome) error {
	a, err := s.admit(ctx, c.grant.Caller(), c.grant.World(), &c.rec, c.kind, c.draft)
	if err == nil {
		var seen shown
		seen, err = s.show(ctx, a.Grant, work{id: c.rec.ID, kind: c.kind, draft: c.draft, actor: c.rec.Author.Actor, transport: c.transport})
		a.Done(ctx, 0, err)
		c.rec.Preview, c.rec.Expected, c.finding.Label, c.reach = seen.items, s.expected(&c.rec, seen), seen.label, seen.reach
	}
	if err == nil {
		return nil
	}
	if !final(err) {
		return fault.New(fault.Unavailable, "the change could not be rehearsed").Because(err)
	}
	o.issues = issuesOf(err)
	o.refused = &Rejection{Message: "it cannot be carried out in this world (" + o.issues[0].Error + "); change that and propose again", Details: map[string]any{"issues": o.issues}}
	return nil
}

// shown is a change as a person is shown it, and the change itself.
type shown struct {
	items []PreviewItem
	set   canon.ChangeSet
	label access.Label // who may know of all of it
	reach reach
}

// show rehearses a proposal and tells what it would change.
func (s *Service) show(ctx context.Context, g access.Grant, w work) (out shown, err error) {
	set, receipt, err := s.propose(ctx, g, w)
	if err != nil {
		return shown{}, err
	}
	out.set, out.label = set, labelOf(set, receipt)
	if set.Event != nil {
		out.label = out.label.Meet(set.Event.Label)
	}
	err = s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		p := previewer{ctx: ctx, l: l, set: set, names: map[canon.CardID]canon.Card{}}
		for _, c := range receipt.Cards {
			p.names[c.ID] = c
		}
		if out.items, err = p.items(); err != nil {
			return err
		}
		out.reach, err = reachOf(ctx, l, set, w.draft.Scope())
		return err
	})
	return out, err
}

// expected is the hash that an approval names: over the payload, what was shown, and the
// versions that the change rests on. Those count what is hidden too, so that the hash is
// keyed: nobody can find them by trying.
func (s *Service) expected(j *judged, seen shown) canon.Hash {
	list := make([]named, len(seen.items))
	for i, item := range seen.items {
		list[i] = named{item.Act, item.What, item.Type, item.Level, item.Diff}
	}
	items, err := json.Marshal(list)
	if err != nil {
		return canon.Hash{}
	}
	marks := make([][]byte, len(seen.set.Reads))
	for i, m := range seen.set.Reads {
		marks[i] = fmt.Appendf(nil, "%s %d %s %d", m.Card, m.Rev, m.Link, m.Since)
	}
	slices.SortFunc(marks, bytes.Compare)
	over := hashOf(j.ID[:], j.Hash[:], items, bytes.Join(marks, []byte{'\n'}))
	mac := hmac.New(sha256.New, s.cfg.Secret)
	mac.Write(over[:])
	return canon.Hash(mac.Sum(nil))
}

// previewer tells what a ChangeSet does.
type previewer struct {
	ctx   context.Context
	l     *canon.Snapshot
	set   canon.ChangeSet
	names map[canon.CardID]canon.Card // cards as they would be
}

func (p *previewer) items() ([]PreviewItem, error) {
	var list []PreviewItem
	for _, ch := range p.set.Changes {
		item, err := p.item(ch)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	if e := p.set.Event; e != nil && len(list) == 0 {
		var indented bytes.Buffer
		if err := json.Indent(&indented, e.Payload, "", "  "); err != nil {
			return nil, err
		}
		list = append(list, PreviewItem{Act: "event", What: e.Type + " at " + e.Scope, Diff: markup.Diff("", indented.String())})
	}
	return list, nil
}

func (p *previewer) item(ch canon.Change) (PreviewItem, error) {
	switch {
	case ch.Card != nil:
		return p.card(ch.Card)
	case ch.Link != nil:
		return p.link(ch.Link)
	case ch.Layer != nil:
		name, err := p.name(ch.Layer.Card)
		item := PreviewItem{Act: "layer", What: ch.Layer.Kind + " on " + name, Level: ch.Layer.Label.String(), Diff: markup.Diff("", ch.Layer.Text)}
		if ch.Layer.Gone {
			item.Act, item.Diff = "unlayer", markup.Diff(ch.Layer.Text, "")
		}
		return item, err
	case ch.World != nil:
		b, err := json.Marshal(ch.World)
		return PreviewItem{Act: "world", What: ch.World.Slug, Diff: string(b)}, err
	case ch.Member != nil:
		return PreviewItem{Act: "member", What: string(ch.Member.Subject), Diff: ch.Member.Role.String()}, nil
	}
	return PreviewItem{Act: "purge", What: ch.Purge.Card.String()}, nil
}

// name is a card's name as it would be.
func (p *previewer) name(id canon.CardID) (string, error) {
	if c, ok := p.names[id]; ok {
		return c.Name, nil
	}
	c, ok, err := p.l.ByID(p.ctx, id)
	if err != nil || !ok {
		return id.String(), err
	}
	return c.Name, nil
}

func (p *previewer) card(im *canon.CardImage) (PreviewItem, error) {
	name, err := p.name(im.ID)
	if err != nil {
		return PreviewItem{}, err
	}
	item := PreviewItem{Act: string(im.Act), What: name, Type: im.Type, Level: im.Own.String()}
	before, was, err := p.l.ByID(p.ctx, im.ID)
	if err != nil {
		return item, err
	}
	if was && before.Name != name {
		item.What = before.Name + " -> " + name
	}
	old, err := p.text(before.Content, before.Fields)
	if err != nil {
		return item, err
	}
	next, err := p.text(im.Content, im.Fields)
	if err != nil || im.Act == canon.ActTrash {
		return item, err
	}
	if old != next {
		item.Diff = markup.Diff(old, next)
	}
	item.Fields = fieldChanges(before.Fields, im.Fields)
	if was {
		item.Was = wasItem(before, item, name)
	}
	if item.Text, err = p.blocks(before.Content, im.Content); err != nil {
		return item, err
	}
	return item, nil
}

// wasItem is what a card was, where the change makes something else of it; else nil.
func wasItem(before canon.Card, item PreviewItem, name string) *WasItem {
	var was WasItem
	if before.Name != name {
		was.Name = before.Name
	}
	if before.Type != item.Type {
		was.Type = before.Type
	}
	if level := before.Own.String(); level != item.Level {
		was.Level = level
	}
	if was == (WasItem{}) {
		return nil
	}
	return &was
}

// fieldChanges are the fields in which two objects are not alike, by name.
func fieldChanges(before, after json.RawMessage) (list []FieldChange) {
	var was, is map[string]json.RawMessage
	_ = json.Unmarshal(before, &was) // no object: no fields
	_ = json.Unmarshal(after, &is)
	names := slices.Sorted(maps.Keys(was))
	for name := range is {
		if _, there := was[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if !bytes.Equal(was[name], is[name]) {
			list = append(list, FieldChange{name, orNull(was[name]), orNull(is[name])})
		}
	}
	return list
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// blocks is a unified diff of two texts with each block of HTML on lines of its own, so
// that a change of a word does not show a whole page as changed.
func (p *previewer) blocks(old, next canon.Hash) (string, error) {
	if old == next {
		return "", nil
	}
	before, err := p.text(old, nil)
	if err != nil {
		return "", err
	}
	after, err := p.text(next, nil)
	return markup.Diff(endBlocks.Replace(before), endBlocks.Replace(after)), err
}

// endBlocks ends the line after what ends a block.
var endBlocks = strings.NewReplacer("</p>", "</p>\n", "</h1>", "</h1>\n", "</h2>", "</h2>\n", "</h3>", "</h3>\n", "</h4>", "</h4>\n", "</li>", "</li>\n",
	"</tr>", "</tr>\n", "</blockquote>", "</blockquote>\n", "<br>", "<br>\n", "</div>", "</div>\n")

// text is a card's content with its fields below.
func (p *previewer) text(h canon.Hash, fields json.RawMessage) (string, error) {
	b, ours := p.set.Body(h)
	if !ours {
		stored, err := p.l.Bytes(p.ctx, h)
		if err != nil {
			return "", err
		}
		b = stored
	}
	text := string(b)
	if len(fields) == 0 {
		return text, nil
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, fields, "", "  "); err != nil {
		return "", err
	}
	return text + "\n" + indented.String() + "\n", nil
}

func (p *previewer) link(im *canon.LinkImage) (PreviewItem, error) {
	from, err := p.name(im.From)
	if err != nil {
		return PreviewItem{}, err
	}
	to, err := p.name(im.To)
	item := PreviewItem{Act: "link", What: im.Kind + ": " + from + " -> " + to, Level: im.Label.String(), Diff: string(im.Attrs)}
	if im.Gone {
		item.Act = "unlink"
	}
	return item, err
}
