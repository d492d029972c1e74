package postgres

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Refs lists references by their source's key and id, then kind and place.
func (r *reader) Refs(ctx context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := fmt.Sprintf(" FROM refs f JOIN cards c ON c.id = f.from_card WHERE f.w = %s AND %s", sc.w, sc.livingCond("c"))
	if q.From.IsZero() {
		from += " AND f.target = " + sc.arg(string(q.Target))
	} else {
		from += " AND f.from_card = " + sc.arg(uuidOf(q.From))
	}
	if q.Kind != 0 {
		from += " AND f.kind = " + sc.arg(int64(q.Kind))
	}
	n := len(sc.args)
	var refs []canon.Ref
	cards, err := r.queryCardsWith(ctx, sc.id, func(r row) {
		refs = append(refs, canon.Ref{Kind: canon.RefKind(r.intAt(0)), Target: markup.Key(r.textAt(1)), Name: r.textAt(2),
			Order: int(r.intAt(3))})
	}, "SELECT "+cardColumns+", f.kind, f.target, f.name, f.ord"+from+" ORDER BY c.key, c.id, f.kind, f.ord"+
		sc.limitOffset(q.Page), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	out := make([]canon.RefRow, len(refs))
	for i := range refs {
		refs[i].From = cards[i].ID
		out[i] = canon.RefRow{Ref: refs[i], Card: cards[i]}
	}
	if t, ok := knownTotal(q.Page, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.args[:n]...)
	return out, total, err
}

// Wanted reads the index of link targets for the view's level.
func (r *reader) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from, err := r.selectWanted(ctx, sc)
	if err != nil {
		return nil, canon.Total{}, err
	}
	n := len(sc.args)
	page := from + " ORDER BY n DESC, target" + sc.limitOffset(p)
	var out []canon.Wanted
	err = r.c.query(ctx, func(r row) error {
		out = append(out, canon.Wanted{Key: markup.Key(r.textAt(0)), Count: int(r.intAt(1)), Name: r.textAt(2)})
		return nil
	}, fmt.Sprintf(`SELECT t.target, t.n, (SELECT f.name FROM refs f JOIN cards c ON c.id = f.from_card
		WHERE f.w = %s AND f.target = t.target AND f.kind = 1 AND %s AND %s ORDER BY f.from_card, f.ord LIMIT 1)
		FROM (%s) t ORDER BY t.n DESC, t.target`, sc.w, sc.livingCond("c"), notTags("c"), page), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, from, sc.args[:n]...)
	return out, total, err
}

// selectWanted returns a query for the targets that have no visible card, with the number of
// visible cards that link to each. Cards visible only by name are counted in addition to those that
// the level sees; they are few.
func (r *reader) selectWanted(ctx context.Context, sc *scope) (string, error) {
	byLevel := fmt.Sprintf("SELECT target, 0::bigint AS n FROM targets WHERE w = %s AND false", sc.w)
	if sc.top > access.LevelNone {
		byLevel = fmt.Sprintf("SELECT target, n%[1]d AS n FROM targets WHERE w = %[2]s AND n%[1]d > 0 AND least > %[1]d",
			sc.top, sc.w)
	}
	if sc.subject == "" {
		return byLevel, nil
	}
	probe := sc.cloneForStatement()
	query, args := probe.trimArgs(fmt.Sprintf("SELECT 1 FROM cards c WHERE c.w = %s AND c.trashed = 0 AND %s LIMIT 1",
		probe.w, probe.namedOnlyCond("c")))
	if n, err := r.c.queryInt(ctx, query, args...); err != nil || n == 0 {
		return byLevel, err
	}
	byName := fmt.Sprintf("c.w = %s AND c.trashed = 0 AND %s", sc.w, sc.namedOnlyCond("c"))
	return fmt.Sprintf(`SELECT target, sum(n)::bigint AS n FROM (%s UNION ALL
		SELECT f.target, count(DISTINCT c.id) FROM cards c JOIN refs f ON f.w = c.w AND f.from_card = c.id AND f.kind = 1
		WHERE %s AND %s AND NOT EXISTS (SELECT FROM targets t WHERE t.w = f.w AND t.target = f.target AND t.least <= %d) GROUP BY f.target) a
		WHERE target NOT IN (SELECT c.key FROM cards c WHERE %[2]s) GROUP BY target`, byLevel, byName, notTags("c"), sc.top), nil
}

