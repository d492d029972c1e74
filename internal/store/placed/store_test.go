package placed

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/search"
	"loregate/internal/store/postgres"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/store/sqlite"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/store/sqlstore"
	"loregate/internal/store/storetest"
)

var (
	_ Database     = (*sqlite.Store)(nil)
	_ Database     = (*postgres.Store)(nil)
	_ fencedReader = (*sqlstore.Reader)(nil)
	_ fencedTx     = sqlstore.Tx{}
)

// databases opens the databases home, east and west.
type databases struct {
	home, east, west func(ctx context.Context) (Database, error)
}

// kinds makes new databases of each kind.
var kinds = map[string]func(t testing.TB) databases{"embedded": newFiles, "postgres": newServers}

func newFiles(t testing.TB) databases {
	dir := t.TempDir()
	open := func(name string) func(context.Context) (Database, error) {
		path := filepath.Join(dir, name)
		sqlitetest.WriteEmpty(t, path)
		return func(ctx context.Context) (Database, error) { return sqlite.Open(ctx, sqlite.Config{Path: path}) }
	}
	return databases{open("home.db"), open("east.db"), open("west.db")}
}

func newServers(t testing.TB) databases {
	return databases{openAt(newDatabase(t)), openAt(newDatabase(t)), openAt(newDatabase(t))}
}

// newDatabase returns the address of a new database in PostgreSQL.
func newDatabase(t testing.TB) string {
	return pgtest.Database(t, func(ctx context.Context, url string) error {
		s, err := postgres.Open(ctx, postgres.Config{URL: url})
		if err == nil {
			err = s.Close()
		}
		return err
	})
}

func openAt(url string) func(ctx context.Context) (Database, error) {
	return func(ctx context.Context) (Database, error) { return postgres.Open(ctx, postgres.Config{URL: url}) }
}

// open opens the databases as a process of its own.
func (d databases) open(t testing.TB) *Store {
	t.Helper()
	home, err := d.home(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Home: home, Others: []Named{{"east", d.east}, {"west", d.west}},
		Patterns: []Pattern{{"east-*", "east"}, {"west-*", "west"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(s.Close(), home.Close()) })
	return s
}

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestStoreElsewhere tests all promises of a store in a database with a name.
func TestStoreElsewhere(t *testing.T) {
	storetest.Run(t, func(t *testing.T) canon.Store {
		s := newFiles(t).open(t)
		s.unplaced = s.memberNamed("east")
		return s
	})
}

// TestNoOtherDatabase tests that a placement in a database that is not configured is an error.
func TestNoOtherDatabase(t *testing.T) {
	s := newFiles(t).open(t)
	err := s.Place(t.Context(), access.WorldID{1}, "east-1")
	if err != nil {
		t.Fatal(err)
	}
	s.members = s.members[:1]
	err = s.WriteTo(t.Context(), access.WorldID{1}, func(canon.Tx) error { return nil })
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a write to an unknown database: %v", err)
	}
}

