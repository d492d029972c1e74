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

// hashBlob is a hash as it is kept, NULL for the zero Hash.
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

// idBlob is an id as it is kept where it may be absent.
func idBlob[T ~[16]byte](id T) any {
	if id == (T{}) {
		return nil
	}
	return id[:]
}

func fill[T ~[16]byte | ~[32]byte](b []byte) (v T) {
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

// unlabelled marks a row whose label has LevelNone. It is kept at LevelUser, for both
// are open to the same views.
const unlabelled = -1

// labelOf decodes a row's label.
func (r *reader) labelOf(ctx context.Context, level, label int64) (access.Label, error) {
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
	if _, err := r.c.one(ctx, func(r row) error { text = r.text(0); return nil },
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

// nameless makes columns of a result ones without a name and a declared type, which the driver
// would copy to the heap for every column of every query. They are read by their place.
func nameless(columns string) string {
	list := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	return "+" + strings.Join(list, ` AS "", +`) + ` AS ""`
}

// cardColumns are read by scanCard, in this order.
var cardColumns = nameless(`c.id, c.parent, c.part, c.codename, c.type, c.content, c.size, c.length, c.fields,
	c.own, c.name, c.key, c.level, c.label, c.rev, c.c1, c.c2, c.c3, c.created, c.created_by,
	c.updated, c.updated_by, c.seq, c.trashed, c.trash_root`)

// cardWidth is how many columns cardColumns has.
const cardWidth = 25

// cardRow is a card whose label is still to be looked up, which its query must have
// ended for.
type cardRow struct {
	card         canon.Card
	level, label int64
}

func scanCard(r row) (cardRow, error) {
	c := canon.Card{
		ID: fill[canon.CardID](r.bytes(0)), Parent: fill[canon.CardID](r.bytes(1)),
		Part: r.text(2), Codename: r.text(3), Type: r.text(4),
		Content: fill[canon.Hash](r.bytes(5)), Size: int(r.int(6)), Length: int(r.int(7)), Fields: r.bytes(8),
		Name: r.text(10), Key: markup.Key(r.text(11)), Rev: uint32(r.int(14)),
		Counts:    canon.Counts{uint32(r.int(15)), uint32(r.int(16)), uint32(r.int(17))},
		CreatedAt: service.Time(r.int(18)), CreatedBy: access.Subject(r.text(19)),
		UpdatedAt: service.Time(r.int(20)), UpdatedBy: access.Subject(r.text(21)),
		Seq: canon.Seq(r.int(22)), TrashedAt: service.Time(r.int(23)), TrashRoot: fill[canon.CardID](r.bytes(24)),
	}
	own, err := parseOwn(r.text(9))
	c.Own = own
	return cardRow{card: c, level: r.int(12), label: r.int(13)}, err
}

// ownText keeps a card's own label as text; nothing looks for it.
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

// cards runs a query whose columns are cardColumns.
func (r *reader) cards(ctx context.Context, world access.WorldID, sql string, args ...any) ([]canon.Card, error) {
	return r.cardsAnd(ctx, world, func(canon.Card, row) {}, sql, args...)
}

// cardsAnd runs a query that has more columns after cardColumns, which are given to a function.
func (r *reader) cardsAnd(ctx context.Context, world access.WorldID, more func(canon.Card, row), sql string, args ...any) ([]canon.Card, error) {
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
		if list[i], err = r.finish(ctx, world, f); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// finish gives a card its world and label.
func (r *reader) finish(ctx context.Context, world access.WorldID, f cardRow) (c canon.Card, err error) {
	c = f.card
	c.World = world
	c.Label, err = r.labelOf(ctx, f.level, f.label)
	return c, err
}

var versionColumns = nameless(`v.card, v.rev, v.from_seq, v.to_seq, v.c1, v.c2, v.c3, v.level, v.label, v.name, v.type,
	v.content, v.size, v.length, v.fields, v.trashed, v.purged, v.at, v.by, v.op, v.change, v.was_name, v.was_level, v.was_label`)

type versionRow struct {
	version            canon.Version
	level, label       int64
	wasLevel, wasLabel int64
}

func scanVersion(r row) versionRow {
	v := canon.Version{
		Card: fill[canon.CardID](r.bytes(0)), Rev: uint32(r.int(1)),
		From: canon.Seq(r.int(2)), To: canon.Seq(r.int(3)),
		Counts: canon.Counts{uint32(r.int(4)), uint32(r.int(5)), uint32(r.int(6))},
		Name:   r.text(9), Type: r.text(10),
		Content: fill[canon.Hash](r.bytes(11)), Size: int(r.int(12)), Length: int(r.int(13)), Fields: r.bytes(14),
		Trashed: r.int(15) != 0, Purged: r.int(16) != 0,
		At: service.Time(r.int(17)), By: access.Subject(r.text(18)), Op: r.text(19),
	}
	copy(v.Change[:], r.bytes(20))
	v.Former.Name = r.text(21)
	return versionRow{version: v, level: r.int(7), label: r.int(8), wasLevel: r.int(22), wasLabel: r.int(23)}
}

// versionsFor runs a query whose columns are versionColumns, and gives what it finds as a
// view is shown it.
func (r *reader) versionsFor(ctx context.Context, s canon.Visibility, sql string, args ...any) ([]canon.Version, error) {
	list, err := r.versions(ctx, s.World, sql, args...)
	for i, v := range list {
		list[i] = v.For(s.View)
	}
	return list, err
}

// versions runs a query whose columns are versionColumns.
func (r *reader) versions(ctx context.Context, world access.WorldID, sql string, args ...any) ([]canon.Version, error) {
	var found []versionRow
	if err := r.c.query(ctx, func(row row) error {
		found = append(found, scanVersion(row))
		return nil
	}, sql, args...); err != nil {
		return nil, err
	}
	list := make([]canon.Version, len(found))
	for i, f := range found {
		l, err := r.labelOf(ctx, f.level, f.label)
		if err != nil {
			return nil, err
		}
		list[i] = f.version
		list[i].World, list[i].Label = world, l
		if f.version.Former.Name == "" {
			continue
		}
		if list[i].Former.Label, err = r.labelOf(ctx, f.wasLevel, f.wasLabel); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ceilClock is a bound as it compares with kept times: the first kept time not before it.
func ceilClock(t time.Time) int64 {
	return service.Millis(t.Add(time.Millisecond - time.Nanosecond))
}
