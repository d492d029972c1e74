package sqlite

import (
	"context"
	"encoding/json"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/slicesx"
)

// PutRefs replaces all references from a card.
func (t *tx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	n, err := t.EnsureWorld(ctx, w)
	if err != nil {
		return err
	}
	isNew := t.made == cardRef{n, from}
	if len(refs) == 0 {
		if isNew {
			return nil
		}
		_, err := t.c.Exec(ctx, "DELETE FROM refs WHERE w = $1 AND from_card = $2", n, from[:])
		return err
	}
	t.made = cardRef{}
	if slices.ContainsFunc(refs, func(f canon.Ref) bool { return f.Kind == canon.RefTag }) {
		if err := t.reindexLater(ctx, n, from); err != nil {
			return err
		}
	}
	// Unchanged references are left alone: triggers count the targets of changed ones.
	rows := slicesx.Map(refs, func(f canon.Ref) [4]any { return [4]any{f.Order, f.Kind, f.Target, f.Name} })
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if _, err := t.c.Exec(ctx, `DELETE FROM refs WHERE w = $1 AND from_card = $2
		AND (ord, kind, target) NOT IN (SELECT f.value ->> 0, f.value ->> 1, f.value ->> 2 FROM json_each($3) f)`, n, from[:], string(list)); err != nil {
		return err
	}
	_, err = t.c.Exec(ctx, `INSERT INTO refs (w, from_card, ord, kind, target, name)
		SELECT $1, $2, f.value ->> 0, f.value ->> 1, f.value ->> 2, f.value ->> 3 FROM json_each($3) f WHERE true
		ON CONFLICT DO UPDATE SET name = excluded.name WHERE name <> excluded.name`, n, from[:], string(list))
	return err
}
