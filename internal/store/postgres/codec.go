package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/service"
)

// ceilClock converts a time bound to stored precision: the first stored time not before it.
func ceilClock(t time.Time) int64 { return service.Millis(t.Add(time.Millisecond - time.Nanosecond)) }

// uuidOf converts an id to the type that pgx binds.
func uuidOf[T ~[16]byte](id T) [16]byte { return [16]byte(id) }

func uuidsOf[T ~[16]byte](ids []T) [][16]byte {
	list := make([][16]byte, len(ids))
	for i, id := range ids {
		list[i] = [16]byte(id)
	}
	return list
}

// readID decodes an id from a row.
func readID[T ~[16]byte](b []byte) (v T) {
	copy(v[:], b)
	return v
}

// hashBytes converts a hash to its stored form, NULL for the zero Hash.
func hashBytes(h canon.Hash) any {
	if h == (canon.Hash{}) {
		return nil
	}
	return h[:]
}

func hashOf(b []byte) (h canon.Hash) {
	copy(h[:], b)
	return h
}

func jsonBytes(b json.RawMessage) any {
	if len(b) == 0 {
		return nil
	}
	return []byte(b)
}

// unlabelled marks a row whose label has LevelNone. The row is stored with LevelUser, since both
// levels are visible to the same views.
const unlabelled = -1

// resolveLabel returns the label that a row's level and label columns encode.
func (r *reader) resolveLabel(ctx context.Context, level, label int64) (access.Label, error) {
	switch label {
	case 0:
		return access.Label{Level: access.Level(level)}, nil
	case unlabelled:
		return access.Label{}, nil
	}
	if l, ok := r.s.known.labels.Load(label); ok {
		return l.(access.Label), nil
	}
	var text string
	if _, err := r.c.queryOne(ctx, func(r row) error { text = r.textAt(0); return nil },
		"SELECT text FROM labels WHERE label = $1", label); err != nil {
		return access.Label{}, err
	}
	var l access.Label
	if err := l.UnmarshalText([]byte(text)); err != nil {
		return access.Label{}, err
	}
	if r.writes == nil {
		r.s.known.labels.Store(label, l)
	}
	return l, nil
}

// ensureLabelNumbers returns the level and label columns for a label and adds a new label to
// labels.
func (t *tx) ensureLabelNumbers(ctx context.Context, w int64, l access.Label) (level, label int64, err error) {
	switch {
	case l.Level == access.LevelNone:
		return int64(access.LevelUser), unlabelled, nil
	case len(l.Subjects) == 0:
		return int64(l.Level), 0, nil
	}
	level = int64(l.Level)
	name := labelText{w, l.String()}
	if n, ok := t.s.known.names.Load(name); ok {
		return level, n.(int64), nil
	}
	if n, ok := t.labels[name]; ok {
		return level, n, nil
	}
	if label, err = t.c.queryInt(ctx, "SELECT label FROM labels WHERE w = $1 AND text = $2", w, name.text); err != nil {
		return 0, 0, err
	}
	if label == 0 {
		if label, err = t.c.queryInt(ctx, "INSERT INTO labels (w, text) VALUES ($1, $2) RETURNING label", w,
			name.text); err != nil {
			return 0, 0, err
		}
		for _, s := range l.Subjects {
			t.c.enqueue("INSERT INTO label_subjects (w, subject, label) VALUES ($1, $2, $3)", w, string(s), label)
		}
	}
	if t.labels == nil {
		t.labels = make(map[labelText]int64)
	}
	t.labels[name] = label
	return level, label, nil
}

// labelRef holds the label columns of a row. The label is resolved after the query has ended.
type labelRef struct{ level, label int64 }

func (r *reader) resolveLabels(ctx context.Context, list []labelRef, set func(int, access.Label)) error {
	for i, n := range list {
		l, err := r.resolveLabel(ctx, n.level, n.label)
		if err != nil {
			return err
		}
		set(i, l)
	}
	return nil
}

