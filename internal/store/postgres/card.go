package postgres

import (
	"context"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// alive is the condition that a query which names a card may have it: an admin's finds
// it in the trash too.
func alive(view access.View, alias string) string {
	if view.Level >= access.LevelAdmin {
		return "true"
	}
	return alias + ".trashed = 0"
}

// CardByID finds a card in sight; for an admin's view in the trash too.
func (r *reader) CardByID(ctx context.Context, s canon.Sight, id canon.CardID) (canon.Card, bool, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return canon.Card{}, false, err
	}
	if s.View.Level >= access.LevelAdmin {
		if c, known := r.ahead.card(sc.args[0].(int64), id); known {
			if c == nil {
				return canon.Card{}, false, nil
			}
			return *c, true, nil
		}
	}
	return first(r.cards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM cards c WHERE c.w = %s AND c.id = %s AND %s AND %s",
		cardColumns, sc.w, sc.arg(uuidOf(id)), alive(s.View, "c"), sc.sees("c")), sc.args...))
}

func (r *reader) CardsByID(ctx context.Context, s canon.Sight, ids []canon.CardID) ([]canon.Card, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || len(ids) == 0 {
		return nil, err
	}
	return r.cards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM unnest(%s::uuid[]) WITH ORDINALITY f (id, n) JOIN cards c ON c.id = f.id WHERE %s ORDER BY f.n",
		cardColumns, sc.arg(uuidsOf(ids)), sc.living("c")), sc.args...)
}

// byLabel puts the lowest level first, then what is open to more.
const byLabel = ` ORDER BY CASE c.label WHEN -1 THEN 0 ELSE c.level END,
	(SELECT count(*) FROM label_subjects n WHERE n.label = c.label) DESC, c.id`

func (r *reader) CardsByKey(ctx context.Context, s canon.Sight, key markup.Key) ([]canon.Card, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, err
	}
	return r.cards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM cards c WHERE c.key = %s AND %s%s",
		cardColumns, sc.arg(string(key)), sc.living("c"), byLabel), sc.args...)
}

func (r *reader) CardsByAlias(ctx context.Context, s canon.Sight, key markup.Key) ([]canon.Card, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, err
	}
	return r.cards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM aliases a JOIN cards c ON c.rid = a.rid WHERE a.w = %s AND a.key = %s AND %s%s",
		cardColumns, sc.w, sc.arg(string(key)), sc.living("c"), byLabel), sc.args...)
}

func (r *reader) CardByCodename(ctx context.Context, s canon.Sight, codename string) (canon.Card, bool, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || codename == "" {
		return canon.Card{}, false, err
	}
	return first(r.cards(ctx, sc.id, fmt.Sprintf("SELECT %s FROM cards c WHERE c.codename = %s AND c.codename <> '' AND %s ORDER BY c.level, c.id LIMIT 1",
		cardColumns, sc.arg(codename), sc.living("c")), sc.args...))
}

func (r *reader) CardsByOldKey(ctx context.Context, s canon.Sight, key markup.Key) ([]canon.Card, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, err
	}
	k := sc.arg(string(key))
	return r.cards(ctx, sc.id, fmt.Sprintf(`SELECT %[1]s FROM (
			SELECT v.card, max(CASE v.to_seq WHEN 0 THEN 9223372036854775807 ELSE v.to_seq END) AS ended FROM (
				SELECT v.card, v.to_seq FROM versions v WHERE v.w = %[2]s AND v.key = %[3]s AND %[4]s
				UNION ALL SELECT v.card, v.to_seq FROM (SELECT w, card, to_seq, was_key AS key, was_level AS level, was_label AS label FROM versions) v
				WHERE v.w = %[2]s AND v.key = %[3]s AND v.key <> '' AND %[4]s) v GROUP BY v.card) old JOIN cards c ON c.id = old.card
		WHERE c.key <> %[3]s AND %[5]s ORDER BY old.ended DESC, c.id`, cardColumns, sc.w, k, sc.sees("v"), sc.living("c")), sc.args...)
}

