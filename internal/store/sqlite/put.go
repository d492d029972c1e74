package sqlite

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/sqlstore"
)

// PutCard writes a card's row and its aliases. A card that changes its label or goes to the trash
// is removed from the search index until it is indexed again, so that a caller's mistake cannot
// leave text where it must no longer be seen.
func (t *tx) PutCard(ctx context.Context, c canon.Card) error {
	w, of, err := t.EnsureLabel(ctx, c.World, c.Label)
	if err != nil {
		return err
	}
	args := []any{w, c.ID[:], c.Parent[:], c.Part, c.Codename, c.Type, string(markup.KeyOf(c.Type)), sqlstore.HashValue(c.Content),
		c.Size, c.Length,
		sqlstore.JSONValue(c.Fields), sqlstore.OwnText(c.Own), c.Name, string(c.Key), of.Level, of.Label, int64(c.Rev), int64(c.Counts[0]),
		int64(c.Counts[1]), int64(c.Counts[2]),
		sqlstore.Millis(c.CreatedAt), string(c.CreatedBy), sqlstore.Millis(c.UpdatedAt), string(c.UpdatedBy), uint64(c.Seq),
		sqlstore.Millis(c.TrashedAt), dialect.IDValue(c.TrashRoot), c.SortValue(), int64(c.Format),
		int64(c.Parts), sqlstore.PlacesValue(c.Places)}
	rid, old, known, err := t.putRow(ctx, c.Rev == 1, args)
	if isTaken(err) {
		return fmt.Errorf("card %q: %w", c.Name, canon.ErrTaken)
	}
	if err != nil {
		return err
	}
	if !known {
		t.made = cardRef{w, c.ID}
	}
	t.keyed, t.key = cardRef{w, c.ID}, c.Key
	if err := t.putAliases(ctx, w, rid, known, c); err != nil {
		return err
	}
	if old.living && (c.Trashed() || old.LabelRef != of) {
		return t.unindexCard(ctx, w, c.ID)
	}
	return t.reindexLater(ctx, w, c.ID)
}

// place is the stored label and trash state of a card before it is written.
type place struct {
	sqlstore.LabelRef
	living bool
}

// putRow inserts or replaces a row. It returns the row's number and, if the row existed, its old
// place. A first revision is usually new, so putRow tries to insert it before looking for it.
func (t *tx) putRow(ctx context.Context, likelyNew bool, args []any) (rid int64, old place, known bool, err error) {
	if likelyNew {
		if rid, err = t.c.insert(ctx, insertCard+" ON CONFLICT (w, id) DO NOTHING", args...); err != nil || rid != 0 {
			return rid, old, false, err
		}
	}
	known, err = sqlstore.One(ctx, t.c, func(r sqlstore.Row) error {
		rid, old = r.Int(0), place{sqlstore.LabelRef{Level: r.Int(1), Label: r.Int(2)}, r.Int(3) == 0}
		return nil
	}, "SELECT rid, level, label, trashed FROM cards WHERE w = $1 AND id = $2", args[0], args[1])
	switch {
	case err != nil:
	case known:
		_, err = t.c.Exec(ctx, updateCard, args...)
	default:
		rid, err = t.c.insert(ctx, insertCard, args...)
	}
	return rid, old, known, err
}

const insertCard = `INSERT INTO cards (w, id, parent, part, codename, type, type_key, content, size, length, fields, own, name, key, level, label,
	rev, c1, c2, c3, created, created_by, updated, updated_by, seq, trashed, trash_root, sort, format, parts, places, body)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31,
		(SELECT b.rowid FROM bodies b WHERE b.w = $1 AND b.hash = $8))`

const updateCard = `UPDATE cards SET parent = $3, part = $4, codename = $5, type = $6, type_key = $7, content = $8, size = $9, length = $10,
	fields = $11, own = $12, name = $13, key = $14, level = $15, label = $16, rev = $17, c1 = $18, c2 = $19, c3 = $20, created = $21,
	created_by = $22, updated = $23, updated_by = $24, seq = $25, trashed = $26, trash_root = $27, sort = $28, format = $29, parts = $30, places = $31,
	body = CASE WHEN content IS $8 THEN body ELSE (SELECT b.rowid FROM bodies b WHERE b.w = $1 AND b.hash = $8) END WHERE w = $1 AND id = $2`

// putAliases replaces a card's aliases. Few cards have aliases: for others this costs one DELETE
// that finds nothing, and no statement if the card is new.
func (t *tx) putAliases(ctx context.Context, w, rid int64, known bool, c canon.Card) error {
	var list []string
	if !c.Trashed() {
		list = c.Aliases()
	}
	if known {
		if _, err := t.c.Exec(ctx, "DELETE FROM aliases WHERE rid = $1", rid); err != nil {
			return err
		}
	}
	for _, alias := range list {
		if _, err := t.c.Exec(ctx, "INSERT INTO aliases (w, rid, key) VALUES ($1, $2, $3)", w, rid,
			string(markup.KeyOf(alias))); err != nil {
			return err
		}
	}
	return nil
}

// discardTables lists the tables from which Discard deletes rows in steps, with the columns that
// identify a row. Clear and the last step delete the few rows of the other tables.
var discardTables = []struct{ table, row string }{
	{"bodies", "rowid"}, {"refs", "w, from_card, ord, kind, target"}, {"links", "rowid"}, {"layers", "rowid"},
	{"versions", "w, card, rev"},
	{"aliases", "w, key, rid"}, {"cards", "rowid"}, {"docs", "w, card"}, {"doc_texts", "rowid"},
}

// Discard deletes rows of the large tables first; Clear deletes the rest.
func (t *tx) Discard(ctx context.Context, id access.WorldID, rows int) (left bool, err error) {
	w, err := t.WorldNumber(ctx, id)
	if err != nil || w == 0 {
		return false, err
	}
	for _, o := range discardTables {
		n, err := t.c.Exec(ctx, fmt.Sprintf("DELETE FROM %s WHERE (%s) IN (SELECT %[2]s FROM %[1]s WHERE w = $1 LIMIT $2)",
			o.table, o.row), w, rows)
		if err != nil {
			return false, fmt.Errorf("discard %s: %w", o.table, err)
		}
		if rows -= int(n); rows <= 0 {
			return true, nil
		}
	}
	if err := t.Clear(ctx, id); err != nil {
		return false, err
	}
	delete(t.searched, w)
	return false, t.DiscardStream(ctx, id, w)
}

// Clear empties the projected tables. The world keeps its number and therefore its bodies.
func (t *tx) Clear(ctx context.Context, id access.WorldID) error {
	w, err := t.WorldNumber(ctx, id)
	if err != nil || w == 0 {
		return err
	}
	for _, table := range []string{"aliases", "targets", "former_keys", "worlds", "members", "cards", "versions", "refs",
		"links", "layers", "events", "stale"} {
		if err := t.c.Put(ctx, "DELETE FROM "+table+" WHERE w = $1", w); err != nil {
			return fmt.Errorf("clear %s: %w", table, err)
		}
	}
	t.keyed = cardRef{}
	t.c.worlds.forgetRows()
	return t.emptySearch(ctx, w)
}
