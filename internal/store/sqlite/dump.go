package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// dumpGroup is the number of ids whose rows are read before they are yielded.
const dumpGroup = 256

// searchLine is a line of the table "search". The store keeps only the digest of most indexed
// texts: Stale is set if the card's name and content no longer match it.
type searchLine struct {
	Card  canon.CardID
	Label access.Label
	Name  string
	Text  string
	Stale string `json:",omitempty"`
}

// Dump yields the rows as lines of JSON, sorted. All rows of one id are read together, and ids in
// the order of their lines, so that a world's rows need not fit in memory.
func (r *reader) Dump(ctx context.Context, id access.WorldID, table canon.Table) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		w, err := r.findWorldNumber(ctx, id)
		if err != nil {
			yield("", err)
			return
		}
		d := dumper{r: r, ctx: ctx, id: id, w: w}
		var after []byte
		for {
			rows, last, err := d.readRows(table, after)
			lines := make([]string, 0, len(rows))
			for _, row := range rows {
				b, jerr := json.Marshal(row)
				if err == nil && jerr != nil {
					err = fmt.Errorf("a row of %s: %w", table, jerr)
				}
				lines = append(lines, string(b))
			}
			if err != nil {
				yield("", err)
				return
			}
			slices.Sort(lines)
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
			if last == nil {
				return
			}
			after = last
		}
	}
}

type dumper struct {
	r   *reader
	ctx context.Context // of the Dump call
	id  access.WorldID
	w   int64
}

// readRows reads the rows of the next ids after the given one; last is nil if there are no more.
func (d dumper) readRows(table canon.Table, after []byte) (rows []any, last []byte, err error) {
	switch table {
	case "world":
		w, ok, err := canon.First(d.r.Worlds(d.ctx, canon.WorldQuery{ID: d.id}))
		if ok {
			rows = append(rows, w)
		}
		return rows, nil, err
	case "members":
		list, err := d.r.Members(d.ctx, canon.MemberQuery{World: d.id})
		return toAnys(list), nil, err
	case "cards":
		return readGroup(d, "SELECT DISTINCT id FROM cards", after, "id", func(lo, hi []byte) ([]canon.Card, error) {
			return d.r.queryCards(d.ctx, d.id, "SELECT "+cardColumns+
				" FROM cards c WHERE c.w = ?1 AND c.id >= ?2 AND c.id <= ?3", d.w, lo, hi)
		})
	case "versions":
		return readGroup(d, "SELECT DISTINCT card FROM versions", after, "card",
			func(lo, hi []byte) ([]canon.Version, error) {
				return d.r.queryVersions(d.ctx, d.id, "SELECT "+versionColumns+
					" FROM versions v WHERE v.w = ?1 AND v.card >= ?2 AND v.card <= ?3", d.w, lo, hi)
			})
	case "refs":
		return readGroup(d, "SELECT DISTINCT from_card FROM refs", after, "from_card", d.readRefs)
	case "links":
		return readGroup(d, "SELECT DISTINCT id FROM links", after, "id", d.readLinks)
	case "layers":
		return readGroup(d, "SELECT DISTINCT id FROM layers", after, "id", d.readLayers)
	case "events":
		return readGroup(d, "SELECT DISTINCT id FROM events", after, "id", func(lo, hi []byte) ([]canon.StoredEvent, error) {
			return d.r.queryEvents(d.ctx, d.id, "SELECT "+eventColumns+
				" FROM events v WHERE v.w = ?1 AND v.id >= ?2 AND v.id <= ?3", d.w, lo, hi)
		})
	case "search":
		return readGroup(d, "SELECT card FROM docs", after, "card", d.readDocs)
	}
	return nil, nil, fmt.Errorf("%w: %q", errUnknownTable, table)
}

