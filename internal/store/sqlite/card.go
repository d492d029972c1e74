package sqlite

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/finder"
)

// trashCond returns the condition on trashed for queries that name one card: an admin's view also
// finds cards in the trash.
func (sc scope) trashCond(view access.View) string {
	if view.Level >= access.LevelAdmin {
		return "1"
	}
	return "c.trashed = 0"
}

// resolvePointScope is resolveScope for look-ups of few rows. It checks ctx once: watching ctx
// during each statement would cost more than the statement.
func (r *reader) resolvePointScope(ctx context.Context, s canon.Visibility) (scope, bool, error) {
	if err := ctx.Err(); err != nil {
		return scope{}, false, err
	}
	return r.resolveScope(context.Background(), s)
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
	alive        string // the result of scope.trashCond, for look-ups by id
	named        bool   // labels may name the subject
	top, ceiling access.Level
}

var lookUps sync.Map // lookUp -> SQL string

// buildStatement returns the SQL of a look-up.
func (l lookUp) buildStatement(sc scope) string {
	if sql, ok := lookUps.Load(l); ok {
		return sql.(string)
	}
	from, order, alive, columns := "", "", "c.trashed = 0", cardColumns
	switch l.by {
	case byID:
		from, alive = "cards c WHERE c.w = ?1 AND c.id = ?3", l.alive
	case byIDs:
		from, order = "json_each(?3) f CROSS JOIN cards c ON c.w = ?1 AND c.id = unhex(f.value)", " ORDER BY f.key"
	case byKey:
		from = "cards c WHERE c.w = ?1 AND c.key = ?3"
	case byAlias:
		from = "aliases a CROSS JOIN cards c ON c.rid = a.rid WHERE a.w = ?1 AND a.key = ?3"
	case byCodename:
		from, order = "cards c WHERE c.w = ?1 AND c.codename = ?3 AND c.codename <> ''", " ORDER BY c.level, c.id LIMIT 1"
	case byOldKey:
		from, order = sc.formerKeyJoin(), " ORDER BY old.ended DESC, c.id"
	case byTrashRoot:
		from, alive, order = "cards c WHERE c.w = ?1 AND c.trash_root = ?3", "c.trashed <> 0",
			" ORDER BY c.id <> ?3, c.key, c.id"
	}
	if l.prefetch {
		columns += ", " + sc.prefetchColumns()
	}
	sql := "SELECT " + columns + " FROM " + from + " AND " + alive + " AND " + sc.visibleCond("c") + order
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
	l := lookUp{by: by, alive: sc.trashCond(s.View), named: sc.subject != "", top: sc.top, ceiling: sc.ceiling,
		prefetch: q.Prefetch && r.writes == nil && (by == byID || by == byKey)}
	more := func(canon.Card, row) {}
	if l.prefetch {
		more = func(c canon.Card, columns row) { r.prefetched.noteCard(s, c, columns) }
	}
	list, err := r.queryCardsWith(watched, sc.id, more, l.buildStatement(sc), sc.withArgs(arg)...)
	if by == byKey || by == byAlias { // sorted here: SQLite would sort rows with all their columns
		slices.SortFunc(list, canon.CompareHomonyms)
	}
	return list, err
}

