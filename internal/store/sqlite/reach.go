package sqlite

import (
	"context"
	"fmt"

	"loregate/internal/canon"
)

// Reach walks the graph breadth first, one query per step. One recursive query would visit a card
// again for each distance at which it can be reached; Reach visits each card once and stops at the
// limit.
func (r *reader) Reach(ctx context.Context, s canon.Visibility, q canon.ReachQuery) (out canon.Reached, err error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || q.Limit <= 0 {
		return out, err
	}
	frontier, err := r.FindCards(ctx, s, canon.CardQuery{IDs: []canon.CardID{q.From}})
	var seen []canon.CardID
	for depth := 0; err == nil && len(frontier) > 0; depth++ {
		if room := q.Limit - len(out.Cards); len(frontier) > room {
			frontier, out.Cut = frontier[:room], true
		}
		ids := make([]canon.CardID, len(frontier))
		for i, c := range frontier {
			out.Cards, out.Depth = append(out.Cards, c), append(out.Depth, depth)
			ids[i] = c.ID
		}
		seen = append(seen, ids...)
		if depth >= q.Depth || out.Cut {
			break
		}
		frontier, err = r.expandFrontier(ctx, sc, q, ids, seen)
	}
	if err == nil && len(seen) > 0 && !q.CardsOnly {
		out.Links, err = r.linksBetween(ctx, sc, q, seen)
	}
	return out, err
}

// expandFrontier returns the cards that are one link further and were not seen before, up to one
// more than the limit.
func (r *reader) expandFrontier(ctx context.Context, sc scope, q canon.ReachQuery, from,
	seen []canon.CardID) ([]canon.Card, error) {
	l := &listing{}
	frontier, known := l.arg(hexIDs(from...)), l.arg(hexIDs(seen...))
	l.andIn("+l.kind", q.Kinds) // the plus keeps SQLite from scanning all links of a kind for each card
	currentAt(l, q.AsOf)
	arm := func(here, there string) string {
		return fmt.Sprintf("SELECT l.%s FROM json_each(%s) f CROSS JOIN links l ON l.w = ?1 AND l.%s = unhex(f.value) WHERE %s%s",
			there, frontier, here, sc.visibleCond("l"), l.andConditions())
	}
	next := arm("from_card", "to_card")
	if q.Both {
		next += " UNION " + arm("to_card", "from_card")
	}
	return r.queryCards(ctx, sc.id, fmt.Sprintf(`WITH next (id) AS (%s) SELECT %s FROM (SELECT DISTINCT id FROM next) n CROSS JOIN cards c ON c.w = ?1 AND c.id = n.id
		WHERE c.id NOT IN (SELECT unhex(value) FROM json_each(%s)) AND c.trashed = 0 AND %s ORDER BY c.key, c.id LIMIT %d`,
		next, cardColumns, known, sc.visibleCond("c"), q.Limit+1), sc.withArgs(l.args...)...)
}

// linksBetween returns the visible links between the given cards.
func (r *reader) linksBetween(ctx context.Context, sc scope, q canon.ReachQuery,
	ids []canon.CardID) ([]canon.Link, error) {
	l := &listing{}
	list := l.arg(hexIDs(ids...))
	l.andIn("+l.kind", q.Kinds)
	currentAt(l, q.AsOf)
	return r.queryLinks(ctx, sc.id, fmt.Sprintf(`SELECT %s FROM json_each(%s) f CROSS JOIN links l ON l.w = ?1 AND l.from_card = unhex(f.value)
		WHERE l.to_card IN (SELECT unhex(value) FROM json_each(%[2]s)) AND %s%s ORDER BY l.id`, linkColumns, list, sc.visibleCond("l"), l.andConditions()), sc.withArgs(l.args...)...)
}

// worldTime returns the value of a link for the clock index that LinkMax uses; nil if it has none.
func worldTime(l canon.Link) any {
	if n, ok := l.Integer(canon.ClockAttr); ok && l.Kind == canon.ClockKind {
		return n
	}
	return nil
}

// LinkMax reads the clock index from its end, or for other kinds scans all links of the kind.
func (r *reader) LinkMax(ctx context.Context, s canon.Visibility, kind,
	attr string) (most int64, found bool, err error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return 0, false, err
	}
	in := " AND " + sc.visibleCond("l") + " AND " + cardExists(sc, "l.from_card") + " AND " + cardExists(sc, "l.to_card")
	if kind == canon.ClockKind && attr == canon.ClockAttr {
		found, err = r.c.queryOne(ctx, func(row row) error { most = row.intAt(0); return nil },
			"SELECT l.clock FROM links l WHERE l.w = ?1 AND l.until = 0 AND l.clock IS NOT NULL"+in+
				" ORDER BY l.clock DESC LIMIT 1", sc.withArgs()...)
		return most, found, err
	}
	err = r.c.query(ctx, func(row row) error {
		if n, ok := (canon.Link{Attrs: row.bytesAt(0)}).Integer(attr); ok && (!found || n > most) {
			most, found = n, true
		}
		return nil
	}, "SELECT l.attrs FROM links l WHERE l.w = ?1 AND l.until = 0 AND l.kind = ?3 AND l.attrs IS NOT NULL"+in,
		sc.withArgs(kind)...)
	return most, found, err
}
