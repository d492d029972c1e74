package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// textTable is a full-text table: its name and its columns beside rowid.
type textTable struct{ name, columns string }

func (p partition) textTable() textTable  { return textTable{p.text(), "name, body"} }
func (p partition) nameTable() textTable  { return textTable{p.names(), "name"} }
func (p partition) tokenTable() textTable { return textTable{p.tokens(), "token"} }

// textWrite puts a row into a full-text table, or with no texts takes one out. A row is
// taken out before another is put in its place.
type textWrite struct {
	table textTable
	row   int64
	texts []any
}

// atOnce are how many rows one statement may write. Before each statement FTS5 writes out
// what those before it left in memory, which for a card of usual size costs more than all
// the rest; other sizes would be more statements to keep prepared.
var atOnce = [...]int{64, 8, 1}

// writeTexts does writes to full-text tables: of what one row goes through only the end,
// and the rows of a table in their order, as FTS5 likes them.
func writeTexts(ctx context.Context, c *conn, list []textWrite) error {
	out, in := settled(list)
	for _, rows := range [][]textWrite{out, in} {
		for len(rows) > 0 {
			n := 1
			for n < len(rows) && rows[n].table == rows[0].table {
				n++
			}
			for _, size := range atOnce {
				for ; n >= size; n -= size {
					if err := writeRows(ctx, c, rows[:size]); err != nil {
						return err
					}
					rows = rows[size:]
				}
			}
		}
	}
	return nil
}

// settled gives the rows that are to be taken out of what is there, and those that are in
// at the end, by table and row.
func settled(list []textWrite) (out, in []textWrite) {
	type place struct {
		table textTable
		row   int64
	}
	last := make(map[place]int, len(list))
	for i, w := range list {
		at := place{w.table, w.row}
		_, fresh := last[at]
		switch {
		case len(w.texts) > 0:
			last[at] = i
		case fresh:
			delete(last, at)
		default:
			out = append(out, w)
		}
	}
	for i, w := range list {
		if at, there := last[place{w.table, w.row}]; there && at == i {
			in = append(in, w)
		}
	}
	order := func(a, b textWrite) int {
		return cmp.Or(cmp.Compare(a.table.name, b.table.name), cmp.Compare(a.row, b.row))
	}
	slices.SortFunc(out, order)
	slices.SortFunc(in, order)
	return out, in
}

// writeRows writes rows of one table by one statement.
func writeRows(ctx context.Context, c *conn, rows []textWrite) error {
	table, width := rows[0].table, 1+len(rows[0].texts)
	args := make([]any, 0, len(rows)*width)
	for _, w := range rows {
		args = append(append(args, w.row), w.texts...)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", width), ", ")
	sql := "DELETE FROM " + table.name + " WHERE rowid IN (" + repeated(marks, len(rows)) + ")"
	if width > 1 {
		sql = "INSERT INTO " + table.name + " (rowid, " + table.columns + ") VALUES " + repeated("("+marks+")", len(rows))
	}
	_, err := c.exec(ctx, sql, args...)
	return err
}

func repeated(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+", ", n), ", ") }
