package postgres

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"loregate/internal/canon"
)

// Events lists events by commit. Like Cards, it uses one index range per visible level.
func (r *reader) Events(ctx context.Context, s canon.Visibility,
	q canon.EventQuery) ([]canon.StoredEvent, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	direction := "DESC"
	if q.Oldest {
		direction = "ASC"
	}
	if sc.subject != "" {
		sc.subjectLabels()
	}
	where := " FROM events c WHERE c.w = " + sc.w + " AND %s" + escapeFormat(sc.filterEvents(q))
	n := len(sc.args)
	arms := sc.unionByLevel("SELECT c.seq" + where + " ORDER BY c.seq " + direction + sc.limitArm(q.Page))
	list, err := r.queryEvents(ctx, sc.id,
		fmt.Sprintf("SELECT %s FROM (SELECT seq FROM (%s) a ORDER BY seq %s%s) o JOIN events v ON v.w = %s AND v.seq = o.seq ORDER BY o.seq %[3]s",
			eventColumns, arms, direction, sc.limitOffset(q.Page), sc.w), sc.args...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, "SELECT * FROM ("+sc.unionByLevel("SELECT 1"+where)+") a", sc.args[:n]...)
	return list, total, err
}

func (sc *scope) filterEvents(q canon.EventQuery) (where string) {
	if len(q.Scopes) > 0 {
		where += " AND " + sc.inCond("c.scope", q.Scopes)
	}
	if len(q.Types) > 0 {
		where += " AND " + sc.inCond("c.type", q.Types)
	}
	if q.Actor != "" {
		where += " AND c.actor <> '' AND c.actor = " + sc.arg(q.Actor)
	}
	if q.Key != "" {
		where += " AND c.key <> '' AND c.key = " + sc.arg(q.Key)
	}
	if q.ID != uuid.Nil {
		where += " AND c.id = " + sc.arg(uuidOf(q.ID))
	}
	if q.After != 0 {
		where += " AND c.seq > " + sc.arg(uint64(q.After))
	}
	if q.Before != 0 {
		where += " AND c.seq < " + sc.arg(uint64(q.Before))
	}
	if q.AsOf != 0 {
		where += " AND c.seq <= " + sc.arg(uint64(q.AsOf))
	}
	return where
}
