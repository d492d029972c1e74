package canon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// AnySurface in Config.Ledgers lets grants of every surface open a kind of ledger.
const AnySurface = "*"

// LedgerStream returns the id of a ledger: a stream of events apart from the worlds' canons, such
// as "game:<id>". kind is a key of Config.Ledgers.
func LedgerStream(kind, id string) StreamID { return StreamID(kind + ":" + id) }

// LedgerName returns the name of a new ledger: the prefix and 16 hexadecimal digits. The same idempotency key
// of the same account gives the same name; without a key the name is random.
func LedgerName(g access.Grant, prefix string, random func([]byte)) string {
	var name [8]byte
	if key := g.Request().IdempotencyKey; key != "" {
		sum := sha256.Sum256([]byte(g.Caller().Account() + "\x00" + key))
		copy(name[:], sum[:])
	} else {
		random(name[:])
	}
	return prefix + hex.EncodeToString(name[:])
}

// IsLedgerName reports whether a text has the form of the names that LedgerName returns for a prefix.
func IsLedgerName(prefix, text string) bool {
	rest, ok := strings.CutPrefix(text, prefix)
	return ok && len(rest) == 16 && strings.Trim(rest, "0123456789abcdef") == ""
}

// ledgerBatch is the number of records that Records reads in one snapshot. It yields them after
// closing the snapshot, so that no snapshot stays open while the caller works.
const ledgerBatch = 256

// checkLedger refuses with fault.NotFound if the grant does not open the ledger: its kind belongs
// to another surface, or it is named after a world other than the grant's. A ledger is always shown
// whole; its surface decides who may see which event.
func (c *Canon) checkLedger(ctx context.Context, r Reader, g access.Grant, s StreamID) error {
	kind, id, _ := strings.Cut(string(s), ":")
	opens := func(surface string) bool { return surface == AnySurface || surface == g.Request().Surface }
	if id == "" || !slices.ContainsFunc(c.ledgers[kind], opens) {
		return fault.New(fault.NotFound, "there is no such ledger")
	}
	if err := c.checkLost(s); err != nil {
		return err
	}
	name, _, _ := strings.Cut(id, "/")
	w, err := uuid.Parse(name)
	if err != nil || access.WorldID(w) == g.World() {
		return nil
	}
	if _, foreign, err := First(r.Worlds(ctx, WorldQuery{ID: access.WorldID(w)})); err != nil || !foreign {
		return err
	}
	return fault.New(fault.NotFound, "there is no such ledger")
}

// mayAppend refuses operations that are declared to change nothing.
func mayAppend(g access.Grant) error {
	if g.Request().Effect == access.Propose {
		return nil
	}
	return mayCommit(g)
}

// Append adds events to a ledger, one commit per event, all or none. It refuses with fault.Conflict
// if the head of the ledger is not at after; see Moved. The Receipt is that of the last commit. An
// idempotency key works as in Update. Under a dry-run grant everything is checked and nothing is
// stored.
func (c *Canon) Append(ctx context.Context, g access.Grant, s StreamID, after Seq,
	events []Event) (receipt Receipt, err error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	if err := mayAppend(g); err != nil {
		return Receipt{}, err
	}
	events = slices.Clone(events)
	for i, e := range events {
		if events[i], err = e.toCanonical(); err != nil {
			return Receipt{}, err
		}
	}
	err = c.write(ctx, access.WorldID{}, func(tx Tx) (err error) {
		if err := c.checkLedger(ctx, tx, g, s); err != nil {
			return err
		}
		again := false
		if receipt, again, err = findRepeat(ctx, tx, g); err != nil || again {
			return err
		}
		if receipt, err = c.appendEvents(ctx, tx, g, s, after, events); err != nil {
			return err
		}
		if g.Request().DryRun {
			receipt.DryRun, receipt.Change = true, uuid.UUID{}
			return errDryRun
		}
		return nil
	})
	return receipt, commitError(err)
}

// appendEvents appends one commit per event after the head, and records the use of the idempotency
// key.
func (c *Canon) appendEvents(ctx context.Context, tx Tx, g access.Grant, s StreamID, after Seq,
	events []Event) (Receipt, error) {
	head, err := tx.Head(ctx, s)
	if err != nil {
		return Receipt{}, err
	}
	if head.Seq != after {
		return Receipt{}, fault.New(fault.Conflict,
			"another writer changed the ledger first; read it again and repeat").Because(errMoved)
	}
	receipt := Receipt{At: c.commitTime()}
	req := g.Request()
	for i := range events {
		rec := c.newRecord(g, s, head)
		rec.At, rec.Event = receipt.At, &events[i]
		if head, err = appendTo(ctx, tx, head, rec); err != nil {
			return Receipt{}, err
		}
		receipt.Change, receipt.Seq = rec.ID, rec.Seq
	}
	if req.IdempotencyKey == "" || len(events) == 0 {
		return receipt, nil
	}
	return receipt, tx.PutRepeat(ctx, Repeat{Account: g.Caller().Account(), Key: req.IdempotencyKey,
		InputHash: req.InputHash,
		Stream:    s, Seq: receipt.Seq, Expires: receipt.At.Add(idempotencyLife)})
}

// Records yields the commits of a ledger from a number on, in order. It may include commits that
// are appended while it runs.
func (c *Canon) Records(ctx context.Context, g access.Grant, s StreamID, from Seq) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			list, err := c.readRecords(ctx, g, s, from)
			for _, rec := range list {
				if !yield(rec, nil) {
					return
				}
				from = rec.Seq + 1
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(list) < ledgerBatch {
				return
			}
		}
	}
}

// readRecords reads up to ledgerBatch records from a number on, in one snapshot.
func (c *Canon) readRecords(ctx context.Context, g access.Grant, s StreamID, from Seq) (list []Record, err error) {
	err = c.readLedger(ctx, g, s, func(r Reader) error {
		for commit, err := range r.Commits(ctx, s, from) {
			if err != nil {
				return err
			}
			rec, err := commit.Record()
			if err != nil {
				return err
			}
			if list = append(list, rec); len(list) == ledgerBatch {
				return nil
			}
		}
		return nil
	})
	return list, err
}

// Head returns the last commit of a ledger; the zero Head means that it is empty.
func (c *Canon) Head(ctx context.Context, g access.Grant, s StreamID) (h Head, err error) {
	err = c.readLedger(ctx, g, s, func(r Reader) (err error) {
		h, err = r.Head(ctx, s)
		return err
	})
	return h, err
}

// readLedger runs f on a snapshot if the grant opens the ledger.
func (c *Canon) readLedger(ctx context.Context, g access.Grant, s StreamID, f func(Reader) error) error {
	if !g.Valid() {
		return errClosed
	}
	return c.read(ctx, func(r Reader) error {
		if err := c.checkLedger(ctx, r, g, s); err != nil {
			return err
		}
		return f(r)
	})
}
