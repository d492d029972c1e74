package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/finder"
	"loregate/internal/store/sqlstore"
)

// orderByLabel sorts by level, then labels that name more subjects first, then by id.
const orderByLabel = ` ORDER BY CASE c.label WHEN -1 THEN 0 ELSE c.level END,
	(SELECT count(*) FROM label_subjects n WHERE n.label = c.label) DESC, c.id`

// FindCards returns the cards that a query names.
func (r *reader) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, err
	}
	from, living, order := "cards c WHERE ", "c.trashed = 0", ""
	switch {
	case !q.ID.IsZero():
		if s.View.Level >= access.LevelAdmin {
			if c, known := r.prefetched.findCard(sc.WorldNumber(), q.ID); known && c != nil {
				return []canon.Card{*c}, nil
			} else if known {
				return nil, nil
			}
		}
		from, living = from+"c.id = "+sc.Add(uuidOf(q.ID)), sqlstore.TrashCond(s.View, "c")
	case len(q.IDs) > 0:
		ids := sc.Add(sqlstore.RawIDs(q.IDs))
		from, order = "unnest("+ids+"::uuid[]) WITH ORDINALITY f (id, n) JOIN cards c ON c.id = f.id", " ORDER BY f.n"
	case q.Key != "":
		return r.findByKey(ctx, sc, s.View, q)
	case q.Alias != "":
		from = "aliases a JOIN cards c ON c.rid = a.rid WHERE a.w = $1 AND a.key = " + sc.Add(string(q.Alias))
		order = orderByLabel
	case q.Codename != "":
		from, order = from+"c.codename <> '' AND c.codename = "+sc.Add(q.Codename), " ORDER BY c.level, c.id LIMIT 1"
	case q.OldKey != "":
		from, order = formerKeyJoin(&sc, sc.Add(string(q.OldKey))), " ORDER BY old.ended DESC, c.id"
	case !q.TrashRoot.IsZero():
		root := sc.Add(uuidOf(q.TrashRoot))
		from, living, order = from+"c.trash_root = "+root, "c.trashed <> 0", " ORDER BY c.id <> "+root+", c.key, c.id"
	default:
		return nil, nil
	}
	return r.QueryCards(ctx, sc.World, fmt.Sprintf("SELECT %s FROM %s AND c.w = $1 AND %s AND %s%s",
		dialect.Columns.Card, from, living, sc.Visible("c"), order), sc.Args...)
}

// smallBody is the largest body, in bytes, that is read along with its card.
const smallBody = 16 << 10

// findByKey returns the living cards with a key, in the order of orderByLabel. Usually one card has
// the key, so sorting here is cheap. For a query with Prefetch it also reads the data that is
// needed next, to save a round trip: the bodies, and whether the cards have visible children.
func (r *reader) findByKey(ctx context.Context, sc sqlstore.Scope, view access.View,
	q canon.CardQuery) ([]canon.Card, error) {
	from := "c.key = " + sc.Add(string(q.Key)) + " AND " + sc.Living("c")
	if r.Writes() || !q.Prefetch { // writes of the transaction may change both
		cards, err := r.QueryCards(ctx, sc.World, "SELECT "+dialect.Columns.Card+" FROM cards c WHERE "+from, sc.Args...)
		slices.SortFunc(cards, canon.CompareHomonyms)
		return cards, err
	}
	var bodies [][]byte
	var parents []bool
	cards, err := r.QueryCardsWith(ctx, sc.World,
		func(_ canon.Card, r sqlstore.Row) {
			bodies, parents = append(bodies, r.Bytes(sqlstore.CardWidth)), append(parents, r.Int(sqlstore.CardWidth+1) != 0)
		},
		fmt.Sprintf(`SELECT %s, b.body, EXISTS (SELECT FROM cards k WHERE k.parent = c.id AND %s)
			FROM cards c LEFT JOIN bodies b ON b.w = c.w AND b.hash = c.content AND c.size <= %d WHERE %s`,
			dialect.Columns.Card, sc.Living("k"), smallBody, from), sc.Args...)
	if err != nil {
		return nil, err
	}
	for i, c := range cards {
		w := sc.WorldNumber()
		if bodies[i] != nil {
			put(&r.prefetched.bodies, bodyRef{w, c.Content}, bodies[i])
		}
		put(&r.prefetched.leaves, leafRef{w, c.ID, view}, !parents[i])
	}
	slices.SortFunc(cards, canon.CompareHomonyms)
	return cards, nil
}

