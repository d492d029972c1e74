package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// trashCond returns the condition on trashed for queries that name one card: an admin's view also
// finds cards in the trash.
func trashCond(view access.View, alias string) string {
	if view.Level >= access.LevelAdmin {
		return "true"
	}
	return alias + ".trashed = 0"
}

// orderByLabel sorts by level, then labels that name more subjects first, then by id.
const orderByLabel = ` ORDER BY CASE c.label WHEN -1 THEN 0 ELSE c.level END,
	(SELECT count(*) FROM label_subjects n WHERE n.label = c.label) DESC, c.id`

// FindCards returns the cards that a query names.
func (r *reader) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, err
	}
	from, living, order := "cards c WHERE ", "c.trashed = 0", ""
	switch {
	case !q.ID.IsZero():
		if s.View.Level >= access.LevelAdmin {
			if c, known := r.prefetched.findCard(sc.args[0].(int64), q.ID); known && c != nil {
				return []canon.Card{*c}, nil
			} else if known {
				return nil, nil
			}
		}
		from, living = from+"c.id = "+sc.arg(uuidOf(q.ID)), trashCond(s.View, "c")
	case len(q.IDs) > 0:
		from, order = "unnest("+sc.arg(uuidsOf(q.IDs))+"::uuid[]) WITH ORDINALITY f (id, n) JOIN cards c ON c.id = f.id",
			" ORDER BY f.n"
	case q.Key != "":
		return r.findByKey(ctx, sc, s.View, q)
	case q.Alias != "":
		from, order = fmt.Sprintf("aliases a JOIN cards c ON c.rid = a.rid WHERE a.w = %s AND a.key = %s", sc.w,
			sc.arg(string(q.Alias))), orderByLabel
	case q.Codename != "":
		from, order = from+"c.codename <> '' AND c.codename = "+sc.arg(q.Codename), " ORDER BY c.level, c.id LIMIT 1"
	case q.OldKey != "":
		from, order = sc.formerKeyJoin(sc.arg(string(q.OldKey))), " ORDER BY old.ended DESC, c.id"
	case !q.TrashRoot.IsZero():
		root := sc.arg(uuidOf(q.TrashRoot))
		from, living, order = from+"c.trash_root = "+root, "c.trashed <> 0", " ORDER BY c.id <> "+root+", c.key, c.id"
	default:
		return nil, nil
	}
	return r.queryCards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM %s AND c.w = %s AND %s AND %s%s", cardColumns, from, sc.w,
		living, sc.visibleCond("c"), order), sc.args...)
}

// smallBody is the largest body, in bytes, that is read along with its card.
const smallBody = 16 << 10

