package sqlite

import (
	"context"

	"loregate/internal/canon"
)

var _ canon.Foreseer = (*reader)(nil)

// Foresee reads several bodies with one statement, which costs less than one each. What else
// will be asked for is at hand.
func (r *reader) Foresee(ctx context.Context, n canon.Needs) error {
	if len(n.Bodies) < 2 || r.writes != nil {
		return nil
	}
	w, err := r.world(ctx, n.World)
	if err != nil || w == 0 {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.bodies = make(map[canon.Hash][]byte, len(n.Bodies))
	return r.c.query(context.Background(), func(row row) error { // of few rows; see point
		r.bodies[canon.Hash(row.bytes(0))] = bodyAt(row, 1)
		return nil
	}, "SELECT b.hash, b.body FROM json_each(?2) f CROSS JOIN bodies b ON b.w = ?1 AND b.hash = unhex(f.value)", w,
		hexList(len(n.Bodies), func(i int) []byte { return n.Bodies[i][:] }))
}
