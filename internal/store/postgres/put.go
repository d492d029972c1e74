package postgres

import (
	"context"
	"fmt"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/service"
)

// PutCard writes a card's row. It first checks that its name and codename are free: while the
// writer lock is held nobody can take them, and a failing statement would abort the whole
// transaction.
func (t *tx) PutCard(ctx context.Context, c canon.Card) error {
	w, err := t.ensureWorldNumber(ctx, c.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, c.Label)
	if err != nil {
		return err
	}
	if !c.Trashed() {
		if err := t.checkNameFree(ctx, w, level, label, c); err != nil {
			return err
		}
	}
	t.c.enqueue(putCard, w, uuidOf(c.ID), uuidOf(c.Parent), c.Part, c.Codename, c.Type, string(markup.KeyOf(c.Type)),
		hashBytes(c.Content), int64(c.Size), int64(c.Length),
		jsonBytes(c.Fields), ownText(c.Own), c.Name, string(c.Key), markup.Fold(c.Name), level, label, int64(c.Rev),
		int64(c.Counts[0]), int64(c.Counts[1]), int64(c.Counts[2]),
		service.Millis(c.CreatedAt), string(c.CreatedBy), service.Millis(c.UpdatedAt), string(c.UpdatedBy), uint64(c.Seq),
		service.Millis(c.TrashedAt), uuidOf(c.TrashRoot), c.SortValue())
	t.putAliases(w, c)
	t.reindexCard(w, c.ID)
	t.prefetched.noteCard(w, c)
	return nil
}

