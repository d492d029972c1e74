package canon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Config configures a Canon. Store must be set. Now defaults to the clock and NewID to UUIDv7.
// NewID receives the stream in which the new id will be written, "" for a new world.
type Config struct {
	Store   Store
	Now     func() time.Time
	NewID   func(StreamID) uuid.UUID
	Ledgers map[string][]string // surfaces that may open each kind of ledger; AnySurface is all; see LedgerStream
	// Nearness finds cards by meaning, in every search by relevance; nil: words alone.
	Nearness Nearness
	// TextsOf returns the texts that are erased when a card goes to the trash; nil: none. The snapshot sees
	// everything.
	TextsOf func(context.Context, *Snapshot, Card) ([]TextRef, error)
	// Witnesses tells who was shown a card; nil: nobody does.
	Witnesses Witnesses
	// Retitle renames a card whose name follows from its text, after a plan has hidden open text or fields of it; nil:
	// there are none. before is the card without the plan.
	Retitle func(ctx context.Context, p *Plan, before, c Card) (Card, error)
}

// Canon is the only door to the data of every world. It is safe for concurrent use.
type Canon struct {
	store    Store
	now      func() time.Time
	newID    func(StreamID) uuid.UUID
	ledgers  map[string][]string
	nearness Nearness
	textsOf  func(context.Context, *Snapshot, Card) ([]TextRef, error)
	retitle  func(context.Context, *Plan, Card, Card) (Card, error)
	schemas  schemaCache
	followed followed
	worlds   atomic.Pointer[worldList]
	lost     atomic.Pointer[map[StreamID]error] // see SetLost

	witnesses Witnesses // nil for none

	lastDryRunID atomic.Uint64
	dryRuns      sync.Map // *dryRunList by id
	steps        sync.Map // *openStep by stepKey
}

// New returns a Canon on a store.
func New(c Config) *Canon {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = func(StreamID) uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	return &Canon{store: c.Store, now: c.Now, newID: c.NewID, ledgers: maps.Clone(c.Ledgers),
		nearness: c.Nearness, textsOf: c.TextsOf, retitle: c.Retitle, witnesses: c.Witnesses}
}

// Changed returns a channel that is closed at the next commit by any process. Get it before
// reading, and wait on it afterwards.
func (c *Canon) Changed() <-chan struct{} { return c.store.Changed() }

// Now returns the current time as commits store it; see commitTime.
func (c *Canon) Now() time.Time { return c.commitTime() }

// commitTime returns the current time in UTC, truncated to the millisecond, as commits store it.
func (c *Canon) commitTime() time.Time { return c.now().UTC().Truncate(time.Millisecond) }

// errClosed is returned for the zero Grant: no Guard admitted the call.
var errClosed = fault.New(fault.Internal, "the canon was called without a grant")

// Read runs f on one snapshot of the grant's world, seen through the grant's view. The Snapshot is
// valid only inside f.
func (c *Canon) Read(ctx context.Context, g access.Grant, f func(*Snapshot) error) error {
	if !g.Valid() {
		return errClosed
	}
	return c.read(ctx, func(r Reader) error {
		s, err := c.openSnapshot(ctx, &memo{Reader: &shownReader{r, g}}, g)
		if err != nil {
			return err
		}
		return s.run(f)
	})
}

// ReadAfter is Read for building the reply to a change. It also finds texts that only a dry run wrote, and hidden
// parts as the dry run would leave them; reading them does not reveal whether the world has the same text in a
// hidden card. If the change created a single card, the card and its homonyms are kept from the commit and are not
// read again: f sees them as they were right after it.
func (c *Canon) ReadAfter(ctx context.Context, g access.Grant, r Receipt, f func(*Snapshot) error) error {
	if !g.Valid() {
		return errClosed
	}
	return c.read(ctx, func(reader Reader) (err error) {
		m := &memo{Reader: &shownReader{reader, g}, bodies: r.bodies}
		var s *Snapshot
		if r.seen != nil {
			s = c.newSnapshot(m, g)
			m.found, s.world = r.seen.found, r.seen.world
		} else if s, err = c.openSnapshot(ctx, m, g); err != nil {
			return err
		}
		if r.DryRun {
			s.planned = r.Cards
		}
		return s.run(f)
	})
}

// createCache holds the world's row and the card look-ups as they are after a change that created
// one card.
type createCache struct {
	world World
	found []lookupResult
}

// cacheAfterCreate returns the plan's look-ups as they are after its change. It returns nil unless
// the change only created one card, whose name the plan had looked up. Cards that the new card
// adopted keep their own names, so they are not among its homonyms.
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

// run calls f. It also fails if reading the head of the stream failed during f.
func (s *Snapshot) run(f func(*Snapshot) error) error {
	if err := f(s); err != nil {
		return err
	}
	return s.headCache.err
}

func (c *Canon) newSnapshot(r Reader, g access.Grant) *Snapshot {
	return &Snapshot{canon: c, r: r, grant: g, visibility: Visibility{World: g.World(), View: g.View()},
		headCache: &headCache{}}
}

// openSnapshot returns a snapshot of the grant's world. A world that does not exist or is
// unfinished gives fault.NotFound. A grant without a world gives a snapshot with the zero World.
func (c *Canon) openSnapshot(ctx context.Context, r Reader, g access.Grant) (*Snapshot, error) {
	s := c.newSnapshot(r, g)
	if g.World().IsZero() {
		return s, nil
	}
	if err := c.checkLostWorld(g.World()); err != nil {
		return nil, err
	}
	w, ok, err := finishedWorld(ctx, r, g.World())
	if err != nil {
		return nil, fmt.Errorf("canon: world %s: %w", g.World(), err)
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	s.world = w
	s.visibility.View.Trash = g.Role() == access.RoleGM && w.Settings.ManagerRole() == access.RoleGM
	return s, nil
}

// Update plans a change and commits it. plan runs on a snapshot. If another writer changed
// something that plan read, plan runs again; after planTries attempts it runs in the write
// transaction. Other writers therefore delay a change but never make it fail.
//
// If the grant's idempotency key was used before, Update returns the Receipt of that use and does
// not run plan. Under a dry-run grant everything is checked and nothing is committed.
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
		if !Moved(err) {
			return receipt, err
		}
	}
	return c.updateExclusive(ctx, g, plan)
}

// planTries is the number of times that a change is planned while others may write. Writers that
// share one durable transaction conflict until it ends, so more attempts would not help.
const planTries = 2

// planUpdate runs plan on a snapshot. planned is nil if the idempotency key was used before;
// receipt is then that of the earlier use.
func (c *Canon) planUpdate(ctx context.Context, g access.Grant,
	plan func(*Plan) error) (receipt Receipt, planned *Plan, err error) {
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
