package canon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Config is what a Canon is made of. Now and NewID default to the clock and to UUIDv7.
// NewID is told the stream that what gets the id is written to, "" for a new world.
type Config struct {
	Store   Store
	Now     func() time.Time
	NewID   func(StreamID) uuid.UUID
	Ledgers map[string]string // kind of ledger to the surface whose grants open it, or AnySurface; see LedgerStream
}

// Canon is the one door to every world. It is safe for concurrent use.
type Canon struct {
	store    Store
	now      func() time.Time
	newID    func(StreamID) uuid.UUID
	ledgers  map[string]string
	schemas  schemaCache
	followed followed
	worlds   atomic.Pointer[worldList]
}

// New opens the door to a store.
func New(c Config) *Canon {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func(StreamID) uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	return &Canon{store: c.Store, now: c.Now, newID: c.NewID, ledgers: maps.Clone(c.Ledgers)}
}

// Changed is closed at the next commit by anyone. Ask before reading, wait after.
func (c *Canon) Changed() <-chan struct{} { return c.store.Changed() }

// time is the present as commits keep it: UTC, to the millisecond.
// Now is the time as commits take it.
func (c *Canon) Now() time.Time { return c.commitTime() }

func (c *Canon) commitTime() time.Time { return c.now().UTC().Truncate(time.Millisecond) }

// errClosed is the answer to a zero Grant: a call that no Guard admitted.
var errClosed = fault.New(fault.Internal, "the canon was asked without a grant")

// Read runs f on one snapshot of the grant's world, through the grant's view. The Snapshot
// is good only inside f.
func (c *Canon) Read(ctx context.Context, g access.Grant, f func(*Snapshot) error) error {
	if !g.Valid() {
		return errClosed
	}
	return c.read(ctx, func(r Reader) error {
		s, err := c.openSnapshot(ctx, &memo{Reader: r}, g)
		if err != nil {
			return err
		}
		return s.run(f)
	})
}

// ReadAfter is Look for the answer to a change, which finds the texts of a rehearsed one too:
// whether a world has the same text, hidden, does not show. Where the change was to make one
// card, the card and its homonyms are known, as they were when it was made: then nothing is
// read again.
func (c *Canon) ReadAfter(ctx context.Context, g access.Grant, r Receipt, f func(*Snapshot) error) error {
	if !g.Valid() {
		return errClosed
	}
	return c.read(ctx, func(reader Reader) (err error) {
		m := &memo{Reader: reader, bodies: r.bodies}
		var s *Snapshot
		if r.seen != nil {
			s = c.newSnapshot(m, g)
			m.found, s.world = r.seen.found, r.seen.world
		} else if s, err = c.openSnapshot(ctx, m, g); err != nil {
			return err
		}
		return s.run(f)
	})
}

// createCache is a world's row, and look-ups with the cards that they find after a change.
type createCache struct {
	world World
	found []lookupResult
}

// cacheAfterCreate gives look-ups of a plan as they are after its change, where that was to make one
// card, whose name was looked up. Cards that it took in have other names.
func (p *Plan) cacheAfterCreate(r Receipt) *createCache {
	m, ok := p.r.(*memo)
	if !ok || r.DryRun || len(p.set.Changes) != 1 || len(r.Cards) != 1 || !p.visibility.View.Sees(r.Cards[0].Label) {
		return nil
	}
	if p.set.Changes[0].Card.Act != ActCreate {
		return nil
	}
	byKey := cardLookup{visibility: p.visibility, key: r.Cards[0].Key}
	others, known := m.cachedCards(byKey)
	if !known {
		return nil
	}
	after := &memo{}
	same := append(slices.Clone(others), r.Cards[0])
	slices.SortFunc(same, CompareHomonyms)
	after.rememberCards(byKey, same)
	return &createCache{p.world, after.found}
}

// run calls f, and fails where the snapshot failed under it.
func (s *Snapshot) run(f func(*Snapshot) error) error {
	if err := f(s); err != nil {
		return err
	}
	return s.headCache.err
}

func (c *Canon) newSnapshot(r Reader, g access.Grant) *Snapshot {
	return &Snapshot{canon: c, r: r, grant: g, visibility: Visibility{World: g.World(), View: g.View()}, headCache: &headCache{}}
}

func (c *Canon) openSnapshot(ctx context.Context, r Reader, g access.Grant) (*Snapshot, error) {
	s := c.newSnapshot(r, g)
	if g.World().IsZero() {
		return s, nil
	}
	w, ok, err := finishedWorld(ctx, r, g.World())
	if err != nil {
		return nil, fmt.Errorf("canon: world %s: %w", g.World(), err)
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	s.world = w
	return s, nil
}

// Update plans a change and commits it. plan runs on a snapshot and is run again when
// what it read has moved before the commit, at last with the writer held, so that other
// writers delay a change and never fail it. An idempotency key that was used before is answered with its Receipt, and plan does not
// run. Under a rehearsing grant everything is checked and nothing is committed.
func (c *Canon) Update(ctx context.Context, g access.Grant, plan func(*Plan) error) (Receipt, error) {
	if !g.Valid() {
		return Receipt{}, errClosed
	}
	for range planTries {
		receipt, planned, err := c.planUpdate(ctx, g, plan)
		if err != nil || planned == nil {
			return receipt, err
		}
		receipt, err = c.Commit(ctx, g, planned.set)
		if err == nil {
			receipt.seen = planned.cacheAfterCreate(receipt)
		}
		if !isMoved(err) {
			return receipt, err
		}
	}
	return c.updateExclusive(ctx, g, plan)
}

// planTries is how often a change is planned beside other writers. Those that share one
// durable transaction get in each other's way until it ends, so that more would not help.
const planTries = 2

func (c *Canon) planUpdate(ctx context.Context, g access.Grant, plan func(*Plan) error) (receipt Receipt, planned *Plan, err error) {
	err = c.Read(ctx, g, func(s *Snapshot) error {
		done, again, err := findRepeat(ctx, s.r, g)
		if err != nil || again {
			receipt = done
			return err
		}
		p := newPlan(ctx, s)
		if err := plan(p); err != nil {
			return err
		}
		planned = p
		return nil
	})
	return receipt, planned, err
}
