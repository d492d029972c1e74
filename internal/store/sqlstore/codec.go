package sqlstore

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// ReadID reads an id from a column.
func ReadID[T ~[16]byte](r Row, column int) (v T) {
	copy(v[:], r.Raw(column))
	return v
}

// ReadHash reads a hash from a column; the zero Hash for NULL.
func ReadHash(r Row, column int) (h canon.Hash) {
	copy(h[:], r.Raw(column))
	return h
}

// HashValue converts a hash to its stored form, NULL for the zero Hash.
func HashValue(h canon.Hash) any {
	if h == (canon.Hash{}) {
		return nil
	}
	return h[:]
}

// JSONValue converts JSON to its stored form, NULL if there is none.
func JSONValue(b json.RawMessage) any {
	if len(b) == 0 {
		return nil
	}
	return []byte(b)
}

// IDValue converts an optional id to its stored form.
func (d *Dialect) IDValue(id [16]byte) any {
	if id == ([16]byte{}) {
		return d.NoID
	}
	return id[:]
}

// OwnText encodes a card's own label as text; no query searches for it.
func OwnText(l access.Label) string {
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

// PlacesValue encodes the places of parts.
func PlacesValue(p *canon.Places) any {
	if p == nil {
		return nil
	}
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // it holds texts and numbers
	}
	return string(b)
}

// readPlaces decodes the places in a column. A damaged value reads as no places: the parts are then only text of their
// card.
func readPlaces(r Row, column int) *canon.Places {
	text := r.Text(column)
	if text == "" {
		return nil
	}
	p := &canon.Places{}
	if json.Unmarshal([]byte(text), p) != nil {
		return nil
	}
	return p
}

// ScanCard reads the columns of Columns.Card. The card has no world and no label yet.
func ScanCard(r Row) (canon.Card, LabelRef, error) {
	c := canon.Card{
		ID: ReadID[canon.CardID](r, 0), Parent: ReadID[canon.CardID](r, 1), Part: r.Text(2), Codename: r.Text(3),
		Type: r.Text(4), Content: ReadHash(r, 5), Size: int(r.Int(6)), Length: int(r.Int(7)), Fields: r.Bytes(8),
		Name: r.Text(10), Key: markup.Key(r.Text(11)), Rev: uint32(r.Int(14)),
		Counts:    canon.Counts{uint32(r.Int(15)), uint32(r.Int(16)), uint32(r.Int(17))},
		CreatedAt: Time(r.Int(18)), CreatedBy: access.Subject(r.Text(19)),
		UpdatedAt: Time(r.Int(20)), UpdatedBy: access.Subject(r.Text(21)),
		Seq: canon.Seq(r.Int(22)), TrashedAt: Time(r.Int(23)), TrashRoot: ReadID[canon.CardID](r, 24),
		Format: canon.TextFormat(r.Int(25)), Parts: canon.PartsKind(r.Int(26)), Places: readPlaces(r, 27),
	}
	own, err := parseOwn(r.Text(9))
	c.Own = own
	return c, LabelRef{r.Int(12), r.Int(13)}, err
}

// QueryCards runs a query whose columns are Columns.Card.
func (r *Reader) QueryCards(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.Card, error) {
	return r.QueryCardsWith(ctx, world, nil, sql, args...)
}

// QueryCardsWith runs a query that has more columns after Columns.Card. It calls more, if it is not
// nil, with each card, whose label may be missing, and its row.
func (r *Reader) QueryCardsWith(ctx context.Context, world access.WorldID,
	more func(canon.Card, Row), sql string, args ...any) ([]canon.Card, error) {
	var list []canon.Card
	var unknown []int // places in list of the cards whose labels must be queried
	var labels []LabelRef
	var err error
	rows := r.Conn.Query(ctx, sql, args...)
	for err == nil && rows.Next() {
		var c canon.Card
		var label LabelRef
		c, label, err = ScanCard(rows)
		known := false
		if c.Label, known = r.knownLabel(label); !known {
			unknown, labels = append(unknown, len(list)), append(labels, label)
		}
		c.World = world
		list = append(list, c)
		if more != nil {
			more(c, rows)
		}
	}
	if closed := rows.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	return list, r.ResolveLabels(ctx, labels, func(i int, l access.Label) { list[unknown[i]].Label = l })
}