// cardColumns are the columns that scanCard reads, in this order.
const cardColumns = `c.id, c.parent, c.part, c.codename, c.type, c.content, c.size, c.length, c.fields,
	c.own, c.name, c.key, c.level, c.label, c.rev, c.c1, c.c2, c.c3, c.created, c.created_by,
	c.updated, c.updated_by, c.seq, c.trashed, c.trash_root`

// cardWidth is the number of columns in cardColumns.
const cardWidth = 25

func scanCard(world access.WorldID, r row) (canon.Card, labelRef, error) {
	c := canon.Card{
		World: world, ID: readID[canon.CardID](r[0]), Parent: readID[canon.CardID](r[1]), Part: r.textAt(2),
		Codename: r.textAt(3), Type: r.textAt(4),
		Content: hashOf(r[5]), Size: int(r.intAt(6)), Length: int(r.intAt(7)), Fields: r.bytesAt(8),
		Name: r.textAt(10), Key: markup.Key(r.textAt(11)), Rev: uint32(r.intAt(14)),
		Counts:    canon.Counts{uint32(r.intAt(15)), uint32(r.intAt(16)), uint32(r.intAt(17))},
		CreatedAt: service.Time(r.intAt(18)), CreatedBy: access.Subject(r.textAt(19)),
		UpdatedAt: service.Time(r.intAt(20)), UpdatedBy: access.Subject(r.textAt(21)),
		Seq: canon.Seq(r.intAt(22)), TrashedAt: service.Time(r.intAt(23)), TrashRoot: readID[canon.CardID](r[24]),
	}
	own, err := parseOwn(r.textAt(9))
	c.Own = own
	return c, labelRef{r.intAt(12), r.intAt(13)}, err
}

// ownText encodes a card's own label as text; no query searches for it.
func ownText(l access.Label) string {
	if l.Level == access.LevelNone {
		return ""
	}
	return l.String()
}

func parseOwn(s string) (l access.Label, err error) {
	if s != "" {
		err = l.UnmarshalText([]byte(s))
	}
	return l, err
}

// queryCards runs a query whose columns are cardColumns.
func (r *reader) queryCards(ctx context.Context, world access.WorldID, query string,
	args ...any) ([]canon.Card, error) {
	return r.queryCardsWith(ctx, world, nil, query, args...)
}

