package sqlite

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// Worlds returns worlds by slug.
func (r *reader) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	if !q.ID.IsZero() {
		return r.cachedWorld(ctx, q.ID)
	}
	return r.Reader.Worlds(ctx, q)
}

// cachedWorld returns the world with an id from the connection's cache. Every call needs it.
func (r *reader) cachedWorld(ctx context.Context, id access.WorldID) ([]canon.World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !r.Writes() { // Begin refreshes the cache of a write transaction
		if err := r.c.worlds.refresh(r.c); err != nil {
			return nil, err
		}
	}
	if list, ok := r.c.worlds.rows[id]; ok {
		return list, nil
	}
	list, err := r.Reader.Worlds(context.Background(), canon.WorldQuery{ID: id})
	if err == nil && len(list) > 0 {
		r.c.worlds.rows[id] = list
	}
	return list, err
}

// worldCache caches the rows of worlds that a connection has read, until another connection writes
// to the file. A write or rollback on this connection clears it.
type worldCache struct {
	version int64                            // data_version of the file as this connection sees it
	rows    map[access.WorldID][]canon.World // lists of one world
}

// refresh drops the cached rows if the file has changed.
func (k *worldCache) refresh(c *conn) error {
	v, err := sqlstore.QueryInt(context.Background(), c, "PRAGMA data_version")
	if err == nil && (v != k.version || k.rows == nil) {
		k.version, k.rows = v, map[access.WorldID][]canon.World{}
	}
	return err
}

func (k *worldCache) forgetRows() { clear(k.rows) }

// Body returns stored bytes.
func (r *reader) Body(ctx context.Context, w access.WorldID, h canon.Hash) (b []byte, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if b, ok := r.prefetched.findBody(h); ok {
		return b, true, nil
	}
	n, err := r.WorldNumber(ctx, w)
	if err != nil || n == 0 {
		return nil, false, err
	}
	rows := r.c.Query(context.Background(), "SELECT body FROM bodies WHERE w = $1 AND hash = $2", n, h[:])
	if found = rows.Next(); found {
		b = bodyAt(rows, 0)
	}
	return b, found, rows.Close()
}

// bodyAt returns the body in a column. An empty body is not nil.
func bodyAt(r sqlstore.Row, column int) []byte {
	if b := r.Bytes(column); b != nil {
		return b
	}
	return []byte{}
}

// PutWorld writes a world's row.
func (t *tx) PutWorld(ctx context.Context, d canon.World) error {
	defer t.c.worlds.forgetRows()
	return t.Tx.PutWorld(ctx, d)
}

// EraseBody removes bytes. The indexed texts that are derived from them are stored first.
func (t *tx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	n, err := t.WorldNumber(ctx, w)
	if err != nil || n == 0 {
		return err
	}
	if err := t.storeTextsOfBody(ctx, w, n, h); err != nil {
		return err
	}
	if _, err := t.c.Exec(ctx, "DELETE FROM bodies WHERE w = $1 AND hash = $2", n, h[:]); err != nil {
		return err
	}
	return t.scrubIndex(ctx, w, n)
}
