package placed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/search"
	"loregate/internal/store/sqlstore"
	"loregate/internal/wait"
)

// Database is a store that holds worlds. The home database holds the placements too.
type Database interface {
	canon.Store
	Placements(ctx context.Context) ([]sqlstore.Placement, error)
	Placement(ctx context.Context, w access.WorldID) (sqlstore.Placement, bool, error)
	Place(ctx context.Context, p sqlstore.Placement) (holder access.WorldID, err error)
	Unplace(ctx context.Context, p sqlstore.Placement) error
	SwitchPlacement(ctx context.Context, w access.WorldID, database string, version int64) error
}

// fencedReader is implemented by the Readers of a Database.
type fencedReader interface {
	Fence(ctx context.Context, w access.WorldID) (sqlstore.Fence, error)
	RepeatsBetween(ctx context.Context, s canon.StreamID, from, to canon.Seq) ([]canon.Repeat, error)
}

// fencedTx is implemented by the Txs of a Database.
type fencedTx interface {
	PutFence(ctx context.Context, w access.WorldID, f sqlstore.Fence) error
}

// Home is the name of the home database in patterns and commands.
const Home = "home"

// Named is a database with a name. Open is called until it succeeds.
type Named struct {
	Name string
	Open func(ctx context.Context) (Database, error)
}

// Pattern places worlds whose slug matches a pattern of path.Match.
type Pattern struct{ Slug, Database string }

// Config configures a Store. Home must be open; the Store does not close it.
type Config struct {
	Home     Database
	Others   []Named
	Patterns []Pattern // the first match decides where a new world is created; without one, in the home database
	// Wait is the time since Open in which a call waits for the end of the first attempt to open a database
	// that it needs. Zero is for servers: Open itself waits for a second, and calls are told to try again.
	Wait time.Duration
	Now  func() time.Time
	Log  *slog.Logger
}

// Store is a canon.Store over several databases. It is safe for concurrent use.
type Store struct {
	cfg      Config
	home     *member
	members  []*member // home first
	unplaced *member   // of ledgers, and of worlds without a placement: home, but for tests

	mu     sync.Mutex // guards all below
	worlds map[access.WorldID]sqlstore.Placement
	slugs  map[string]access.WorldID
	loaded time.Time // when all placements were read

	changes broadcast
	first   <-chan struct{} // closed when Config.Wait is over
	stop    context.CancelFunc
	running sync.WaitGroup
}

var _ canon.Store = (*Store)(nil)
var _ canon.Placer = (*Store)(nil)

const (
	// firstOpen is the time that Open of a server waits for the other databases.
	firstOpen = time.Second
	// reopenAfter is the time between attempts to open a database.
	reopenAfter = 2 * time.Second
	// listAge is the age of the placements that lists of worlds use.
	listAge = 500 * time.Millisecond
	// discardAfter is the time for which the copy at the old database of a world stays after a move: lists of
	// worlds that use older placements still find it.
	discardAfter = 4 * listAge
)

