package postgres

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/sqlstore"
)

// PutCard writes a card's row. It first checks that its name and codename are free: while the
// writer lock is held nobody can take them, and a failing statement would abort the whole
// transaction.
func (t *tx) PutCard(ctx context.Context, c canon.Card) error {
	w, of, err := t.EnsureLabel(ctx, c.World, c.Label)
	if err != nil {
		return err
	}
	if !c.Trashed() {
		if err := t.checkNameFree(ctx, w, of, c); err != nil {
			return err
		}
	}
	t.c.enqueue(putCard, w, uuidOf(c.ID), uuidOf(c.Parent), c.Part, c.Codename, c.Type, string(markup.KeyOf(c.Type)),
		sqlstore.HashValue(c.Content), int64(c.Size), int64(c.Length),
		sqlstore.JSONValue(c.Fields), sqlstore.OwnText(c.Own), c.Name, string(c.Key), markup.Fold(c.Name), of.Level, of.Label,
		int64(c.Rev), int64(c.Counts[0]), int64(c.Counts[1]), int64(c.Counts[2]),
		sqlstore.Millis(c.CreatedAt), string(c.CreatedBy), sqlstore.Millis(c.UpdatedAt), string(c.UpdatedBy), uint64(c.Seq),
		sqlstore.Millis(c.TrashedAt), uuidOf(c.TrashRoot), c.SortValue(), int64(c.Format),
		int64(c.Parts), sqlstore.PlacesValue(c.Places))
	t.putAliases(w, c)
	t.reindexCard(w, c.ID)
	t.prefetched.noteCard(w, c)
	return nil
}

// checkNameFree refuses a card if another card has its name or codename.
func (t *tx) checkNameFree(ctx context.Context, w int64, of sqlstore.LabelRef, c canon.Card) error {
	taken, known := t.prefetched.isNameTaken(w, c)
	if !known {
		n, err := sqlstore.QueryInt(ctx, t.c, `SELECT 1 FROM cards WHERE w = $1 AND key = $2 AND level = $4 AND label = $5 AND trashed = 0 AND id <> $6
			UNION ALL SELECT 1 FROM cards WHERE w = $1 AND codename = $3 AND codename <> '' AND level = $4 AND label = $5 AND trashed = 0 AND id <> $6 LIMIT 1`,
			w, string(c.Key), c.Codename, of.Level, of.Label, uuidOf(c.ID))
		if err != nil {
			return err
		}
		taken = n != 0
	}
	if taken {
		return fmt.Errorf("card %q: %w", c.Name, canon.ErrTaken)
	}
	return nil
}

var putCard = sqlstore.Upsert("cards", 2, "w, id, parent, part, codename, type, type_key, content, size, length, fields, own, name, "+
	"key, fold, level, label, rev, c1, c2, c3, created, created_by, updated, updated_by, seq, trashed, trash_root, sort, format, parts, places")

// putAliases replaces a card's aliases.
func (t *tx) putAliases(w int64, c canon.Card) {
	var list []string
	if !c.Trashed() {
		list = c.Aliases()
	}
	if old, known := t.prefetched.findCard(w, c.ID); !known || old != nil {
		t.c.enqueue("DELETE FROM aliases WHERE rid = (SELECT rid FROM cards WHERE w = $1 AND id = $2)", w, uuidOf(c.ID))
	}
	for _, alias := range list {
		t.c.enqueue("INSERT INTO aliases (w, rid, key) SELECT w, rid, $3 FROM cards WHERE w = $1 AND id = $2", w,
			uuidOf(c.ID), string(markup.KeyOf(alias)))
	}
}

// PutVersion writes a version.
func (t *tx) PutVersion(ctx context.Context, v canon.Version) error {
	err := t.Tx.PutVersion(ctx, v)
	v.At = storedTime(v.At)
	t.prefetched.version = v
	return err
}

// EndVersion ends the current version of a card at a commit.
func (t *tx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	t.prefetched.version = canon.Version{}
	return t.Tx.EndVersion(ctx, w, id, to)
}