// formerKeyJoin returns a join of the cards that had the key and now have another key, with the
// time at which a version visible to the caller last had it.
func formerKeyJoin(sc *sqlstore.Scope, key string) string {
	return fmt.Sprintf(`(SELECT v.card, max(CASE v.to_seq WHEN 0 THEN 9223372036854775807 ELSE v.to_seq END) AS ended FROM (
			SELECT v.card, v.to_seq FROM versions v WHERE v.w = $1 AND v.key = %[1]s AND %[2]s
			UNION ALL SELECT v.card, v.to_seq FROM (SELECT w, card, to_seq, was_key AS key, was_level AS level, was_label AS label FROM versions) v
			WHERE v.w = $1 AND v.key = %[1]s AND v.key <> '' AND %[2]s) v GROUP BY v.card) old JOIN cards c ON c.id = old.card AND c.key <> %[1]s`,
		key, sc.Visible("v"))
}

// Cards lists cards that are not in the trash.
func (r *reader) Cards(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	switch {
	case finder.AnswersListing(f):
	case f.NotName != "":
		return r.listExceptNames(ctx, s, f, p)
	case f.Below != "" && s.View.Level >= access.LevelAdmin && onlyBelow(f):
		w, err := r.WorldNumber(ctx, s.World)
		if err != nil {
			return nil, canon.Total{}, err
		}
		if list, known := r.prefetched.cardsUnder(w, f.Below); known {
			list = slices.DeleteFunc(list, func(c canon.Card) bool { return c.Key == f.Below })
			return list[min(max(p.Offset, 0), len(list)):min(max(p.Offset, 0)+max(p.Limit, 0), len(list))],
				canon.Total{Count: len(list)}, nil
		}
	}
	return r.Reader.Cards(ctx, s, f, p)
}

// onlyBelow reports whether a filter selects cards only by Below, sorted by name.
func onlyBelow(f canon.Filter) bool {
	byName := f.Sort == "" || f.Sort == canon.SortName
	f.Below = ""
	return byName && !f.Narrows()
}

// listExceptNames is Cards for a filter with NotName, a glob that the database cannot match: it
// reads all names in order, and complete cards only for the page.
func (r *reader) listExceptNames(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	columns, order := sqlstore.OrderBy(f.Sort)
	var rids []int64
	n, offset, limit := 0, max(p.Offset, 0), max(p.Limit, 0)
	sql := "SELECT " + columns + ", c.name FROM cards c WHERE " + sc.Living("c") + sc.FilterCards(f) + " ORDER BY " + order
	rows := r.c.Query(ctx, sql, sc.Args...)
	for rows.Next() && (n <= canon.CountCap || len(rids) < limit) {
		if markup.MatchGlob(f.NotName, rows.Text(strings.Count(columns, ",")+1)) {
			continue
		}
		if n++; n > offset && len(rids) < limit {
			rids = append(rids, rows.Int(0))
		}
	}
	if err := rows.Close(); err != nil || len(rids) == 0 {
		return nil, sqlstore.CappedTotal(n), err
	}
	list, err := r.QueryCards(ctx, sc.World, "SELECT "+dialect.Columns.Card+
		" FROM unnest($1::bigint[]) WITH ORDINALITY f (rid, n) JOIN cards c ON c.rid = f.rid ORDER BY f.n", rids)
	return list, sqlstore.CappedTotal(n), err
}

