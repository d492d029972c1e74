package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Fields returns a card's fields, with the hidden ones that the view sees.
func (s *Snapshot) Fields(ctx context.Context, c Card) (json.RawMessage, error) {
	holders, err := s.holders(ctx, c)
	if err != nil {
		return nil, err
	}
	return withHidden(s.FieldsOf(c.Type, c.Fields), holders)
}

// withHidden returns fields with those that are hidden in holders.
func withHidden(fields json.RawMessage, holders []Card) (json.RawMessage, error) {
	for _, h := range holders {
		if h.Places == nil || len(h.Places.Fields) == 0 {
			continue
		}
		hidden, err := pickFields(h.Fields, h.Places.Fields)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(hidden)
		if err != nil {
			return nil, fmt.Errorf("canon: hidden fields: %w", err)
		}
		if fields, err = mergeFields(fields, b); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

// isSecretField reports whether a field that an edit gives is hidden because the table of marks names it, or
// because its value has a mark. A field that was open stays open with the value that it had, and under a name that
// the table has.
func (p *Plan) isSecretField(e Edit, c Card, name string, v any, open map[string]any) (bool, error) {
	was := open[name]
	switch {
	case v == nil || e.AsWritten || onlyMasters(c.Label) && !e.opens:
		return false, nil
	case e.opens:
		was = nil
	case was != nil && reflect.DeepEqual(was, v):
		return false, nil
	}
	if was == nil && (secrecy.IsNamedSecret(name, v) || secrecy.HasAnyMark(name)) {
		declared, err := p.declaresSecrets(p.ctx, c.Type)
		if err != nil || !declared {
			return !declared, err
		}
	}
	_, whole := secrecy.SaysHidden(name, v)
	nested, isNested := secrecy.NestedMark(name, was, v)
	if isNested && !nested.Doubt && !whole {
		kept, err := p.keepsSecrets(c)
		if err != nil || !kept {
			return !kept, err
		}
	}
	if !e.opens {
		if hides, err := p.askField(c, name, was, v, whole, isNested); hides || err != nil {
			return hides, err
		}
	}
	return p.hasMark("fields."+name, was, v, e.opens)
}

// askField reports whether a field that looks secret by its name or by an object in it, which nested tells, is hidden, as
// the call says. It returns a fault if the call says nothing about it, or if the field says that the whole card is hidden
// and the call does not call it text.
func (p *Plan) askField(c Card, name string, was, v any, whole, nested bool) (bool, error) {
	wasMarked, had := secrecy.NestedMark(name, nil, was)
	opened := was != nil && (secrecy.IsNamedSecret(name, v) || had && !wasMarked.Doubt) &&
		p.grant.Request().TakesAnswer
	if looks := was == nil && secrecy.LooksSecret(name, v); !whole && !looks && !opened && !nested {
		return false, nil
	}
	kept, err := p.keepsSecrets(c)
	if err != nil || kept && (!whole || markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype)) {
		return false, err
	}
	field, text := "fields."+name, name+": "+textOfField(v)
	switch answer := p.grant.Request().Unsure; {
	case answer == access.UnsureText:
		return false, nil
	case whole:
		return false, saysHiddenFault(field, 1, text)
	case answer == access.UnsureHides:
		return true, nil
	}
	if opened && !nested {
		return false, unsureFault([]UnsureMark{{Field: field, Line: 1, Text: markup.Shorten(text, 80),
			Why: "this field was opened and hides nothing, also no new text", Remedy: "hide it first with hide_part"}})
	}
	why := "the field's name looks secret, and hides nothing"
	if nested {
		why = "an object in the field looks secret, and hides nothing"
	}
	return false, unsureFault([]UnsureMark{{Field: field, Line: 1, Text: markup.Shorten(text, 80), Why: why,
		Remedy: "call it gm_notes to hide it"}})
}

// keepsSecrets reports whether marks in the fields of a card are none: a card of a type describes the fields of others,
// and the world may say itself which fields are secret.
func (p *Plan) keepsSecrets(c Card) (bool, error) {
	if markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
		return true, nil
	}
	return p.declaresSecrets(p.ctx, c.Type)
}

