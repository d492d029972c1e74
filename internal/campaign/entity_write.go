package campaign

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/marked"
	"loregate/internal/markup"
)

// entityDraft is the requested state of an entity; nil keeps the present value of a part.
type entityDraft struct {
	name, kind, description *string
	attributes              attributes // merged; null removes
	aliases, tags           *[]string
	source, confidence      *string
	notes                   notesEdit
}

// publicFields returns the public fields of a draft, to be merged into the card's fields.
func (d entityDraft) publicFields(open attributes) (json.RawMessage, error) {
	all := map[string]any{}
	for k, v := range open {
		all[k] = v
	}
	if d.aliases != nil {
		all[fieldAliases] = nilIfNone(cleanAll(*d.aliases))
	}
	if d.source != nil {
		all[fieldSource] = nilIfEmpty(markup.Clean(*d.source))
	}
	if d.confidence != nil {
		all[fieldConfidence] = *d.confidence
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

func nilIfNone(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func nilIfEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// createEntity plans a new entity. If open is set, the players see it.
func (d entityDraft) createEntity(ctx context.Context, p *canon.Plan, open bool) (canon.Card, error) {
	names, err := secretFields(ctx, p.Snapshot, *d.kind)
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.splitSecrets(names, nil)
	maps.DeleteFunc(public, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	fields, err := d.publicFields(public)
	if err != nil {
		return canon.Card{}, err
	}
	label := access.NewLabel(access.LevelGM)
	if open {
		label = access.NewLabel(access.LevelUser)
	}
	n := canon.NewCard{Name: strings.TrimSpace(*d.name), Type: typesOf(*d.kind)[0], Fields: fields, Label: &label}
	if d.description != nil {
		text := source{field: "description", text: *d.description, hidden: !open}
		if n.Content, err = text.storedAs(ctx, p.Grant(), canon.TextOf(n.Type)); err != nil {
			return canon.Card{}, err
		}
	}
	c, err := p.Create(n)
	if err != nil {
		return canon.Card{}, err
	}
	return c, d.writeParts(ctx, p, c, hidden)
}

// writeParts plans the cards below an entity.
func (d entityDraft) writeParts(ctx context.Context, p *canon.Plan, c canon.Card, hidden attributes) error {
	if err := writeSecrets(ctx, p, c, hidden); err != nil {
		return err
	}
	if d.tags != nil {
		if err := writeTags(ctx, p, c, *d.tags); err != nil {
			return err
		}
	}
	return writeNotes(ctx, p, c, d.notes)
}

// updateEntity plans a change of an entity. If its source contradicts an authoritative entity, it
// records conflicts instead of the changes.
func (d entityDraft) updateEntity(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	d, err := d.raiseConflicts(ctx, p, c)
	if err != nil {
		return canon.Card{}, err
	}
	return d.overwriteEntity(ctx, p, c)
}

// overwriteEntity plans a change of an entity without regard to sources.
func (d entityDraft) overwriteEntity(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	kept, err := secretsOf(ctx, p.Snapshot, c)
	if err != nil {
		return canon.Card{}, err
	}
	names, err := secretFields(ctx, p.Snapshot, kindOf(c))
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.splitSecrets(names, kept)
	edit, err := d.toEdit(ctx, p, c, public)
	if err != nil {
		return canon.Card{}, err
	}
	edit.HidePast = hasAny(c.Fields, hidden)
	if c, err = p.Update(c, edit); err != nil {
		return canon.Card{}, err
	}
	if err := d.writeParts(ctx, p, c, hidden); err != nil {
		return canon.Card{}, err
	}
	if d.name == nil || strings.TrimSpace(*d.name) == c.Name {
		return c, nil
	}
	return p.Rename(c, strings.TrimSpace(*d.name))
}

// hasAny reports whether fields have an attribute that gets a value elsewhere.
func hasAny(fields json.RawMessage, elsewhere attributes) bool {
	have, err := attributesOf(fields)
	for k, v := range elsewhere {
		if err == nil && have[k] != nil && string(v) != "null" {
			return true
		}
	}
	return false
}

// toEdit returns the change of the entity's own card.
func (d entityDraft) toEdit(ctx context.Context, p *canon.Plan, c canon.Card,
	public attributes) (e canon.Edit, err error) {
	if e.Fields, err = d.publicFields(public); err != nil {
		return e, err
	}
	typ := c.Type
	if d.kind != nil && !hasKind(c, *d.kind) {
		typ = typesOf(*d.kind)[0]
		e.Type = &typ
	}
	content, err := p.Content(ctx, c)
	if err != nil {
		return e, err
	}
	kind := canon.KindOf(typ, c.Format)
	now := toMarkdown(ctx, c.TextKind(), content)
	hidden := c.Label.Level >= access.LevelGM
	switch {
	case d.description != nil && *d.description != now:
		text, err := source{"description", now, *d.description, hidden}.storedAs(ctx, p.Grant(), kind)
		e.Content = &text
		return e, err
	case kind != c.TextKind():
		if c.TextKind() == canon.TextHTML { // also what readers are not shown
			if now, err = marked.ToMarkdown(ctx, content); err != nil {
				return e, err
			}
		}
		text, err := source{"description", now, now, hidden}.storedAs(ctx, p.Grant(), kind)
		e.Content = &text
		return e, err
	}
	return e, nil
}