// notTags returns the condition that a card is not a tag list.
func notTags(alias string) string { return "right(" + alias + ".key, 4) <> '+tag'" }

// Tags lists tags by the number of visible cards that visibly have them, then by key.
func (r *reader) Tags(ctx context.Context, s canon.Visibility, prefix string,
	p canon.Page) ([]canon.TagCount, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	prefix = markup.Fold(prefix)
	skip, out, n := max(p.Offset, 0), []canon.TagCount(nil), 0
	err = r.c.query(ctx, func(r row) error {
		if !strings.HasPrefix(markup.Fold(r.textAt(1)), prefix) {
			return nil
		}
		if n++; n > skip && len(out) < p.Limit {
			out = append(out, canon.TagCount{Key: markup.Key(r.textAt(0)), Name: r.textAt(1), Count: int(r.intAt(2))})
		}
		return nil
	}, fmt.Sprintf(`SELECT f.target, min(f.name), count(DISTINCT b.id) AS n FROM refs f
		JOIN cards t ON t.id = f.from_card JOIN cards b ON b.id = t.parent
		WHERE f.w = %s AND f.kind = 3 AND %s AND %s AND %s GROUP BY f.target ORDER BY n DESC, f.target`,
		sc.w, sc.livingCond("t"), sc.livingCond("b"), tagListOf("t", "b")), sc.args...)
	return out, cappedTotal(n), err
}

// currentAt returns the condition that a state with alias l was current just after commit asOf, or
// is current now if asOf is 0.
func (sc *scope) currentAt(asOf canon.Seq) string {
	if asOf == 0 {
		return "l.until = 0"
	}
	at := sc.arg(uint64(asOf))
	return fmt.Sprintf("l.since <= %s AND (l.until = 0 OR l.until > %[1]s)", at)
}

// andKinds restricts alias l to some kinds; an empty list does not restrict it.
func (sc *scope) andKinds(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	return " AND " + sc.inCond("l.kind", kinds)
}

func (r *reader) Links(ctx context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := fmt.Sprintf(" FROM links l WHERE l.w = %s AND %s AND %s", sc.w, sc.currentAt(q.AsOf), sc.visibleCond("l"))
	if !q.From.IsZero() {
		from += " AND l.from_card = " + sc.arg(uuidOf(q.From))
	}
	if !q.To.IsZero() {
		from += " AND l.to_card = " + sc.arg(uuidOf(q.To))
	}
	if len(q.Froms) > 0 {
		from += " AND l.from_card = ANY(" + sc.arg(uuidsOf(q.Froms)) + ")"
	}
	if len(q.Tos) > 0 {
		from += " AND l.to_card = ANY(" + sc.arg(uuidsOf(q.Tos)) + ")"
	}
	if len(q.IDs) > 0 {
		from += " AND l.id = ANY(" + sc.arg(uuidsOf(q.IDs)) + ")"
	}
	from += sc.andKinds(q.Kinds) + " AND " + sc.cardExists("l.from_card") + " AND " + sc.cardExists("l.to_card")
	by := "l.id"
	if q.Newest {
		by = "l.since DESC, l.id DESC"
	}
	n := len(sc.args)
	out, err := r.queryLinks(ctx, sc.id, "SELECT "+linkColumns+from+" ORDER BY "+by+sc.limitOffset(q.Page), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(out)); ok {
		return out, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.args[:n]...)
	return out, total, err
}

func (r *reader) Layers(ctx context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, err
	}
	column, ids := "l.id", uuidsOf(q.IDs)
	switch {
	case len(ids) > 0:
	case q.Card.IsZero():
		column, ids = "l.card", uuidsOf(q.Cards)
	default:
		column, ids = "l.card", [][16]byte{q.Card}
	}
	where := fmt.Sprintf("%s = ANY(%s) AND %s", column, sc.arg(ids), sc.currentAt(q.AsOf))
	if q.Kind != "" {
		where += " AND l.kind = " + sc.arg(q.Kind)
	}
	if q.Active {
		where += fmt.Sprintf(" AND l.from_tick <= %s AND (l.to_tick = 0 OR l.to_tick >= %[1]s)", sc.arg(q.Tick))
	}
	return r.queryLayers(ctx, sc.id,
		fmt.Sprintf("SELECT %s FROM layers l WHERE l.w = %s AND %s AND %s AND %s ORDER BY l.since DESC, l.id DESC",
			layerColumns, sc.w, where, sc.visibleCond("l"), sc.cardExists("l.card")), sc.args...)
}