// queryCardsWith runs a query that has more columns after cardColumns. It passes those to more.
func (r *reader) queryCardsWith(ctx context.Context, world access.WorldID,
	more func(row), query string, args ...any) ([]canon.Card, error) {
	var list []canon.Card
	var labels []labelRef
	err := r.c.query(ctx, func(row row) error {
		c, l, err := scanCard(world, row)
		list, labels = append(list, c), append(labels, l)
		if more != nil {
			more(row[cardWidth:])
		}
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, r.resolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}

const versionColumns = `v.card, v.rev, v.from_seq, v.to_seq, v.c1, v.c2, v.c3, v.level, v.label, v.name, v.type,
	v.content, v.size, v.length, v.fields, v.trashed, v.purged, v.at, v.by, v.op, v.change, v.was_name, v.was_level, v.was_label`

// queryVersionsFor runs a query whose columns are versionColumns, and returns the versions as the
// caller's view may see them.
func (r *reader) queryVersionsFor(ctx context.Context, s canon.Visibility, query string,
	args ...any) ([]canon.Version, error) {
	list, err := r.queryVersions(ctx, s.World, query, args...)
	for i, v := range list {
		list[i] = v.For(s.View)
	}
	return list, err
}

// queryVersions runs a query whose columns are versionColumns.
func (r *reader) queryVersions(ctx context.Context, world access.WorldID, query string,
	args ...any) ([]canon.Version, error) {
	var list []canon.Version
	var labels, were []labelRef
	err := r.c.query(ctx, func(r row) error {
		list = append(list, canon.Version{
			World: world, Card: readID[canon.CardID](r[0]), Rev: uint32(r.intAt(1)), From: canon.Seq(r.intAt(2)),
			To:     canon.Seq(r.intAt(3)),
			Counts: canon.Counts{uint32(r.intAt(4)), uint32(r.intAt(5)), uint32(r.intAt(6))},
			Name:   r.textAt(9), Type: r.textAt(10), Content: hashOf(r[11]), Size: int(r.intAt(12)), Length: int(r.intAt(13)),
			Fields:  r.bytesAt(14),
			Trashed: r.boolAt(15), Purged: r.boolAt(16), At: service.Time(r.intAt(17)), By: access.Subject(r.textAt(18)),
			Op:     r.textAt(19),
			Change: readID[uuid.UUID](r[20]), Former: canon.FormerName{Name: r.textAt(21)},
		})
		labels = append(labels, labelRef{r.intAt(7), r.intAt(8)})
		were = append(were, labelRef{r.intAt(22), r.intAt(23)})
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	if err := r.resolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l }); err != nil {
		return nil, err
	}
	return list, r.resolveLabels(ctx, were, func(i int, l access.Label) { list[i].Former.Label = l })
}

const linkColumns = "l.id, l.since, l.until, l.kind, l.from_card, l.to_card, l.attrs, l.level, l.label, l.at"

// queryLinks runs a query whose columns are linkColumns.
func (r *reader) queryLinks(ctx context.Context, world access.WorldID, query string,
	args ...any) ([]canon.Link, error) {
	var list []canon.Link
	var labels []labelRef
	err := r.c.query(ctx, func(r row) error {
		list = append(list, canon.Link{
			World: world, ID: readID[canon.LinkID](r[0]), Since: canon.Seq(r.intAt(1)), Until: canon.Seq(r.intAt(2)),
			Kind: r.textAt(3),
			From: readID[canon.CardID](r[4]), To: readID[canon.CardID](r[5]), Attrs: r.bytesAt(6), At: service.Time(r.intAt(9)),
		})
		labels = append(labels, labelRef{r.intAt(7), r.intAt(8)})
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, r.resolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}

const layerColumns = "l.id, l.since, l.until, l.card, l.kind, l.text, l.from_tick, l.to_tick, l.level, l.label, l.at"

// queryLayers runs a query whose columns are layerColumns.
func (r *reader) queryLayers(ctx context.Context, world access.WorldID, query string,
	args ...any) ([]canon.Layer, error) {
	var list []canon.Layer
	var labels []labelRef
	err := r.c.query(ctx, func(r row) error {
		list = append(list, canon.Layer{
			World: world, ID: readID[canon.LayerID](r[0]), Since: canon.Seq(r.intAt(1)), Until: canon.Seq(r.intAt(2)),
			Card: readID[canon.CardID](r[3]),
			Kind: r.textAt(4), Text: r.textAt(5), FromTick: r.intAt(6), ToTick: r.intAt(7), At: service.Time(r.intAt(10)),
		})
		labels = append(labels, labelRef{r.intAt(8), r.intAt(9)})
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, r.resolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}

const eventColumns = `v.seq, v.id, v.at, v.by, v.op, v.type, v.scope, v.actor_kind, v.actor, v.correlation, v.causation,
	v.key, v.version, v.payload, v.level, v.label`

// queryEvents runs a query whose columns are eventColumns.
func (r *reader) queryEvents(ctx context.Context, world access.WorldID, query string,
	args ...any) ([]canon.StoredEvent, error) {
	var list []canon.StoredEvent
	var labels []labelRef
	err := r.c.query(ctx, func(r row) error {
		list = append(list, canon.StoredEvent{
			World: world, Seq: canon.Seq(r.intAt(0)), ID: readID[uuid.UUID](r[1]), At: service.Time(r.intAt(2)),
			By: access.Subject(r.textAt(3)), Op: r.textAt(4),
			Type: r.textAt(5), Scope: r.textAt(6), Actor: canon.EventActor{Kind: r.textAt(7), ID: r.textAt(8)},
			Correlation: r.textAt(9), Causation: r.textAt(10),
			Key: r.textAt(11), Version: int(r.intAt(12)), Payload: r.bytesAt(13),
		})
		labels = append(labels, labelRef{r.intAt(14), r.intAt(15)})
		return nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, r.resolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}
