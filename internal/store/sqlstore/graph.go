package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// scanRef reads kind, target, name and order from a column on.
func scanRef(from canon.CardID, r Row, column int) canon.Ref {
	return canon.Ref{From: from, Kind: canon.RefKind(r.Int(column)), Target: markup.Key(r.Text(column + 1)),
		Name: r.Text(column + 2), Order: int(r.Int(column + 3))}
}

// Refs lists references by their source's key and id, then kind and place.
func (r *Reader) Refs(ctx context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := " FROM refs f " + r.Dialect.Join + " cards c ON c.w = f.w AND c.id = f.from_card WHERE f.w = $1 AND " +
		sc.Living("c")
	if q.From.IsZero() {
		from += " AND f.target = " + sc.Add(string(q.Target))
	} else {
		from += " AND f.from_card = " + sc.Add(q.From[:])
	}
	if q.Kind != 0 {
		from += " AND f.kind = " + sc.Add(int64(q.Kind))
	}
	n := len(sc.Args)
	var list []canon.RefRow
	cards, err := r.QueryCardsWith(ctx, sc.World, func(c canon.Card, r Row) {
		list = append(list, canon.RefRow{Ref: scanRef(c.ID, r, CardWidth)})
	}, "SELECT "+r.Dialect.Columns.Card+", f.kind, f.target, f.name, f.ord"+from+" ORDER BY c.key, c.id, f.kind, f.ord"+
		sc.AddPage(q.Page), sc.Args...)
	for i, c := range cards {
		list[i].Card = c
	}
	return WithTotal(list, err, q.Page, func() (canon.Total, error) {
		return r.CountRows(ctx, "SELECT 1"+from, sc.Args[:n]...)
	})
}

// Wanted reads the index of link targets for the view's level.
func (r *Reader) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from, used, err := r.selectWanted(ctx, &sc)
	if err != nil {
		return nil, canon.Total{}, err
	}
	list, err := queryAll(ctx, r.Conn, func(r Row) (canon.Wanted, error) {
		return canon.Wanted{Key: markup.Key(r.Text(0)), Count: int(r.Int(1)), Name: r.Text(2)}, nil
	}, fmt.Sprintf(`SELECT t.target, t.n, (SELECT f.name FROM refs f%s %s cards c ON c.w = f.w AND c.id = f.from_card
		WHERE f.w = $1 AND f.target = t.target AND f.kind = 1 AND %s AND %s ORDER BY f.from_card, f.ord LIMIT 1)
		FROM (%s ORDER BY n DESC, target%s) t ORDER BY t.n DESC, t.target`, r.Dialect.IndexedBy("refs_target"),
		r.Dialect.Join, notTags("c"), sc.Living("c"), from, sc.AddPage(p)), sc.Args...)
	return WithTotal(list, err, p, func() (canon.Total, error) { return r.CountRows(ctx, from, used...) })
}

// selectWanted returns a query for the targets that are neither the name nor an alias of a visible
// card, with the number of visible cards that link to each, and the arguments that it uses. Cards
// visible only by name are counted in addition to those that the level sees; they are few.
func (r *Reader) selectWanted(ctx context.Context, sc *Scope) (query string, used []any, err error) {
	byLevel := "SELECT target, CAST(0 AS bigint) AS n FROM targets WHERE w = $1 AND false"
	if sc.Top > access.LevelNone {
		byLevel = fmt.Sprintf("SELECT target, n%[1]d AS n FROM targets WHERE w = $1 AND n%[1]d > 0 AND least > %[1]d", sc.Top)
	}
	unlessAlias := func(query string) string {
		return fmt.Sprintf("SELECT target, n FROM (%s) q WHERE NOT EXISTS (SELECT 1 FROM aliases a %s cards k ON k.rid = a.rid "+
			"WHERE a.w = $1 AND a.key = q.target AND %s)", query, r.Dialect.Join, sc.Living("k"))
	}
	if !sc.Named {
		return unlessAlias(byLevel), sc.Args, nil
	}
	byName := "c.w = $1 AND c.trashed = 0 AND " + sc.NamedOnly("c")
	if n, err := QueryInt(ctx, r.Conn, "SELECT 1 FROM cards c"+r.Dialect.IndexedBy("cards_named")+" WHERE "+byName+
		" LIMIT 1", sc.Args...); err != nil || n == 0 {
		return unlessAlias(byLevel), sc.Args, err
	}
	return unlessAlias(fmt.Sprintf(`SELECT target, CAST(sum(n) AS bigint) AS n FROM (%s UNION ALL
		SELECT f.target, count(DISTINCT c.id) FROM cards c %s refs f ON f.w = c.w AND f.from_card = c.id AND f.kind = 1
		WHERE %s AND %s AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.w = $1 AND t.target = f.target AND t.least <= %d)
		GROUP BY f.target) a
		WHERE target NOT IN (SELECT c.key FROM cards c WHERE %[3]s) GROUP BY target`, byLevel, r.Dialect.Join, byName,
		notTags("c"), sc.Top)), sc.Args, nil
}