// formerKeyJoin returns a join of the cards that had key ?3 and now have another key, with the time
// at which a version visible to the caller last had it.
func (sc scope) formerKeyJoin() string {
	return `(SELECT v.card, max(CASE v.to_seq WHEN 0 THEN 9223372036854775807 ELSE v.to_seq END) AS ended FROM (
			SELECT v.card, v.to_seq FROM former_keys k CROSS JOIN versions v ON v.w = k.w AND v.card = k.card
			WHERE k.w = ?1 AND k.key = ?3 AND v.key = ?3 AND ` + sc.visibleCond("v") + `
			UNION ALL SELECT v.card, v.to_seq FROM (SELECT w, card, to_seq, was_key AS key, was_level AS level, was_label AS label FROM versions) v
			WHERE v.w = ?1 AND v.key = ?3 AND v.key <> '' AND ` + sc.visibleCond("v") + `) v GROUP BY v.card) old
		CROSS JOIN cards c ON c.w = ?1 AND c.id = old.card WHERE c.key <> ?3`
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

// listing builds a filter as SQL on the alias c. Its arguments are numbered from ?3.
type listing struct {
	where []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (l *listing) arg(v any) string {
	l.args = append(l.args, v)
	return "?" + strconv.Itoa(len(l.args)+2)
}

func (l *listing) and(format string, a ...any) {
	l.where = append(l.where, fmt.Sprintf(format, a...))
}

// andConditions returns all conditions, each preceded by AND.
func (l *listing) andConditions() string {
	if len(l.where) == 0 {
		return ""
	}
	return " AND " + strings.Join(l.where, " AND ")
}

// filterCards translates a canon.Filter.
func filterCards(sc scope, f canon.Filter) *listing {
	l := &listing{}
	if f.Prefix != "" {
		// '+' sorts right before ',': a key between "p" and "p," begins with p and a character up
		// to '+'.
		p := string(f.Prefix)
		l.and("c.key >= %s AND c.key < %s AND (c.key = %[1]s OR c.key >= %[3]s)", l.arg(p), l.arg(p+","), l.arg(p+"+"))
	}
	if f.Below != "" {
		p := string(f.Below)
		l.and("c.key >= %s AND c.key < %s", l.arg(p+"+"), l.arg(p+","))
	}
	l.andTypes("c.type_key", f)
	if f.Coded {
		l.and("c.codename <> ''")
	}
	if f.SortFrom != nil {
		l.and("c.sort >= %s", l.arg(*f.SortFrom))
	}
	if f.SortTo != nil {
		l.and("c.sort <= %s", l.arg(*f.SortTo))
	}
	if f.SortFrom != nil || f.SortTo != nil {
		l.and("c.sort < %s", l.arg(canon.Unsorted))
	}
	if !f.Parent.IsZero() {
		l.and("%s", parentCond("c", l.arg(f.Parent[:])))
	}
	if f.Roots {
		// There are many roots: the index of the sort order serves better than the one by parent.
		l.and("+c.parent = %s", l.arg(make([]byte, 16)))
	}
	if !f.UpdatedSince.IsZero() {
		l.and("c.updated >= %s", l.arg(ceilClock(f.UpdatedSince)))
	}
	if !f.UpdatedBefore.IsZero() {
		l.and("c.updated < %s", l.arg(ceilClock(f.UpdatedBefore)))
	}
	if f.NotName != "" {
		l.and("lore_glob(%s, c.name) = 0", l.arg(f.NotName))
	}
	if !f.CreatedSince.IsZero() {
		l.and("c.created >= %s", l.arg(ceilClock(f.CreatedSince)))
	}
	if !f.CreatedBefore.IsZero() {
		l.and("c.created < %s", l.arg(ceilClock(f.CreatedBefore)))
	}
	if f.Filled {
		l.and("(c.length > 0 OR c.fields IS NOT NULL)")
	}
	if starts := markup.Fold(f.NameStarts); starts != "" {
		l.and("lore_has(%s, c.name)", l.arg(nameStart+starts))
	}
	if folded := markup.Fold(f.NameContains); folded != "" {
		l.and("lore_has(%s, c.name)", l.arg(folded))
	}
	return l
}

// parentCond returns the condition that a card's parent is id. The comparison with zero shows
// SQLite that it may use the index cards_parent, which leaves out roots.
func parentCond(alias, id string) string {
	return alias + ".parent = " + id + " AND " + alias + ".parent <> x'00000000000000000000000000000000'"
}

// andTypes restricts a column to the keys of the filter's types.
func (l *listing) andTypes(column string, f canon.Filter) {
	if f.Type != "" {
		l.and("%s = %s", column, l.arg(string(markup.KeyOf(f.Type))))
	}
	keys := make([]string, len(f.Types))
	for i, t := range f.Types {
		keys[i] = string(markup.KeyOf(t))
	}
	l.andIn(column, keys)
}

// tagListOf returns the condition that list is the card that lists the tags of bearer.
func tagListOf(list, bearer string) string {
	return list + ".key = " + bearer + ".key || '+" + canon.TagPart + "'"
}

// orderBy returns the columns that a sort needs from each arm of the union, and the ORDER BY over
// them.
func orderBy(s canon.Sort) (columns, order string) {
	switch s {
	case canon.SortUpdated:
		return "c.rid, c.key, c.id, c.updated AS at", "at DESC, key, id"
	case canon.SortCreated:
		return "c.rid, c.key, c.id, c.created AS at", "at DESC, key, id"
	case canon.SortField:
		return "c.rid, c.key, c.id, c.sort AS at", "at, key, id"
	}
	return "c.rid, c.key, c.id", "key, id"
}

// Cards lists cards that are not in the trash. The cards of each level come in order from an index,
// and the levels are merged: SQLite sorts nothing and reads no row hidden from the caller.
func (r *reader) Cards(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	if finder.AnswersListing(f) {
		return r.SnapshotFinder.Cards(ctx, s, f, p)
	}
	l := filterCards(sc, f)
	columns, order := orderBy(f.Sort)
	arms := sc.unionByLevel("SELECT " + columns + " FROM cards c WHERE c.w = ?1 AND %s AND c.trashed = 0" +
		escapeFormat(l.andConditions()))
	n := len(l.args)
	list, err := r.queryCards(ctx, sc.id,
		fmt.Sprintf(`SELECT %s FROM (%s ORDER BY %s LIMIT ?%d OFFSET ?%d) o CROSS JOIN cards c ON c.rid = o.rid ORDER BY %s`,
			cardColumns, arms, order, n+3, n+4, qualifyOrder(order)),
		sc.withArgs(append(l.args[:n:n], p.Limit, max(p.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, sc.unionByLevel("SELECT 1 FROM cards c WHERE c.w = ?1 AND %s AND c.trashed = 0"+
		escapeFormat(l.andConditions())), sc.withArgs(l.args...)...)
	return list, total, err
}

// escapeFormat escapes a text that is embedded in a format string.
func escapeFormat(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// qualifyOrder puts the alias o before each column of an ORDER BY.
func qualifyOrder(order string) string { return "o." + strings.ReplaceAll(order, ", ", ", o.") }

// Descendants walks the tree generation by generation. SQLite's recursive queries process their
// rows first in, first out, and the index returns siblings by creation time.
func (r *reader) Descendants(ctx context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	if err := ctx.Err(); err != nil {
		return nil, canon.Total{}, err
	}
	if depth == 1 {
		return r.listChildren(s, sc, id, p)
	}
	if found, err := r.c.queryInt(context.Background(),
		"SELECT 1 FROM cards c WHERE c.w = ?1 AND c.id = ?3 AND c.trashed = 0 AND "+sc.visibleCond("c"),
		sc.withArgs(id[:])...); err != nil || found == 0 {
		return nil, canon.Total{}, err
	}
	walk := `WITH RECURSIVE below (rid, id, depth) AS (
			SELECT * FROM (SELECT c.rid, c.id, 1 FROM cards c INDEXED BY cards_parent
				WHERE c.w = ?1 AND ` + parentCond("c", "?3") + ` AND c.trashed = 0 AND ?4 > 0 AND ` + sc.visibleCond("c") + ` ORDER BY c.created, c.id)
			UNION ALL
			SELECT c.rid, c.id, below.depth + 1 FROM below CROSS JOIN cards c INDEXED BY cards_parent
				ON c.w = ?1 AND ` + parentCond("c", "below.id") + ` AND c.trashed = 0 AND ` + sc.visibleCond("c") + `
			WHERE below.depth < ?4)`
	var rids []int64
	err = r.c.query(ctx, func(row row) error { rids = append(rids, row.intAt(0)); return nil },
		walk+" SELECT rid FROM below LIMIT ?5", sc.withArgs(id[:], depth, canon.CountCap+1)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	total := cappedTotal(len(rids))
	if p.Offset+p.Limit > len(rids) && total.AtLeast {
		rids = rids[:0]
		err = r.c.query(ctx, func(row row) error { rids = append(rids, row.intAt(0)); return nil },
			walk+" SELECT rid FROM below LIMIT ?5", sc.withArgs(id[:], depth, p.Offset+p.Limit)...)
		if err != nil {
			return nil, canon.Total{}, err
		}
	}
	from := min(max(p.Offset, 0), len(rids))
	list, err := r.readCardsByRow(ctx, sc.id, rids[from:min(from+p.Limit, len(rids))])
	return list, total, err
}

// listChildren is Descendants with depth 1, in one statement: every read of a card asks for its
// children, and they are few enough to count.
func (r *reader) listChildren(s canon.Visibility, sc scope, id canon.CardID,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	if n, known := r.prefetched.childrenOf(s, id); known && p.Limit == 0 {
		return nil, cappedTotal(n), nil
	}
	var rids []int64
	first, last := max(p.Offset, 0), max(p.Offset, 0)+p.Limit
	err := r.c.query(context.Background(), func(row row) error { rids = append(rids, row.intAt(0)); return nil },
		`SELECT c.rid FROM cards c INDEXED BY cards_parent WHERE c.w = ?1 AND `+parentCond("c", "?3")+` AND c.trashed = 0 AND `+sc.visibleCond("c")+`
			AND EXISTS (SELECT 1 FROM cards p WHERE p.w = ?1 AND p.id = ?3 AND p.trashed = 0 AND `+sc.visibleCond("p")+`)
			ORDER BY c.created, c.id LIMIT ?4`, sc.withArgs(id[:], max(last, canon.CountCap+1))...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	first, last = min(first, len(rids)), min(last, len(rids))
	list, err := r.readCardsByRow(context.Background(), sc.id, rids[first:last])
	return list, cappedTotal(len(rids)), err
}

// readCardsByRow reads cards by row number, in the given order.
func (r *reader) readCardsByRow(ctx context.Context, world access.WorldID, rids []int64) ([]canon.Card, error) {
	list := make([]canon.Card, 0, len(rids))
	for _, rid := range rids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, ok, err := canon.First(r.queryCards(context.Background(), world, "SELECT "+cardColumns+
			" FROM cards c WHERE c.rid = ?1", rid))
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, c)
		}
	}
	return list, nil
}

// Trash lists the roots of trashed subtrees. Only an admin's view sees them.
func (r *reader) Trash(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || s.View.Level < access.LevelAdmin {
		return nil, canon.Total{}, err
	}
	from := " FROM cards c WHERE c.w = ?1 AND c.trashed <> 0 AND c.trash_root = c.id"
	list, err := r.queryCards(ctx, sc.id, "SELECT "+cardColumns+from+
		" ORDER BY c.trashed DESC, c.key, c.id LIMIT ?2 OFFSET ?3", sc.w, p.Limit, max(p.Offset, 0))
	if err != nil {
		return nil, canon.Total{}, err
	}
	total, err := r.countRows(ctx, "SELECT 1"+from, sc.w)
	return list, total, err
}

// TypeUse counts cards by the key of their type.
func (r *reader) TypeUse(ctx context.Context, s canon.Visibility) (map[string]int, error) {
	use := map[string]int{}
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return use, err
	}
	err = r.c.query(ctx, func(row row) error {
		use[row.textAt(0)] += int(row.intAt(1))
		return nil
	}, sc.unionByLevel("SELECT c.type_key, count(*) FROM cards c WHERE c.w = ?1 AND %s AND c.trashed = 0 GROUP BY c.type_key"), sc.withArgs()...)
	return use, err
}
