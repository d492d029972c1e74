package campaign

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// draftOf is an entity as a caller wants it; nil leaves a part as it is.
type draftOf struct {
	name, kind, description *string
	attributes              attributes // merged; null removes
	aliases, tags           *[]string
	source, confidence      *string
	notes                   notesEdit
}

// fieldsOf are the public fields of a draft, to be merged.
func (d draftOf) fieldsOf(open attributes) (json.RawMessage, error) {
	all := map[string]any{}
	for k, v := range open {
		all[k] = v
	}
	if d.aliases != nil {
		all[fieldAliases] = orNil(cleaned(*d.aliases))
	}
	if d.source != nil {
		all[fieldSource] = orEmpty(clean(*d.source))
	}
	if d.confidence != nil {
		all[fieldConfidence] = *d.confidence
	}
	if len(all) == 0 {
		return nil, nil
	}
	return json.Marshal(all)
}

func orNil(list []string) any {
	if len(list) == 0 {
		return nil
	}
	return list
}

func orEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// create plans a new entity, which the players see where open is set.
func (d draftOf) create(ctx context.Context, p *canon.Plan, open bool) (canon.Card, error) {
	names, err := secretFields(ctx, p.Snapshot, *d.kind)
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.split(names, nil)
	maps.DeleteFunc(public, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	fields, err := d.fieldsOf(public)
	if err != nil {
		return canon.Card{}, err
	}
	label := access.NewLabel(access.LevelGM)
	if open {
		label = access.NewLabel(access.LevelUser)
	}
	n := canon.NewCard{Name: strings.TrimSpace(*d.name), Type: typesOf(*d.kind)[0], Fields: fields, Label: &label}
	if d.description != nil {
		if n.Content, err = stored(ctx, "description", n.Type, *d.description); err != nil {
			return canon.Card{}, err
		}
	}
	c, err := p.Create(n)
	if err != nil {
		return canon.Card{}, err
	}
	return c, d.writeParts(ctx, p, c, hidden)
}

// writeParts plans what lies below an entity.
func (d draftOf) writeParts(ctx context.Context, p *canon.Plan, c canon.Card, hidden attributes) error {
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

// update plans a change of an entity. Where a source says something else than an
// authoritative entity does, a conflict is noted instead of each such change.
func (d draftOf) update(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	d, err := d.contest(ctx, p, c)
	if err != nil {
		return canon.Card{}, err
	}
	return d.overwrite(ctx, p, c)
}

// overwrite plans a change of an entity whatever its sources say.
func (d draftOf) overwrite(ctx context.Context, p *canon.Plan, c canon.Card) (canon.Card, error) {
	kept, err := secretsOf(ctx, p.Snapshot, c)
	if err != nil {
		return canon.Card{}, err
	}
	names, err := secretFields(ctx, p.Snapshot, kindOf(c))
	if err != nil {
		return canon.Card{}, err
	}
	public, hidden := d.attributes.split(names, kept)
	edit, err := d.edit(ctx, p, c, public)
	if err != nil {
		return canon.Card{}, err
	}
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

// edit is the change of the entity's own card.
func (d draftOf) edit(ctx context.Context, p *canon.Plan, c canon.Card, public attributes) (e canon.Edit, err error) {
	if e.Fields, err = d.fieldsOf(public); err != nil {
		return e, err
	}
	typ := c.Type
	if d.kind != nil && !keepsType(c, *d.kind) {
		typ = typesOf(*d.kind)[0]
		e.Type = &typ
	}
	content, err := p.Content(ctx, c)
	if err != nil {
		return e, err
	}
	now := prose(ctx, c.Type, content)
	switch {
	case d.description != nil && *d.description != now:
		text, err := stored(ctx, "description", typ, *d.description)
		e.Content = &text
		return e, err
	case canon.TextOf(typ) != canon.TextOf(c.Type):
		text, err := stored(ctx, "description", typ, now)
		e.Content = &text
		return e, err
	}
	return e, nil
}
