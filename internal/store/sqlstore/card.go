package sqlstore

import (
	"context"
	"fmt"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
	"loregate/internal/store/finder"
)

// FilterCards translates a canon.Filter to a condition on the alias c, to be appended to others. It
// leaves out NotName if the database cannot match globs.
func (sc *Scope) FilterCards(f canon.Filter) (where string) {
	and := func(format string, args ...any) { where += " AND " + fmt.Sprintf(format, args...) }
	if !f.TagLists {
		where += " AND " + listed("c")
	}
	if f.Prefix != "" {
		// '+' sorts right before ',': a key between "p+" and "p," begins with "p+". The range
		// around both is the one that the index is scanned by.
		p := string(f.Prefix)
		and("c.key >= %s AND c.key < %s AND (c.key = %[1]s OR c.key >= %[3]s)", sc.Add(p), sc.Add(p+","), sc.Add(p+"+"))
	}
	if f.Below != "" {
		p := string(f.Below)
		and("c.key >= %s AND c.key < %s", sc.Add(p+"+"), sc.Add(p+","))
	}
	if f.Type != "" {
		and("c.type_key = %s", sc.Add(string(markup.KeyOf(f.Type))))
	}
	keys := slicesx.Map(f.Types, func(t string) string { return string(markup.KeyOf(t)) })
	where += sc.inTexts("c.type_key", keys)
	if f.Coded {
		and("c.codename <> ''")
	}
	if f.Level != access.LevelNone {
		and("c.level = %s", sc.Add(int64(f.Level)))
	}
	if f.SortFrom != nil {
		and("c.sort >= %s", sc.Add(*f.SortFrom))
	}
	if f.SortTo != nil {
		and("c.sort <= %s", sc.Add(*f.SortTo))
	}
	if f.SortFrom != nil || f.SortTo != nil {
		and("c.sort < %s", sc.Add(canon.Unsorted))
	}
	if !f.Parent.IsZero() {
		and(sc.Dialect.Child, "c", sc.Add(f.Parent[:]))
	}
	if f.Roots {
		where += " AND " + sc.Dialect.NoParent
	}
	where += sc.between("c.updated", f.UpdatedSince, f.UpdatedBefore)
	where += sc.between("c.created", f.CreatedSince, f.CreatedBefore)
	if f.NotName != "" && sc.Dialect.NotNamed != "" {
		and(sc.Dialect.NotNamed, sc.Add(f.NotName))
	}
	if f.Filled {
		and("(c.length > 0 OR c.fields IS NOT NULL)")
	}
	if folded := markup.Fold(f.NameStarts); folded != "" {
		where += " AND " + sc.Dialect.NameHas(&sc.Args, folded, true)
	}
	if folded := markup.Fold(f.NameContains); folded != "" {
		where += " AND " + sc.Dialect.NameHas(&sc.Args, folded, false)
	}
	return where
}

// between returns the condition that a time is not before since and before the end; "" if both are
// zero.
func (sc *Scope) between(column string, since, end time.Time) (where string) {
	if !since.IsZero() {
		where += " AND " + column + " >= " + sc.Add(ceilMillis(since))
	}
	if !end.IsZero() {
		where += " AND " + column + " < " + sc.Add(ceilMillis(end))
	}
	return where
}

// OrderBy returns the columns that a sort needs from each part of a union, and the ORDER BY over
// them.
func OrderBy(s canon.Sort) (columns, order string) {
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
// and the levels are merged: the database reads no row hidden from the caller.
func (r *Reader) Cards(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	if finder.AnswersListing(f) {
		return r.SnapshotFinder.Cards(ctx, s, f, p)
	}
	columns, order := OrderBy(f.Sort)
	from := " FROM cards c WHERE c.w = $1 AND %s AND c.trashed = 0" + escapeFormat(sc.FilterCards(f))
	n := len(sc.Args)
	list, err := r.QueryCards(ctx, sc.World, fmt.Sprintf("SELECT %s FROM (%s) o %s cards c ON c.rid = o.rid ORDER BY %s",
		r.Dialect.Columns.Card, sc.pageByLevel(columns, from, order, p), r.Dialect.Join, qualifyOrder(order)), sc.Args...)
	return WithTotal(list, err, p, func() (canon.Total, error) {
		return r.CountRows(ctx, sc.unionByLevel("SELECT 1"+from), sc.Args[:n]...)
	})
}

// Trash lists the roots of trashed subtrees.
func (r *Reader) Trash(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || !s.View.SeesTrash() {
		return nil, canon.Total{}, err
	}
	from := " FROM cards c WHERE c.w = $1 AND c.trashed <> 0 AND c.trash_root = c.id AND " + sc.Visible("c")
	n := len(sc.Args)
	list, err := r.QueryCards(ctx, sc.World, "SELECT "+r.Dialect.Columns.Card+from+
		" ORDER BY c.trashed DESC, c.key, c.id"+sc.AddPage(p), sc.Args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	total, err := r.CountRows(ctx, "SELECT 1"+from, sc.Args[:n]...)
	return list, total, err
}

// TypeUse counts cards by the key of their type.
func (r *Reader) TypeUse(ctx context.Context, s canon.Visibility) (map[string]int, error) {
	use := map[string]int{}
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return use, err
	}
	rows := r.Conn.Query(ctx, sc.unionByLevel(
		"SELECT c.type_key, count(*) FROM cards c WHERE c.w = $1 AND %s AND c.trashed = 0 AND "+escapeFormat(listed("c"))+
			" GROUP BY c.type_key"), sc.Args...)
	for rows.Next() {
		use[rows.Text(0)] += int(rows.Int(1))
	}
	return use, rows.Close()
}
