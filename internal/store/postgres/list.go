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
)

// filterCards translates a canon.Filter to a condition on the alias c, to be appended to others. It
// leaves out NotName, which SQL cannot express; listExceptNames applies it.
func (sc *scope) filterCards(f canon.Filter) string {
	var b strings.Builder
	and := func(format string, args ...any) { fmt.Fprintf(&b, " AND "+format, args...) }
	if f.Prefix != "" {
		// '+' sorts right before ',': a key between "p+" and "p," begins with "p+". The range
		// around both is the one that the index is scanned by.
		p := string(f.Prefix)
		and("c.key >= %s AND c.key < %s AND (c.key = %[1]s OR c.key >= %[3]s)", sc.arg(p), sc.arg(p+","), sc.arg(p+"+"))
	}
	if f.Below != "" {
		p := string(f.Below)
		and("c.key >= %s AND c.key < %s", sc.arg(p+"+"), sc.arg(p+","))
	}
	if f.Type != "" {
		and("c.type_key = %s", sc.arg(string(markup.KeyOf(f.Type))))
	}
	if len(f.Types) > 0 {
		keys := make([]string, len(f.Types))
		for i, t := range f.Types {
			keys[i] = string(markup.KeyOf(t))
		}
		and("%s", sc.inCond("c.type_key", keys))
	}
	if f.Coded {
		and("c.codename <> ''")
	}
	if f.SortFrom != nil {
		and("c.sort >= %s", sc.arg(*f.SortFrom))
	}
	if f.SortTo != nil {
		and("c.sort <= %s", sc.arg(*f.SortTo))
	}
	if f.SortFrom != nil || f.SortTo != nil {
		and("c.sort < %s", sc.arg(canon.Unsorted))
	}
	if !f.Parent.IsZero() {
		and("c.parent = %s", sc.arg(uuidOf(f.Parent)))
	}
	if f.Roots {
		and("c.parent = %s", sc.arg([16]byte{}))
	}
	if !f.UpdatedSince.IsZero() {
		and("c.updated >= %s", sc.arg(ceilClock(f.UpdatedSince)))
	}
	if !f.UpdatedBefore.IsZero() {
		and("c.updated < %s", sc.arg(ceilClock(f.UpdatedBefore)))
	}
	if !f.CreatedSince.IsZero() {
		and("c.created >= %s", sc.arg(ceilClock(f.CreatedSince)))
	}
	if !f.CreatedBefore.IsZero() {
		and("c.created < %s", sc.arg(ceilClock(f.CreatedBefore)))
	}
	if f.Filled {
		and("(c.length > 0 OR c.fields IS NOT NULL)")
	}
	if folded := markup.Fold(f.NameStarts); folded != "" {
		and("c.fold LIKE %s", sc.arg(escapeLike.Replace(folded)+"%"))
	}
	if folded := markup.Fold(f.NameContains); folded != "" {
		and("c.fold LIKE %s", sc.arg("%"+escapeLike.Replace(folded)+"%"))
	}
	return b.String()
}

// orderBy returns the column that a sort needs beside key and id, and the ORDER BY over them.
func orderBy(s canon.Sort) (column, by string) {
	switch s {
	case canon.SortUpdated:
		return "updated", "updated DESC, key, id"
	case canon.SortCreated:
		return "created", "created DESC, key, id"
	case canon.SortField:
		return "sort", "sort, key, id"
	}
	return "rid", "key, id"
}

// qualifyOrder puts an alias before each column of an ORDER BY.
func qualifyOrder(alias, order string) string {
	return alias + "." + strings.ReplaceAll(order, ", ", ", "+alias+".")
}

// escapeFormat escapes a text that is embedded in a format string.
func escapeFormat(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// Cards lists cards that are not in the trash. The cards of each level come in order from an index,
// and the levels are merged: the server reads no row hidden from the caller.
func (r *reader) Cards(ctx context.Context, s canon.Visibility, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	if finder.AnswersListing(f) {
		return r.SnapshotFinder.Cards(ctx, s, f, p)
	}
	if f.NotName != "" {
		return r.listExceptNames(ctx, sc, f, p)
	}
	if f.Below != "" && s.View.Level >= access.LevelAdmin && onlyBelow(f) {
		if list, known := r.prefetched.cardsUnder(sc.args[0].(int64), f.Below); known {
			list = slices.DeleteFunc(list, func(c canon.Card) bool { return c.Key == f.Below })
			return list[min(max(p.Offset, 0), len(list)):min(max(p.Offset, 0)+max(p.Limit, 0), len(list))],
				canon.Total{Count: len(list)}, nil
		}
	}
	column, by := orderBy(f.Sort)
	where := " FROM cards c WHERE c.w = " + sc.w + " AND %s AND c.trashed = 0" + escapeFormat(sc.filterCards(f))
	if sc.subject != "" {
		sc.subjectLabels()
	}
	n := len(sc.args)
	arms := sc.unionByLevel("SELECT c.rid, c.key, c.id, c." + column + " AS at" + where + " ORDER BY " +
		qualifyOrder("c", by) + sc.limitArm(p))
	outer := strings.Replace(by, column, "at", 1)
	list, err := r.queryCards(ctx, sc.id,
		fmt.Sprintf("SELECT %s FROM (SELECT * FROM (%s) a ORDER BY %s%s) o JOIN cards c ON c.rid = o.rid ORDER BY %s",
			cardColumns, arms, outer, sc.limitOffset(p), qualifyOrder("o", outer)), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, "SELECT * FROM ("+sc.unionByLevel("SELECT 1"+where)+") a", sc.args[:n]...)
	return list, total, err
}

// onlyBelow reports whether a filter selects cards only by Below, sorted by name.
func onlyBelow(f canon.Filter) bool {
	byName := f.Sort == "" || f.Sort == canon.SortName
	f.Below = ""
	return byName && !f.Narrows()
}

// listExceptNames is Cards for a filter with NotName, a glob that the database cannot match: it
// reads all names in order, and complete cards only for the page.
func (r *reader) listExceptNames(ctx context.Context, sc *scope, f canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	_, by := orderBy(f.Sort)
	var rids []int64
	n, offset, limit := 0, max(p.Offset, 0), max(p.Limit, 0)
	err := r.c.query(ctx, func(r row) error {
		if markup.MatchGlob(f.NotName, r.textAt(1)) {
			return nil
		}
		if n++; n > offset && len(rids) < limit {
			rids = append(rids, r.intAt(0))
		}
		if n > canon.CountCap && len(rids) == limit {
			return errStop
		}
		return nil
	}, fmt.Sprintf("SELECT c.rid, c.name FROM cards c WHERE %s%s ORDER BY %s", sc.livingCond("c"), sc.filterCards(f),
		qualifyOrder("c", by)), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	list, err := r.readCardsByRow(ctx, sc, rids)
	return list, cappedTotal(n), err
}

// readCardsByRow reads cards by row number, in the given order.
func (r *reader) readCardsByRow(ctx context.Context, sc *scope, rids []int64) ([]canon.Card, error) {
	if len(rids) == 0 {
		return nil, nil
	}
	return r.queryCards(ctx, sc.id, "SELECT "+cardColumns+
		" FROM unnest($1::bigint[]) WITH ORDINALITY f (rid, n) JOIN cards c ON c.rid = f.rid ORDER BY f.n", rids)
}