// checkNameFree refuses a card if another card has its name or codename.
func (t *tx) checkNameFree(ctx context.Context, w, level, label int64, c canon.Card) error {
	taken, known := t.prefetched.isNameTaken(w, c)
	if !known {
		n, err := t.c.queryInt(ctx, `SELECT 1 FROM cards WHERE w = $1 AND key = $2 AND level = $4 AND label = $5 AND trashed = 0 AND id <> $6
			UNION ALL SELECT 1 FROM cards WHERE w = $1 AND codename = $3 AND codename <> '' AND level = $4 AND label = $5 AND trashed = 0 AND id <> $6 LIMIT 1`,
			w, string(c.Key), c.Codename, level, label, uuidOf(c.ID))
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

const putCard = `INSERT INTO cards (w, id, parent, part, codename, type, type_key, content, size, length, fields, own, name, key, fold, level, label,
	rev, c1, c2, c3, created, created_by, updated, updated_by, seq, trashed, trash_root, sort)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29)
	ON CONFLICT (w, id) DO UPDATE SET parent = $3, part = $4, codename = $5, type = $6, type_key = $7, content = $8, size = $9, length = $10,
	fields = $11, own = $12, name = $13, key = $14, fold = $15, level = $16, label = $17, rev = $18, c1 = $19, c2 = $20, c3 = $21, created = $22,
	created_by = $23, updated = $24, updated_by = $25, seq = $26, trashed = $27, trash_root = $28, sort = $29`

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

func (t *tx) PutVersion(ctx context.Context, v canon.Version) error {
	w, err := t.ensureWorldNumber(ctx, v.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, v.Label)
	if err != nil {
		return err
	}
	wasLevel, wasLabel := int64(0), int64(0)
	if v.Former.Name != "" {
		if wasLevel, wasLabel, err = t.ensureLabelNumbers(ctx, w, v.Former.Label); err != nil {
			return err
		}
	}
	t.c.enqueue(`INSERT INTO versions (w, card, rev, from_seq, to_seq, c1, c2, c3, level, label, name, key,
			type, type_key, content, size, length, fields, trashed, purged, at, by, op, change, was_name, was_key, was_level, was_label)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
		ON CONFLICT (w, card, rev) DO UPDATE SET from_seq = $4, to_seq = $5, c1 = $6, c2 = $7, c3 = $8, level = $9, label = $10, name = $11, key = $12,
			type = $13, type_key = $14, content = $15, size = $16, length = $17, fields = $18, trashed = $19, purged = $20, at = $21, by = $22, op = $23, change = $24,
			was_name = $25, was_key = $26, was_level = $27, was_label = $28`,
		w, uuidOf(v.Card), int64(v.Rev), uint64(v.From), uint64(v.To), int64(v.Counts[0]), int64(v.Counts[1]),
		int64(v.Counts[2]),
		level, label, v.Name, string(markup.KeyOf(v.Name)), v.Type, string(markup.KeyOf(v.Type)), hashBytes(v.Content),
		int64(v.Size), int64(v.Length),
		jsonBytes(v.Fields), v.Trashed, v.Purged, service.Millis(v.At), string(v.By), v.Op, uuidOf(v.Change),
		v.Former.Name, string(markup.KeyOf(v.Former.Name)), wasLevel, wasLabel)
	v.At = storedTime(v.At)
	t.prefetched.version = v
	return nil
}

// endState ends the current version, link or layer at a commit. It does nothing if there is none.
func (t *tx) endState(ctx context.Context, w access.WorldID, update string, id [16]byte, to canon.Seq) error {
	n, err := t.findWorldNumber(ctx, w)
	if err == nil && n != 0 {
		t.c.enqueue(update, n, id, uint64(to))
	}
	return err
}

func (t *tx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	t.prefetched.version = canon.Version{}
	return t.endState(ctx, w, "UPDATE versions SET to_seq = $3 WHERE w = $1 AND card = $2 AND to_seq = 0", uuidOf(id), to)
}

func (t *tx) EndLink(ctx context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	return t.endState(ctx, w, "UPDATE links SET until = $3 WHERE w = $1 AND id = $2 AND until = 0", uuidOf(id), to)
}

func (t *tx) EndLayer(ctx context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	return t.endState(ctx, w, "UPDATE layers SET until = $3 WHERE w = $1 AND id = $2 AND until = 0", uuidOf(id), to)
}

// PutRefs replaces all references from a card.
func (t *tx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	n, err := t.ensureWorldNumber(ctx, w)
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

func (t *tx) PutLink(ctx context.Context, l canon.Link) error {
	w, err := t.ensureWorldNumber(ctx, l.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, l.Label)
	if err != nil {
		return err
	}
	var time any // the link's value in the clock index that LinkMax uses
	if n, ok := l.Integer(canon.ClockAttr); ok && l.Kind == canon.ClockKind {
		time = n
	}
	t.c.enqueue(`INSERT INTO links (w, id, since, until, kind, from_card, to_card, attrs, level, label, at, clock)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (w, id, since) DO UPDATE SET until = $4, kind = $5, from_card = $6, to_card = $7, attrs = $8, level = $9, label = $10, at = $11, clock = $12`,
		w, uuidOf(l.ID), uint64(l.Since), uint64(l.Until), l.Kind, uuidOf(l.From), uuidOf(l.To), jsonBytes(l.Attrs), level,
		label, service.Millis(l.At), time)
	return nil
}

func (t *tx) PutLayer(ctx context.Context, l canon.Layer) error {
	w, err := t.ensureWorldNumber(ctx, l.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, l.Label)
	if err != nil {
		return err
	}
	t.c.enqueue(`INSERT INTO layers (w, id, since, until, card, kind, text, from_tick, to_tick, level, label, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (w, id, since) DO UPDATE SET until = $4, card = $5, kind = $6, text = $7, from_tick = $8, to_tick = $9, level = $10, label = $11, at = $12`,
		w, uuidOf(l.ID), uint64(l.Since), uint64(l.Until), uuidOf(l.Card), l.Kind, l.Text, l.FromTick, l.ToTick, level, label,
		service.Millis(l.At))
	return nil
}

// PutEvent writes the event of a commit.
func (t *tx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	w, err := t.ensureWorldNumber(ctx, e.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, e.Label)
	if err != nil {
		return err
	}
	t.c.enqueue(`INSERT INTO events (w, seq, id, at, by, op, type, scope, actor_kind, actor, correlation, causation, key, version, payload, level, label)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (w, seq) DO UPDATE SET id = $3, at = $4, by = $5, op = $6, type = $7, scope = $8, actor_kind = $9, actor = $10, correlation = $11,
			causation = $12, key = $13, version = $14, payload = $15, level = $16, label = $17`,
		w, uint64(e.Seq), uuidOf(e.ID), service.Millis(e.At), string(e.By), e.Op, e.Type, e.Scope, e.Actor.Kind, e.Actor.ID,
		e.Correlation, e.Causation,
		e.Key, int64(e.Version), jsonBytes(e.Payload), level, label)
	return nil
}

// Discard deletes rows of the large tables first; Clear deletes the rest.
func (t *tx) Discard(ctx context.Context, id access.WorldID, rows int) (left bool, err error) {
	w, err := t.findWorldNumber(ctx, id)
	if err != nil || w == 0 {
		return false, err
	}
	t.prefetched.clearWorld(w)
	for _, table := range []string{"bodies", "refs", "links", "layers", "versions", "aliases", "cards", "docs"} {
		n, err := t.c.exec(ctx,
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
	stream := canon.WorldStream(id)
	at, err := t.readHead(ctx, stream)
	if err != nil {
		return false, err
	}
	t.c.enqueue("DELETE FROM commits WHERE s = $1", at.n)
	t.c.enqueue("DELETE FROM streams WHERE s = $1", at.n)
	t.c.enqueue("DELETE FROM repeats WHERE stream = $1", string(stream))
	t.c.enqueue("DELETE FROM searched WHERE w = $1", w)
	t.c.enqueue("DELETE FROM labels WHERE w = $1", w)
	t.c.enqueue("DELETE FROM label_subjects WHERE w = $1", w)
	t.setTip(stream, tip{})
	return false, t.c.flush(ctx)
}

// Clear empties the projected tables. The world keeps its number and therefore its bodies.
func (t *tx) Clear(ctx context.Context, id access.WorldID) error {
	w, err := t.findWorldNumber(ctx, id)
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
