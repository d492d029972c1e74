package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// dumpGroup is the number of ids whose rows are read before they are yielded.
const dumpGroup = 256

// errUnknownTable is returned by Dump for a name that is not in canon.Tables.
var errUnknownTable = errors.New("postgres: there is no such table to dump")

// searchLine is a line of the table "search".
type searchLine struct {
	Card  canon.CardID
	Label access.Label
	Name  string
	Text  string
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
		for after := ([16]byte{}); ; {
			lines, last, more, err := d.readLines(table, after)
			if err != nil {
				yield("", err)
				return
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
			if !more {
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

// readLines returns the lines of the next ids after the given one, and whether there may be more.
func (d dumper) readLines(table canon.Table, after [16]byte) (lines []string, last [16]byte, more bool, err error) {
	rows, last, more, err := d.readRows(table, after)
	for _, row := range rows {
		b, jerr := json.Marshal(row)
		if err == nil && jerr != nil {
			err = fmt.Errorf("a row of %s: %w", table, jerr)
		}
		lines = append(lines, string(b))
	}
	slices.Sort(lines)
	return lines, last, more, err
}

func (d dumper) readRows(table canon.Table, after [16]byte) (rows []any, last [16]byte, more bool, err error) {
	switch table {
	case "world":
		w, ok, err := canon.First(d.r.Worlds(d.ctx, canon.WorldQuery{ID: d.id}))
		if ok {
			rows = append(rows, w)
		}
		return rows, last, false, err
	case "members":
		list, err := d.r.Members(d.ctx, canon.MemberQuery{World: d.id})
		return toAnys(list), last, false, err
	case "cards":
		return readGroup(d, "cards", "id", after, func(in string, args ...any) ([]canon.Card, error) {
			return d.r.queryCards(d.ctx, d.id, "SELECT "+cardColumns+" FROM cards c WHERE c.w = $1 AND c.id "+in, args...)
		})
	case "versions":
		return readGroup(d, "versions", "card", after, func(in string, args ...any) ([]canon.Version, error) {
			return d.r.queryVersions(d.ctx, d.id, "SELECT "+versionColumns+" FROM versions v WHERE v.w = $1 AND v.card "+in,
				args...)
		})
	case "refs":
		return readGroup(d, "refs", "from_card", after, d.readRefs)
	case "links":
		return readGroup(d, "links", "id", after, func(in string, args ...any) ([]canon.Link, error) {
			return d.r.queryLinks(d.ctx, d.id, "SELECT "+linkColumns+" FROM links l WHERE l.w = $1 AND l.id "+in, args...)
		})
	case "layers":
		return readGroup(d, "layers", "id", after, func(in string, args ...any) ([]canon.Layer, error) {
			return d.r.queryLayers(d.ctx, d.id, "SELECT "+layerColumns+" FROM layers l WHERE l.w = $1 AND l.id "+in, args...)
		})
	case "events":
		return readGroup(d, "events", "id", after, func(in string, args ...any) ([]canon.StoredEvent, error) {
			return d.r.queryEvents(d.ctx, d.id, "SELECT "+eventColumns+" FROM events v WHERE v.w = $1 AND v.id "+in, args...)
		})
	case "search":
		return readGroup(d, "docs", "card", after, d.readDocs)
	}
	return nil, last, false, fmt.Errorf("%w: %q", errUnknownTable, table)
}

func toAnys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// readGroup reads the rows of up to dumpGroup ids after the given one. No row has the zero id.
func readGroup[T any](d dumper, table, column string, after [16]byte,
	read func(in string, args ...any) ([]T, error)) ([]any, [16]byte, bool, error) {
	var ids [][16]byte
	err := d.r.c.query(d.ctx, func(r row) error { ids = append(ids, readID[[16]byte](r[0])); return nil },
		fmt.Sprintf("SELECT DISTINCT %[1]s FROM %s WHERE w = $1 AND %[1]s > $2 ORDER BY %[1]s LIMIT %[3]d", column, table,
			dumpGroup), d.w, after)
	if err != nil || len(ids) == 0 {
		return nil, after, false, err
	}
	last := ids[len(ids)-1]
	list, err := read("BETWEEN $2 AND $3", d.w, ids[0], last)
	return toAnys(list), last, len(ids) == dumpGroup, err
}

func (d dumper) readRefs(in string, args ...any) (list []canon.Ref, err error) {
	err = d.r.c.query(d.ctx, func(r row) error {
		list = append(list, canon.Ref{From: readID[canon.CardID](r[0]), Kind: canon.RefKind(r.intAt(1)),
			Target: markup.Key(r.textAt(2)), Name: r.textAt(3), Order: int(r.intAt(4))})
		return nil
	}, "SELECT from_card, kind, target, name, ord FROM refs WHERE w = $1 AND from_card "+in, args...)
	return list, err
}

func (d dumper) readDocs(in string, args ...any) (list []searchLine, err error) {
	var labels []labelRef
	err = d.r.c.query(d.ctx, func(r row) error {
		list = append(list, searchLine{Card: readID[canon.CardID](r[0]), Name: r.textAt(3), Text: r.textAt(4)})
		labels = append(labels, labelRef{r.intAt(1), r.intAt(2)})
		return nil
	}, "SELECT card, level, label, name, body FROM docs WHERE w = $1 AND name IS NOT NULL AND card "+in, args...)
	if err != nil {
		return nil, err
	}
	return list, d.r.resolveLabels(d.ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}
