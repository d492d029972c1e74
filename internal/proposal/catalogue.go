package proposal

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// catalogue holds the proposals of a ledger for display. It contains durable records only.
type catalogue struct {
	head      canon.Head
	all       []*listing // in the order of the records
	byID      map[uuid.UUID]*listing
	done      map[uuid.UUID]uuid.UUID // events of proposals that are known to be in the canon
	standings standingApprovals
}

// listing is a proposal as the catalogue keeps it. All other data is read from its record.
type listing struct {
	id         uuid.UUID
	seq        canon.Seq // of the record that judged it
	decidedSeq canon.Seq // of the record that decided it; 0 for none
	kind       string
	author     author
	status     Status // ignores expiry: see statusAt
	at         time.Time
	life       time.Duration
}

// statusAt returns the status at a time: a pending proposal expires.
func (l *listing) statusAt(now time.Time) Status {
	if l.status == Pending && now.Sub(l.at) >= l.life {
		return Expired
	}
	return l.status
}

// kindName returns a kind's name without its schema's version.
func kindName(schema string) string {
	name, _, _ := strings.Cut(schema, "/")
	return name
}

// refreshCatalogue reads the records that were added to the ledger since the last call.
func (s *Service) refreshCatalogue(ctx context.Context, g access.Grant, led *ledger) error {
	return s.cfg.Canon.Follow(ctx, g, led.stream, func(t *canon.LedgerTx) error {
		led.showMu.Lock()
		defer led.showMu.Unlock()
		if t.Head.Seq < led.catalogue.head.Seq {
			return nil // another call has read a later snapshot in the meantime
		}
		err := led.catalogue.foldRecords(t, s.cfg.Limits.Life)
		if canon.Moved(err) {
			led.catalogue = newCatalogue()
			err = led.catalogue.foldRecords(t, s.cfg.Limits.Life)
		}
		return err
	})
}

func newCatalogue() catalogue {
	return catalogue{byID: map[uuid.UUID]*listing{}, done: map[uuid.UUID]uuid.UUID{}}
}

func (c *catalogue) foldRecords(t *canon.LedgerTx, life time.Duration) error {
	for rec, err := range t.Since(c.head) {
		if err != nil {
			return err
		}
		e, err := entryOf(rec)
		if err != nil {
			return err
		}
		switch {
		case e.judged != nil:
			l := &listing{id: e.judged.ID, seq: e.seq, kind: kindName(e.judged.Kind), author: e.judged.Author,
				status: e.judged.Status, at: e.at, life: life}
			c.all, c.byID[l.id] = append(c.all, l), l
		case e.decided != nil && c.byID[e.decided.ID] != nil:
			l := c.byID[e.decided.ID]
			l.status, l.decidedSeq = e.decided.Status, e.seq
		}
		c.standings.foldEntry(e)
	}
	c.head = t.Head
	return nil
}

func (l *ledger) recordApplied(id, event uuid.UUID) {
	l.showMu.Lock()
	defer l.showMu.Unlock()
	l.catalogue.done[id] = event
}

func (l *ledger) appliedEvent(id uuid.UUID) (uuid.UUID, bool) {
	l.showMu.Lock()
	defer l.showMu.Unlock()
	event, ok := l.catalogue.done[id]
	return event, ok
}

// canSee reports whether a caller may know of a proposal. Its author and callers who may approve
// can, unless the author's level is above the caller's.
func canSee(g access.Grant, a author) bool {
	return g.View().Level >= a.Level && (a.isCaller(g.Caller()) || g.MayDecide())
}

// readEntry reads a proposal's record and the record that decided it. It does not check whether the
// caller may see them.
func (s *Service) readEntry(ctx context.Context, g access.Grant, id uuid.UUID) (*ledgerEntry, error) {
	led := s.ledgerOf(g.World())
	if err := s.refreshCatalogue(ctx, g, led); err != nil {
		return nil, err
	}
	led.showMu.Lock()
	l := led.catalogue.byID[id]
	var at listing
	if l != nil {
		at = *l
	}
	led.showMu.Unlock()
	if l == nil {
		return nil, noSuchProposal(id.String())
	}
	return s.readListed(ctx, g, led, at)
}

func (s *Service) readListed(ctx context.Context, g access.Grant, led *ledger, l listing) (*ledgerEntry, error) {
	e, err := s.readRecord(ctx, g, led, l.seq)
	if err != nil || l.decidedSeq == 0 {
		return &e, err
	}
	after, err := s.readRecord(ctx, g, led, l.decidedSeq)
	e.decided, e.decisionID, e.decidedAt = after.decided, after.change, after.at
	return &e, err
}

