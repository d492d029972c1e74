package sqlite

import (
	"context"
	"fmt"

	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

var _ canon.Prefetcher = (*reader)(nil)

// Prefetch reads several bodies with one statement, which costs less than one statement each. It
// ignores the other needs: they are cheap to read when asked for.
func (r *reader) Prefetch(ctx context.Context, n canon.Needs) error {
	if len(n.Bodies) < 2 || r.Writes() {
		return nil
	}
	w, err := r.WorldNumber(ctx, n.World)
	if err != nil || w == 0 {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.prefetched.bodies = make(map[canon.Hash][]byte, len(n.Bodies))
	return sqlstore.Each(context.Background(), r.c, func(row sqlstore.Row) error { // reads few rows; see resolvePointScope
		r.prefetched.bodies[canon.Hash(row.Bytes(0))] = bodyAt(row, 1)
		return nil
	}, "SELECT b.hash, b.body FROM json_each($2) f CROSS JOIN bodies b ON b.w = $1 AND b.hash = unhex(f.value)", w,
		hexList(len(n.Bodies), func(i int) []byte { return n.Bodies[i][:] }))
}

// prefetched holds data that a snapshot has read ahead.
type prefetched struct {
	bodies map[canon.Hash][]byte
	cards  []prefetchedCard // few
}

// prefetchedCard holds the columns that were read along with a card.
type prefetchedCard struct {
	visibility canon.Visibility
	card       canon.CardID
	children   int // visible ones, up to one more than canon.CountCap
	content    canon.Hash
	body       []byte // nil if it was not read
}

// childrenOf returns how many children of a card are visible, if that was prefetched.
func (p *prefetched) childrenOf(s canon.Visibility, id canon.CardID) (n int, known bool) {
	for i := range p.cards {
		if c := &p.cards[i]; c.card == id && c.visibility == s {
			return c.children, true
		}
	}
	return 0, false
}

func (p *prefetched) findBody(h canon.Hash) (b []byte, known bool) {
	for i := range p.cards {
		if c := &p.cards[i]; c.content == h && c.body != nil {
			return c.body, true
		}
	}
	b, known = p.bodies[h]
	return b, known
}

// maxPrefetched is the largest body, in bytes, that is prefetched. Larger ones belong to files and
// are seldom read.
const maxPrefetched = 64 << 10

// prefetchColumns returns columns for the body of card c, NULL if it is large or not in the row
// that the card's row names, and for the number of its children. One statement costs less than
// three. Most cards have no children, and a child's key begins with its parent's key: the keys next
// to the card's own, on an index page that was just read, show whether there are any.
func prefetchColumns(sc *sqlstore.Scope) string {
	return fmt.Sprintf(`CASE WHEN c.size <= %d THEN (SELECT b.body FROM bodies b WHERE b.rowid = c.body AND b.w = $1 AND b.hash = c.content) END AS "",
		CASE WHEN c.trashed = 0 AND EXISTS (SELECT 1 FROM cards k INDEXED BY cards_living
				WHERE k.w = $1 AND k.key >= c.key || '+' AND k.key < c.key || ',' AND k.trashed = 0)
			THEN (SELECT count(*) FROM (SELECT 1 FROM cards d INDEXED BY cards_parent
			WHERE d.w = $1 AND %s AND d.trashed = 0 AND %s LIMIT %d)) ELSE 0 END AS ""`,
		maxPrefetched, parentCond("d", "c.id"), sc.Visible("d"), canon.CountCap+1)
}

// noteCard stores the values of prefetchColumns.
func (p *prefetched) noteCard(s canon.Visibility, c canon.Card, columns sqlstore.Row) {
	known := prefetchedCard{visibility: s, card: c.ID, children: int(columns.Int(sqlstore.CardWidth + 1)), content: c.Content}
	if columns.Raw(sqlstore.CardWidth) != nil {
		known.body = columns.Bytes(sqlstore.CardWidth)
	}
	p.cards = append(p.cards, known)
}