// Open opens the databases, and returns without those that do not answer in time. It refuses settings that lack a
// database with worlds, and a database of which Named.Open returns an error of the kind fault.Invalid in time.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	s := &Store{cfg: cfg}
	s.changes.next = make(chan struct{})
	s.home = newMember("")
	s.home.adopt(cfg.Home)
	close(s.home.tried)
	s.unplaced, s.members = s.home, []*member{s.home}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	first, cancel := context.WithTimeout(run, cmp.Or(cfg.Wait, firstOpen))
	s.first, s.stop = first.Done(), func() { cancel(); stop() }
	for _, n := range cfg.Others {
		m := newMember(n.Name)
		s.members = append(s.members, m)
		s.running.Go(func() { s.keepOpening(run, m, n) })
	}
	s.running.Go(func() { s.watchMember(run, s.home) })
	if cfg.Wait == 0 {
		s.awaitTried(ctx, s.members...)
	}
	err := s.firstRefused()
	for _, step := range []func(context.Context) error{s.loadPlacements, s.checkAllNamed, s.placeOldWorlds} {
		if err == nil {
			err = step(ctx)
		}
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// firstRefused returns the error of the first database that is not one of this instance.
func (s *Store) firstRefused() error {
	for _, m := range s.members {
		if err := m.explain(); fault.KindOf(err) == fault.Invalid {
			return err
		}
	}
	return nil
}

// checkAllNamed returns an error if a world is in a database without a name here: lists would leave it out.
func (s *Store) checkAllNamed(context.Context) error {
	for _, p := range s.worlds {
		if s.memberNamed(p.Database) == nil {
			return fault.New(fault.Invalid, "the world %s is in the database %q, which is not among databases: set databases as "+
				"for the other processes", p.Slug, p.Database)
		}
	}
	return nil
}

// placeOldWorlds stores the placements of worlds that were created while there was only the home database.
func (s *Store) placeOldWorlds(ctx context.Context) error {
	var list []canon.World
	if err := s.cfg.Home.Read(ctx, func(r canon.Reader) (err error) {
		list, err = r.Worlds(ctx, canon.WorldQuery{All: true})
		return err
	}); err != nil {
		return err
	}
	placedAny := false
	for _, w := range list {
		if _, ok := s.placement(w.ID); ok || w.Unfinished() {
			continue
		}
		placedAny = true
		if _, err := s.cfg.Home.Place(ctx, sqlstore.Placement{World: w.ID, Slug: w.Slug, Version: 1,
			Created: s.cfg.Now()}); err != nil {
			return err
		}
	}
	if !placedAny {
		return nil
	}
	return s.loadPlacements(ctx)
}

// Close closes all databases but the home database.
func (s *Store) Close() error {
	s.stop()
	s.running.Wait()
	var errs []error
	for _, m := range s.members[1:] {
		if db := m.database(); db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// keepOpening opens a database as soon as it answers, and then watches it.
func (s *Store) keepOpening(ctx context.Context, m *member, n Named) {
	for first := true; ctx.Err() == nil; first = false {
		db, err := n.Open(ctx)
		if err == nil {
			m.adopt(db)
		} else if m.setProblem(err) && ctx.Err() == nil {
			s.logDown(m, err)
		}
		if first {
			close(m.tried)
		}
		if err == nil {
			s.changes.wake()
			s.watchMember(ctx, m)
			return
		}
		wait.For(ctx, reopenAfter)
	}
}

// awaitTried waits until the first attempts to open databases have ended, or Config.Wait is over.
func (s *Store) awaitTried(ctx context.Context, list ...*member) {
	for _, m := range list {
		select {
		case <-m.tried:
		case <-s.first:
		case <-ctx.Done():
		}
	}
}

// opened returns a database that is open; an error of the kind fault.Unavailable if it is not.
func (s *Store) opened(ctx context.Context, m *member) (Database, error) {
	s.awaitTried(ctx, m)
	if db := m.database(); db != nil {
		return db, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, errDown.Because(m.explain())
}

// watchMember wakes the waiters for changes of any database.
func (s *Store) watchMember(ctx context.Context, m *member) {
	changed := m.database().Changed()
	for {
		select {
		case <-changed:
			changed = m.database().Changed()
			s.changes.wake()
		case <-ctx.Done():
			return
		}
	}
}

// Changed returns a channel that is closed at the next write to any database.
func (s *Store) Changed() <-chan struct{} { return s.changes.channel() }

// broadcast is a channel that is closed and replaced.
type broadcast struct {
	mu   sync.Mutex // guards next
	next chan struct{}
}

func (b *broadcast) channel() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.next
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.next)
	b.next = make(chan struct{})
}

// member is one database.
type member struct {
	name  string
	tried chan struct{} // closed when the first attempt to open it has ended

	mu      sync.Mutex // guards all below
	db      Database
	problem error     // why it does not answer; nil if it does
	logged  bool      // the problem was logged
	until   time.Time // for how long lists leave it out without a try
}

func newMember(name string) *member {
	return &member{name: name, tried: make(chan struct{}), problem: errors.New("it was not opened yet")}
}

func (m *member) adopt(db Database) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.db, m.problem, m.logged = db, nil, false
}

// database returns the open database; nil if it was never open.
func (m *member) database() Database {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.db
}

// setProblem stores the reason why a database does not answer, nil if it does. It reports whether the
// problem is to be logged.
func (m *member) setProblem(err error) (first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.problem = err; err == nil {
		m.logged = false
		return false
	}
	m.until = time.Now().Add(reopenAfter)
	first, m.logged = !m.logged, true
	return first
}

// explain returns an error that says why the database did not answer when it was last asked, and what its
// operator can do; nil if it answered.
func (m *member) explain() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.problem == nil || fault.KindOf(m.problem) == fault.Invalid {
		return m.problem
	}
	return fmt.Errorf("the database %s does not answer (%w); see that its server runs and that the setting "+
		"databases has its address; loregate doctor checks all databases", m.name, m.problem)
}