// findByKey returns the living cards with a key, in the order of orderByLabel. Usually one card has
// the key, so sorting here is cheap. For a query with Prefetch it also reads the data that is
// needed next, to save a round trip: the bodies, and whether the cards have visible children.
func (r *reader) findByKey(ctx context.Context, sc *scope, view access.View, q canon.CardQuery) ([]canon.Card, error) {
	from := fmt.Sprintf("c.key = %s AND c.w = %s AND c.trashed = 0 AND %s", sc.arg(string(q.Key)), sc.w,
		sc.visibleCond("c"))
	if r.writes != nil || !q.Prefetch { // writes of the transaction may change both
		cards, err := r.queryCards(ctx, sc.id, "SELECT "+cardColumns+" FROM cards c WHERE "+from, sc.args...)
		slices.SortFunc(cards, canon.CompareHomonyms)
		return cards, err
	}
	var bodies [][]byte
	var parents []bool
	cards, err := r.queryCardsWith(ctx, sc.id,
		func(r row) { bodies, parents = append(bodies, r.bytesAt(0)), append(parents, r.boolAt(1)) },
		fmt.Sprintf(`SELECT %s, b.body, EXISTS (SELECT FROM cards k WHERE k.parent = c.id AND %s)
			FROM cards c LEFT JOIN bodies b ON b.w = c.w AND b.hash = c.content AND c.size <= %d WHERE %s`,
			cardColumns, sc.livingCond("k"), smallBody, from), sc.args...)
	if err != nil {
		return nil, err
	}
	for i, c := range cards {
		w := sc.args[0].(int64)
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
func (sc *scope) formerKeyJoin(key string) string {
	return fmt.Sprintf(`(SELECT v.card, max(CASE v.to_seq WHEN 0 THEN 9223372036854775807 ELSE v.to_seq END) AS ended FROM (
			SELECT v.card, v.to_seq FROM versions v WHERE v.w = %[1]s AND v.key = %[2]s AND %[3]s
			UNION ALL SELECT v.card, v.to_seq FROM (SELECT w, card, to_seq, was_key AS key, was_level AS level, was_label AS label FROM versions) v
			WHERE v.w = %[1]s AND v.key = %[2]s AND v.key <> '' AND %[3]s) v GROUP BY v.card) old JOIN cards c ON c.id = old.card AND c.key <> %[2]s`,
		sc.w, key, sc.visibleCond("v"))
}

// Descendants walks the tree generation by generation. Rows of a generation sort by the place of
// their parent, then by their own place among the siblings.
func (r *reader) Descendants(ctx context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || depth <= 0 {
		return nil, canon.Total{}, err
	}
	if depth == 1 && r.prefetched.leaves[leafRef{sc.args[0].(int64), id, s.View}] {
		return nil, canon.Total{}, nil
	}
	root := sc.arg(uuidOf(id))
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
			WHERE below.depth < %s AND %s)`, root, sc.livingCond("c"), sc.cardExists(root), sc.arg(int64(depth)), sc.livingCond("c"))
	from := walk + " SELECT %s FROM below b JOIN cards c ON c.rid = b.rid"
	n := len(sc.args)
	list, err := r.queryCards(ctx, sc.id, fmt.Sprintf(from, cardColumns)+` ORDER BY b.depth, b.way COLLATE "C"`+
		sc.limitOffset(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.c.queryInt(ctx, fmt.Sprintf("%s SELECT count(*) FROM (SELECT FROM below LIMIT %d) t", walk,
		canon.CountCap+1), sc.args[:n]...)
	return list, cappedTotal(int(total)), err
}

func (r *reader) listChildren(ctx context.Context, sc *scope, root string,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	from := fmt.Sprintf(" FROM cards c WHERE c.parent = %s AND %s AND %s", root, sc.livingCond("c"), sc.cardExists(root))
	n := len(sc.args)
	if p.Limit <= 0 {
		total, err := r.countRows(ctx, "SELECT 1"+from, sc.args...)
		return nil, total, err
	}
	list, err := r.queryCards(ctx, sc.id, "SELECT "+cardColumns+from+" ORDER BY c.created, c.id"+sc.limitOffset(p),
		sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.args[:n]...)
	return list, total, err
}

// Trash lists the roots of trashed subtrees. Only an admin's view sees them.
func (r *reader) Trash(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || s.View.Level < access.LevelAdmin {
		return nil, canon.Total{}, err
	}
	from := fmt.Sprintf(" FROM cards c WHERE c.w = %s AND c.trashed <> 0 AND c.trash_root = c.id", sc.w)
	n := len(sc.args)
	list, err := r.queryCards(ctx, sc.id, "SELECT "+cardColumns+from+" ORDER BY c.trashed DESC, c.key, c.id"+
		sc.limitOffset(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.args[:n]...)
	return list, total, err
}

// TypeUse counts cards by the key of their type.
func (r *reader) TypeUse(ctx context.Context, s canon.Visibility) (map[string]int, error) {
	use := map[string]int{}
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return use, err
	}
	err = r.c.query(ctx, func(r row) error { use[r.textAt(0)] = int(r.intAt(1)); return nil },
		"SELECT c.type_key, count(*) FROM cards c WHERE "+sc.livingCond("c")+" GROUP BY c.type_key", sc.args...)
	return use, err
}

// tagListOf returns the condition that list is the card that lists the tags of bearer.
func tagListOf(list, bearer string) string {
	return list + ".key = " + bearer + ".key || '+" + canon.TagPart + "'"
}

// escapeLike escapes a text for use in a LIKE pattern.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
