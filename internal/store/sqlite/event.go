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

// Events lists events by commit. As Cards does, it walks an index for each level in sight.
func (r *reader) Events(ctx context.Context, s canon.Visibility, q canon.EventQuery) ([]canon.StoredEvent, canon.Total, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok {
		return nil, canon.Total{}, err
	}
	l, order := eventFilter(q), "DESC"
	if q.Oldest {
		order = "ASC"
	}
	from := " FROM events c" + eventIndex(q) + " WHERE c.w = ?1 AND %s" + escape(l.condition())
	n := len(l.args)
	list, err := r.events(ctx, sc.id, fmt.Sprintf(`SELECT %s FROM (%s ORDER BY seq %s LIMIT ?%d OFFSET ?%d) o
		CROSS JOIN events v ON v.w = ?1 AND v.seq = o.seq ORDER BY o.seq %[3]s`, eventColumns, sc.arms("SELECT c.seq AS seq"+from), order, n+3, n+4),
		sc.args(append(l.args[:n:n], q.Page.Limit, max(q.Page.Offset, 0))...)...)
	if err != nil {
		return nil, canon.Total{}, err
	}
	if t, ok := within(q.Page, len(list)); ok {
		return list, t, nil
	}
	total, err := r.total(ctx, sc.arms("SELECT 1"+from), sc.args(l.args...)...)
	return list, total, err
}

// eventIndex names the index of what one event at most has. The planner, which keeps no
// statistics, would rather walk all events in their order.
func eventIndex(q canon.EventQuery) string {
	switch {
	case q.ID != uuid.Nil:
		return " INDEXED BY events_id"
	case q.Key != "":
		return " INDEXED BY events_key"
	}
	return ""
}

func eventFilter(q canon.EventQuery) *listing {
	l := &listing{}
	l.among("c.scope", q.Scopes)
	l.among("c.type", q.Types)
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

// among narrows a column to some values; none does not narrow.
func (l *listing) among(column string, values []string) {
	if len(values) == 0 {
		return
	}
	args := make([]string, len(values))
	for i, v := range values {
		args[i] = l.arg(v)
	}
	l.and("%s IN (%s)", column, strings.Join(args, ", "))
}

var eventColumns = nameless(`v.seq, v.id, v.at, v.by, v.op, v.type, v.scope, v.actor_kind, v.actor, v.correlation, v.causation,
	v.key, v.version, v.payload, v.level, v.label`)

// events runs a query whose columns are eventColumns.
func (r *reader) events(ctx context.Context, world access.WorldID, sql string, args ...any) (list []canon.StoredEvent, err error) {
	var labels [][2]int64
	err = r.c.query(ctx, func(row row) error {
		e := canon.StoredEvent{
			World: world, Seq: canon.Seq(row.int(0)), At: service.Time(row.int(2)), By: access.Subject(row.text(3)), Op: row.text(4),
			Type: row.text(5), Scope: row.text(6), Actor: canon.EventActor{Kind: row.text(7), ID: row.text(8)},
			Correlation: row.text(9), Causation: row.text(10), Key: row.text(11), Version: int(row.int(12)), Payload: row.bytes(13),
		}
		copy(e.ID[:], row.bytes(1))
		list = append(list, e)
		labels = append(labels, [2]int64{row.int(14), row.int(15)})
		return nil
	}, sql, args...)
	for i := 0; i < len(list) && err == nil; i++ {
		list[i].Label, err = r.labelOf(ctx, labels[i][0], labels[i][1])
	}
	return list, err
}

// PutEvent writes the event of a commit.
func (t *tx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	w, err := t.worldNumber(ctx, e.World)
	if err != nil {
		return err
	}
	level, label, err := t.labelNumbers(ctx, w, e.Label)
	if err != nil {
		return err
	}
	_, err = t.c.exec(ctx, `INSERT OR REPLACE INTO events (w, seq, id, at, by, op, type, scope, actor_kind, actor, correlation, causation,
			key, version, payload, level, label)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)`, w, uint64(e.Seq), e.ID[:], service.Millis(e.At), string(e.By), e.Op,
		e.Type, e.Scope, e.Actor.Kind, e.Actor.ID, e.Correlation, e.Causation, e.Key, e.Version, jsonBlob(e.Payload), level, label)
	return err
}