// Descendants walks the generations: a row's place is its parent's place and its own
// among the siblings.
func (r *reader) Descendants(ctx context.Context, s canon.Sight, id canon.CardID, depth int, p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || depth <= 0 {
		return nil, canon.Total{}, err
	}
	root := sc.arg(uuidOf(id))
	if depth == 1 {
		return r.children(ctx, sc, root, p)
	}
	// An order over all rows of a generation needs a number for each, which a recursive
	// query cannot give: the way from the root, of creation times and ids, sorts the same.
	walk := fmt.Sprintf(`WITH RECURSIVE below AS (
			SELECT c.rid, c.id, 1 AS depth, ARRAY[lpad(c.created::text, 20, '0') || c.id::text] AS way FROM cards c
			WHERE c.parent = %s AND %s AND %s
			UNION ALL
			SELECT c.rid, c.id, below.depth + 1, below.way || (lpad(c.created::text, 20, '0') || c.id::text) FROM below JOIN cards c ON c.parent = below.id
			WHERE below.depth < %s AND %s)`, root, sc.living("c"), sc.has(root), sc.arg(int64(depth)), sc.living("c"))
	from := walk + " SELECT %s FROM below b JOIN cards c ON c.rid = b.rid"
	n := len(sc.args)
	list, err := r.cards(ctx, sc.id, fmt.Sprintf(from, cardColumns)+` ORDER BY b.depth, b.way COLLATE "C"`+sc.page(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := within(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.c.number(ctx, fmt.Sprintf("%s SELECT count(*) FROM (SELECT FROM below LIMIT %d) t", walk, canon.CountCap+1), sc.args[:n]...)
	return list, capped(int(total)), err
}

func (r *reader) children(ctx context.Context, sc *scope, root string, p canon.Page) ([]canon.Card, canon.Total, error) {
	from := fmt.Sprintf(" FROM cards c WHERE c.parent = %s AND %s AND %s", root, sc.living("c"), sc.has(root))
	n := len(sc.args)
	if p.Limit <= 0 {
		total, err := r.total(ctx, "SELECT 1"+from, sc.args...)
		return nil, total, err
	}
	list, err := r.cards(ctx, sc.id, "SELECT "+cardColumns+from+" ORDER BY c.created, c.id"+sc.page(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := within(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.total(ctx, "SELECT 1"+from, sc.args[:n]...)
	return list, total, err
}

// Trash lists roots of what is in the trash, which only an admin's view sees.
func (r *reader) Trash(ctx context.Context, s canon.Sight, p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || s.View.Level < access.LevelAdmin {
		return nil, canon.Total{}, err
	}
	from := fmt.Sprintf(" FROM cards c WHERE c.w = %s AND c.trashed <> 0 AND c.trash_root = c.id", sc.w)
	n := len(sc.args)
	list, err := r.cards(ctx, sc.id, "SELECT "+cardColumns+from+" ORDER BY c.trashed DESC, c.key, c.id"+sc.page(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	total, err := r.total(ctx, "SELECT 1"+from, sc.args[:n]...)
	return list, total, err
}

func (r *reader) TrashedWith(ctx context.Context, w access.WorldID, root canon.CardID) ([]canon.Card, error) {
	n, err := r.world(ctx, w)
	if err != nil || n == 0 {
		return nil, err
	}
	return r.cards(ctx, w, "SELECT "+cardColumns+` FROM cards c WHERE c.w = $1 AND c.trashed <> 0 AND c.trash_root = $2 ORDER BY c.id <> $2, c.key, c.id`, n, uuidOf(root))
}

// TypeUse counts by the key of the type.
func (r *reader) TypeUse(ctx context.Context, s canon.Sight) (map[string]int, error) {
	use := map[string]int{}
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return use, err
	}
	err = r.c.query(ctx, func(r row) error { use[r.text(0)] = int(r.int(1)); return nil },
		"SELECT c.type_key, count(*) FROM cards c WHERE "+sc.living("c")+" GROUP BY c.type_key", sc.args...)
	return use, err
}

// childOf is the condition that the key of one card is that of another and one part more.
func childOf(child, parent string) string {
	return fmt.Sprintf("left(%[1]s.key, length(%[2]s.key) + 1) = %[2]s.key || '+' AND strpos(substr(%[1]s.key, length(%[2]s.key) + 2), '+') = 0", child, parent)
}

// like writes a text so that LIKE takes it for what it is.
var like = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
