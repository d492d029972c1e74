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

// catalogue is what is shown of a ledger: only what is durable.
type catalogue struct {
	head      canon.Head
	all       []*listing // in the order of the records
	byID      map[uuid.UUID]*listing
	done      map[uuid.UUID]uuid.UUID // events of proposals that are known to be in the canon
	standings standings
}

// listing is a proposal as the catalogue keeps it. The rest is read from its record.
type listing struct {
	id      uuid.UUID
	seq     canon.Seq // of the record that judged it
	settled canon.Seq // of the record that decided it; 0 for none
	kind    string
	author  author
	status  Status // without regard to time: see at
	at      time.Time
	life    time.Duration
}

// statusAt is the status at a time: one that waits expires.
func (l *listing) statusAt(now time.Time) Status {
	if l.status == Pending && now.Sub(l.at) >= l.life {
		return Expired
	}
	return l.status
}

// kindName is a kind's name without its schema's version.
func kindName(schema string) string {
	name, _, _ := strings.Cut(schema, "/")
	return name
}

// refresh reads what the ledger has gained.
func (s *Service) refresh(ctx context.Context, g access.Grant, led *ledger) error {
	return s.cfg.Canon.Follow(ctx, g, led.stream, func(t *canon.LedgerTx) error {
		led.show.Lock()
		defer led.show.Unlock()
		if t.Head.Seq < led.catalogue.head.Seq {
			return nil // another call read a later snapshot meanwhile
		}
		err := led.catalogue.fold(t, s.cfg.Limits.Life)
		if canon.Moved(err) {
			led.catalogue = catalogue{}
			err = led.catalogue.fold(t, s.cfg.Limits.Life)
		}
		return err
	})
}

func (c *catalogue) fold(t *canon.LedgerTx, life time.Duration) error {
	if c.byID == nil {
		*c = catalogue{byID: map[uuid.UUID]*listing{}, done: map[uuid.UUID]uuid.UUID{}}
	}
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
			l := &listing{id: e.judged.ID, seq: e.seq, kind: kindName(e.judged.Kind), author: e.judged.Author, status: e.judged.Status, at: e.at, life: life}
			c.all, c.byID[l.id] = append(c.all, l), l
		case e.decided != nil && c.byID[e.decided.ID] != nil:
			l := c.byID[e.decided.ID]
			l.status, l.settled = e.decided.Status, e.seq
		}
		c.standings.fold(e)
	}
	c.head = t.Head
	return nil
}

func (l *ledger) settled(id, event uuid.UUID) {
	l.show.Lock()
	defer l.show.Unlock()
	if l.catalogue.done == nil {
		l.catalogue.byID, l.catalogue.done = map[uuid.UUID]*listing{}, map[uuid.UUID]uuid.UUID{}
	}
	l.catalogue.done[id] = event
}

func (l *ledger) event(id uuid.UUID) (uuid.UUID, bool) {
	l.show.Lock()
	defer l.show.Unlock()
	event, ok := l.catalogue.done[id]
	return event, ok
}

// sees reports whether a caller may know of a proposal: its author may, and those who may
// approve; and neither where it holds what they do not see.
func sees(g access.Grant, a author) bool {
	return g.View().Level >= a.Level && (a.is(g.Caller()) || g.Caller().Approve)
}

// entry reads a proposal's record, and the one that decided it, whoever may see them.
func (s *Service) entry(ctx context.Context, g access.Grant, id uuid.UUID) (*entry, error) {
	led := s.ledger(g.World())
	if err := s.refresh(ctx, g, led); err != nil {
		return nil, err
	}
	led.show.Lock()
	l := led.catalogue.byID[id]
	var at listing
	if l != nil {
		at = *l
	}
	led.show.Unlock()
	if l == nil {
		return nil, absent(id.String())
	}
	return s.read(ctx, g, led, at)
}

func (s *Service) read(ctx context.Context, g access.Grant, led *ledger, l listing) (*entry, error) {
	e, err := s.record(ctx, g, led, l.seq)
	if err != nil || l.settled == 0 {
		return &e, err
	}
	after, err := s.record(ctx, g, led, l.settled)
	e.decided, e.agreed, e.decidedAt = after.decided, after.change, after.at
	return &e, err
}

func (s *Service) record(ctx context.Context, g access.Grant, led *ledger, seq canon.Seq) (e entry, err error) {
	err = s.cfg.Canon.Follow(ctx, g, led.stream, func(t *canon.LedgerTx) error {
		for rec, err := range t.From(seq) {
			if err == nil {
				e, err = entryOf(rec)
			}
			return err
		}
		return fault.New(fault.Internal, "record %s/%d is gone", led.stream, seq)
	})
	return e, err
}

// status is what became of the entry, without regard to time.
func (e *entry) status() Status {
	if e.decided != nil {
		return e.decided.Status
	}
	return e.judged.Status
}

// find reads a proposal that the caller may know of.
func (s *Service) find(ctx context.Context, g access.Grant, id string) (*entry, error) {
	u, err := uuid.Parse(id)
	if err != nil {
		return nil, absent(id)
	}
	e, err := s.entry(ctx, g, u)
	if err == nil && !sees(g, e.judged.Author) {
		err = absent(id)
	}
	return e, err
}

func absent(id string) error {
	return fault.New(fault.NotFound, "there is no proposal %.64q; list-proposals shows those that you may see", id)
}

// query narrows a listing.
type query struct {
	status Status
	kind   string
	mine   bool
	before uuid.UUID // list those made before this one
	limit  int
}

// list gives proposals that the caller may know of, latest first, and whether there are
// more.
func (s *Service) list(ctx context.Context, g access.Grant, q query) (found []*listing, more bool, err error) {
	led := s.ledger(g.World())
	if err := s.refresh(ctx, g, led); err != nil {
		return nil, false, err
	}
	now := s.cfg.Now()
	led.show.Lock()
	defer led.show.Unlock()
	end := len(led.catalogue.all)
	if q.before != uuid.Nil {
		l := led.catalogue.byID[q.before]
		if l == nil || !sees(g, l.author) {
			return nil, false, fault.BadField("before", "names no proposal that you may see; take it from the end of a listing")
		}
		end, _ = slices.BinarySearchFunc(led.catalogue.all, l.seq, func(x *listing, seq canon.Seq) int { return int(x.seq) - int(seq) })
	}
	for _, l := range slices.Backward(led.catalogue.all[:end]) {
		if !sees(g, l.author) || q.status != "" && l.statusAt(now) != q.status || q.kind != "" && l.kind != q.kind || q.mine && !l.author.is(g.Caller()) {
			continue
		}
		if len(found) == q.limit {
			return found, true, nil
		}
		c := *l
		found = append(found, &c)
	}
	return found, false, nil
}

// open lists accepted proposals of the time that an event's key is remembered, which are
// not known to be in the canon.
func (s *Service) open(ctx context.Context, g access.Grant) ([]*entry, error) {
	led := s.ledger(g.World())
	if err := s.refresh(ctx, g, led); err != nil {
		return nil, err
	}
	var at []listing
	led.show.Lock()
	for _, l := range slices.Backward(led.catalogue.all) {
		if s.cfg.Now().Sub(l.at) >= 2*s.cfg.Limits.Life {
			break
		}
		if _, done := led.catalogue.done[l.id]; l.status == Accepted && !done {
			at = append(at, *l)
		}
	}
	led.show.Unlock()
	var list []*entry
	for _, l := range slices.Backward(at) {
		e, err := s.read(ctx, g, led, l)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