// declaresSecrets reports whether the world says itself which fields of a type are secret: in the field
// secret_fields of the type's card. The campaign keeps those, and the others are open.
func (s *Snapshot) declaresSecrets(ctx context.Context, typ string) (bool, error) {
	cards, err := s.Homonyms(ctx, markup.KeyOf(typ))
	if err != nil {
		return false, err
	}
	for _, c := range cards {
		var own struct {
			Names []string `json:"secret_fields"`
		}
		if markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) && json.Unmarshal(c.Fields, &own) == nil && own.Names != nil {
			return true, nil
		}
	}
	return false, nil
}

// hasMark reports whether a text in a value has a mark that hides. It returns a fault for one that needs an answer.
func (p *Plan) hasMark(field string, was, v any, opens bool) (bool, error) {
	switch v := v.(type) {
	case string:
		before, _ := was.(string)
		if !opens {
			list, err := unsureMarks(p.grant, field, before, secrecy.Markdown, secrecy.Read(v, secrecy.Markdown))
			if err != nil || len(list) > 0 {
				return p.grant.Request().Unsure == access.UnsureHides, err
			}
		}
		return secrecy.HasMark(v, secrecy.Markdown), nil
	case []any:
		list, _ := was.([]any)
		for i, x := range v {
			var old any
			if i < len(list) {
				old = list[i]
			}
			if has, err := p.hasMark(field, old, x, opens); has || err != nil {
				return has, err
			}
		}
	case map[string]any:
		all, _ := was.(map[string]any)
		for k, x := range v {
			if all[k] == nil && (secrecy.IsNamedSecret(k, x) || secrecy.HasAnyMark(k)) {
				return true, nil
			}
			if has, err := p.hasMark(field, all[k], x, opens); has || err != nil {
				return has, err
			}
		}
	}
	return false, nil
}

// fieldPrefix begins the ids of hidden fields among those of hidden parts.
const fieldPrefix = "field:"

// fieldChange is a change of the hidden fields under a label; nil removes one.
type fieldChange struct {
	label  access.Label
	values map[string]any
}

// fieldChanges are the changes of a card's hidden fields, one for each label.
type fieldChanges []fieldChange

func (f *fieldChanges) set(l access.Label, name string, v any) {
	i := slices.IndexFunc(*f, func(x fieldChange) bool { return x.label.Equal(l) })
	if i < 0 {
		i = len(*f)
		*f = append(*f, fieldChange{l, map[string]any{}})
	}
	(*f)[i].values[name] = v
}

// under returns the changes under a label.
func (f fieldChanges) under(l access.Label) map[string]any {
	for _, x := range f {
		if x.label.Equal(l) {
			return x.values
		}
	}
	return nil
}

// labelField gives a hidden field of a card another label: that of the level of users opens it to everybody who
// sees the card.
func (p *Plan) labelField(c *Card, d *dividedText, id string, l partsLabel) error {
	name := strings.TrimPrefix(id, fieldPrefix)
	open, err := pickFields(c.Fields, []string{name})
	if err != nil {
		return err
	}
	value, from, isHeld := open[name], c.Label, false
	for _, h := range d.holders {
		if h.Places == nil || !slices.Contains(h.Places.Fields, name) {
			continue
		}
		hidden, err := pickFields(h.Fields, []string{name})
		if err != nil {
			return err
		}
		value, from, isHeld = hidden[name], h.Label, true
		d.fields.set(h.Label, name, nil)
		if !c.Label.Meet(l.to).Covers(h.Label) {
			d.taken = append(d.taken, id)
		}
	}
	if value == nil || !isHeld && !l.hides {
		return ruleFault("parts", "%q has no hidden field %q; list its parts with get_card", c.Name, name)
	}
	if l.to.Level > access.LevelUser {
		d.fields.set(l.to, name, value)
		d.hid = d.hid || open[name] != nil && !l.keepHistory
		open[name] = nil
	} else {
		open[name] = value
	}
	b, err := json.Marshal(open)
	if err != nil {
		return fmt.Errorf("canon: hidden fields: %w", err)
	}
	if c.Fields, err = mergeFields(c.Fields, b); err != nil {
		return err
	}
	if now := c.Label.Meet(l.to); !from.Covers(now) {
		p.set.opened = append(p.set.opened, Opened{Card: c.ID, Name: c.Name, Part: id,
			Text: name + ": " + textOfField(value), From: from, To: now})
	}
	return nil
}