// shunned reports whether lists leave the database out without a try.
func (m *member) shunned() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.db == nil || m.problem != nil && time.Now().Before(m.until)
}

// errDown is returned for worlds of a database that does not answer, and for unknown worlds while there
// is such a database. It does not name the database: clients need not know them. Its cause does, which the
// log has and a command prints.
var errDown = &fault.Error{Kind: fault.Unavailable, RetryAfter: reopenAfter,
	Message: "some worlds are not served at the moment; try again"}

// noteResult keeps the state of a database after a read or write, and hides from clients which one failed.
func (s *Store) noteResult(ctx context.Context, m *member, err error) error {
	if m == s.home || ctx.Err() != nil {
		return err
	}
	if fault.KindOf(err) != fault.Unavailable || errors.Is(err, search.ErrBehind) { // the database answers
		m.setProblem(nil)
		return err
	}
	if m.setProblem(err) {
		s.logDown(m, err)
	}
	return errDown.Because(m.explain())
}

func (s *Store) logDown(m *member, err error) {
	problem := "a database does not answer: its worlds are not served; it is tried again"
	if fault.KindOf(err) == fault.Invalid {
		problem = "a database is not the one that its name means: its worlds are not served"
	}
	s.cfg.Log.Error(problem, "database", m.name, "error", err)
}

// State is the state of one database.
type State struct {
	Name    string   // Home for the home database
	Problem error    // why it does not answer; nil if it does
	Worlds  int      // worlds that were placed there
	Missing []string // short names of those that it has not, though it answers
}

// States tries all databases and returns their states.
func (s *Store) States(ctx context.Context) (list []State) {
	s.awaitTried(ctx, s.members...)
	placed := map[string][]sqlstore.Placement{}
	s.mu.Lock()
	for _, p := range s.worlds {
		placed[p.Database] = append(placed[p.Database], p)
	}
	s.mu.Unlock()
	for _, m := range s.members {
		st := State{Name: cmp.Or(m.name, Home), Worlds: len(placed[m.name])}
		if db := m.database(); db != nil {
			st.Missing, st.Problem = s.missingFrom(ctx, db, placed[m.name])
			_ = s.noteResult(ctx, m, st.Problem)
		} else {
			m.mu.Lock()
			st.Problem = m.problem
			m.mu.Unlock()
		}
		list = append(list, st)
	}
	return list
}

// missingFrom returns the short names of the worlds that were placed in a database and are not there. A world that
// is being created or moved may be in none.
func (s *Store) missingFrom(ctx context.Context, db Database, placed []sqlstore.Placement) (slugs []string, err error) {
	var list []canon.World
	if err := db.Read(ctx, func(r canon.Reader) (err error) {
		list, err = r.Worlds(ctx, canon.WorldQuery{All: true})
		return err
	}); err != nil {
		return nil, err
	}
	for _, p := range placed {
		if slices.ContainsFunc(list, func(w canon.World) bool { return w.ID == p.World }) {
			continue
		}
		now, _, err := s.cfg.Home.Placement(ctx, p.World)
		if err != nil {
			return nil, err
		}
		if now == p && s.cfg.Now().Sub(p.Created) > orphanAge {
			slugs = append(slugs, p.Slug)
		}
	}
	slices.Sort(slugs)
	return slugs, nil
}

