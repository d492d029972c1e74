package canon

import (
	"context"
	"strings"
	"time"

	"loregate/internal/access"
)

// unfinishedMark begins the slug of an unfinished world, one that is being forked. Such a world
// has a row, because its settings determine the labels of its cards, but it is hidden from
// everyone. The slug of a finished world cannot begin with the mark. A second mark means that the
// fork was abandoned and is being discarded: a process that still writes it stops.
const unfinishedMark = "~"

func unfinishedSlug(w access.WorldID) string { return unfinishedMark + w.String() }

func abandonedSlug(w access.WorldID) string { return unfinishedMark + unfinishedSlug(w) }

// Unfinished reports whether the world is being forked, or is left over from a fork whose process
// was killed. It must not be shown to anyone.
func (w World) Unfinished() bool { return strings.HasPrefix(w.Slug, unfinishedMark) }

// finishedWorld finds a world that may be shown.
func finishedWorld(ctx context.Context, r Reader, id access.WorldID) (World, bool, error) {
	w, ok, err := First(r.Worlds(ctx, WorldQuery{ID: id}))
	if err != nil || !ok || w.Unfinished() {
		return World{}, false, err
	}
	return w, true, nil
}

const (
	// forkStalled is the time without a step after which a fork counts as abandoned, because its
	// process was killed. A live process makes several steps a second.
	forkStalled = 2 * time.Minute
	// discardRows is the number of rows that a step of discardFork removes.
	discardRows = 1000
)

// SweepForks discards unfinished worlds to which nothing was committed for two minutes. It returns the number of
// those left, which may still be written. Other writers may write between its steps.
func (c *Canon) SweepForks(ctx context.Context) (left int, err error) {
	var stalled []access.WorldID
	err = c.read(ctx, func(r Reader) error {
		all, err := r.Worlds(ctx, WorldQuery{All: true})
		if err != nil {
			return err
		}
		for _, w := range all {
			if !w.Unfinished() {
				continue
			}
			dead, err := c.isStalled(ctx, r, w)
			if err != nil {
				return err
			}
			if left++; dead {
				stalled = append(stalled, w.ID)
			}
		}
		return nil
	})
	for _, id := range stalled {
		if err == nil {
			err = c.discardFork(ctx, id)
			left--
		}
	}
	return left, err
}

// isStalled reports whether an unfinished world was abandoned, or has had no step for forkStalled.
func (c *Canon) isStalled(ctx context.Context, r Reader, w World) (bool, error) {
	if w.Slug == abandonedSlug(w.ID) {
		return true, nil
	}
	s := WorldStream(w.ID)
	head, err := r.Head(ctx, s)
	if err != nil {
		return false, err
	}
	for commit, err := range r.Commits(ctx, s, head.Seq) {
		return c.commitTime().Sub(commit.At) > forkStalled, err
	}
	return true, nil
}

// discardFork removes an unfinished world in steps. The first step stops a process that still
// writes it.
func (c *Canon) discardFork(ctx context.Context, id access.WorldID) error {
	for left := true; left; {
		err := c.write(ctx, id, func(tx Tx) error {
			w, ok, err := First(tx.Worlds(ctx, WorldQuery{ID: id}))
			if left = ok && w.Unfinished(); err != nil || !left {
				return err
			}
			if w.Slug != abandonedSlug(id) {
				w.Slug = abandonedSlug(id)
				return tx.PutWorld(ctx, w)
			}
			left, err = tx.Discard(ctx, id, discardRows)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
