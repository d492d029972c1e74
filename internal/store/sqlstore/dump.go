package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/slicesx"
)

// dumpGroup is the number of ids whose rows are read before they are yielded.
const dumpGroup = 256

// SearchLine is a line of the table "search". Stale is set if a store keeps only the digest of an
// indexed text and the card's name and content no longer match it.
type SearchLine struct {
	Card  canon.CardID
	Label access.Label
	Name  string
	Text  string
	Stale string `json:",omitempty"`
}

// Docs reads the lines of the table "search" for the cards with ids from lo to hi.
type Docs func(ctx context.Context, w int64, lo, hi []byte) ([]SearchLine, error)

// DumpTable yields the rows of a table as lines of JSON, sorted. All rows of one id are read
// together, and ids in the order of their lines, so that a world's rows need not fit in memory.
func (r *Reader) DumpTable(ctx context.Context, id access.WorldID, table canon.Table,
	docs Docs) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		w, err := r.WorldNumber(ctx, id)
		if err != nil {
			yield("", err)
			return
		}
		d := dumper{r: r, ctx: ctx, id: id, w: w, docs: docs}
		for after, more := make([]byte, 16), true; more; { // no row has the zero id
			var lines []string
			if lines, after, err = d.readLines(table, after); err != nil {
				yield("", err)
				return
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return
				}
			}
			more = after != nil
		}
	}
}

type dumper struct {
	r    *Reader
	ctx  context.Context // of the Dump call
	id   access.WorldID
	w    int64
	docs Docs
}

// readLines returns the sorted lines of the next ids after the given one; last is nil if there are
// no more.
func (d dumper) readLines(table canon.Table, after []byte) (lines []string, last []byte, err error) {
	rows, last, err := d.readRows(table, after)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		b, err := json.Marshal(row)
		if err != nil {
			return nil, nil, fmt.Errorf("a row of %s: %w", table, err)
		}
		lines = append(lines, string(b))
	}
	slices.Sort(lines)
	return lines, last, nil
}

// readRows reads the rows of the next ids after the given one; last is nil if there are no more.
func (d dumper) readRows(table canon.Table, after []byte) (rows []any, last []byte, err error) {
	columns := &d.r.Dialect.Columns
	switch table {
	case "world":
		list, err := d.r.Worlds(d.ctx, canon.WorldQuery{ID: d.id})
		return toAnys(list), nil, err
	case "members":
		list, err := d.r.Members(d.ctx, canon.MemberQuery{World: d.id})
		return toAnys(list), nil, err
	case "cards":
		return readGroup(d, "cards c", "c.id", after, columns.Card, d.r.QueryCards)
	case "versions":
		return readGroup(d, "versions v", "v.card", after, columns.Version, d.r.queryVersions)
	case "refs":
		return readGroup(d, "refs", "from_card", after, "from_card, kind, target, name, ord", d.r.queryRefs)
	case "links":
		return readGroup(d, "links l", "l.id", after, columns.Link, d.r.queryLinks)
	case "layers":
		return readGroup(d, "layers l", "l.id", after, columns.Layer, d.r.queryLayers)
	case "events":
		return readGroup(d, "events v", "v.id", after, columns.Event, d.r.queryEvents)
	case "search":
		lo, hi, last, err := d.readRange("docs", "card", after)
		if err != nil || lo == nil {
			return nil, nil, err
		}
		list, err := d.docs(d.ctx, d.w, lo, hi)
		return toAnys(list), last, err
	}
	return nil, nil, fmt.Errorf("%s: there is no table %q to dump", d.r.Dialect.Name, table)
}

func toAnys[T any](list []T) []any {
	return slicesx.Map(list, func(v T) any { return v })
}

// readRange returns the first and the last of the next up to dumpGroup ids after the given one, nil
// if there are none, and where to go on; nil if there are no more.
func (d dumper) readRange(table, column string, after []byte) (lo, hi, last []byte, err error) {
	n := 0
	rows := d.r.Conn.Query(d.ctx, fmt.Sprintf(
		"SELECT DISTINCT %[1]s FROM %s WHERE w = $1 AND %[1]s > $2 ORDER BY %[1]s LIMIT %[3]d", column, table, dumpGroup),
		d.w, after)
	for rows.Next() {
		if hi = rows.Bytes(0); n == 0 {
			lo = hi
		}
		n++
	}
	if n == dumpGroup {
		last = hi
	}
	return lo, hi, last, rows.Close()
}

// readGroup reads the rows of the next ids after the given one.
func readGroup[T any](d dumper, table, column string, after []byte, columns string,
	query func(context.Context, access.WorldID, string, ...any) ([]T, error)) ([]any, []byte, error) {
	lo, hi, last, err := d.readRange(table, column, after)
	if err != nil || lo == nil {
		return nil, nil, err
	}
	list, err := query(d.ctx, d.id, fmt.Sprintf("SELECT %s FROM %s WHERE w = $1 AND %s BETWEEN $2 AND $3", columns, table,
		column), d.w, lo, hi)
	return toAnys(list), last, err
}

// queryRefs runs a query for the source, kind, target, name and order of references.
func (r *Reader) queryRefs(ctx context.Context, _ access.WorldID, sql string, args ...any) ([]canon.Ref, error) {
	return queryAll(ctx, r.Conn, func(r Row) (canon.Ref, error) {
		return scanRef(ReadID[canon.CardID](r, 0), r, 1), nil
	}, sql, args...)
}
