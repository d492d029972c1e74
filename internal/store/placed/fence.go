package placed

import (
	"context"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
	"loregate/internal/wait"
)

// fenced is returned inside a snapshot or transaction of a database that does not serve a world.
type fenced struct {
	world access.WorldID
	at    *member
	fence sqlstore.Fence
}

func (f *fenced) Error() string { return "placed: the world moves or has moved" }

const (
	// fencePoll is the time between looks at a world that is moving.
	fencePoll = 10 * time.Millisecond
	// fenceWait is the time that a call waits for a world that is moving.
	fenceWait = 3 * time.Second
)

// errMoving is returned for a world that moves for longer than fenceWait.
var errMoving = &fault.Error{Kind: fault.Unavailable, RetryAfter: time.Second,
	Message: "the world is being moved; try again"}

// checkFence returns a *fenced error if a database does not serve a world, or for a write, if it is frozen.
func (s *Store) checkFence(ctx context.Context, r canon.Reader, m *member, w access.WorldID, write bool) error {
	fr, ok := r.(fencedReader)
	if !ok {
		return errors.New("placed: the database has no fences")
	}
	f, err := fr.Fence(ctx, w)
	switch {
	case err != nil:
		return err
	case f.State == 0, f.State == sqlstore.Frozen && (!write || s.cfg.Now().After(f.Until)):
		return nil
	}
	return &fenced{w, m, f}
}

// passFences runs f, and again while it returns *fenced errors, after the world was looked up anew.
func (s *Store) passFences(ctx context.Context, f func() error) error {
	for end := time.Now().Add(fenceWait); ; {
		err := f()
		found, ok := errors.AsType[*fenced](err)
		if !ok {
			return err
		}
		if time.Now().After(end) {
			return errMoving
		}
		if found.fence.State == sqlstore.Moved {
			err = s.finishMove(ctx, found.world, found.at, found.fence)
		} else if wait.For(ctx, fencePoll) {
			err = s.refreshPlacement(ctx, found.world)
		} else {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// finishMove opens the database that a world has moved to and switches its placement, in case that the
// process that moved the world was killed in between. It may run at any time after the move.
func (s *Store) finishMove(ctx context.Context, w access.WorldID, from *member, f sqlstore.Fence) error {
	to := s.memberNamed(f.Database)
	if to == nil {
		return fault.New(fault.Unavailable, "some worlds are not served; ask the operator to look at the settings").
			Because(errors.New("a world has moved to the database " + f.Database + ", which the setting databases does not name"))
	}
	if err := s.refreshPlacement(ctx, w); err != nil {
		return err
	}
	if p, ok := s.placement(w); ok && p.Version >= f.Version {
		return nil
	}
	db, err := s.opened(ctx, to)
	if err != nil {
		return err
	}
	err = db.Write(ctx, func(tx canon.Tx) error {
		there, err := tx.(fencedReader).Fence(ctx, w)
		if err != nil || there.State != sqlstore.Arriving || there.Version != f.Version || there.Database != from.name {
			return err
		}
		return tx.(fencedTx).PutFence(ctx, w, sqlstore.Fence{})
	})
	if err = s.noteResult(ctx, to, err); err != nil {
		return err
	}
	if err := s.cfg.Home.SwitchPlacement(ctx, w, to.name, f.Version); err != nil {
		return err
	}
	return s.refreshPlacement(ctx, w)
}
