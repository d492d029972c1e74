package canon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/access"
)

// Fields returns a card's fields, with the hidden ones that the view sees.
func (s *Snapshot) Fields(ctx context.Context, c Card) (json.RawMessage, error) {
	open := s.FieldsOf(c.Type, c.Fields)
	holders, err := s.holders(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, h := range holders {
		if len(h.Places.Fields) == 0 {
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
		if open, err = mergeFields(open, b); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// pickFields returns the members with the given names of a card's fields.
func pickFields(fields json.RawMessage, names []string) (map[string]any, error) {
	all := map[string]any{}
	if len(fields) > 0 {
		if err := decodeNumbers(fields, &all); err != nil {
			return nil, fmt.Errorf("canon: stored fields: %w", err)
		}
	}
	maps.DeleteFunc(all, func(name string, _ any) bool { return !slices.Contains(names, name) })
	return all, nil
}

// divideFields takes the fields out of an edit that are hidden now, or that the edit hides. A caller below the game
// master hides none.
func (p *Plan) divideFields(c, before Card, typ Type, e *Edit) error {
	if e.Undivided || p.View().Level < access.LevelGM || !p.mayHaveHolders(c, typ) || e.Places != nil {
		return nil
	}
	was, err := p.textBefore(before)
	if err != nil {
		return err
	}
	names := slices.Clone(e.HideFields)
	hidden := map[string]any{}
	for _, h := range was.holders {
		if len(h.Label.Subjects) > 0 || h.Places == nil {
			continue
		}
		for _, name := range h.Places.Fields {
			names = append(names, name)
			if e.Replace {
				hidden[name] = nil
			}
		}
	}
	given := map[string]any{}
	if len(e.Fields) > 0 {
		if err := decodeNumbers(e.Fields, &given); err != nil {
			return nil //nolint:nilerr // mergeFields says which
		}
	}
	for name, v := range given {
		if slices.Contains(names, name) {
			hidden[name] = v
			delete(given, name)
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	if e.Fields, err = json.Marshal(given); err != nil {
		return fmt.Errorf("canon: fields: %w", err)
	}
	p.divided[c.ID] = &dividedText{holders: was.holders, now: was.Text, fields: hidden}
	return nil
}

// hiddenFields returns the change of the fields of a holder, and the names of all hidden fields that it has then.
func hiddenFields(was *Places, label access.Label, change map[string]any) (patch json.RawMessage, names []string) {
	if was != nil {
		names = slices.Clone(was.Fields)
	}
	if len(change) == 0 || !label.Equal(access.NewLabel(access.LevelGM)) {
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