func toAnys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// readGroup reads the rows of up to dumpGroup ids after the given one.
func readGroup[T any](d dumper, ids string, after []byte, column string,
	read func(lo, hi []byte) ([]T, error)) ([]any, []byte, error) {
	var lo, hi []byte
	n := 0
	if after == nil {
		after = []byte{}
	}
	err := d.r.c.query(d.ctx, func(row row) error {
		if hi = row.bytesAt(0); n == 0 {
			lo = hi
		}
		n++
		return nil
	}, fmt.Sprintf("%s WHERE w = ?1 AND %s > ?2 ORDER BY %[2]s LIMIT %d", ids, column, dumpGroup), d.w, after)
	if err != nil || n == 0 {
		return nil, nil, err
	}
	list, err := read(lo, hi)
	if n < dumpGroup {
		hi = nil
	}
	return toAnys(list), hi, err
}

func (d dumper) readRefs(lo, hi []byte) (list []canon.Ref, err error) {
	err = d.r.c.query(d.ctx, func(row row) error {
		list = append(list, canon.Ref{From: readBlob[canon.CardID](row.bytesAt(0)), Kind: canon.RefKind(row.intAt(1)),
			Target: markup.Key(row.textAt(2)),
			Name:   row.textAt(3), Order: int(row.intAt(4))})
		return nil
	}, "SELECT from_card, kind, target, name, ord FROM refs WHERE w = ?1 AND from_card >= ?2 AND from_card <= ?3",
		d.w, lo, hi)
	return list, err
}

func (d dumper) readLinks(lo, hi []byte) ([]canon.Link, error) {
	return d.r.queryLinks(d.ctx, d.id, "SELECT "+linkColumns+" FROM links l WHERE l.w = ?1 AND l.id >= ?2 AND l.id <= ?3",
		d.w, lo, hi)
}

func (d dumper) readLayers(lo, hi []byte) ([]canon.Layer, error) {
	var list []canon.Layer
	var labels [][2]int64
	err := d.r.c.query(d.ctx, func(row row) error {
		list = append(list, scanLayer(d.id, row))
		labels = append(labels, [2]int64{row.intAt(8), row.intAt(9)})
		return nil
	}, "SELECT "+layerColumns+" FROM layers l WHERE l.w = ?1 AND l.id >= ?2 AND l.id <= ?3", d.w, lo, hi)
	for i := 0; i < len(list) && err == nil; i++ {
		list[i].Label, err = d.r.resolveLabel(d.ctx, labels[i][0], labels[i][1])
	}
	return list, err
}

func (d dumper) readDocs(lo, hi []byte) ([]searchLine, error) {
	type kept struct {
		level, label int64
		id           canon.CardID
		sum          []byte
	}
	var found []kept
	if err := d.r.c.query(d.ctx, func(row row) error {
		found = append(found, kept{row.intAt(1), row.intAt(2), readBlob[canon.CardID](row.bytesAt(0)), row.bytesAt(3)})
		return nil
	}, "SELECT card, level, label, sum FROM docs WHERE w = ?1 AND card >= ?2 AND card <= ?3 AND sum IS NOT NULL", d.w, lo,
		hi); err != nil {
		return nil, err
	}
	list := make([]searchLine, len(found))
	for i, k := range found {
		label, err := d.r.resolveLabel(d.ctx, k.level, k.label)
		if err != nil {
			return nil, err
		}
		c, _, err := canon.First(d.r.queryCards(d.ctx, d.id, "SELECT "+cardColumns+
			" FROM cards c WHERE c.w = ?1 AND c.id = ?2", d.w, k.id[:]))
		if err != nil {
			return nil, err
		}
		c.World, c.ID = d.id, k.id
		doc, same, err := d.r.readDocument(d.ctx, d.w, k.sum, c)
		if err != nil {
			return nil, err
		}
		list[i] = searchLine{Card: k.id, Label: label, Name: doc.Name, Text: doc.Text}
		if !same {
			list[i].Stale = readBlob[canon.Hash](k.sum).String()
		}
	}
	return list, nil
}