func (s *Service) readRecord(ctx context.Context, g access.Grant, led *ledger,
	seq canon.Seq) (e ledgerEntry, err error) {
	err = s.cfg.Canon.Follow(ctx, g, led.stream, func(t *canon.LedgerTx) error {
		for rec, err := range t.From(seq) {
			if err == nil {
				e, err = entryOf(rec)
			}
			return err
		}
		return fault.New(fault.Internal, "record %s/%d is missing", led.stream, seq)
	})
	return e, err
}

// status returns the recorded status and ignores expiry.
func (e *ledgerEntry) status() Status {
	if e.decided != nil {
		return e.decided.Status
	}
	return e.judged.Status
}

// findVisible reads a proposal that the caller may know of.
func (s *Service) findVisible(ctx context.Context, g access.Grant, id string) (*ledgerEntry, error) {
	u, err := uuid.Parse(id)
	if err != nil {
		return nil, noSuchProposal(id)
	}
	e, err := s.readEntry(ctx, g, u)
	if err == nil && !canSee(g, e.judged.Author) {
		err = noSuchProposal(id)
	}
	return e, err
}

func noSuchProposal(id string) error {
	return fault.New(fault.NotFound, "there is no proposal %.64q; list-proposals shows those that you may see", id)
}

// listVisible returns proposals that the caller may know of, latest first, and reports whether
// there are more.
func (s *Service) listVisible(ctx context.Context, g access.Grant,
	q listIn) (found []listing, more bool, err error) {
	led := s.ledgerOf(g.World())
	if err := s.refreshCatalogue(ctx, g, led); err != nil {
		return nil, false, err
	}
	now := s.cfg.Now()
	led.showMu.Lock()
	defer led.showMu.Unlock()
	end := len(led.catalogue.all)
	if q.Before != "" {
		id, _ := uuid.Parse(q.Before) // the nil id, which no proposal has, if it is none
		l := led.catalogue.byID[id]
		if l == nil || !canSee(g, l.author) {
			return nil, false, fault.BadField("before",
				"is not the id of a proposal that you may see; send the next of an earlier listing")
		}
		end, _ = slices.BinarySearchFunc(led.catalogue.all, l.seq,
			func(x *listing, seq canon.Seq) int { return int(x.seq) - int(seq) })
	}
	for _, l := range slices.Backward(led.catalogue.all[:end]) {
		if !canSee(g, l.author) || q.Status != "" && l.statusAt(now) != q.Status || q.Kind != "" && l.kind != q.Kind ||
			q.Mine && !l.author.isCaller(g.Caller()) {
			continue
		}
		if len(found) == q.Limit {
			return found, true, nil
		}
		found = append(found, *l)
	}
	return found, false, nil
}

// maxCorrelated bounds the proposals that Correlated reads.
const maxCorrelated = 500

// Correlated returns the ids of the proposals with a correlation id that the caller may see, among its latest.
func (s *Service) Correlated(ctx context.Context, g access.Grant, correlation string) (ids []string, err error) {
	found, _, err := s.listVisible(ctx, g, listIn{Limit: maxCorrelated})
	if err != nil {
		return nil, err
	}
	for _, l := range found {
		e, err := s.readRecord(ctx, g, s.ledgerOf(g.World()), l.seq)
		if err != nil {
			return nil, err
		}
		if e.judged.Correlation == correlation {
			ids = append(ids, l.id.String())
		}
	}
	return ids, nil
}

// listUnapplied returns accepted proposals that are not known to be in the canon, as far back as an
// event's key is remembered.
func (s *Service) listUnapplied(ctx context.Context, g access.Grant) ([]*ledgerEntry, error) {
	led := s.ledgerOf(g.World())
	if err := s.refreshCatalogue(ctx, g, led); err != nil {
		return nil, err
	}
	var at []listing
	led.showMu.Lock()
	for _, l := range slices.Backward(led.catalogue.all) {
		if s.cfg.Now().Sub(l.at) >= 2*s.cfg.Limits.Life {
			break
		}
		if _, done := led.catalogue.done[l.id]; l.status == Accepted && !done {
			at = append(at, *l)
		}
	}
	led.showMu.Unlock()
	var list []*ledgerEntry
	for _, l := range slices.Backward(at) {
		e, err := s.readListed(ctx, g, led, l)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
