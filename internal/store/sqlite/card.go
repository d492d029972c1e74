package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// resolvePointScope is Scope for look-ups of few rows. It checks ctx once: watching ctx
// during each statement would cost more than the statement.
func (r *reader) resolvePointScope(ctx context.Context, s canon.Visibility) (sqlstore.Scope, bool, error) {
	if err := ctx.Err(); err != nil {
		return sqlstore.Scope{}, false, err
	}
	return r.Scope(context.Background(), s)
}

// naming is the way a CardQuery names its cards.
type naming int

const (
	byID naming = iota + 1
	byIDs
	byKey
	byAlias
	byCodename
	byOldKey
	byTrashRoot
)

// namingOf returns how a query names cards, and the argument to bind; 0 if it names none.
func namingOf(q canon.CardQuery) (naming, any) {
	switch {
	case !q.ID.IsZero():
		id := q.ID // a copy: otherwise all of q would escape to the heap
		return byID, id[:]
	case len(q.IDs) > 0:
		return byIDs, hexIDs(q.IDs...)
	case q.Key != "":
		return byKey, string(q.Key)
	case q.Alias != "":
		return byAlias, string(q.Alias)
	case q.Codename != "":
		return byCodename, q.Codename
	case q.OldKey != "":
		return byOldKey, string(q.OldKey)
	case !q.TrashRoot.IsZero():
		root := q.TrashRoot
		return byTrashRoot, root[:]
	}
	return 0, nil
}

// lookUp holds everything that the SQL of a look-up depends on. It is the key of a cache: building
// the SQL takes longer than running it.
type lookUp struct {
	by           naming
	prefetch     bool
	trash        bool // look-ups by id find cards in the trash
	named        bool // labels may name the subject
	top, ceiling access.Level
}

var lookUps sync.Map // lookUp -> SQL string

// buildStatement returns the SQL of a look-up. Its last argument is that of the naming.
func (l lookUp) buildStatement(sc *sqlstore.Scope) string {
	if sql, ok := lookUps.Load(l); ok {
		return sql.(string)
	}
	from, order, alive, columns := "", "", "c.trashed = 0", dialect.Columns.Card
	arg := "$" + strconv.Itoa(len(sc.Args))
	switch l.by {
	case byID:
		from = "cards c WHERE c.w = $1 AND c.id = " + arg
		if l.trash {
			alive = "true"
		}
	case byIDs:
		from, order = "json_each("+arg+") f CROSS JOIN cards c ON c.w = $1 AND c.id = unhex(f.value)", " ORDER BY f.key"
	case byKey:
		from = "cards c WHERE c.w = $1 AND c.key = " + arg
	case byAlias:
		from = "aliases a CROSS JOIN cards c ON c.rid = a.rid WHERE a.w = $1 AND a.key = " + arg
	case byCodename:
		from, order = "cards c WHERE c.w = $1 AND c.codename = "+arg+" AND c.codename <> ''",
			" ORDER BY c.level, c.id LIMIT 1"
	case byOldKey:
		from, order = formerKeyJoin(sc, arg), " ORDER BY old.ended DESC, c.id"
	case byTrashRoot:
		from, alive, order = "cards c WHERE c.w = $1 AND c.trash_root = "+arg, "c.trashed <> 0",
			" ORDER BY c.id <> "+arg+", c.key, c.id"
	}
	if l.prefetch {
		columns += ", " + prefetchColumns(sc)
	}
	sql := "SELECT " + columns + " FROM " + from + " AND " + alive + " AND " + sc.Visible("c") + order
	lookUps.Store(l, sql)
	return sql
}

// FindCards returns the cards that a query names.
func (r *reader) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	sc, ok, err := r.resolvePointScope(ctx, s)
	if !ok {
		return nil, err
	}
	by, arg := namingOf(q)
	watched := context.Background()
	switch by {
	case 0:
		return nil, nil
	case byIDs, byOldKey, byTrashRoot: // may return many cards, so ctx is watched
		watched = ctx
	}
	l := lookUp{by: by, trash: s.View.SeesTrash(), named: sc.Named, top: sc.Top, ceiling: sc.Ceiling,
		prefetch: q.Prefetch && !r.Writes() && (by == byID || by == byKey)}
	more := func(canon.Card, sqlstore.Row) {}
	if l.prefetch {
		more = func(c canon.Card, row sqlstore.Row) { r.prefetched.noteCard(s, c, row) }
	}
	sc.Args = append(sc.Args, arg)
	list, err := r.QueryCardsWith(watched, sc.World, more, l.buildStatement(&sc), sc.Args...)
	if by == byKey || by == byAlias { // sorted here: SQLite would sort rows with all their columns
		slices.SortFunc(list, canon.CompareHomonyms)
	}
	return list, err
}

