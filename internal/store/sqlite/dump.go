package sqlite

import (
	"context"
	"iter"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// Dump yields the rows of a table as sorted lines of JSON.
func (r *reader) Dump(ctx context.Context, id access.WorldID, table canon.Table) iter.Seq2[string, error] {
	return r.DumpTable(ctx, id, table, func(ctx context.Context, w int64, lo, hi []byte) ([]sqlstore.SearchLine, error) {
		return r.readDocs(ctx, sqlstore.Source{ID: id, W: w}, lo, hi)
	})
}

// readDocs reads lines of the table "search". The store keeps only the digest of most indexed
// texts.
func (r *reader) readDocs(ctx context.Context, of sqlstore.Source, lo, hi []byte) ([]sqlstore.SearchLine, error) {
	var list []sqlstore.SearchLine
	var labels []sqlstore.LabelRef
	var sums [][]byte
	rows := r.c.Query(ctx,
		"SELECT card, level, label, sum FROM docs WHERE w = $1 AND card >= $2 AND card <= $3 AND sum IS NOT NULL",
		of.W, lo, hi)
	for rows.Next() {
		list = append(list, sqlstore.SearchLine{Card: sqlstore.ReadID[canon.CardID](rows, 0)})
		labels = append(labels, sqlstore.LabelRef{Level: rows.Int(1), Label: rows.Int(2)})
		sums = append(sums, rows.Bytes(3))
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	for i := range list {
		line := &list[i]
		c, _, err := canon.First(r.QueryCards(ctx, of.ID, "SELECT "+dialect.Columns.Card+
			" FROM cards c WHERE c.w = $1 AND c.id = $2", of.W, line.Card[:]))
		if err != nil {
			return nil, err
		}
		c.World, c.ID = of.ID, line.Card
		doc, same, err := r.readDocument(ctx, of.W, sums[i], c)
		if err != nil {
			return nil, err
		}
		line.Name, line.Text = doc.Name, doc.Text
		if !same {
			line.Stale = canon.Hash(sums[i]).String()
		}
	}
	return list, r.ResolveLabels(ctx, labels, func(i int, l access.Label) { list[i].Label = l })
}
