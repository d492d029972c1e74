package postgres

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// historyFrom returns the FROM clause of the visible versions of one visible card.
func (sc *scope) historyFrom(view access.View, id canon.CardID) string {
	n := sc.arg(uuidOf(id))
	return fmt.Sprintf(" FROM versions v WHERE v.w = %s AND v.card = %s AND %s AND EXISTS (SELECT FROM cards c WHERE c.w = %[1]s AND c.id = %[2]s AND %[4]s AND %[5]s)",
		sc.w, n, sc.visibleCond("v"), trashCond(view, "c"), sc.visibleCond("c"))
}

func (r *reader) Versions(ctx context.Context, s canon.Visibility, id canon.CardID,
	p canon.Page) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := sc.historyFrom(s.View, id)
	n := len(sc.args)
	list, err := r.queryVersionsFor(ctx, s, "SELECT "+versionColumns+from+" ORDER BY v.rev DESC"+sc.limitOffset(p),
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

func (r *reader) VersionByCount(ctx context.Context, s canon.Visibility, id canon.CardID,
	n uint32) (canon.Version, bool, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return canon.Version{}, false, err
	}
	level := min(max(s.View.Level, access.LevelUser), access.LevelAdmin)
	from := sc.historyFrom(s.View, id)
	card := fmt.Sprintf("(SELECT c.level FROM cards c WHERE c.w = %s AND c.id = %s)", sc.w, sc.arg(uuidOf(id)))
	return canon.First(r.queryVersionsFor(ctx, s, fmt.Sprintf(`SELECT %s%s AND CASE WHEN %s > %d THEN CASE %[3]s WHEN 2 THEN v.c2 ELSE v.c3 END ELSE v.c%[5]d END = %[6]s
		ORDER BY v.rev LIMIT 1`, versionColumns, from, card, s.View.Level, level, sc.arg(int64(n))), sc.args...))
}

func (r *reader) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	n, err := r.findWorldNumber(ctx, w)
	if err != nil || n == 0 {
		return canon.Version{}, false, err
	}
	if v := r.prefetched.version; v.World == w && v.Card == id && v.Rev == rev {
		return v, true, nil
	}
	return canon.First(r.queryVersions(ctx, w, "SELECT "+versionColumns+
		" FROM versions v WHERE v.w = $1 AND v.card = $2 AND v.rev = $3", n, uuidOf(id), int64(rev)))
}

// CardsAt returns the versions that were current just after a commit.
func (r *reader) CardsAt(ctx context.Context, s canon.Visibility, ids []canon.CardID,
	at canon.Seq) ([]canon.Version, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok || len(ids) == 0 {
		return nil, err
	}
	seq := sc.arg(uint64(at))
	return r.queryVersionsFor(ctx, s, fmt.Sprintf(`SELECT %s FROM unnest(%s::uuid[]) WITH ORDINALITY f (id, n) CROSS JOIN LATERAL (
			SELECT * FROM versions v WHERE v.w = %s AND v.card = f.id AND v.from_seq <= %s AND (v.to_seq = 0 OR v.to_seq > %[4]s) AND NOT v.trashed AND %s
			ORDER BY v.rev DESC LIMIT 1) v
		WHERE %s ORDER BY f.n`, versionColumns, sc.arg(uuidsOf(ids)), sc.w, seq, sc.visibleCond("v"), sc.cardExists("f.id")), sc.args...)
}

// Feed lists changes. For all cards it uses an index by level and time, as Cards does.
func (r *reader) Feed(ctx context.Context, s canon.Visibility,
	q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	card := "k.trashed = 0"
	if !q.Card.IsZero() {
		card = trashCond(s.View, "k")
	}
	if sc.subject != "" {
		sc.subjectLabels()
	}
	// Alias c is the version here, as unionByLevel requires, and k is its card.
	where := " FROM versions c WHERE c.w = " + sc.w + " AND %s" + escapeFormat(sc.filterFeed(q)+
		fmt.Sprintf(" AND EXISTS (SELECT FROM cards k WHERE k.w = %s AND k.id = c.card AND %s AND %s)", sc.w, card,
			sc.visibleCond("k")))
	const by = "at DESC, from_seq DESC, card, rev DESC"
	n := len(sc.args)
	arms := sc.unionByLevel("SELECT c.at, c.from_seq, c.card, c.rev" + where + " ORDER BY " +
		qualifyOrder("c", by) + sc.limitArm(q.Page))
	list, err := r.queryVersionsFor(ctx, s,
		fmt.Sprintf("SELECT %s FROM (SELECT * FROM (%s) a ORDER BY %s%s) o JOIN versions v ON v.w = %s AND v.card = o.card AND v.rev = o.rev ORDER BY %s",
			versionColumns, arms, by, sc.limitOffset(q.Page), sc.w, qualifyOrder("o", by)), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, "SELECT * FROM ("+sc.unionByLevel("SELECT 1"+where)+") a", sc.args[:n]...)
	return list, total, err
}

func (sc *scope) filterFeed(q canon.FeedQuery) (where string) {
	if !q.Since.IsZero() {
		where += " AND c.at >= " + sc.arg(ceilClock(q.Since))
	}
	if !q.Before.IsZero() {
		where += " AND c.at < " + sc.arg(ceilClock(q.Before))
	}
	if q.Type != "" {
		where += " AND c.type_key = " + sc.arg(string(markup.KeyOf(q.Type)))
	}
	if q.Author != "" {
		where += " AND c.by = " + sc.arg(string(q.Author))
	}
	if !q.Card.IsZero() {
		where += " AND c.card = " + sc.arg(uuidOf(q.Card))
	}
	return where
}
