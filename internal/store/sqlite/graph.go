package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/service"
)

// Refs lists references by their source's key and id, then kind and place.
func (r *reader) Refs(ctx context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	l := &listing{}
	if q.From.IsZero() {
		l.and("f.target = %s", l.arg(string(q.Target)))
	} else {
		l.and("f.from_card = %s", l.arg(q.From[:]))
	}
	if q.Kind != 0 {
		l.and("f.kind = %s", l.arg(int64(q.Kind)))
	}
	from := " FROM refs f CROSS JOIN cards c ON c.w = f.w AND c.id = f.from_card WHERE f.w = ?1 AND c.trashed = 0 AND " +
		sc.visibleCond("c") + l.andConditions()
	var refs []canon.Ref
	var cards []cardRow
	n := len(l.args)
	err = r.c.query(ctx, func(row row) error {
		c, err := scanCard(row)
		refs = append(refs, canon.Ref{From: c.card.ID, Kind: canon.RefKind(row.intAt(cardWidth)),
			Target: markup.Key(row.textAt(cardWidth + 1)),
			Name:   row.textAt(cardWidth + 2), Order: int(row.intAt(cardWidth + 3))})
		cards = append(cards, c)
		return err
	}, fmt.Sprintf("SELECT %s, f.kind, f.target, f.name, f.ord%s ORDER BY c.key, c.id, f.kind, f.ord LIMIT ?%d OFFSET ?%d",
		cardColumns, from, n+3, n+4),
		sc.withArgs(append(l.args[:n:n], q.Page.Limit, max(q.Page.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	out := make([]canon.RefRow, len(refs))
	for i := range refs {
		out[i].Ref = refs[i]
		if out[i].Card, err = r.labelCard(ctx, sc.id, cards[i]); err != nil {
			return nil, canon.Total{}, err
		}
	}
	if t, ok := knownTotal(q.Page, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.withArgs(l.args...)...)
	return out, total, err
}

// Wanted reads the index of link targets for the view's level.
func (r *reader) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from, order, err := r.selectWanted(ctx, sc)
	if err != nil {
		return nil, canon.Total{}, err
	}
	var out []canon.Wanted
	err = r.c.query(ctx, func(row row) error {
		out = append(out, canon.Wanted{Key: markup.Key(row.textAt(0)), Count: int(row.intAt(1))})
		return nil
	}, from+" ORDER BY "+order+" LIMIT ?3 OFFSET ?4", sc.withArgs(p.Limit, max(p.Offset, 0))...)
	for i := 0; i < len(out) && err == nil; i++ {
		_, err = r.c.queryOne(ctx, func(row row) error { out[i].Name = row.textAt(0); return nil },
			`SELECT f.name FROM refs f INDEXED BY refs_target CROSS JOIN cards c ON c.w = f.w AND c.id = f.from_card
			WHERE f.w = ?1 AND f.target = ?3 AND f.kind = 1 AND c.trashed = 0 AND `+notTags("c")+" AND "+sc.visibleCond("c")+" ORDER BY f.from_card, f.ord LIMIT 1", sc.withArgs(string(out[i].Key))...)
	}
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, from, sc.withArgs()...)
	return out, total, err
}

// selectWanted returns a query for the targets that have no visible card, with the number of
// visible cards that link to each, and its ORDER BY. Cards visible only by name are counted in
// addition to those that the level sees; they are few.
func (r *reader) selectWanted(ctx context.Context, sc scope) (from, order string, err error) {
	byLevel := "SELECT target, 0 AS n FROM targets WHERE 0"
	if sc.top > access.LevelNone {
		byLevel = fmt.Sprintf("SELECT target, n%[1]d AS n FROM targets WHERE w = ?1 AND n%[1]d > 0 AND least > %[1]d", sc.top)
	}
	byName := "c.w = ?1 AND c.trashed = 0 AND " + sc.namedOnlyCond("c")
	any := false
	if sc.subject != "" {
		any, err = r.c.queryOne(ctx, func(row) error { return nil }, "SELECT 1 FROM cards c INDEXED BY cards_named WHERE "+
			byName+" LIMIT 1", sc.withArgs()...)
	}
	if err != nil || !any {
		return byLevel, "n DESC, target", err
	}
	return fmt.Sprintf(`SELECT target, sum(n) AS n FROM (%s UNION ALL
		SELECT f.target, count(DISTINCT c.id) FROM cards c CROSS JOIN refs f ON f.w = c.w AND f.from_card = c.id AND f.kind = 1
		WHERE %s AND %s AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.w = ?1 AND t.target = f.target AND t.least <= %d) GROUP BY f.target)
		WHERE target NOT IN (SELECT c.key FROM cards c WHERE %[2]s) GROUP BY target`, byLevel, byName, notTags("c"), sc.top), "n DESC, target", nil
}

// notTags returns the condition that a card is not a tag list.
func notTags(alias string) string { return "substr(" + alias + ".key, -4) <> '+tag'" }

// Tags lists tags by the number of visible cards that visibly have them, then by key.
func (r *reader) Tags(ctx context.Context, s canon.Visibility, prefix string,
	p canon.Page) ([]canon.TagCount, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	prefix = markup.Fold(prefix)
	skip, out, n := max(p.Offset, 0), []canon.TagCount(nil), 0
	err = r.c.query(ctx, func(row row) error {
		if !strings.HasPrefix(markup.Fold(row.textAt(1)), prefix) {
			return nil
		}
		if n++; n > skip && len(out) < p.Limit {
			out = append(out, canon.TagCount{Key: markup.Key(row.textAt(0)), Name: row.textAt(1), Count: int(row.intAt(2))})
		}
		return nil
	}, `SELECT f.target, min(f.name), count(DISTINCT b.id) AS n FROM refs f INDEXED BY refs_kind
		CROSS JOIN cards t ON t.w = f.w AND t.id = f.from_card CROSS JOIN cards b ON b.w = t.w AND b.id = t.parent
		WHERE f.w = ?1 AND f.kind = 3 AND t.trashed = 0 AND b.trashed = 0 AND `+sc.visibleCond("t")+` AND `+sc.visibleCond("b")+` AND `+tagListOf("t", "b")+`
		GROUP BY f.target ORDER BY n DESC, f.target`, sc.withArgs()...)
	return out, cappedTotal(n), err
}

// PutRefs replaces all references from a card.
func (t *tx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	n, err := t.ensureWorldNumber(ctx, w)
	if err != nil {
		return err
	}
	isNew := t.made == cardRef{n, from}
	if len(refs) == 0 {
		if isNew {
			return nil
		}
		_, err := t.c.exec(ctx, "DELETE FROM refs WHERE w = ?1 AND from_card = ?2", n, from[:])
		return err
	}
	t.made = cardRef{}
	if slices.ContainsFunc(refs, func(f canon.Ref) bool { return f.Kind == canon.RefTag }) {
		if err := t.reindexLater(ctx, n, from); err != nil {
			return err
		}
	}
	// Unchanged references are left alone: triggers count the targets of changed ones.
	rows := make([][4]any, len(refs))
	for i, f := range refs {
		rows[i] = [4]any{f.Order, f.Kind, f.Target, f.Name}
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, `DELETE FROM refs WHERE w = ?1 AND from_card = ?2
		AND (ord, kind, target) NOT IN (SELECT f.value ->> 0, f.value ->> 1, f.value ->> 2 FROM json_each(?3) f)`, n, from[:], string(list)); err != nil {
		return err
	}
	_, err = t.c.exec(ctx, `INSERT INTO refs (w, from_card, ord, kind, target, name)
		SELECT ?1, ?2, f.value ->> 0, f.value ->> 1, f.value ->> 2, f.value ->> 3 FROM json_each(?3) f WHERE true
		ON CONFLICT DO UPDATE SET name = excluded.name WHERE name <> excluded.name`, n, from[:], string(list))
	return err
}

// currentAt adds the condition that a state with alias l was current just after commit asOf, or is
// current now if asOf is 0.
func currentAt(l *listing, asOf canon.Seq) {
	if asOf == 0 {
		l.and("l.until = 0")
		return
	}
	at := l.arg(uint64(asOf))
	l.and("l.since <= %s AND (l.until = 0 OR l.until > %[1]s)", at)
}

// cardExists returns the condition that a living visible card has the id in a column. SQLite would
// turn EXISTS into a join, and choose the join order without knowing the number of cards.
func cardExists(sc scope, column string) string {
	return "(SELECT 1 FROM cards c WHERE c.w = ?1 AND c.id = " + column + " AND c.trashed = 0 AND " +
		sc.visibleCond("c") + ") = 1"
}

func (r *reader) Links(ctx context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	l := &listing{}
	if !q.From.IsZero() {
		l.and("l.from_card = %s", l.arg(q.From[:]))
	}
	if !q.To.IsZero() {
		l.and("l.to_card = %s", l.arg(q.To[:]))
	}
	withIDs(l, "l.from_card", q.Froms)
	withIDs(l, "l.to_card", q.Tos)
	withIDs(l, "l.id", q.IDs)
	kind, order := "l.kind", "l.id"
	if q.Newest {
		order = "l.since DESC, l.id DESC"
	}
	if !q.From.IsZero() || !q.To.IsZero() || len(q.Froms)+len(q.Tos) > 0 {
		// A card has few links, a kind and a world have many. Without the plus SQLite would choose
		// the index by kind or by id, since they need no sorting.
		kind, order = "+l.kind", strings.ReplaceAll(order, "l.", "+l.")
	}
	l.andIn(kind, q.Kinds)
	if len(q.IDs) > 0 && q.AsOf == 0 {
		l.and("+l.until = 0") // the plus keeps SQLite from scanning all current links
	} else {
		currentAt(l, q.AsOf)
	}
	from := " FROM links l WHERE l.w = ?1" + l.andConditions() + " AND " + sc.visibleCond("l") + " AND " +
		cardExists(sc, "l.from_card") + " AND " + cardExists(sc, "l.to_card")
	n := len(l.args)
	out, err := r.queryLinks(ctx, sc.id, fmt.Sprintf("SELECT %s%s ORDER BY %s LIMIT ?%d OFFSET ?%d", linkColumns, from,
		order, n+3, n+4),
		sc.withArgs(append(l.args[:n:n], q.Page.Limit, max(q.Page.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.withArgs(l.args...)...)
	return out, total, err
}

// withIDs restricts a column to some ids; an empty list does not restrict it.
func withIDs[T ~[16]byte](l *listing, column string, ids []T) {
	switch len(ids) {
	case 0:
	case 1:
		l.and("%s = %s", column, l.arg(ids[0][:]))
	default:
		l.and("%s IN (SELECT unhex(value) FROM json_each(%s))", column, l.arg(hexIDs(ids...)))
	}
}

// queryLinks runs a query whose columns are linkColumns.
func (r *reader) queryLinks(ctx context.Context, world access.WorldID, sql string,
	args ...any) (out []canon.Link, err error) {
	var labels [][2]int64
	err = r.c.query(ctx, func(row row) error {
		out = append(out, scanLink(world, row))
		labels = append(labels, [2]int64{row.intAt(7), row.intAt(8)})
		return nil
	}, sql, args...)
	for i := 0; i < len(out) && err == nil; i++ {
		out[i].Label, err = r.resolveLabel(ctx, labels[i][0], labels[i][1])
	}
	return out, err
}

var linkColumns = unnamedColumns("l.id, l.since, l.until, l.kind, l.from_card, l.to_card, l.attrs, l.level, l.label, l.at")

func scanLink(world access.WorldID, r row) canon.Link {
	return canon.Link{
		World: world, ID: readBlob[canon.LinkID](r.bytesAt(0)), Since: canon.Seq(r.intAt(1)), Until: canon.Seq(r.intAt(2)),
		Kind: r.textAt(3),
		From: readBlob[canon.CardID](r.bytesAt(4)), To: readBlob[canon.CardID](r.bytesAt(5)), Attrs: r.bytesAt(6),
		At: service.Time(r.intAt(9)),
	}
}

func (r *reader) Layers(ctx context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, err
	}
	l := &listing{}
	switch {
	case len(q.IDs) > 0:
		withIDs(l, "l.id", q.IDs)
	case q.Card.IsZero():
		l.and("l.card IN (SELECT unhex(value) FROM json_each(%s))", l.arg(hexIDs(q.Cards...)))
	default:
		l.and("l.card = %s", l.arg(q.Card[:]))
	}
	if q.Kind != "" {
		l.and("l.kind = %s", l.arg(q.Kind))
	}
	if q.Active {
		l.and("l.from_tick <= %s AND (l.to_tick = 0 OR l.to_tick >= %[1]s)", l.arg(q.Tick))
	}
	currentAt(l, q.AsOf)
	var out []canon.Layer
	var labels [][2]int64
	err = r.c.query(ctx, func(row row) error {
		out = append(out, scanLayer(sc.id, row))
		labels = append(labels, [2]int64{row.intAt(8), row.intAt(9)})
		return nil
	}, "SELECT "+layerColumns+" FROM layers l WHERE l.w = ?1"+l.andConditions()+" AND "+sc.visibleCond("l")+" AND "+
		cardExists(sc, "l.card")+" ORDER BY l.since DESC, l.id DESC", sc.withArgs(l.args...)...)
	for i := 0; i < len(out) && err == nil; i++ {
		out[i].Label, err = r.resolveLabel(ctx, labels[i][0], labels[i][1])
	}
	return out, err
}

var layerColumns = unnamedColumns("l.id, l.since, l.until, l.card, l.kind, l.text, l.from_tick, l.to_tick, l.level, l.label, l.at")

func scanLayer(world access.WorldID, r row) canon.Layer {
	return canon.Layer{
		World: world, ID: readBlob[canon.LayerID](r.bytesAt(0)), Since: canon.Seq(r.intAt(1)), Until: canon.Seq(r.intAt(2)),
		Card: readBlob[canon.CardID](r.bytesAt(3)), Kind: r.textAt(4), Text: r.textAt(5), FromTick: r.intAt(6),
		ToTick: r.intAt(7), At: service.Time(r.intAt(10)),
	}
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
	_, err = t.c.exec(ctx, `INSERT OR REPLACE INTO links (w, id, since, until, kind, from_card, to_card, attrs, level, label, at, clock)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`, w, l.ID[:], uint64(l.Since), uint64(l.Until), l.Kind, l.From[:], l.To[:],
		jsonBlob(l.Attrs), level, label, service.Millis(l.At), worldTime(l))
	return err
}

func (t *tx) EndLink(ctx context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	_, err = t.c.exec(ctx, "UPDATE links SET until = ?3 WHERE w = ?1 AND id = ?2 AND +until = 0", n, id[:], uint64(to))
	return err
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
	_, err = t.c.exec(ctx, `INSERT OR REPLACE INTO layers (w, id, since, until, card, kind, text, from_tick, to_tick, level, label, at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`, w, l.ID[:], uint64(l.Since), uint64(l.Until), l.Card[:], l.Kind, l.Text,
		l.FromTick, l.ToTick, level, label, service.Millis(l.At))
	return err
}

func (t *tx) EndLayer(ctx context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	n, err := t.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	_, err = t.c.exec(ctx, "UPDATE layers SET until = ?3 WHERE w = ?1 AND id = ?2 AND until = 0", n, id[:], uint64(to))
	return err
}