// Descendants walks the tree generation by generation. Rows of a generation sort by the place of
// their parent, then by their own place among the siblings.
func (r *reader) Descendants(ctx context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || depth <= 0 {
		return nil, canon.Total{}, err
	}
	if depth == 1 && r.prefetched.leaves[leafRef{sc.WorldNumber(), id, s.View}] {
		return nil, canon.Total{}, nil
	}
	root := sc.Add(uuidOf(id))
	if depth == 1 {
		return r.listChildren(ctx, sc, root, p)
	}
	// Sorting by place would need a number for each row of a generation, which a recursive query
	// cannot assign: the path from the root, made of creation times and ids, sorts the same.
	walk := fmt.Sprintf(`WITH RECURSIVE below AS (
			SELECT c.rid, c.id, 1 AS depth, ARRAY[lpad(c.created::text, 20, '0') || c.id::text] AS way FROM cards c
			WHERE c.parent = %s AND %s AND %s
			UNION ALL
			SELECT c.rid, c.id, below.depth + 1, below.way || (lpad(c.created::text, 20, '0') || c.id::text) FROM below JOIN cards c ON c.parent = below.id
			WHERE below.depth < %s AND %s)`, root, sc.Living("c"), sc.CardExists(root), sc.Add(int64(depth)), sc.Living("c"))
	from := walk + " SELECT %s FROM below b JOIN cards c ON c.rid = b.rid"
	n := len(sc.Args)
	list, err := r.QueryCards(ctx, sc.World, fmt.Sprintf(from, dialect.Columns.Card)+
		` ORDER BY b.depth, b.way COLLATE "C"`+sc.AddPage(p), sc.Args...)
	return sqlstore.WithTotal(list, err, p, func() (canon.Total, error) {
		return r.CountRows(ctx, walk+" SELECT 1 FROM below", sc.Args[:n]...)
	})
}

func (r *reader) listChildren(ctx context.Context, sc sqlstore.Scope, root string,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	from := " FROM cards c WHERE c.parent = " + root + " AND " + sc.Living("c") + " AND " + sc.CardExists(root)
	n := len(sc.Args)
	count := func() (canon.Total, error) { return r.CountRows(ctx, "SELECT 1"+from, sc.Args[:n]...) }
	if p.Limit <= 0 {
		total, err := count()
		return nil, total, err
	}
	list, err := r.QueryCards(ctx, sc.World, "SELECT "+dialect.Columns.Card+from+" ORDER BY c.created, c.id"+sc.AddPage(p),
		sc.Args...)
	return sqlstore.WithTotal(list, err, p, count)
}

// CardsAt returns the versions that were current just after a commit.
func (r *reader) CardsAt(ctx context.Context, s canon.Visibility, ids []canon.CardID,
	at canon.Seq) ([]canon.Version, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || len(ids) == 0 {
		return nil, err
	}
	return r.QueryVersionsFor(ctx, s, fmt.Sprintf(`SELECT %s FROM unnest(%s::uuid[]) WITH ORDINALITY f (id, n) CROSS JOIN LATERAL (
			SELECT * FROM versions v WHERE v.w = $1 AND v.card = f.id AND v.from_seq <= %s AND (v.to_seq = 0 OR v.to_seq > %[3]s) AND NOT v.trashed AND %s
			ORDER BY v.rev DESC LIMIT 1) v
		WHERE %s ORDER BY f.n`, dialect.Columns.Version, sc.Add(sqlstore.RawIDs(ids)), sc.Add(uint64(at)), sc.Visible("v"),
		sc.CardExists("f.id")), sc.Args...)
}

// VersionByRev finds a version regardless of its label.
func (r *reader) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	if v := r.prefetched.version; v.World == w && v.Card == id && v.Rev == rev {
		return v, true, nil
	}
	return r.Reader.VersionByRev(ctx, w, id, rev)
}
