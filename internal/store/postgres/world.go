package postgres

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Worlds returns worlds by slug.
func (r *reader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	if w, ok := r.prefetched.worlds[q.ID]; ok {
		return []canon.World{w}, nil
	}
	list, err := r.Reader.Worlds(ctx, q)
	if r.Writes() && !q.ID.IsZero() && len(list) == 1 && err == nil { // nobody else changes it until the transaction ends
		put(&r.prefetched.worlds, q.ID, list[0])
	}
	return list, err
}

// Repeat finds the use of an account's idempotency key.
func (r *reader) Repeat(ctx context.Context, account, key string) (canon.Repeat, bool, error) {
	if p, known := r.prefetched.repeats[repeatRef{account, key}]; known {
		if p == nil {
			return canon.Repeat{}, false, nil
		}
		return *p, true, nil
	}
	return r.Reader.Repeat(ctx, account, key)
}

// Body returns stored bytes.
func (r *reader) Body(ctx context.Context, w access.WorldID, h canon.Hash) (b []byte, found bool, err error) {
	n, err := r.WorldNumber(ctx, w)
	if err != nil || n == 0 {
		return nil, false, err
	}
	if b, ok := r.prefetched.bodies[bodyRef{n, h}]; ok {
		return slices.Clone(b), b != nil, nil
	}
	rows := r.c.Query(ctx, "SELECT body FROM bodies WHERE w = $1 AND hash = $2", n, h[:])
	if found = rows.Next(); found {
		b = rows.Bytes(0)
	}
	return b, found, rows.Close()
}

// PutWorld writes a world's row.
func (t *tx) PutWorld(ctx context.Context, d canon.World) error {
	delete(t.prefetched.worlds, d.ID)
	return t.Tx.PutWorld(ctx, d)
}

// PutRepeat stores a used key.
func (t *tx) PutRepeat(ctx context.Context, p canon.Repeat) error {
	delete(t.prefetched.repeats, repeatRef{p.Account, p.Key})
	return t.Tx.PutRepeat(ctx, p)
}

// PutBody stores bytes under their hash.
func (t *tx) PutBody(ctx context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	n, err := t.EnsureWorld(ctx, w)
	if err != nil {
		return err
	}
	delete(t.prefetched.bodies, bodyRef{n, h})
	return t.Tx.PutBody(ctx, w, h, b)
}

// EraseBody removes bytes.
func (t *tx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	n, err := t.WorldNumber(ctx, w)
	if err == nil && n != 0 {
		delete(t.prefetched.bodies, bodyRef{n, h})
		t.c.enqueue("DELETE FROM bodies WHERE w = $1 AND hash = $2", n, h[:])
		t.scrubIndex(w, n)
	}
	return err
}