// PutRefs replaces all references from a card.
func (t *tx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	n, err := t.EnsureWorld(ctx, w)
	if err != nil {
		return err
	}
	at := cardRef{n, from}
	rows := refRowsOf(refs)
	if slices.Contains(rows.kinds, int64(canon.RefTag)) {
		t.reindexCard(n, from)
	}
	// Unchanged references are left alone: triggers count the targets of changed ones.
	if !t.prefetched.made[at] {
		t.c.enqueue(`DELETE FROM refs r WHERE r.w = $1 AND r.from_card = $2 AND NOT EXISTS (
			SELECT FROM unnest($3::bigint[], $4::bigint[], $5::text[]) f (ord, kind, target) WHERE f.ord = r.ord AND f.kind = r.kind AND f.target = r.target)`,
			n, uuidOf(from), rows.orders, rows.kinds, rows.targets)
	}
	put(&t.prefetched.made, at, false)
	if len(refs) > 0 {
		t.c.enqueue(`INSERT INTO refs (w, from_card, ord, kind, target, name)
			SELECT $1::bigint, $2::uuid, f.* FROM unnest($3::bigint[], $4::smallint[], $5::text[], $6::text[]) f
			ON CONFLICT (w, from_card, ord, kind, target) DO UPDATE SET name = excluded.name WHERE refs.name <> excluded.name`,
			n, uuidOf(from), rows.orders, rows.kinds, rows.targets, rows.names)
	}
	return nil
}

// refRows holds references as one list per column.
type refRows struct {
	orders, kinds  []int64
	targets, names []string
}

// refRowsOf converts references to columns. If several have the same kind, target and order, the
// last name wins.
func refRowsOf(refs []canon.Ref) (r refRows) {
	at := make(map[canon.Ref]int, len(refs))
	for _, f := range refs {
		place := canon.Ref{Kind: f.Kind, Target: f.Target, Order: f.Order}
		if i, twice := at[place]; twice {
			r.names[i] = f.Name
			continue
		}
		at[place] = len(r.names)
		r.orders, r.kinds = append(r.orders, int64(f.Order)), append(r.kinds, int64(f.Kind))
		r.targets, r.names = append(r.targets, string(f.Target)), append(r.names, f.Name)
	}
	return r
}

// Discard deletes rows of the large tables first; Clear deletes the rest.
func (t *tx) Discard(ctx context.Context, id access.WorldID, rows int) (left bool, err error) {
	w, err := t.WorldNumber(ctx, id)
	if err != nil || w == 0 {
		return false, err
	}
	t.prefetched.clearWorld(w)
	for _, table := range []string{"bodies", "refs", "links", "layers", "versions", "aliases", "cards", "docs"} {
		n, err := t.c.Exec(ctx,
			fmt.Sprintf("DELETE FROM %s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE w = $1 LIMIT $2))", table), w, rows)
		if err != nil {
			return false, fmt.Errorf("discard %s: %w", table, err)
		}
		if rows -= int(n); rows <= 0 {
			return true, nil
		}
	}
	if err := t.Clear(ctx, id); err != nil {
		return false, err
	}
	if err := t.DiscardStream(ctx, id, w); err != nil {
		return false, err
	}
	return false, t.c.flush(ctx)
}

// Clear empties the projected tables. The world keeps its number and therefore its bodies.
func (t *tx) Clear(ctx context.Context, id access.WorldID) error {
	w, err := t.WorldNumber(ctx, id)
	if err != nil || w == 0 {
		return err
	}
	t.prefetched.clearWorld(w)
	t.c.enqueue("SET LOCAL statement_timeout = 0") // clearing a large world takes long
	for _, table := range []string{"targets", "worlds", "members", "aliases", "cards", "versions", "refs", "links",
		"layers", "events", "docs", "stale"} {
		t.c.enqueue("DELETE FROM "+table+" WHERE w = $1", w)
	}
	t.c.enqueue("UPDATE searched SET epoch = epoch + 1 WHERE w = $1", w)
	return t.c.flush(ctx)
}
