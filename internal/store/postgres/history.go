package postgres

import (
	"context"
	"fmt"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// history is the FROM of the versions in sight of one card in sight.
func (sc *scope) history(view access.View, id canon.CardID) string {
	n := sc.arg(uuidOf(id))
	return fmt.Sprintf(" FROM versions v WHERE v.w = %s AND v.card = %s AND %s AND EXISTS (SELECT FROM cards c WHERE c.w = %[1]s AND c.id = %[2]s AND %[4]s AND %[5]s)",
		sc.w, n, sc.sees("v"), alive(view, "c"), sc.sees("c"))
}

func (r *reader) Versions(ctx context.Context, s canon.Visibility, id canon.CardID, p canon.Page) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := sc.history(s.View, id)
	n := len(sc.args)
	list, err := r.versionsFor(ctx, s, "SELECT "+versionColumns+from+" ORDER BY v.rev DESC"+sc.page(p), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := within(p, len(list)); ok {
		return list, t, nil
	}
	total, err := r.total(ctx, "SELECT 1"+from, sc.args[:n]...)
	return list, total, err
}

func (r *reader) VersionByCount(ctx context.Context, s canon.Visibility, id canon.CardID, n uint32) (canon.Version, bool, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return canon.Version{}, false, err
	}
	level := min(max(s.View.Level, access.LevelUser), access.LevelAdmin)
	from := sc.history(s.View, id)
	card := fmt.Sprintf("(SELECT c.level FROM cards c WHERE c.w = %s AND c.id = %s)", sc.w, sc.arg(uuidOf(id)))
	return canon.First(r.versionsFor(ctx, s, fmt.Sprintf(`SELECT %s%s AND CASE WHEN %s > %d THEN CASE %[3]s WHEN 2 THEN v.c2 ELSE v.c3 END ELSE v.c%[5]d END = %[6]s
		ORDER BY v.rev LIMIT 1`, versionColumns, from, card, s.View.Level, level, sc.arg(int64(n))), sc.args...))
}

func (r *reader) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID, rev uint32) (canon.Version, bool, error) {
	n, err := r.world(ctx, w)
	if err != nil || n == 0 {
		return canon.Version{}, false, err
	}
	if v := r.prefetched.version; v.World == w && v.Card == id && v.Rev == rev {
		return v, true, nil
	}
	return canon.First(r.versions(ctx, w, "SELECT "+versionColumns+" FROM versions v WHERE v.w = $1 AND v.card = $2 AND v.rev = $3", n, uuidOf(id), int64(rev)))
}

// CardsAt finds the versions that were current just after a commit.
func (r *reader) CardsAt(ctx context.Context, s canon.Visibility, ids []canon.CardID, at canon.Seq) ([]canon.Version, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || len(ids) == 0 {
		return nil, err
	}
	seq := sc.arg(uint64(at))
	return r.versionsFor(ctx, s, fmt.Sprintf(`SELECT %s FROM unnest(%s::uuid[]) WITH ORDINALITY f (id, n) CROSS JOIN LATERAL (
			SELECT * FROM versions v WHERE v.w = %s AND v.card = f.id AND v.from_seq <= %s AND (v.to_seq = 0 OR v.to_seq > %[4]s) AND NOT v.trashed AND %s
			ORDER BY v.rev DESC LIMIT 1) v
		WHERE %s ORDER BY f.n`, versionColumns, sc.arg(uuidsOf(ids)), sc.w, seq, sc.sees("v"), sc.has("f.id")), sc.args...)
}

// Feed lists changes. Of all cards it walks an index by level and time, as Cards does.
func (r *reader) Feed(ctx context.Context, s canon.Visibility, q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	card := "k.trashed = 0"
	if !q.Card.IsZero() {
		card = alive(s.View, "k")
	}
	if sc.subject != "" {
		sc.names()
	}
	// The arms' alias c is the version here, and k its card.
	where := " FROM versions c WHERE c.w = " + sc.w + " AND %s" + escape(sc.changes(q)+
		fmt.Sprintf(" AND EXISTS (SELECT FROM cards k WHERE k.w = %s AND k.id = c.card AND %s AND %s)", sc.w, card, sc.sees("k")))
	const by = "at DESC, from_seq DESC, card, rev DESC"
	n := len(sc.args)
	arms := sc.arms("SELECT c.at, c.from_seq, c.card, c.rev" + where + " ORDER BY " + qualify("c", by) + sc.upTo(q.Page))
	list, err := r.versionsFor(ctx, s, fmt.Sprintf("SELECT %s FROM (SELECT * FROM (%s) a ORDER BY %s%s) o JOIN versions v ON v.w = %s AND v.card = o.card AND v.rev = o.rev ORDER BY %s",
		versionColumns, arms, by, sc.page(q.Page), sc.w, qualify("o", by)), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := within(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.total(ctx, "SELECT * FROM ("+sc.arms("SELECT 1"+where)+") a", sc.args[:n]...)
	return list, total, err
}

func (sc *scope) changes(q canon.FeedQuery) (where string) {
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
