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
	"loregate/internal/markup"
)

// PreviewItem is one part of the change that a proposal would make, as its author would see it.
type PreviewItem struct {
	Act   string `json:"act" jsonschema:"create, update, rename, label, trash, restore, link, unlink, layer, unlayer, event, world, member or purge."`
	What  string `json:"what" jsonschema:"The changed object: a card's name, or a link with both ends."`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty" jsonschema:"Level that may see it after the change."`
	Diff  string `json:"diff,omitempty" jsonschema:"Change of the text and, below it, of the fields, line by line."`

	// The fields below help people to decide. The hash that an approval names does not cover them,
	// only the change itself.
	Was    *WasItem      `json:"was,omitempty" jsonschema:"Name, type and level before the change, as far as it alters them."`
	Text   string        `json:"text,omitempty" jsonschema:"Change of the text alone: a unified diff of its blocks."`
	Fields []FieldChange `json:"fields,omitempty" jsonschema:"Fields that change."`
	Opens  []string      `json:"opens,omitempty" jsonschema:"Sentences that everybody would read and that are hidden in other cards."`
}

// WasItem holds the former name, type and level of a card, each only if the change alters it.
type WasItem struct {
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty"`
}

// FieldChange is a field before and after a change; null on the side where it does not exist.
type FieldChange struct {
	Name   string          `json:"name"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// hashedItem is the part of an item that the hash of an approval covers. All stored records use
// this form.
type hashedItem struct {
	Act   string `json:"act"`
	What  string `json:"what"`
	Type  string `json:"type,omitempty"`
	Level string `json:"level,omitempty"`
	Diff  string `json:"diff,omitempty"`
}

// changePreview is a change and the items that show it to a person.
type changePreview struct {
	items []PreviewItem
	set   canon.ChangeSet
	label access.Label // of callers who may know of all of it
	reach touched
}

// cards returns the cards that the change changes.
func (p changePreview) cards() (ids []canon.CardID) {
	for _, ch := range p.set.Changes {
		if ch.Card != nil && !slices.Contains(ids, ch.Card.ID) {
			ids = append(ids, ch.Card.ID)
		}
	}
	return ids
}

// previewChange dry-runs a proposal and describes its changes.
func (s *Service) previewChange(ctx context.Context, g access.Grant, w authoredChange) (out changePreview, err error) {
	run, err := s.dryRunChange(ctx, g, w)
	if err != nil {
		return changePreview{}, err
	}
	out.set, out.label = run.Set, labelOf(run).Meet(run.Set.Event.Label)
	copied := run.Set.Copied()
	if len(copied) > 0 { // others are not told that there is a hidden card
		out.label = out.label.Meet(access.NewLabel(access.LevelGM))
	}
	err = s.cfg.Canon.Read(ctx, g, func(l *canon.Snapshot) error {
		p := previewer{ctx: ctx, snapshot: l, set: run.Set, names: map[canon.CardID]canon.Card{}}
		for _, c := range run.Receipt.Cards {
			p.names[c.ID] = c
		}
		if out.items, err = p.previewItems(); err != nil {
			return err
		}
		for _, m := range copied {
			first := &out.items[0] // a change with such a sentence has an item
			first.Opens = append(first.Opens, fmt.Sprintf("%q: %s", m.Text, m.Why))
		}
		out.reach, err = touchedBy(ctx, l, run.Set, w.draft.Scope())
		return err
	})
	return out, err
}

// expectedHash returns the hash that an approval names, over the payload, the items shown and the
// versions that the change rests on. The versions also count hidden changes. The hash is therefore
// keyed, so that nobody can find them by trying.
func (s *Service) expectedHash(j *judgedEvent, seen changePreview) canon.Hash {
	list := make([]hashedItem, len(seen.items))
	for i, item := range seen.items {
		list[i] = hashedItem{item.Act, item.What, item.Type, item.Level, item.Diff}
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

// previewer describes the changes of a ChangeSet.
type previewer struct {
	ctx      context.Context
	snapshot *canon.Snapshot
	set      canon.ChangeSet
	names    map[canon.CardID]canon.Card // cards after the change
}

func (p *previewer) previewItems() ([]PreviewItem, error) {
	var list []PreviewItem
	for _, ch := range p.set.Changes {
		item, err := p.previewItem(ch)
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
		list = append(list, PreviewItem{Act: "event", What: e.Type + " at " + e.Scope,
			Diff: markup.Diff("", indented.String())})
	}
	return list, nil
}

func (p *previewer) previewItem(ch canon.Change) (PreviewItem, error) {
	switch {
	case ch.Card != nil:
		return p.cardItem(ch.Card)
	case ch.Link != nil:
		return p.linkItem(ch.Link)
	case ch.Layer != nil:
		name, err := p.cardName(ch.Layer.Card)
		item := PreviewItem{Act: "layer", What: ch.Layer.Kind + " on " + name, Level: ch.Layer.Label.String(),
			Diff: markup.Diff("", ch.Layer.Text)}
		if ch.Layer.Gone {
			item.Act, item.Diff = "unlayer", markup.Diff(ch.Layer.Text, "")
		}
		return item, err
	case ch.World != nil:
		b, err := json.Marshal(ch.World)
		return PreviewItem{Act: "world", What: ch.World.Slug, Diff: string(b)}, err
	case ch.Text != nil:
		return PreviewItem{Act: "text", What: ch.Text.Content.String(), Level: ch.Text.Label.String()}, nil
	case ch.Member != nil:
		return PreviewItem{Act: "member", What: string(ch.Member.Subject), Diff: ch.Member.Role.String()}, nil
	}
	return PreviewItem{Act: "purge", What: ch.Purge.Card.String()}, nil
}

// cardName returns a card's name after the change.
func (p *previewer) cardName(id canon.CardID) (string, error) {
	if c, ok := p.names[id]; ok {
		return c.Name, nil
	}
	c, ok, err := p.snapshot.ByID(p.ctx, id)
	if err != nil || !ok {
		return id.String(), err
	}
	return c.Name, nil
}

func (p *previewer) cardItem(im *canon.CardImage) (PreviewItem, error) {
	name, err := p.cardName(im.ID)
	if err != nil {
		return PreviewItem{}, err
	}
	item := PreviewItem{Act: string(im.Act), What: name, Type: im.Type, Level: im.Own.String()}
	before, was, err := p.snapshot.ByID(p.ctx, im.ID)
	if err != nil {
		return item, err
	}
	if was && before.Name != name {
		item.What = before.Name + " -> " + name
	}
	old, err := p.cardText(before.Content, before.Fields)
	if err != nil {
		return item, err
	}
	next, err := p.cardText(im.Content, im.Fields)
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
	if item.Text, err = p.diffBlocks(before.Content, im.Content); err != nil {
		return item, err
	}
	return item, nil
}

// wasItem returns the former values of a card that the change alters, or nil if it alters none.
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

// fieldChanges returns the fields in which two objects differ, sorted by name.
func fieldChanges(before, after json.RawMessage) (list []FieldChange) {
	var was, is map[string]json.RawMessage
	_ = json.Unmarshal(before, &was) // no object: no fields
	_ = json.Unmarshal(after, &is)
	all := map[string]json.RawMessage{}
	maps.Copy(all, was)
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
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

// diffBlocks returns a unified diff of two texts with each block of HTML on lines of its own, so
// that the change of a word does not show a whole page as changed.
func (p *previewer) diffBlocks(old, next canon.Hash) (string, error) {
	if old == next {
		return "", nil
	}
	before, err := p.cardText(old, nil)
	if err != nil {
		return "", err
	}
	after, err := p.cardText(next, nil)
	return markup.Diff(endBlocks.Replace(before), endBlocks.Replace(after)), err
}

// endBlocks adds a line break after the end of each block.
var endBlocks = strings.NewReplacer("</p>", "</p>\n", "</h1>", "</h1>\n", "</h2>", "</h2>\n", "</h3>", "</h3>\n",
	"</h4>", "</h4>\n", "</li>", "</li>\n",
	"</tr>", "</tr>\n", "</blockquote>", "</blockquote>\n", "<br>", "<br>\n", "</div>", "</div>\n")

// cardText returns a card's content with its fields below.
func (p *previewer) cardText(h canon.Hash, fields json.RawMessage) (string, error) {
	b, ours := p.set.Body(h)
	if !ours {
		stored, err := p.snapshot.Bytes(p.ctx, h)
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

func (p *previewer) linkItem(im *canon.LinkImage) (PreviewItem, error) {
	from, err := p.cardName(im.From)
	if err != nil {
		return PreviewItem{}, err
	}
	to, err := p.cardName(im.To)
	item := PreviewItem{Act: "link", What: im.Kind + ": " + from + " -> " + to, Level: im.Label.String(),
		Diff: string(im.Attrs)}
	if im.Gone {
		item.Act = "unlink"
	}
	return item, err
}
