package postgres

import (
	"context"
	"iter"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// Dump yields the rows of a table as sorted lines of JSON.
func (r *reader) Dump(ctx context.Context, id access.WorldID, table canon.Table) iter.Seq2[string, error] {
	return r.DumpTable(ctx, id, table, r.readDocs)
}

// readDocs reads lines of the table "search".
func (r *reader) readDocs(ctx context.Context, w int64, lo, hi []byte) (list []sqlstore.SearchLine, err error) {
	var labels []sqlstore.LabelRef
	rows := r.c.Query(ctx,
		"SELECT card, level, label, name, body FROM docs WHERE w = $1 AND name IS NOT NULL AND card BETWEEN $2 AND $3", w,
		lo, hi)
	for rows.Next() {
		list = append(list, sqlstore.SearchLine{Card: sqlstore.ReadID[canon.CardID](rows, 0), Name: rows.Text(3),
			Text: rows.Text(4)})
		labels = append(labels, sqlstore.LabelRef{Level: rows.Int(1), Label: rows.Int(2)})
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	return list, r.ResolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}
