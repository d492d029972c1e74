package canon

import (
	"context"
	"strings"
	"time"

	"loregate/internal/access"
)

// A world that is being forked is unfinished: it has a row, for its settings decide how its
// cards are labelled, but nobody is shown it. Its slug tells: it begins with a mark that no
// name of a world has. A second mark says that the fork was given up and is being discarded,
// which stops whoever still writes it.
const unfinishedMark = "~"

func unfinishedSlug(w access.WorldID) string { return unfinishedMark + w.String() }

func abandonedSlug(w access.WorldID) string { return unfinishedMark + unfinishedSlug(w) }

// Unfinished reports whether the world is being forked, or was left over by a fork that was
// killed. It is not to be shown to anybody.
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
	// forkStalled is after how long without a step a fork counts as given up: its process was
	// killed. One that is alive makes several steps a second.
	forkStalled = 2 * time.Minute
	// discardRows is how many rows a step of discarding takes away.
	discardRows = 1000
)

// SweepForks discards unfinished worlds that nobody has written to for two minutes, and gives
// how many are left, which may still be written. Others write between its steps.
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

// isStalled reports whether an unfinished world was given up, or has had no step for long.
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

// discardFork takes away all of an unfinished world, in steps. The first one stops whoever
// writes it.
func (c *Canon) discardFork(ctx context.Context, id access.WorldID) error {
	for left := true; left; {
		err := c.store.Write(ctx, func(tx Tx) error {
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
