package event

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// CardChange describes the event that a Dispatcher records for every version of the cards of a type
// except their first, no matter who wrote it or how.
type CardChange struct {
	CardType  string
	Cursor    string // name of the stored time of the last scanned change; never changed
	Operation string // of the Act that records an event
	// Event returns the event of a version. Its key contains the card and the change, so that
	// each version is recorded once.
	Event func(canon.Version) canon.Event
}

// versionID identifies a version: a card, and the change that made the version.
type versionID struct {
	card   canon.CardID
	change uuid.UUID
}

func idOfVersion(v canon.Version) versionID { return versionID{v.Card, v.Change} }

// recordChanges records the changes of cards, if there may be unrecorded ones.
func (d *Dispatcher) recordChanges(ctx context.Context, w access.WorldID) error {
	changed, err := d.hasChanges(ctx, w)
	if err == nil && changed {
		err = d.recordChangesSince(ctx, w)
	}
	return err
}

// hasChanges reports whether a card of the recorded type may have changed since the last scan of
// this process. Most commits change no such card; without this check each of them would cause a
// scan of all changes since the last changed card. A stream that is no longer than at the last
// scan belongs to a database that has lost commits and now has others.
func (d *Dispatcher) hasChanges(ctx context.Context, w access.WorldID) (changed bool, err error) {
	err = d.readWorld(ctx, w, func(snap *canon.Snapshot) (err error) {
		last, known := d.heads[w]
		if changed = !known || snap.Now() <= last.Seq; changed {
			return nil
		}
		changed, err = snap.Touched(ctx, last.Seq, d.cfg.Change.CardType)
		return err
	})
	return changed, err
}

// recordChangesSince records the changes since the stored cursor, whose value is the time of the
// last scanned change in Unix milliseconds.
func (d *Dispatcher) recordChangesSince(ctx context.Context, w access.WorldID) error {
	cursor := d.cfg.Change.Cursor
	from, err := d.cfg.Deliveries.Cursor(ctx, w, cursor)
	if err != nil {
		return err
	}
	if from == 0 {
		// This world was never scanned. Changes from before the start of this process are
		// never recorded; all later ones are.
		from = uint64(d.began.UnixMilli())
		moved, err := d.cfg.Deliveries.Enqueue(ctx, w, cursor, 0, from, nil)
		if err != nil {
			return err
		}
		if !moved { // another process set it
			return d.recordChangesSince(ctx, w)
		}
	}
	changes, err := d.versionsSince(ctx, w, time.UnixMilli(int64(from)))
	if err != nil || len(changes) == 0 {
		return err
	}
	seen := d.recorded[w]
	for _, v := range changes {
		if !seen[idOfVersion(v)] && v.Rev > 1 && !v.Trashed {
			if err := d.recordChange(ctx, w, v); err != nil {
				return err
			}
		}
	}
	last := changes[len(changes)-1].At
	d.recorded[w] = map[versionID]bool{}
	for _, v := range changes {
		if v.At.Equal(last) {
			d.recorded[w][idOfVersion(v)] = true
		}
	}
	if to := uint64(last.UnixMilli()); to != from {
		_, err = d.cfg.Deliveries.Enqueue(ctx, w, cursor, from, to, nil)
	}
	return err
}

// versionsSince returns the versions of the recorded cards since a time, oldest first.
func (d *Dispatcher) versionsSince(ctx context.Context, w access.WorldID,
	since time.Time) (all []canon.Version, err error) {
	err = d.readWorld(ctx, w, func(snap *canon.Snapshot) (err error) {
		all, err = canon.Collect(snap.AllChanges(ctx, canon.FeedQuery{Since: since, Type: d.cfg.Change.CardType}))
		return err
	})
	slices.SortStableFunc(all,
		func(a, b canon.Version) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.From, b.From)) })
	return all, err
}

func (d *Dispatcher) recordChange(ctx context.Context, w access.WorldID, v canon.Version) error {
	return d.cfg.Act(ctx, w, d.cfg.Change.Operation, "", func(g access.Grant) error {
		_, err := d.cfg.Canon.Update(ctx, g, func(p *canon.Plan) error {
			p.Cause(v.Change)
			_, _, err := p.EventOnce(d.cfg.Change.Event(v))
			return err
		})
		return err
	})
}