// notTags returns the condition that a card is not a tag list.
func notTags(alias string) string {
	return fmt.Sprintf("substr(%[1]s.key, length(%[1]s.key) - 3) <> '+tag'", alias)
}

// listed returns the condition that a card is one that listings show: no list of tags.
func listed(alias string) string { return "(" + notTags(alias) + " OR " + alias + ".part LIKE '%+%')" }

// tagListOf returns the condition that list is the card that lists the tags of bearer.
func tagListOf(list, bearer string) string {
	return list + ".key = " + bearer + ".key || '+" + canon.TagPart + "'"
}

// Tags lists tags by the number of visible cards that visibly have them, then by key.
func (r *Reader) Tags(ctx context.Context, s canon.Visibility, prefix string,
	p canon.Page) (list []canon.TagCount, total canon.Total, err error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	prefix = markup.Fold(prefix)
	skip, n := max(p.Offset, 0), 0
	rows := r.Conn.Query(ctx, fmt.Sprintf(`SELECT f.target, min(f.name), count(DISTINCT b.id) AS n FROM refs f%s
		%[2]s cards t ON t.w = f.w AND t.id = f.from_card %[2]s cards b ON b.w = t.w AND b.id = t.parent
		WHERE f.w = $1 AND f.kind = 3 AND %s AND %s AND %s GROUP BY f.target ORDER BY n DESC, f.target`,
		r.Dialect.IndexedBy("refs_kind"), r.Dialect.Join, sc.Living("t"), sc.Living("b"), tagListOf("t", "b")), sc.Args...)
	for rows.Next() {
		if !strings.HasPrefix(markup.Fold(rows.Text(1)), prefix) {
			continue
		}
		if n++; n > skip && len(list) < p.Limit {
			list = append(list, canon.TagCount{Key: markup.Key(rows.Text(0)), Name: rows.Text(1), Count: int(rows.Int(2))})
		}
	}
	return list, CappedTotal(n), rows.Close()
}

// currentAt returns the condition that a state with alias l was current just after commit asOf, or
// is current now if asOf is 0.
func (sc *Scope) currentAt(asOf canon.Seq) string {
	if asOf == 0 {
		return " AND l.until = 0"
	}
	return fmt.Sprintf(" AND l.since <= %s AND (l.until = 0 OR l.until > %[1]s)", sc.Add(uint64(asOf)))
}

// Links lists links whose both cards are visible.
func (r *Reader) Links(ctx context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	ofCards := inIDs(&sc, "l.from_card", q.Froms)
	if !q.From.IsZero() {
		ofCards += " AND l.from_card = " + sc.Add(q.From[:])
	}
	if !q.To.IsZero() {
		ofCards += " AND l.to_card = " + sc.Add(q.To[:])
	}
	from := " FROM links l WHERE l.w = $1" + ofCards + inIDs(&sc, "l.id", q.IDs)
	kind, order := "l.kind", "l.id"
	if ofCards != "" {
		// A card has few links, a kind and a world have many. A planner without statistics would
		// choose the index by kind or by id, since they need no sorting.
		kind, order = r.Dialect.Plain+kind, r.Dialect.Plain+order
	}
	from += sc.inTexts(kind, q.Kinds)
	if len(q.IDs) > 0 && q.AsOf == 0 {
		from += " AND " + r.Dialect.Plain + "l.until = 0" // otherwise all current links would be scanned
	} else {
		from += sc.currentAt(q.AsOf)
	}
	from += " AND " + sc.Visible("l") + " AND " + sc.CardExists("l.from_card") + " AND " + sc.CardExists("l.to_card")
	n := len(sc.Args)
	list, err := r.queryLinks(ctx, sc.World, "SELECT "+r.Dialect.Columns.Link+from+" ORDER BY "+order+sc.AddPage(q.Page),
		sc.Args...)
	return WithTotal(list, err, q.Page, func() (canon.Total, error) {
		return r.CountRows(ctx, "SELECT 1"+from, sc.Args[:n]...)
	})
}

// Layers lists layers of visible cards, latest first.
func (r *Reader) Layers(ctx context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, err
	}
	where := ""
	switch {
	case len(q.IDs) > 0:
		where = inIDs(&sc, "l.id", q.IDs)
	case !q.Card.IsZero():
		where = " AND l.card = " + sc.Add(q.Card[:])
	case len(q.Cards) > 0:
		where = inIDs(&sc, "l.card", q.Cards)
	default:
		return nil, nil
	}
	if q.Active {
		where += fmt.Sprintf(" AND l.from_tick <= %s AND (l.to_tick = 0 OR l.to_tick >= %[1]s)", sc.Add(q.Tick))
	}
	return r.queryLayers(ctx, sc.World, "SELECT "+r.Dialect.Columns.Layer+" FROM layers l WHERE l.w = $1"+where+
		sc.currentAt(q.AsOf)+" AND "+sc.Visible("l")+" AND "+sc.CardExists("l.card")+" ORDER BY l.since DESC, l.id DESC",
		sc.Args...)
}

