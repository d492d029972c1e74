package canon

import (
	"context"
	"iter"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// LedgerTx is the state of a ledger in one snapshot or write transaction. It is valid only inside
// the function that receives it.
type LedgerTx struct {
	Head Head // of the ledger; the zero Head if it is empty

	ctx context.Context
	r   Reader
	s   StreamID
}

// errLedgerDiverged is the error of Since if the records that the caller read before are not the
// stored ones.
var errLedgerDiverged = fault.New(fault.Conflict,
	"the ledger was replaced since the last read; read it from its beginning").Because(errMoved)

// Since yields the records after a head that the caller read before, in order. It yields an error
// that Moved recognises if the ledger does not contain that head, for example because the caller
// read it in a transaction that did not become durable. The caller must then read the ledger from
// its beginning.
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

// From yields the records from a number on, in order. It reads them as the caller consumes them.
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

// UpdateLedger adds events that depend on the content of the ledger. decide runs in the write
// transaction, so no other writer comes between its reads and its events. It must be quick. It may
// run again, and it may see records that are not durable yet (see LedgerTx.Since). If it returns no
// events, nothing is added and the Receipt is zero. The grant's idempotency key is ignored; decide
// has to recognise repetitions itself.
func (c *Canon) UpdateLedger(ctx context.Context, g access.Grant, s StreamID,
	decide func(*LedgerTx) ([]Event, error)) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if err := mayAppend(g); err != nil {
		return Receipt{}, err
	}
	err = c.write(ctx, access.WorldID{}, func(tx Tx) error {
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
