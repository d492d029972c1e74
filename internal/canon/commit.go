package canon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// idempotencyLife is the time for which the store remembers a used idempotency key.
const idempotencyLife = 24 * time.Hour

// errMoved marks a conflict that planning again may resolve.
var errMoved = errors.New("canon: a card that the plan read has changed")

// Moved reports whether err is a conflict because the data that a write depends on has changed.
// Reading again and repeating the write may then succeed.
func Moved(err error) bool { return errors.Is(err, errMoved) }

// movedFault is the conflict for a plan that read cards or links which have changed since.
func movedFault() error {
	return fault.New(fault.Conflict, "another writer changed the same cards; read them again and repeat").Because(errMoved)
}

// Commit applies a ChangeSet as a whole or not at all, and returns once it is durable. It refuses
// with fault.Conflict if something that the plan read has changed or a name was taken meanwhile,
// and with fault.Denied if a change would reach above the grant's role.
func (c *Canon) Commit(ctx context.Context, g access.Grant, set ChangeSet) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if err := mayCommit(g); err != nil {
		return Receipt{}, err
	}
	return c.commitTo(ctx, g, g.World(), set)
}

// mayCommit refuses operations that are declared to read, except for dry runs.
func mayCommit(g access.Grant) error {
	if g.Writes() || g.Request().DryRun {
		return nil
	}
	return fault.New(fault.Internal, "operation %s commits but is declared to read", g.Request().Operation)
}

// errDryRun rolls back the transaction of a dry run.
var errDryRun = errors.New("canon: dry run")

// commitTo commits a ChangeSet to a world, unless the idempotency key was used before.
func (c *Canon) commitTo(ctx context.Context, g access.Grant, w access.WorldID,
	set ChangeSet) (receipt Receipt, err error) {
	err = c.write(ctx, w, func(tx Tx) (err error) {
		again := false
		if err := Prefetch(ctx, tx, set.commitNeeds(g, w)); err != nil {
			return err
		}
		if receipt, again, err = findRepeat(ctx, tx, g); err != nil || again {
			return err
		}
		receipt, err = c.commitIn(ctx, tx, g, w, set)
		return err
	})
	return receipt, c.endWrite(g, set, receipt, err)
}

// updateExclusive plans and commits inside a write transaction, so that no other writer can
// interfere.
func (c *Canon) updateExclusive(ctx context.Context, g access.Grant,
	plan func(*Plan) error) (receipt Receipt, err error) {
	if err := mayCommit(g); err != nil {
		return Receipt{}, err
	}
	var set ChangeSet
	err = c.write(ctx, g.World(), func(tx Tx) (err error) {
		again := false
		if receipt, again, err = findRepeat(ctx, tx, g); err != nil || again {
			return err
		}
		s, err := c.openSnapshot(ctx, tx, g)
		if err != nil {
			return err
		}
		p := newPlan(ctx, s)
		if err := s.run(func(*Snapshot) error { return plan(p) }); err != nil {
			return err
		}
		set = p.set
		receipt, err = c.commitIn(ctx, tx, g, g.World(), set)
		return err
	})
	return receipt, c.endWrite(g, set, receipt, err)
}

// commitIn commits a ChangeSet inside a transaction. A dry run ends with errDryRun.
func (c *Canon) commitIn(ctx context.Context, tx Tx, g access.Grant, w access.WorldID, set ChangeSet) (Receipt, error) {
	if set.isEmpty() {
		return Receipt{At: c.commitTime(), Targets: set.Targets, IgnoredMarks: set.ignored,
			RemovedParts: set.removed}, nil
	}
	receipt, err := c.applyChanges(ctx, tx, g, w, set)
	if err == nil && g.Request().DryRun {
		receipt.DryRun, receipt.Change = true, [16]byte{}
		err = errDryRun
	}
	return receipt, err
}

// endWrite translates the error of a write transaction for the caller. A dry run has succeeded and is
// collected.
func (c *Canon) endWrite(g access.Grant, set ChangeSet, r Receipt, err error) error {
	if errors.Is(err, errDryRun) {
		c.collectDryRun(g, DryRun{set, r})
	} else if err == nil {
		g.NoteCommit()
		if step := c.stepOf(g); step != nil && r.Change != uuid.Nil {
			step.note(r.Change)
		}
	}
	return commitError(err)
}

// commitError translates the error of a write transaction for the caller.
func commitError(err error) error {
	switch {
	case errors.Is(err, errDryRun):
		return nil
	case errors.Is(err, ErrTaken):
		return fault.New(fault.Conflict, "the name or codename is taken; choose another").Because(errMoved)
	}
	return err
}

// findRepeat returns the receipt of an idempotency key that was used before.
func findRepeat(ctx context.Context, r Reader, g access.Grant) (Receipt, bool, error) {
	req := g.Request()
	if req.IdempotencyKey == "" || req.DryRun {
		return Receipt{}, false, nil
	}
	used, ok, err := r.Repeat(ctx, g.Caller().Account(), req.IdempotencyKey)
	if err != nil || !ok {
		return Receipt{}, false, err
	}
	if used.InputHash != req.InputHash {
		return Receipt{}, false, fault.New(fault.Conflict, "this idempotency key was used for another request; use a new key")
	}
	for commit, err := range r.Commits(ctx, used.Stream, used.Seq) {
		if err != nil {
			return Receipt{}, false, err
		}
		rec, err := commit.Record()
		if err != nil {
			return Receipt{}, false, err
		}
		return Receipt{Change: rec.ID, Seq: rec.Seq, At: rec.At, Targets: rec.Targets, Replayed: true}, true, nil
	}
	return Receipt{}, false, fmt.Errorf("canon: commit %s/%d of an idempotency key is gone", used.Stream, used.Seq)
}