// Reach walks the graph breadth first, one query for each step. One recursive query would visit a
// card again for each distance at which it can be reached; Reach visits each card once and stops at
// the limit.
func (r *Reader) Reach(ctx context.Context, s canon.Visibility, q canon.ReachQuery) (out canon.Reached, err error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || q.Limit <= 0 {
		return out, err
	}
	start := sc.Clone()
	frontier, err := r.QueryCards(ctx, sc.World, "SELECT "+r.Dialect.Columns.Card+" FROM cards c WHERE c.id = "+
		start.Add(q.From[:])+" AND "+start.Living("c"), start.Args...)
	var seen []canon.CardID
	for depth := 0; err == nil && len(frontier) > 0; depth++ {
		if room := q.Limit - len(out.Cards); len(frontier) > room {
			frontier, out.Cut = frontier[:room], true
		}
		before := len(seen)
		for _, c := range frontier {
			out.Cards, out.Depth, seen = append(out.Cards, c), append(out.Depth, depth), append(seen, c.ID)
		}
		if depth >= q.Depth || out.Cut {
			break
		}
		frontier, err = r.expandFrontier(ctx, sc.Clone(), q, seen[before:], seen)
	}
	if err == nil && len(seen) > 0 && !q.CardsOnly {
		out.Links, err = r.linksBetween(ctx, sc, q, seen)
	}
	return out, err
}

// expandFrontier returns the cards that are one link further and were not seen before, up to one
// more than still fit the limit.
func (r *Reader) expandFrontier(ctx context.Context, sc Scope, q canon.ReachQuery, from,
	seen []canon.CardID) ([]canon.Card, error) {
	frontier, known := sc.Add(r.Dialect.IDs(RawIDs(from))), sc.Add(r.Dialect.IDs(RawIDs(seen)))
	// A planner without statistics would scan all links of a kind for each card.
	where := sc.inTexts(r.Dialect.Plain+"l.kind", q.Kinds) + sc.currentAt(q.AsOf) + " AND " + sc.Visible("l")
	next := "SELECT l.to_card AS id " + fmt.Sprintf(r.Dialect.FromLinks, "l.from_card", frontier) + where
	if q.Both {
		next += " UNION SELECT l.from_card " + fmt.Sprintf(r.Dialect.FromLinks, "l.to_card", frontier) + where
	}
	return r.QueryCards(ctx, sc.World, fmt.Sprintf(`SELECT %s FROM (SELECT DISTINCT id FROM (%s) a) n
		%s cards c ON c.w = $1 AND c.id = n.id
		WHERE NOT (%s) AND %s ORDER BY c.key, c.id LIMIT %d`, r.Dialect.Columns.Card, next, r.Dialect.Join,
		fmt.Sprintf(r.Dialect.InIDs, "c.id", known), sc.Living("c"), q.Limit-len(seen)+1), sc.Args...)
}

// linksBetween returns the visible links between the given cards.
func (r *Reader) linksBetween(ctx context.Context, sc Scope, q canon.ReachQuery,
	ids []canon.CardID) ([]canon.Link, error) {
	list := sc.Add(r.Dialect.IDs(RawIDs(ids)))
	return r.queryLinks(ctx, sc.World, fmt.Sprintf("SELECT %s %s AND %s AND %s%s%s ORDER BY %sl.id",
		r.Dialect.Columns.Link, fmt.Sprintf(r.Dialect.FromLinks, "l.from_card", list),
		fmt.Sprintf(r.Dialect.InIDs, r.Dialect.Plain+"l.to_card", list), sc.Visible("l"), sc.currentAt(q.AsOf),
		sc.inTexts(r.Dialect.Plain+"l.kind", q.Kinds), r.Dialect.Plain), sc.Args...)
}

// worldTime returns the value of a link for the clock index that LinkMax uses; nil if it has none.
func worldTime(l canon.Link) any {
	if n, ok := l.Integer(canon.ClockAttr); ok && l.Kind == canon.ClockKind {
		return n
	}
	return nil
}

// LinkMax reads the clock index from its end, or for other kinds scans all links of the kind.
func (r *Reader) LinkMax(ctx context.Context, s canon.Visibility, kind,
	attr string) (most int64, found bool, err error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return 0, false, err
	}
	in := " FROM links l WHERE l.w = $1 AND l.until = 0 AND " + sc.Visible("l") + " AND " + sc.CardExists("l.from_card") +
		" AND " + sc.CardExists("l.to_card")
	if kind == canon.ClockKind && attr == canon.ClockAttr {
		found, err = One(ctx, r.Conn, func(r Row) error { most = r.Int(0); return nil },
			"SELECT l.clock"+in+" AND l.clock IS NOT NULL ORDER BY l.clock DESC LIMIT 1", sc.Args...)
		return most, found, err
	}
	rows := r.Conn.Query(ctx, "SELECT l.attrs"+in+" AND l.attrs IS NOT NULL AND l.kind = "+sc.Add(kind), sc.Args...)
	for rows.Next() {
		if n, ok := (canon.Link{Attrs: rows.Raw(0)}).Integer(attr); ok && (!found || n > most) {
			most, found = n, true
		}
	}
	return most, found, rows.Close()
}
