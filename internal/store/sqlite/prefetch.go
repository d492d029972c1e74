package sqlite

import (
	"context"
	"fmt"

	"loregate/internal/canon"
)

var _ canon.Prefetcher = (*reader)(nil)

// Prefetch reads several bodies with one statement, which costs less than one each. What else
// will be asked for is at hand.
func (r *reader) Prefetch(ctx context.Context, n canon.Needs) error {
	if len(n.Bodies) < 2 || r.writes != nil {
		return nil
	}
	w, err := r.findWorldNumber(ctx, n.World)
	if err != nil || w == 0 {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.prefetched.bodies = make(map[canon.Hash][]byte, len(n.Bodies))
	return r.c.query(context.Background(), func(row row) error { // of few rows; see point
		r.prefetched.bodies[canon.Hash(row.bytesAt(0))] = bodyAt(row, 1)
		return nil
	}, "SELECT b.hash, b.body FROM json_each(?2) f CROSS JOIN bodies b ON b.w = ?1 AND b.hash = unhex(f.value)", w,
		hexList(len(n.Bodies), func(i int) []byte { return n.Bodies[i][:] }))
}

// prefetched is what a snapshot has read before it is asked for.
type prefetched struct {
	bodies map[canon.Hash][]byte
	cards  []prefetchedCard // few
}

// prefetchedCard holds the columns that were read along with a card.
type prefetchedCard struct {
	visibility canon.Visibility
	card       canon.CardID
	children   int // in sight, up to one more than canon.CountCap
	content    canon.Hash
	body       []byte // nil where it was not read
}

// childrenOf is how many children of a card are in sight.
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

// maxPrefetched is up to how many bytes a body is read before it is asked for: that of a file
// seldom is.
const maxPrefetched = 64 << 10

// prefetchColumns are columns for the body of the card c, NULL where it is large or lies elsewhere
// than its row says, and for the number of its children. One statement costs less than three.
// Most cards have no children, and keys begin with that of the parent: those next to the
// card's own, on a page that was just read, show it.
func (sc scope) prefetchColumns() string {
	return fmt.Sprintf(`CASE WHEN c.size <= %d THEN (SELECT b.body FROM bodies b WHERE b.rowid = c.body AND b.w = ?1 AND b.hash = c.content) END AS "",
		CASE WHEN c.trashed = 0 AND EXISTS (SELECT 1 FROM cards k INDEXED BY cards_living
				WHERE k.w = ?1 AND k.key >= c.key || '+' AND k.key < c.key || ',' AND k.trashed = 0)
			THEN (SELECT count(*) FROM (SELECT 1 FROM cards d INDEXED BY cards_parent
			WHERE d.w = ?1 AND %s AND d.trashed = 0 AND %s LIMIT %d)) ELSE 0 END AS ""`,
		maxPrefetched, parentCond("d", "c.id"), sc.visibleCond("d"), canon.CountCap+1)
}

// noteCard keeps the columns of scope.prefetched.
func (p *prefetched) noteCard(s canon.Visibility, c canon.Card, columns row) {
	known := prefetchedCard{visibility: s, card: c.ID, children: int(columns.intAt(1)), content: c.Content}
	if columns[0] != nil {
		known.body = bodyAt(columns, 0)
	}
	p.cards = append(p.cards, known)
}
