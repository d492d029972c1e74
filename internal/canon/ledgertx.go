package canon

import (
	"context"
	"iter"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// LedgerTx is a ledger as one snapshot, or one writer, finds it. It is good only inside the
// function that it was given to.
type LedgerTx struct {
	Head Head // of the ledger; the zero Head where nothing is in it

	ctx context.Context
	r   Reader
	s   StreamID
}

// errLedgerDiverged is what Since says where what was folded before is not what is stored.
var errLedgerDiverged = fault.New(fault.Conflict, "the ledger is not the one that was read before; read it from its beginning").Because(errMoved)

// Since yields the records after a head that was read before, in order. It yields an
// error that Moved knows where the ledger never had that head, or has lost it: what was
// read in a transaction that did not become durable, say. Then the reader begins anew.
func (t *LedgerTx) Since(h Head) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if h.Seq > t.Head.Seq {
			yield(Record{}, errLedgerDiverged)
			return
		}
		if h == t.Head {
			return
		}
		for commit, err := range t.r.Commits(t.ctx, t.s, max(h.Seq, 1)) {
			if err == nil && commit.Seq == h.Seq && commit.Hash != h.Hash {
				err = errLedgerDiverged
			}
			if err == nil && commit.Seq == h.Seq {
				continue
			}
			var rec Record
			if err == nil {
				rec, err = commit.Record()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// From yields the records from a number on, in order, as they are asked for.
func (t *LedgerTx) From(seq Seq) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for commit, err := range t.r.Commits(t.ctx, t.s, seq) {
			var rec Record
			if err == nil {
				rec, err = commit.Record()
			}
			if !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// Follow runs f on a snapshot of a ledger.
func (c *Canon) Follow(ctx context.Context, g access.Grant, s StreamID, f func(*LedgerTx) error) error {
	return c.readLedger(ctx, g, s, func(r Reader) error {
		head, err := r.Head(ctx, s)
		if err != nil {
			return err
		}
		return f(&LedgerTx{Head: head, ctx: ctx, r: r, s: s})
	})
}

// UpdateLedger adds events that depend on what the ledger holds. decide runs with the writer
// held, so that nothing comes between what it reads and what it adds, and so must be
// quick; it may be run again, and it may see records that are not durable yet (see
// LedgerTx.Since). Where it gives no events nothing is added, and the Receipt is zero. The
// grant's idempotency key is not looked at: what is a repetition is decide's to say.
func (c *Canon) UpdateLedger(ctx context.Context, g access.Grant, s StreamID, decide func(*LedgerTx) ([]Event, error)) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if err := mayAppend(g); err != nil {
		return Receipt{}, err
	}
	err = c.store.Write(ctx, func(tx Tx) error {
		receipt = Receipt{}
		if err := c.checkLedger(ctx, tx, g, s); err != nil {
			return err
		}
		head, err := tx.Head(ctx, s)
		if err != nil {
			return err
		}
		events, err := decide(&LedgerTx{Head: head, ctx: ctx, r: tx, s: s})
		if err != nil || len(events) == 0 {
			return err
		}
		for i, e := range events {
			if events[i], err = e.toCanonical(); err != nil {
				return err
			}
		}
		if receipt, err = c.appendEvents(ctx, tx, g.Unkeyed(), s, head.Seq, events); err != nil || !g.Request().DryRun {
			return err
		}
		receipt.DryRun, receipt.Change = true, [16]byte{}
		return errDryRun
	})
	return receipt, commitError(err)
}