// Each calls f with each database that is open.
func (s *Store) Each(ctx context.Context, f func(name string, db Database) error) error {
	s.awaitTried(ctx, s.members...)
	for _, m := range s.members {
		if db := m.database(); db != nil {
			if err := f(cmp.Or(m.name, Home), db); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberNamed returns a database by its name in a placement; nil if it is not configured.
func (s *Store) memberNamed(name string) *member {
	if name == Home {
		name = ""
	}
	for _, m := range s.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// loadPlacements reads all placements.
func (s *Store) loadPlacements(ctx context.Context) error {
	now := time.Now()
	list, err := s.cfg.Home.Placements(ctx)
	if err != nil {
		return err
	}
	worlds, slugs := make(map[access.WorldID]sqlstore.Placement, len(list)), make(map[string]access.WorldID, len(list))
	for _, p := range list {
		worlds[p.World], slugs[p.Slug] = p, p.World
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worlds, s.slugs, s.loaded = worlds, slugs, now
	return nil
}

// refreshPlacement reads the placement of a world again.
func (s *Store) refreshPlacement(ctx context.Context, w access.WorldID) error {
	p, ok, err := s.cfg.Home.Placement(ctx, w)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok {
		s.worlds[w], s.slugs[p.Slug] = p, w
	} else {
		delete(s.worlds, w)
	}
	return nil
}

// placement returns the placement of a world as this process knows it.
func (s *Store) placement(w access.WorldID) (sqlstore.Placement, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.worlds[w]
	return p, ok
}

// memberOf returns the database of a world as this process knows it.
func (s *Store) memberOf(ctx context.Context, w access.WorldID) (*member, error) {
	p, ok := s.placement(w)
	if !ok && s.unplaced == s.home {
		if err := s.refreshPlacement(ctx, w); err != nil {
			return nil, err
		}
		p, ok = s.placement(w)
	}
	if !ok {
		return s.unplaced, nil
	}
	m := s.memberNamed(p.Database)
	if m == nil {
		return nil, fault.New(fault.Unavailable, "some worlds are not served; ask the operator to look at the settings").
			Because(errors.New("a world is in the database " + p.Database + ", which the setting databases does not name"))
	}
	return m, nil
}

// Place implements canon.Placer. A slug that was reserved for a world that was never created is free
// after orphanAge.
func (s *Store) Place(ctx context.Context, w access.WorldID, slug string) error {
	if _, ok := s.placement(w); ok {
		return nil
	}
	name := ""
	for _, p := range s.cfg.Patterns {
		if ok, _ := path.Match(p.Slug, slug); ok { // Config's patterns were checked
			name = p.Database
			break
		}
	}
	m := s.memberNamed(name)
	if m == nil {
		return fault.New(fault.Invalid, "worlds: the database %s is not one of databases", name)
	}
	if _, err := s.opened(ctx, m); err != nil {
		return err
	}
	for range 2 {
		holder, err := s.cfg.Home.Place(ctx, sqlstore.Placement{World: w, Slug: slug, Database: m.name, Version: 1,
			Created: s.cfg.Now()})
		if err != nil {
			return err
		}
		if holder.IsZero() {
			return s.refreshPlacement(ctx, w)
		}
		if err := s.freeOrphan(ctx, holder); err != nil {
			return err
		}
	}
	return canon.ErrTaken
}

// orphanAge is the time after which a world that was placed and does not exist counts as never created.
const orphanAge = 2 * time.Minute

// freeOrphan removes the placement of a world that was never created. It returns canon.ErrTaken if the world
// exists, or if its database does not answer.
func (s *Store) freeOrphan(ctx context.Context, w access.WorldID) error {
	p, ok, err := s.cfg.Home.Placement(ctx, w)
	if err != nil {
		return err
	}
	exists := true
	err = s.Read(ctx, func(r canon.Reader) error {
		_, exists, err = canon.First(r.Worlds(ctx, canon.WorldQuery{ID: w}))
		return err
	})
	switch {
	case !ok, exists, errors.Is(err, fault.Unavailable):
		return canon.ErrTaken
	case err != nil:
		return err
	case s.cfg.Now().Sub(p.Created) < orphanAge:
		return fault.New(fault.Conflict, "a world %s is being created, or its creation has failed; look for it with "+
			"loregate world list, and try again in two minutes", p.Slug)
	}
	return s.cfg.Home.Unplace(ctx, p)
}