// scanVersion reads the columns of Columns.Version, and the labels of the version and of its former
// name.
func scanVersion(world access.WorldID, r Row) (v canon.Version, label, former LabelRef) {
	return canon.Version{
		World: world, Card: ReadID[canon.CardID](r, 0), Rev: uint32(r.Int(1)),
		From: canon.Seq(r.Int(2)), To: canon.Seq(r.Int(3)),
		Counts: canon.Counts{uint32(r.Int(4)), uint32(r.Int(5)), uint32(r.Int(6))},
		Name:   r.Text(9), Type: r.Text(10),
		Content: ReadHash(r, 11), Size: int(r.Int(12)), Length: int(r.Int(13)), Fields: r.Bytes(14),
		Trashed: r.Int(15) != 0, Purged: r.Int(16) != 0,
		At: Time(r.Int(17)), By: access.Subject(r.Text(18)), Op: r.Text(19),
		Change: ReadID[uuid.UUID](r, 20), Former: canon.FormerName{Name: r.Text(21)}, Format: canon.TextFormat(r.Int(24)),
		Places: readPlaces(r, 25),
	}, LabelRef{r.Int(7), r.Int(8)}, LabelRef{r.Int(22), r.Int(23)}
}

// QueryVersionsFor runs a query whose columns are Columns.Version, and returns the versions as the
// caller's view may see them.
func (r *Reader) QueryVersionsFor(ctx context.Context, s canon.Visibility, sql string,
	args ...any) ([]canon.Version, error) {
	list, err := r.queryVersions(ctx, s.World, sql, args...)
	for i, v := range list {
		list[i] = v.For(s.View)
	}
	return list, err
}

// queryVersions runs a query whose columns are Columns.Version.
func (r *Reader) queryVersions(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.Version, error) {
	var list []canon.Version
	var labels, formers []LabelRef
	rows := r.Conn.Query(ctx, sql, args...)
	for rows.Next() {
		v, label, former := scanVersion(world, rows)
		list, labels, formers = append(list, v), append(labels, label), append(formers, former)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	if err := r.ResolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l }); err != nil {
		return nil, err
	}
	return list, r.ResolveLabels(ctx, formers, func(i int, l access.Label) {
		if list[i].Former.Name != "" {
			list[i].Former.Label = l
		}
	})
}

// queryLabelled runs a query for rows that have a label. scan returns a row and its label, set sets
// the label.
func queryLabelled[T any](ctx context.Context, r *Reader, scan func(Row) (T, LabelRef),
	set func(*T, access.Label), sql string, args ...any) ([]T, error) {
	var list []T
	var labels []LabelRef
	rows := r.Conn.Query(ctx, sql, args...)
	for rows.Next() {
		one, label := scan(rows)
		list, labels = append(list, one), append(labels, label)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	return list, r.ResolveLabels(ctx, labels, func(i int, l access.Label) { set(&list[i], l) })
}

// queryLinks runs a query whose columns are Columns.Link.
func (r *Reader) queryLinks(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.Link, error) {
	return queryLabelled(ctx, r, func(r Row) (canon.Link, LabelRef) {
		return canon.Link{
			World: world, ID: ReadID[canon.LinkID](r, 0), Since: canon.Seq(r.Int(1)), Until: canon.Seq(r.Int(2)),
			Kind: r.Text(3), From: ReadID[canon.CardID](r, 4), To: ReadID[canon.CardID](r, 5), Attrs: r.Bytes(6),
			At: Time(r.Int(9)),
		}, LabelRef{r.Int(7), r.Int(8)}
	}, func(to *canon.Link, l access.Label) { to.Label = l }, sql, args...)
}

// queryLayers runs a query whose columns are Columns.Layer.
func (r *Reader) queryLayers(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.Layer, error) {
	return queryLabelled(ctx, r, func(r Row) (canon.Layer, LabelRef) {
		return canon.Layer{
			World: world, ID: ReadID[canon.LayerID](r, 0), Since: canon.Seq(r.Int(1)), Until: canon.Seq(r.Int(2)),
			Card: ReadID[canon.CardID](r, 3), Kind: r.Text(4), Text: r.Text(5), FromTick: r.Int(6), ToTick: r.Int(7),
			At: Time(r.Int(10)),
		}, LabelRef{r.Int(8), r.Int(9)}
	}, func(to *canon.Layer, l access.Label) { to.Label = l }, sql, args...)
}

// queryEvents runs a query whose columns are Columns.Event.
func (r *Reader) queryEvents(ctx context.Context, world access.WorldID, sql string,
	args ...any) ([]canon.StoredEvent, error) {
	return queryLabelled(ctx, r, func(r Row) (canon.StoredEvent, LabelRef) {
		return canon.StoredEvent{
			World: world, Seq: canon.Seq(r.Int(0)), ID: ReadID[uuid.UUID](r, 1), At: Time(r.Int(2)),
			By: access.Subject(r.Text(3)), Op: r.Text(4), Type: r.Text(5), Scope: r.Text(6),
			Actor: canon.EventActor{Kind: r.Text(7), ID: r.Text(8)}, Correlation: r.Text(9), Causation: r.Text(10),
			Key: r.Text(11), Version: int(r.Int(12)), Payload: r.Bytes(13),
		}, LabelRef{r.Int(14), r.Int(15)}
	}, func(to *canon.StoredEvent, l access.Label) { to.Label = l }, sql, args...)
}