// TestDryRunReservesNothing tests that a dry run of an import leaves its slug free, and that the import places its
// world.
func TestDryRunReservesNothing(t *testing.T) {
	from, to := newFiles(t).open(t), newFiles(t).open(t)
	w := newWorld(t, from, "east-1")
	g := grant(t, access.RoleAdmin, access.WorldID{}, "")
	for _, step := range []struct {
		g      access.Grant
		placed int
	}{{g.DryRun(), 0}, {g, 1}} {
		source := canon.New(canon.Config{Store: from})
		if err := source.ExportStream(t.Context(), g, w.ID, func(d canon.WorldStreamData) error {
			_, err := canon.New(canon.Config{Store: to}).ImportStream(t.Context(), step.g, d, nil)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		list, err := to.cfg.Home.Placements(t.Context())
		if err != nil || len(list) != step.placed {
			t.Errorf("dry run %t: %d placements, %v; want %d", step.g.Request().DryRun, len(list), err, step.placed)
		}
	}
	if p, _ := to.placement(w.ID); p.Database != "east" {
		t.Errorf("the world was imported into %q", p.Database)
	}
}

// TestSlugOfFailedCreation tests that a slug that was reserved for a world that was never created is free after two
// minutes, and that of a world never, even while its database does not answer.
func TestSlugOfFailedCreation(t *testing.T) {
	s := newFiles(t).open(t)
	newWorld(t, s, "east-1")
	east := s.memberNamed("east")
	up := east.database()
	if err := s.Place(t.Context(), access.WorldID{1}, "east-2"); err != nil { // and then its creation fails
		t.Fatal(err)
	}
	start := time.Now()
	for _, step := range []struct {
		slug  string
		later time.Duration
		down  bool
		want  error
	}{
		{"east-1", 0, false, canon.ErrTaken},
		{"east-2", 0, false, fault.Conflict},
		{"east-1", 3 * time.Minute, false, canon.ErrTaken},
		{"east-1", 3 * time.Minute, true, canon.ErrTaken},
		{"east-2", 3 * time.Minute, false, nil},
	} {
		s.cfg.Now = func() time.Time { return start.Add(step.later) }
		if east.db = up; step.down {
			east.db = downDatabase{up}
		}
		if err := s.Place(t.Context(), access.WorldID{2}, step.slug); !errors.Is(err, step.want) {
			t.Errorf("%+v: %v", step, err)
		}
	}
}

// downDatabase is a database that does not answer.
type downDatabase struct{ Database }

func (downDatabase) Read(context.Context, func(canon.Reader) error) error {
	return fault.New(fault.Unavailable, "the connection was lost")
}

// TestIndexBeingBuilt tests that a database is not down because an index is being built there.
func TestIndexBeingBuilt(t *testing.T) {
	s := newFiles(t).open(t)
	w := newWorld(t, s, "east-1")
	east := s.memberNamed("east")
	behind := fault.New(fault.Unavailable, "try again in a moment").Because(search.ErrBehind)
	if err := s.noteResult(t.Context(), east, behind); !errors.Is(err, behind) || errors.Is(err, errDown) {
		t.Errorf("a search is answered %v, want %v", err, behind)
	}
	if err := s.Read(t.Context(), func(r canon.Reader) error {
		list, err := r.Worlds(t.Context(), canon.WorldQuery{All: true})
		if len(list) != 1 || list[0].ID != w.ID {
			t.Errorf("a list has the worlds %+v", list)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestWaitForDatabase tests that a command waits for a database that is being opened if it needs it, and names one
// that cannot be opened, with the reason.
func TestWaitForDatabase(t *testing.T) {
	d := newFiles(t)
	home, err := d.home(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answers, refusal := make(chan struct{}), errors.New("no route to host")
	s, err := Open(t.Context(), Config{Home: home, Wait: time.Minute, Log: slog.New(slog.DiscardHandler),
		Others: []Named{
			{"east", func(ctx context.Context) (Database, error) { <-answers; return d.east(ctx) }},
			{"west", func(context.Context) (Database, error) { return nil, refusal }},
		}, Patterns: []Pattern{{"east-*", "east"}, {"west-*", "west"}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(s.Close(), home.Close()) })
	placed := make(chan error)
	go func() { placed <- s.Place(t.Context(), access.WorldID{1}, "east-1") }()
	if err := s.Place(t.Context(), access.WorldID{2}, "of-home"); err != nil { // while east is being opened
		t.Error(err)
	}
	err = s.Place(t.Context(), access.WorldID{3}, "west-1")
	if !errors.Is(err, fault.Unavailable) || !errors.Is(err, refusal) ||
		!strings.Contains(err.Error(), "database west") {
		t.Errorf("a world in a database that cannot be opened: %v", err)
	}
	close(answers)
	if err := <-placed; err != nil {
		t.Errorf("a world in a database that is being opened: %v", err)
	}
}