// Reach walks the graph breadth first, one query per step, as package sqlite does for the same
// reasons.
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
		frontier, err = r.expandFrontier(ctx, sc.cloneForStatement(), q, ids, seen)
	}
	if err == nil && len(seen) > 0 && !q.CardsOnly {
		out.Links, err = r.linksBetween(ctx, sc.cloneForStatement(), q, seen)
	}
	return out, err
}

// expandFrontier returns the cards that are one link further and were not seen before, up to one
// more than still fit the limit.
func (r *reader) expandFrontier(ctx context.Context, sc *scope, q canon.ReachQuery, from,
	seen []canon.CardID) ([]canon.Card, error) {
	frontier, known := sc.arg(uuidsOf(from)), sc.arg(uuidsOf(seen))
	where := fmt.Sprintf("l.w = %s AND %s AND %s%s", sc.w, sc.currentAt(q.AsOf), sc.visibleCond("l"), sc.andKinds(q.Kinds))
	next := fmt.Sprintf("SELECT l.to_card AS id FROM links l WHERE l.from_card = ANY(%s) AND %s", frontier, where)
	if q.Both {
		next += fmt.Sprintf(" UNION SELECT l.from_card FROM links l WHERE l.to_card = ANY(%s) AND %s", frontier, where)
	}
	return r.queryCards(ctx, sc.id,
		fmt.Sprintf("SELECT %s FROM (SELECT DISTINCT id FROM (%s) a) n JOIN cards c ON c.id = n.id WHERE c.id <> ALL(%s) AND %s ORDER BY c.key, c.id LIMIT %s",
			cardColumns, next, known, sc.livingCond("c"), sc.arg(int64(q.Limit-len(seen)+1))), sc.args...)
}

// linksBetween returns the visible links between the given cards.
func (r *reader) linksBetween(ctx context.Context, sc *scope, q canon.ReachQuery,
	ids []canon.CardID) ([]canon.Link, error) {
	list := sc.arg(uuidsOf(ids))
	return r.queryLinks(ctx, sc.id,
		fmt.Sprintf("SELECT %s FROM links l WHERE l.w = %s AND l.from_card = ANY(%s) AND l.to_card = ANY(%[3]s) AND %s AND %s%s ORDER BY l.id",
			linkColumns, sc.w, list, sc.currentAt(q.AsOf), sc.visibleCond("l"), sc.andKinds(q.Kinds)), sc.args...)
}

// LinkMax reads the clock index from its end, or for other kinds scans all links of the kind.
func (r *reader) LinkMax(ctx context.Context, s canon.Visibility, kind,
	attr string) (most int64, found bool, err error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return 0, false, err
	}
	in := fmt.Sprintf(" FROM links l WHERE l.w = %s AND l.until = 0 AND %s AND %s AND %s", sc.w, sc.visibleCond("l"),
		sc.cardExists("l.from_card"), sc.cardExists("l.to_card"))
	if kind == canon.ClockKind && attr == canon.ClockAttr {
		found, err = r.c.queryOne(ctx, func(r row) error { most = r.intAt(0); return nil },
			"SELECT l.clock"+in+" AND l.clock IS NOT NULL ORDER BY l.clock DESC LIMIT 1", sc.args...)
		return most, found, err
	}
	err = r.c.query(ctx, func(r row) error {
		if n, ok := (canon.Link{Attrs: r[0]}).Integer(attr); ok && (!found || n > most) {
			most, found = n, true
		}
		return nil
	}, "SELECT l.attrs"+in+" AND l.attrs IS NOT NULL AND l.kind = "+sc.arg(kind), sc.args...)
	return most, found, err
}
