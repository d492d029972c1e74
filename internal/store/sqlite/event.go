package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/service"
)

// Events lists events by commit. Like Cards, it uses one index range per visible level.
func (r *reader) Events(ctx context.Context, s canon.Visibility,
	q canon.EventQuery) ([]canon.StoredEvent, canon.Total, error) {
	sc, ok, err := r.resolveScope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	l, order := filterEvents(q), "DESC"
	if q.Oldest {
		order = "ASC"
	}
	from := " FROM events c" + eventIndex(q) + " WHERE c.w = ?1 AND %s" + escapeFormat(l.andConditions())
	n := len(l.args)
	list, err := r.queryEvents(ctx, sc.id, fmt.Sprintf(`SELECT %s FROM (%s ORDER BY seq %s LIMIT ?%d OFFSET ?%d) o
		CROSS JOIN events v ON v.w = ?1 AND v.seq = o.seq ORDER BY o.seq %[3]s`, eventColumns, sc.unionByLevel("SELECT c.seq AS seq"+from), order, n+3, n+4),
		sc.withArgs(append(l.args[:n:n], q.Page.Limit, max(q.Page.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := knownTotal(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.countRows(ctx, sc.unionByLevel("SELECT 1"+from), sc.withArgs(l.args...)...)
	return list, total, err
}

// eventIndex names the index to use if the query matches at most one event. The planner has no
// statistics and would rather scan all events in their order.
func eventIndex(q canon.EventQuery) string {
	switch {
	case q.ID != uuid.Nil:
		return " INDEXED BY events_id"
	case q.Key != "":
		return " INDEXED BY events_key"
	}
	return ""
}

func filterEvents(q canon.EventQuery) *listing {
	l := &listing{}
	l.andIn("c.scope", q.Scopes)
	l.andIn("c.type", q.Types)
	if q.Actor != "" {
		l.and("c.actor = %s AND c.actor <> ''", l.arg(q.Actor))
	}
	if q.Key != "" {
		l.and("c.key = %s AND c.key <> ''", l.arg(q.Key))
	}
	if q.ID != uuid.Nil {
		l.and("c.id = %s", l.arg(q.ID[:]))
	}
	if q.After != 0 {
		l.and("c.seq > %s", l.arg(uint64(q.After)))
	}
	if q.Before != 0 {
		l.and("c.seq < %s", l.arg(uint64(q.Before)))
	}
	if q.AsOf != 0 {
		l.and("c.seq <= %s", l.arg(uint64(q.AsOf)))
	}
	return l
}

// andIn restricts a column to some values; an empty list does not restrict it.
func (l *listing) andIn(column string, values []string) {
	if len(values) == 0 {
		return
	}
	args := make([]string, len(values))
	for i, v := range values {
		args[i] = l.arg(v)
	}
	l.and("%s IN (%s)", column, strings.Join(args, ", "))
}

var eventColumns = unnamedColumns(`v.seq, v.id, v.at, v.by, v.op, v.type, v.scope, v.actor_kind, v.actor, v.correlation, v.causation,
	v.key, v.version, v.payload, v.level, v.label`)

// queryEvents runs a query whose columns are eventColumns.
func (r *reader) queryEvents(ctx context.Context, world access.WorldID, sql string,
	args ...any) (list []canon.StoredEvent, err error) {
	var labels [][2]int64
	err = r.c.query(ctx, func(row row) error {
		e := canon.StoredEvent{
			World: world, Seq: canon.Seq(row.intAt(0)), At: service.Time(row.intAt(2)), By: access.Subject(row.textAt(3)),
			Op:   row.textAt(4),
			Type: row.textAt(5), Scope: row.textAt(6), Actor: canon.EventActor{Kind: row.textAt(7), ID: row.textAt(8)},
			Correlation: row.textAt(9), Causation: row.textAt(10), Key: row.textAt(11), Version: int(row.intAt(12)),
			Payload: row.bytesAt(13),
		}
		copy(e.ID[:], row.bytesAt(1))
		list = append(list, e)
		labels = append(labels, [2]int64{row.intAt(14), row.intAt(15)})
		return nil
	}, sql, args...)
	for i := 0; i < len(list) && err == nil; i++ {
		list[i].Label, err = r.resolveLabel(ctx, labels[i][0], labels[i][1])
	}
	return list, err
}

// PutEvent writes the event of a commit.
func (t *tx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	w, err := t.ensureWorldNumber(ctx, e.World)
	if err != nil {
		return err
	}
	level, label, err := t.ensureLabelNumbers(ctx, w, e.Label)
	if err != nil {
		return err
	}
	_, err = t.c.exec(ctx, `INSERT OR REPLACE INTO events (w, seq, id, at, by, op, type, scope, actor_kind, actor, correlation, causation,
			key, version, payload, level, label)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`, w, uint64(e.Seq), e.ID[:], service.Millis(e.At), string(e.By), e.Op,
		e.Type, e.Scope, e.Actor.Kind, e.Actor.ID, e.Correlation, e.Causation, e.Key, e.Version, jsonBlob(e.Payload),
		level, label)
	return err
}