// Record decodes the body of the commit.
func (s StoredCommit) Record() (Record, error) {
	var r Record
	if err := json.Unmarshal(s.Body, &r); err != nil {
		return Record{}, fmt.Errorf("canon: commit %s/%d: %w", s.Stream, s.Seq, err)
	}
	return r, nil
}

// Chain returns the hash of a commit: the SHA-256 of the previous commit's hash and the commit's
// bytes.
func Chain(prev Hash, body []byte) Hash {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(body)
	return Hash(h.Sum(nil))
}

// applyChanges validates a ChangeSet against the current state, projects it and appends its commit
// to the world's stream.
func (c *Canon) applyChanges(ctx context.Context, tx Tx, g access.Grant, w access.WorldID,
	set ChangeSet) (Receipt, error) {
	if err := c.checkReads(ctx, tx, Visibility{w, g.View()}, set); err != nil {
		return Receipt{}, err
	}
	if err := checkOwn(ctx, tx, g, w, set); err != nil {
		return Receipt{}, err
	}
	stream := WorldStream(w)
	if set.only != nil {
		if err := set.only(ctx, tx); err != nil {
			return Receipt{}, err
		}
	}
	head, err := tx.Head(ctx, stream)
	if err != nil {
		return Receipt{}, err
	}
	req := g.Request()
	rec := c.newRecord(g, stream, head)
	rec.Note, rec.Targets, rec.Event, rec.Changes = set.Note, set.Targets, set.Event, set.Changes
	if set.Cause != uuid.Nil {
		rec.Causation = set.Cause.String()
	}
	if step := c.stepOf(g); step != nil {
		step.announce(&rec)
	}
	for _, ch := range set.Changes {
		h, named := ch.Content()
		if !named || set.bodies[h] == nil {
			continue
		}
		if err := tx.PutBody(ctx, w, h, set.bodies[h]); err != nil {
			return Receipt{}, err
		}
	}
	p := projector{tx: tx, world: w, rec: &rec, fresh: set.bodies, rehearses: req.DryRun}
	for _, ch := range set.Changes {
		if err := p.projectChange(ctx, ch); err != nil {
			return Receipt{}, err
		}
	}
	if err := p.checkView(g.View()); err != nil {
		return Receipt{}, err
	}
	if err := p.projectEvent(ctx); err != nil {
		return Receipt{}, err
	}
	if _, err := appendTo(ctx, tx, head, rec); err != nil {
		return Receipt{}, err
	}
	if req.IdempotencyKey != "" {
		err = tx.PutRepeat(ctx, Repeat{Account: g.Caller().Account(), Key: req.IdempotencyKey, InputHash: req.InputHash,
			Stream: stream, Seq: rec.Seq, Expires: rec.At.Add(idempotencyLife)})
	}
	return Receipt{Change: rec.ID, Seq: rec.Seq, At: rec.At, Targets: rec.Targets, Cards: p.cards,
		Opened: append(set.opened, p.opened...), IgnoredMarks: set.ignored, RemovedParts: set.removed,
		bodies: set.bodies}, err
}

// isEmpty reports whether a ChangeSet commits nothing.
func (s ChangeSet) isEmpty() bool { return len(s.Changes) == 0 && s.Event == nil }

// newRecord returns the record of the commit that follows a head, without its changes.
func (c *Canon) newRecord(g access.Grant, s StreamID, head Head) Record {
	req := g.Request()
	return Record{
		Stream: s, Seq: head.Seq + 1, ID: c.newID(s), At: c.commitTime(),
		By: g.Caller().Subject, Key: g.Caller().Key, Role: g.Role(), Op: req.Operation,
		Correlation: req.Correlation, Idempotency: req.IdempotencyKey,
	}
}

// checkReads refuses a ChangeSet if something that its plan read has changed. Cards are looked up
// without regard to their labels. Links and event keys are looked up with the caller's visibility,
// since hidden ones do not exist for the caller.
func (c *Canon) checkReads(ctx context.Context, tx Tx, s Visibility, set ChangeSet) error {
	all := Visibility{s.World, access.View{Level: access.LevelAll}}
	for _, m := range set.Reads {
		if m.Card.IsZero() {
			l, _, err := findLink(ctx, tx, s, m.Link)
			if err != nil {
				return err
			}
			if l.Since != m.Since {
				return movedFault()
			}
			continue
		}
		card, ok, err := First(tx.FindCards(ctx, all, CardQuery{ID: m.Card}))
		if err != nil {
			return err
		}
		if !ok || card.Rev != m.Rev {
			return movedFault()
		}
	}
	if !set.once {
		return nil
	}
	_, sent, err := findRecentEvent(ctx, tx, s, set.Event.Key, c.commitTime())
	if err == nil && sent {
		err = movedFault()
	}
	return err
}

// appendTo adds a commit to its stream and returns the new head.
func appendTo(ctx context.Context, tx Tx, head Head, rec Record) (Head, error) {
	body, err := json.Marshal(rec)
	if err != nil {
		return head, fmt.Errorf("canon: encode commit: %w", err)
	}
	next := Head{Seq: rec.Seq, Hash: Chain(head.Hash, body)}
	return next, tx.Append(ctx, StoredCommit{
		Stream: rec.Stream, Seq: rec.Seq, ID: rec.ID, At: rec.At, By: rec.By, Op: rec.Op,
		Body: body, Prev: head.Hash, Hash: next.Hash,
	})
}
