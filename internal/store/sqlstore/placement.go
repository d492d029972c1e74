package sqlstore

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// Placement is the database of a world. A world without one is in the home database.
type Placement struct {
	World    access.WorldID
	Slug     string // that is reserved for the world
	Database string // "" for the home database
	Version  int64  // grows with each move
	Created  time.Time
}

// FenceState is the reason why a database does not serve a world, or takes no writes to it.
type FenceState int64

// The states. Zero means that there is no fence.
const (
	Arriving FenceState = 1 // the world is being copied here
	Frozen   FenceState = 2 // its last commits are being copied: it is read, but not written until Fence.Until
	Moved    FenceState = 3 // another database serves it
)

// Fence is a row of a database about a world that moves or has moved.
type Fence struct {
	State    FenceState
	Database string // the other database of the move; "" for the home database
	Version  int64  // the version that the placement has after the move
	Until    time.Time
}

// readPlacement reads the columns world, slug, database, version and created.
func readPlacement(r Row) (Placement, error) {
	return Placement{World: ReadID[access.WorldID](r, 0), Slug: r.Text(1), Database: r.Text(2), Version: r.Int(3),
		Created: Time(r.Int(4))}, nil
}

const selectPlacements = "SELECT world, slug, database, version, created FROM placements "

// Placements returns the placements of all worlds, by world.
func (s *Service) Placements(ctx context.Context) (list []Placement, err error) {
	err = s.db.Snapshot(ctx, func(c Conn) (err error) {
		list, err = queryAll(ctx, c, readPlacement, selectPlacements+"ORDER BY world")
		return err
	})
	return list, err
}

// Placement returns the placement of a world.
func (s *Service) Placement(ctx context.Context, w access.WorldID) (Placement, bool, error) {
	return findOne(ctx, s.db, readPlacement, selectPlacements+"WHERE world = $1", w[:])
}

// Place stores the placement of a world that has none. If another world has the slug, it stores
// nothing and returns the id of that world.
func (s *Service) Place(ctx context.Context, p Placement) (holder access.WorldID, err error) {
	err = s.db.Change(ctx, func(c Conn) error {
		holder = access.WorldID{}
		for _, sql := range []string{"SELECT world FROM placements WHERE slug = $1",
			"SELECT i.id FROM worlds d JOIN world_ids i ON i.w = d.w WHERE d.slug = $1"} {
			found, err := One(ctx, c, func(r Row) error { holder = ReadID[access.WorldID](r, 0); return nil }, sql, p.Slug)
			if err != nil || found && holder != p.World {
				return err
			}
		}
		holder = access.WorldID{}
		_, err := c.Exec(ctx, `INSERT INTO placements (world, slug, database, version, created) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (world) DO NOTHING`, p.World[:], p.Slug, p.Database, p.Version, Millis(p.Created))
		return err
	})
	return holder, err
}

// Unplace removes the placement of a world that does not exist.
func (s *Service) Unplace(ctx context.Context, p Placement) error {
	return s.db.Change(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, "DELETE FROM placements WHERE world = $1 AND version = $2 AND created = $3", p.World[:],
			p.Version, Millis(p.Created))
		return err
	})
}

// SwitchPlacement sets the database of a world, unless its placement has that version or a later one.
func (s *Service) SwitchPlacement(ctx context.Context, w access.WorldID, database string, version int64) error {
	return s.db.Change(ctx, func(c Conn) error {
		_, err := c.Exec(ctx, "UPDATE placements SET database = $2, version = $3 WHERE world = $1 AND version < $3", w[:],
			database, version)
		return err
	})
}

// Fence returns the fence of a world.
func (r *Reader) Fence(ctx context.Context, w access.WorldID) (f Fence, err error) {
	_, err = One(ctx, r.Conn, func(r Row) error {
		f = Fence{State: FenceState(r.Int(0)), Database: r.Text(1), Version: r.Int(2), Until: Time(r.Int(3))}
		return nil
	}, "SELECT state, database, version, until FROM fences WHERE world = $1", w[:])
	return f, err
}

// RepeatsBetween returns the used idempotency keys of a stream's commits from one number to another.
func (r *Reader) RepeatsBetween(ctx context.Context, s canon.StreamID, from, to canon.Seq) ([]canon.Repeat, error) {
	return queryAll(ctx, r.Conn, func(r Row) (canon.Repeat, error) {
		return canon.Repeat{Account: r.Text(0), Key: r.Text(1), InputHash: ReadHash(r, 2), Stream: s,
			Seq: canon.Seq(r.Int(3)), Expires: Time(r.Int(4))}, nil
	}, "SELECT account, key, input, seq, expires FROM repeats WHERE stream = $1 AND seq >= $2 AND seq <= $3 "+
		"ORDER BY account, key", string(s), uint64(from), uint64(to))
}

// PutFence writes the fence of a world. The zero Fence removes it.
func (t Tx) PutFence(ctx context.Context, w access.WorldID, f Fence) error {
	if f == (Fence{}) {
		return t.r.Conn.Put(ctx, "DELETE FROM fences WHERE world = $1", w[:])
	}
	return t.r.Conn.Put(ctx, `INSERT INTO fences (world, state, database, version, until) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (world) DO UPDATE SET state = $2, database = $3, version = $4, until = $5`, w[:], int64(f.State),
		f.Database, f.Version, Millis(f.Until))
}