func textOfField(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// HiddenField is a hidden field of a card.
type HiddenField struct {
	ID, Name string
	Text     string // its value, which is JSON unless it is a text
	Label    access.Label
}

// HiddenFields returns the hidden fields of a card that the view sees.
func (s *Snapshot) HiddenFields(ctx context.Context, c Card) (all []HiddenField, err error) {
	holders, err := s.holders(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		hidden, err := pickFields(h.Fields, h.Places.Fields)
		if err != nil {
			return nil, err
		}
		for _, name := range h.Places.Fields {
			all = append(all, HiddenField{ID: fieldPrefix + name, Name: name, Text: textOfField(hidden[name]), Label: h.Label})
		}
	}
	return all, nil
}

// pickFields returns the members with the given names of a card's fields; all of them if names is nil.
func pickFields(fields json.RawMessage, names []string) (map[string]any, error) {
	all := map[string]any{}
	if len(fields) > 0 {
		if err := decodeNumbers(fields, &all); err != nil {
			return nil, fmt.Errorf("canon: stored fields: %w", err)
		}
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return names != nil && !slices.Contains(names, name) })
	return all, nil
}

// divideFields takes the fields out of an edit that are hidden now, or that the edit hides. A caller below the game
// master hides none.
func (p *Plan) divideFields(c, before Card, typ Type, e *Edit) error {
	hides := p.View().Level >= access.LevelGM
	readsMarks := hides && !e.Undivided
	if !readsMarks && !(hides && len(e.HideFields) > 0) && !before.showsParts(p.View()) || !p.mayHaveHolders(c, typ) ||
		e.Places != nil {
		return nil
	}
	was, err := p.textBefore(before)
	if err != nil {
		return err
	}
	open, err := pickFields(before.Fields, nil)
	if err != nil {
		return err
	}
	d := &dividedText{holders: was.holders, now: was.Text}
	held := map[string]access.Label{}
	for _, h := range was.holders {
		for _, name := range h.Places.Fields {
			if held[name] = h.Label; e.Replace {
				d.fields.set(h.Label, name, nil)
			}
		}
	}
	given := map[string]any{}
	if len(e.Fields) > 0 {
		if err := decodeNumbers(e.Fields, &given); err != nil {
			return nil //nolint:nilerr // mergeFields says which
		}
	}
	moved := movedFields(was.holders, maps.Clone(given), *e)
	for name, v := range given {
		label, isHeld := held[name]
		if !isHeld {
			label = access.NewLabel(access.LevelGM)
			secret := hides && slices.Contains(e.HideFields, name)
			if !secret && readsMarks {
				if secret, err = p.isSecretField(*e, c, name, v, open); err != nil {
					return err
				}
			}
			if text := textOfField(v); !secret && moved[text] != nil && len(text) >= leastMoved {
				label, secret = *moved[text], true
			}
			if !secret {
				continue
			}
		}
		d.fields.set(label, name, v)
		if delete(given, name); open[name] != nil {
			given[name] = nil
			d.hid = d.hid || v != nil && !e.KeepHistory && !e.opens
		}
	}
	if len(d.fields) == 0 {
		return nil
	}
	if e.Fields, err = json.Marshal(given); err != nil {
		return fmt.Errorf("canon: fields: %w", err)
	}
	p.divided[c.ID] = d
	return nil
}

// leastMoved is the length of a value from which on it is known again under another name.
const leastMoved = 5

// movedFields returns the labels of the hidden values that an edit takes from their fields, by their texts: they may
// come back in other fields.
func movedFields(holders []Card, given map[string]any, e Edit) map[string]*access.Label {
	moved := map[string]*access.Label{}
	if e.exact != nil {
		return moved
	}
	for _, h := range holders {
		hidden, err := pickFields(h.Fields, h.Places.Fields)
		if err != nil {
			return moved // whoever reads the card gets the error
		}
		for _, name := range h.Places.Fields {
			if now, sent := given[name]; (sent || e.Replace) && !reflect.DeepEqual(now, hidden[name]) {
				moved[textOfField(hidden[name])] = &h.Label
			}
		}
	}
	return moved
}

// hiddenFields returns the change of the fields of a holder, and the names of all hidden fields that it has then.
func hiddenFields(was *Places, change map[string]any) (patch json.RawMessage, names []string) {
	if was != nil {
		names = slices.Clone(was.Fields)
	}
	if len(change) == 0 {
		return nil, names
	}
	for name, v := range change {
		names = slices.DeleteFunc(names, func(n string) bool { return n == name })
		if v != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	patch, err := json.Marshal(change)
	if err != nil {
		return nil, names
	}
	return patch, names
}
