package sqlstore

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// FromHistory returns the FROM clause of the visible versions of one visible card, whose id is a
// placeholder.
func (sc *Scope) FromHistory(view access.View, id string) string {
	return " FROM versions v WHERE v.w = $1 AND v.card = " + id + " AND " + sc.Visible("v") + " AND " +
		sc.hasRow("cards c WHERE c.w = $1 AND c.id = "+id+" AND "+TrashCond(view, "c")+" AND "+sc.Visible("c"))
}

// Versions lists the visible versions of a card, latest first.
func (r *Reader) Versions(ctx context.Context, s canon.Visibility, id canon.CardID,
	p canon.Page) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	from := sc.FromHistory(s.View, sc.Add(id[:]))
	n := len(sc.Args)
	list, err := r.QueryVersionsFor(ctx, s, "SELECT "+r.Dialect.Columns.Version+from+" ORDER BY v.rev DESC"+
		sc.AddPage(p), sc.Args...)
	return WithTotal(list, err, p, func() (canon.Total, error) {
		return r.CountRows(ctx, "SELECT 1"+from, sc.Args[:n]...)
	})
}

// VersionByCount finds a visible version by its number in the caller's view.
func (r *Reader) VersionByCount(ctx context.Context, s canon.Visibility, id canon.CardID,
	n uint32) (canon.Version, bool, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return canon.Version{}, false, err
	}
	card := sc.Add(id[:])
	level := min(max(s.View.Level, access.LevelUser), access.LevelAdmin)
	count := fmt.Sprintf(`CASE WHEN (SELECT c.level FROM cards c WHERE c.w = $1 AND c.id = %[1]s) > %[2]d
		THEN CASE (SELECT c.level FROM cards c WHERE c.w = $1 AND c.id = %[1]s) WHEN 2 THEN v.c2 ELSE v.c3 END
		ELSE v.c%[3]d END`, card, s.View.Level, level)
	return canon.First(r.QueryVersionsFor(ctx, s, "SELECT "+r.Dialect.Columns.Version+sc.FromHistory(s.View, card)+
		" AND "+count+" = "+sc.Add(int64(n))+" ORDER BY v.rev LIMIT 1", sc.Args...))
}

// VersionByRev finds a version regardless of its label.
func (r *Reader) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	n, err := r.WorldNumber(ctx, w)
	if err != nil || n == 0 {
		return canon.Version{}, false, err
	}
	return canon.First(r.queryVersions(ctx, w, "SELECT "+r.Dialect.Columns.Version+
		" FROM versions v WHERE v.w = $1 AND v.card = $2 AND v.rev = $3", n, id[:], int64(rev)))
}

// Feed lists changes. For all cards it uses an index by level and time, as Cards does.
func (r *Reader) Feed(ctx context.Context, s canon.Visibility,
	q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	// Alias c is the version here, as unionByLevel requires, and k is its card.
	living := " AND k.trashed = 0"
	if q.NamesTrash(s.View) {
		living = ""
	}
	from := " FROM versions c WHERE c.w = $1 AND %s" + escapeFormat(sc.filterFeed(q)+" AND "+
		sc.hasRow("cards k WHERE k.w = $1 AND k.id = c.card"+living+" AND "+sc.Visible("k")))
	const order = "at DESC, from_seq DESC, card, rev DESC"
	n := len(sc.Args)
	page := sc.pageByLevel("c.at AS at, c.from_seq AS from_seq, c.card AS card, c.rev AS rev", from, order, q.Page)
	list, err := r.QueryVersionsFor(ctx, s,
		fmt.Sprintf("SELECT %s FROM (%s) o %s versions v ON v.w = $1 AND v.card = o.card AND v.rev = o.rev ORDER BY %s",
			r.Dialect.Columns.Version, page, r.Dialect.Join, qualifyOrder(order)), sc.Args...)
	return WithTotal(list, err, q.Page, func() (canon.Total, error) {
		return r.CountRows(ctx, sc.unionByLevel("SELECT 1"+from), sc.Args[:n]...)
	})
}

func (sc *Scope) filterFeed(q canon.FeedQuery) string {
	where := sc.between("c.at", q.Since, q.Before)
	if q.Type != "" {
		where += " AND c.type_key = " + sc.Add(string(markup.KeyOf(q.Type)))
	}
	if q.Author != "" {
		where += " AND c.by = " + sc.Add(string(q.Author))
	}
	for _, s := range q.Except {
		where += " AND NOT (c.from_seq >= " + sc.Add(uint64(s.From)) + " AND c.from_seq <= " + sc.Add(uint64(s.To)) +
			" AND c.op = " + sc.Add(s.Op) + ")"
	}
	if !q.Card.IsZero() {
		// The bound on rev, which always holds, lets a planner without statistics choose the primary key.
		where += " AND c.rev > 0 AND c.card = " + sc.Add(q.Card[:])
	}
	return where
}

// Events lists events by commit. Like Cards, it uses one index range for each visible level.
func (r *Reader) Events(ctx context.Context, s canon.Visibility,
	q canon.EventQuery) ([]canon.StoredEvent, canon.Total, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	order := "seq DESC"
	if q.Oldest {
		order = "seq ASC"
	}
	from := " FROM events c" + r.Dialect.eventIndex(q) + " WHERE c.w = $1 AND %s" + escapeFormat(sc.filterEvents(q))
	n := len(sc.Args)
	list, err := r.queryEvents(ctx, sc.World, fmt.Sprintf(
		"SELECT %s FROM (%s) o %s events v ON v.w = $1 AND v.seq = o.seq ORDER BY o.%s", r.Dialect.Columns.Event,
		sc.pageByLevel("c.seq AS seq", from, order, q.Page), r.Dialect.Join, order), sc.Args...)
	return WithTotal(list, err, q.Page, func() (canon.Total, error) {
		return r.CountRows(ctx, sc.unionByLevel("SELECT 1"+from), sc.Args[:n]...)
	})
}

// eventIndex names the index to use if the query matches at most one event. A planner without
// statistics would rather scan all events in their order.
func (d *Dialect) eventIndex(q canon.EventQuery) string {
	switch {
	case q.ID != uuid.Nil:
		return d.IndexedBy("events_id")
	case q.Key != "":
		return d.IndexedBy("events_key")
	}
	return ""
}

func (sc *Scope) filterEvents(q canon.EventQuery) string {
	where := sc.inTexts("c.scope", q.Scopes) + sc.inTexts("c.type", q.Types)
	if q.Actor != "" {
		where += " AND c.actor <> '' AND c.actor = " + sc.Add(q.Actor)
	}
	if q.Key != "" {
		where += " AND c.key <> '' AND c.key = " + sc.Add(q.Key)
	}
	if q.ID != uuid.Nil {
		where += " AND c.id = " + sc.Add(q.ID[:])
	}
	if q.After != 0 {
		where += " AND c.seq > " + sc.Add(uint64(q.After))
	}
	if q.AsOf != 0 {
		where += " AND c.seq <= " + sc.Add(uint64(q.AsOf))
	}
	return where
}
