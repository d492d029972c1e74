package sqlite

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/store/service"
)

// hashBlob converts a hash to its stored form, NULL for the zero Hash.
func hashBlob(h canon.Hash) any {
	if h == (canon.Hash{}) {
		return nil
	}
	return h[:]
}

func jsonBlob(b json.RawMessage) any {
	if len(b) == 0 {
		return nil
	}
	return []byte(b)
}

// idBlob converts an optional id to its stored form, NULL for the zero id.
func idBlob[T ~[16]byte](id T) any {
	if id == (T{}) {
		return nil
	}
	return id[:]
}

func readBlob[T ~[16]byte | ~[32]byte](b []byte) (v T) {
	switch p := any(&v).(type) {
	case *canon.Hash:
		copy(p[:], b)
	case *canon.CardID:
		copy(p[:], b)
	case *canon.LinkID:
		copy(p[:], b)
	case *canon.LayerID:
		copy(p[:], b)
	case *access.WorldID:
		copy(p[:], b)
	}
	return v
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
		"SELECT text FROM labels WHERE label = ?1", label); err != nil {
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

// unnamedColumns removes the name and the declared type from result columns. The driver would copy
// both to the heap for every column of every query. Columns are read by position.
func unnamedColumns(columns string) string {
	list := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	return "+" + strings.Join(list, ` AS "", +`) + ` AS ""`
}

// cardColumns are the columns that scanCard reads, in this order.
var cardColumns = unnamedColumns(`c.id, c.parent, c.part, c.codename, c.type, c.content, c.size, c.length, c.fields,
	c.own, c.name, c.key, c.level, c.label, c.rev, c.c1, c.c2, c.c3, c.created, c.created_by,
	c.updated, c.updated_by, c.seq, c.trashed, c.trash_root`)

// cardWidth is the number of columns in cardColumns.
const cardWidth = 25

// cardRow is a card whose label is not resolved yet. The label is resolved after the query has
// ended.
type cardRow struct {
	card         canon.Card
	level, label int64
}

func scanCard(r row) (cardRow, error) {
	c := canon.Card{
		ID: readBlob[canon.CardID](r.bytesAt(0)), Parent: readBlob[canon.CardID](r.bytesAt(1)),
		Part: r.textAt(2), Codename: r.textAt(3), Type: r.textAt(4),
		Content: readBlob[canon.Hash](r.bytesAt(5)), Size: int(r.intAt(6)), Length: int(r.intAt(7)), Fields: r.bytesAt(8),
		Name: r.textAt(10), Key: markup.Key(r.textAt(11)), Rev: uint32(r.intAt(14)),
		Counts:    canon.Counts{uint32(r.intAt(15)), uint32(r.intAt(16)), uint32(r.intAt(17))},
		CreatedAt: service.Time(r.intAt(18)), CreatedBy: access.Subject(r.textAt(19)),
		UpdatedAt: service.Time(r.intAt(20)), UpdatedBy: access.Subject(r.textAt(21)),
		Seq: canon.Seq(r.intAt(22)), TrashedAt: service.Time(r.intAt(23)), TrashRoot: readBlob[canon.CardID](r.bytesAt(24)),
	}
	own, err := parseOwn(r.textAt(9))
	c.Own = own
	return cardRow{card: c, level: r.intAt(12), label: r.intAt(13)}, err
}

// ownText encodes a card's own label as text; no query searches for it.
func ownText(l access.Label) string {
	if l.Level == access.LevelNone {
		return ""
	}
	return l.String()
}

func parseOwn(s string) (l access.Label, err error) {
	switch s {
	case "":
		return access.Label{}, nil
	case "user":
		return access.Label{Level: access.LevelUser}, nil
	case "gm":
		return access.Label{Level: access.LevelGM}, nil
	}
	err = l.UnmarshalText([]byte(s))
	return l, err
}

// queryCards runs a query whose columns are cardColumns.
func (r *reader) queryCards(ctx context.Context, world access.WorldID, sql string, args ...any) ([]canon.Card, error) {
	return r.queryCardsWith(ctx, world, func(canon.Card, row) {}, sql, args...)
}

// queryCardsWith runs a query that has more columns after cardColumns. It passes those to more.
func (r *reader) queryCardsWith(ctx context.Context, world access.WorldID,
	more func(canon.Card, row), sql string, args ...any) ([]canon.Card, error) {
	var found []cardRow
	err := r.c.query(ctx, func(row row) error {
		c, err := scanCard(row)
		found = append(found, c)
		more(c.card, row[cardWidth:])
		return err
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	list := make([]canon.Card, len(found))
	for i, f := range found {
		if list[i], err = r.labelCard(ctx, world, f); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// labelCard sets a card's world and label.
func (r *reader) labelCard(ctx context.Context, world access.WorldID, f cardRow) (c canon.Card, err error) {
	c = f.card
	c.World = world
	c.Label, err = r.resolveLabel(ctx, f.level, f.label)
	return c, err
}

var versionColumns = unnamedColumns(`v.card, v.rev, v.from_seq, v.to_seq, v.c1, v.c2, v.c3, v.level, v.label, v.name, v.type,
	v.content, v.size, v.length, v.fields, v.trashed, v.purged, v.at, v.by, v.op, v.change, v.was_name, v.was_level, v.was_label`)

type versionRow struct {
	version            canon.Version
	level, label       int64
	wasLevel, wasLabel int64
}

func scanVersion(r row) versionRow {
	v := canon.Version{
		Card: readBlob[canon.CardID](r.bytesAt(0)), Rev: uint32(r.intAt(1)),
		From: canon.Seq(r.intAt(2)), To: canon.Seq(r.intAt(3)),
		Counts: canon.Counts{uint32(r.intAt(4)), uint32(r.intAt(5)), uint32(r.intAt(6))},
		Name:   r.textAt(9), Type: r.textAt(10),
		Content: readBlob[canon.Hash](r.bytesAt(11)), Size: int(r.intAt(12)), Length: int(r.intAt(13)), Fields: r.bytesAt(14),
		Trashed: r.intAt(15) != 0, Purged: r.intAt(16) != 0,
		At: service.Time(r.intAt(17)), By: access.Subject(r.textAt(18)), Op: r.textAt(19),
	}
	copy(v.Change[:], r.bytesAt(20))
	v.Former.Name = r.textAt(21)
	return versionRow{version: v, level: r.intAt(7), label: r.intAt(8), wasLevel: r.intAt(22), wasLabel: r.intAt(23)}
}

// queryVersionsFor runs a query whose columns are versionColumns, and returns the versions as the
// caller's view may see them.
func (r *reader) queryVersionsFor(ctx context.Context, s canon.Visibility, sql string,
	args ...any) ([]canon.Version, error) {
	list, err := r.queryVersions(ctx, s.World, sql, args...)
	for i, v := range list {
		list[i] = v.For(s.View)
	}
	return list, err
}

// queryVersions runs a query whose columns are versionColumns.
func (r *reader) queryVersions(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.Version, error) {
	var found []versionRow
	if err := r.c.query(ctx, func(row row) error {
		found = append(found, scanVersion(row))
		return nil
	}, sql, args...); err != nil {
		return nil, err
	}
	list := make([]canon.Version, len(found))
	for i, f := range found {
		l, err := r.resolveLabel(ctx, f.level, f.label)
		if err != nil {
			return nil, err
		}
		list[i] = f.version
		list[i].World, list[i].Label = world, l
		if f.version.Former.Name == "" {
			continue
		}
		if list[i].Former.Label, err = r.resolveLabel(ctx, f.wasLevel, f.wasLabel); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ceilClock converts a time bound to stored precision: the first stored time not before it.
func ceilClock(t time.Time) int64 {
	return service.Millis(t.Add(time.Millisecond - time.Nanosecond))
}