// formerKeyJoin returns a join of the cards that had a key and now have another key, with the time
// at which a version visible to the caller last had it.
func formerKeyJoin(sc *sqlstore.Scope, key string) string {
	return fmt.Sprintf(`(SELECT v.card, max(CASE v.to_seq WHEN 0 THEN 9223372036854775807 ELSE v.to_seq END) AS ended FROM (
			SELECT v.card, v.to_seq FROM former_keys k CROSS JOIN versions v ON v.w = k.w AND v.card = k.card
			WHERE k.w = $1 AND k.key = %[1]s AND v.key = %[1]s AND %[2]s
			UNION ALL SELECT v.card, v.to_seq FROM (SELECT w, card, to_seq, was_key AS key, was_level AS level, was_label AS label FROM versions) v
			WHERE v.w = $1 AND v.key = %[1]s AND v.key <> '' AND %[2]s) v GROUP BY v.card) old
		CROSS JOIN cards c ON c.w = $1 AND c.id = old.card WHERE c.key <> %[1]s`, key, sc.Visible("v"))
}

// hexIDs encodes ids as a JSON array of hex strings, for json_each and unhex.
func hexIDs[T ~[16]byte](ids ...T) string {
	return hexList(len(ids), func(i int) []byte { return ids[i][:] })
}

func hexList(n int, at func(int) []byte) string {
	b := []byte{'['}
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(hex.AppendEncode(append(b, '"'), at(i)), '"')
	}
	return string(append(b, ']'))
}

// parentCond returns the condition that a card's parent is id.
func parentCond(alias, id string) string { return fmt.Sprintf(dialect.Child, alias, id) }

// Descendants walks the tree generation by generation. SQLite's recursive queries process their
// rows first in, first out, and the index returns siblings by creation time.
func (r *reader) Descendants(ctx context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	if n, known := r.prefetched.childrenOf(s, id); known && depth == 1 && p.Limit == 0 {
		return nil, sqlstore.CappedTotal(n), ctx.Err()
	}
	sc, ok, err := r.resolvePointScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	if depth == 1 {
		return r.listChildren(sc, id, p)
	}
	root := sc.Add(id[:])
	if found, err := sqlstore.QueryInt(context.Background(), r.c, "SELECT 1 FROM cards c WHERE c.id = "+root+" AND "+
		sc.Living("c"), sc.Args...); err != nil || found == 0 {
		return nil, canon.Total{}, err
	}
	most := sc.Add(depth)
	walk := fmt.Sprintf(`WITH RECURSIVE below (rid, id, depth) AS (
			SELECT * FROM (SELECT c.rid, c.id, 1 FROM cards c INDEXED BY cards_parent
				WHERE c.w = $1 AND %s AND c.trashed = 0 AND %[2]s > 0 AND %[3]s ORDER BY c.created, c.id)
			UNION ALL
			SELECT c.rid, c.id, below.depth + 1 FROM below CROSS JOIN cards c INDEXED BY cards_parent
				ON c.w = $1 AND %[4]s AND c.trashed = 0 AND %[3]s
			WHERE below.depth < %[2]s) SELECT rid FROM below LIMIT %[5]s`, parentCond("c", root), most, sc.Visible("c"),
		parentCond("c", "below.id"), sc.Add(canon.CountCap+1))
	rids, err := r.queryRows(ctx, walk, sc.Args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	total := sqlstore.CappedTotal(len(rids))
	if p.Offset+p.Limit > len(rids) && total.AtLeast {
		sc.Args[len(sc.Args)-1] = p.Offset + p.Limit
		if rids, err = r.queryRows(ctx, walk, sc.Args...); err != nil {
			return nil, canon.Total{}, err
		}
	}
	from := min(max(p.Offset, 0), len(rids))
	list, err := r.readCardsByRow(ctx, sc.World, rids[from:min(from+p.Limit, len(rids))])
	return list, total, err
}

// queryRows runs a query for row numbers.
func (r *reader) queryRows(ctx context.Context, sql string, args ...any) (rids []int64, err error) {
	rows := r.c.Query(ctx, sql, args...)
	for rows.Next() {
		rids = append(rids, rows.Int(0))
	}
	return rids, rows.Close()
}

// listChildren is Descendants with depth 1, in one statement: every read of a card asks for its
// children, and they are few enough to count.
func (r *reader) listChildren(sc sqlstore.Scope, id canon.CardID,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	first, last := max(p.Offset, 0), max(p.Offset, 0)+p.Limit
	root := sc.Add(id[:])
	rids, err := r.queryRows(context.Background(), `SELECT c.rid FROM cards c INDEXED BY cards_parent WHERE c.w = $1 AND `+
		parentCond("c", root)+` AND c.trashed = 0 AND `+sc.Visible("c")+`
			AND EXISTS (SELECT 1 FROM cards p WHERE p.w = $1 AND p.id = `+root+` AND p.trashed = 0 AND `+sc.Visible("p")+`)
			ORDER BY c.created, c.id LIMIT `+sc.Add(max(last, canon.CountCap+1)), sc.Args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	first, last = min(first, len(rids)), min(last, len(rids))
	list, err := r.readCardsByRow(context.Background(), sc.World, rids[first:last])
	return list, sqlstore.CappedTotal(len(rids)), err
}

// readCardsByRow reads cards by row number, in the given order.
func (r *reader) readCardsByRow(ctx context.Context, world access.WorldID, rids []int64) ([]canon.Card, error) {
	list := make([]canon.Card, 0, len(rids))
	for _, rid := range rids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, ok, err := canon.First(r.QueryCards(context.Background(), world, "SELECT "+dialect.Columns.Card+
			" FROM cards c WHERE c.rid = $1", rid))
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, c)
		}
	}
	return list, nil
}
