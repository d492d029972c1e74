package placed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/programtest"
	"loregate/internal/store/postgres/pgtest"
	"loregate/internal/wait"
)

var guard = access.NewGuard(access.Config{})

func grant(t testing.TB, role access.Role, w access.WorldID, key string) access.Grant {
	t.Helper()
	return grantTo(t, access.Subject(role.String()), role, w, key)
}

func grantTo(t testing.TB, who access.Subject, role access.Role, w access.WorldID, key string) access.Grant {
	t.Helper()
	call, err := guard.Admit(context.Background(), access.Caller{Subject: who, EveryRole: role,
		Operator: role == access.RoleAdmin}, access.Request{Effect: access.Write, World: w, IdempotencyKey: key})
	if err != nil {
		t.Fatal(err)
	}
	return call.Grant
}

func newWorld(t testing.TB, s *Store, slug string) canon.World {
	t.Helper()
	w, err := canon.New(canon.Config{Store: s}).CreateWorld(t.Context(), grant(t, access.RoleAdmin, access.WorldID{}, ""),
		canon.NewWorld{Slug: slug})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// load writes to a world and reads it through several processes until stop is called.
type load struct {
	t       testing.TB
	world   access.WorldID
	pace    time.Duration // for which a worker only reads after the writes of a round
	run     sync.WaitGroup
	ended   atomic.Bool
	slowest atomic.Int64

	mu   sync.Mutex // guards acked
	acks map[uuid.UUID]string
}

func startLoad(t testing.TB, w access.WorldID, pace time.Duration, processes ...*Store) *load {
	const writers = 3
	l := &load{t: t, world: w, pace: pace, acks: map[uuid.UUID]string{}}
	for i := range writers {
		l.run.Go(func() { l.work(canon.New(canon.Config{Store: processes[i%len(processes)]}), i) })
	}
	t.Cleanup(l.stop)
	return l
}

func (l *load) stop() {
	l.ended.Store(true)
	l.run.Wait()
}

var (
	gmLabel  = access.NewLabel(access.LevelGM)
	annLabel = access.NewLabel(access.LevelGM, "ann")
)

// work creates a card, a hidden one and one for ann in each round, and in some rounds changes the card or
// erases its first version. A write that was refused is repeated with its idempotency key.
func (l *load) work(c *canon.Canon, worker int) {
	for n := 0; !l.ended.Load(); n++ {
		name := fmt.Sprintf("Card %d-%d", worker, n)
		l.write(c, name, createCards(name))
		if n%4 == 1 {
			l.write(c, name+" again", func(p *canon.Plan) error {
				card, err := p.Card(name)
				if err != nil {
					return err
				}
				text := "Another text of " + name
				_, err = p.Update(card, canon.Edit{Content: &text})
				return err
			})
		}
		if n%8 == 1 {
			l.write(c, name+" purged", func(p *canon.Plan) error { return purgeFirst(p, name) })
		}
		for end := time.Now().Add(l.pace); ; {
			l.read(c, name)
			if wait.For(context.Background(), min(l.pace, readPace)); l.ended.Load() || time.Now().After(end) {
				break
			}
		}
	}
}

// readPace is the time between the reads of a worker.
const readPace = 100 * time.Millisecond

// createCards creates a card that everybody sees, one that only masters see, and one that ann sees.
func createCards(name string) func(*canon.Plan) error {
	return func(p *canon.Plan) error {
		if _, err := p.Create(canon.NewCard{Name: name, Content: "Text of " + name}); err != nil {
			return err
		}
		if _, err := p.Create(canon.NewCard{Name: "Secret " + name, Content: "hidden", Label: &gmLabel}); err != nil {
			return err
		}
		_, err := p.Create(canon.NewCard{Name: "Note " + name, Content: "for ann", Label: &annLabel})
		return err
	}
}

// purgeFirst erases the first version of a card.
func purgeFirst(p *canon.Plan, name string) error {
	ctx := context.Background()
	card, err := p.Card(name)
	if err != nil {
		return err
	}
	list, _, err := p.Versions(ctx, card.ID, canon.Page{Limit: 10})
	if err != nil {
		return err
	}
	return p.Purge(card, list[len(list)-1])
}

func (l *load) write(c *canon.Canon, key string, plan func(*canon.Plan) error) {
	for try := 0; ; try++ {
		started := time.Now()
		receipt, err := c.Update(context.Background(), grant(l.t, access.RoleAdmin, l.world, key), plan)
		if took := int64(time.Since(started)); took > l.slowest.Load() {
			l.slowest.Store(took)
		}
		if err == nil {
			l.mu.Lock()
			l.acks[receipt.Change] = key
			l.mu.Unlock()
			return
		}
		if fault.KindOf(err) != fault.Unavailable || try > 100 {
			l.t.Errorf("write %s: %v", key, err)
			return
		}
		wait.For(context.Background(), 5*time.Millisecond)
	}
}

// read checks that a user sees the card that was just written, ann her note too, and neither the hidden one.
func (l *load) read(c *canon.Canon, name string) {
	ctx := context.Background()
	for who, seen := range map[access.Subject][]string{"user": {name}, "ann": {name, "Note " + name}} {
		err := c.Read(ctx, grantTo(l.t, who, access.RoleUser, l.world, ""), func(s *canon.Snapshot) error {
			for _, card := range []string{name, "Note " + name, "Secret " + name} {
				_, err := s.Find(ctx, card)
				if visible := slices.Contains(seen, card); visible && err != nil ||
					!visible && fault.KindOf(err) != fault.NotFound {
					return fmt.Errorf("%s reads %s: %w", who, card, err)
				}
			}
			return nil
		})
		if err != nil && fault.KindOf(err) != fault.Unavailable {
			l.t.Errorf("read: %v", err)
		}
	}
}

// check proves that nothing was lost or doubled, and that the tables follow from the stream.
func (l *load) check(s *Store) {
	l.t.Helper()
	ctx := context.Background()
	seen, keys := map[uuid.UUID]bool{}, map[string]bool{}
	if err := s.Read(ctx, func(r canon.Reader) error {
		for c, err := range r.Commits(ctx, canon.WorldStream(l.world), 2) {
			if err != nil {
				return err
			}
			rec, err := c.Record()
			if err != nil {
				return err
			}
			if keys[rec.Idempotency] {
				l.t.Errorf("%s was committed twice", rec.Idempotency)
			}
			seen[c.ID], keys[rec.Idempotency] = true, true
		}
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	for id, key := range l.acks {
		if !seen[id] {
			l.t.Errorf("the acknowledged commit of %s is lost", key)
		}
	}
	if len(seen) != len(l.acks) {
		l.t.Errorf("the stream has %d commits, %d were acknowledged", len(seen), len(l.acks))
	}
	if _, err := canon.VerifyStreams(ctx, s); err != nil {
		l.t.Error(err)
	}
	out, err := canon.New(canon.Config{Store: s}).Rebuild(ctx, grant(l.t, access.RoleAdmin, l.world, ""), l.world,
		canon.CompareOnly)
	if err != nil || len(out.Different) > 0 {
		l.t.Errorf("tables that differ from the stream: %v, %v", out.Different, err)
	}
	l.checkSearch(s)
	l.t.Logf("%d commits; the slowest write took %s", len(l.acks), time.Duration(l.slowest.Load()).Round(time.Millisecond))
}

// checkSearch searches for the texts that createCards writes.
func (l *load) checkSearch(s *Store) {
	l.t.Helper()
	ctx, c := context.Background(), canon.New(canon.Config{Store: s})
	for text, found := range map[string]bool{"text": true, "hidden": false, "ann": false} {
		if err := c.Read(ctx, grant(l.t, access.RoleUser, l.world, ""), func(s *canon.Snapshot) error {
			r, err := s.Search(ctx, canon.SearchQuery{Q: text, InContent: true}, canon.Page{Limit: 3})
			if err == nil && (len(r.Hits) > 0) != found {
				l.t.Errorf("a user searches %q and finds %d cards", text, len(r.Hits))
			}
			return err
		}); err != nil {
			l.t.Error(err)
		}
	}
}

var errKilled = errors.New("killed")

// moveKilled moves a world, and kills the move after the steps with a chance, until it is done.
func moveKilled(t testing.TB, s *Store, w access.WorldID, to string, chance float64) (kills int) {
	t.Helper()
	for {
		m := &move{
			s:        s,
			world:    w,
			stream:   canon.WorldStream(w),
			progress: func(string, ...any) {},
			after: func(string) error {
				if rand.Float64() < chance {
					return errKilled
				}
				return nil
			},
		}
		err := m.run(t.Context(), to)
		if err == nil {
			return kills
		}
		if kills++; !errors.Is(err, errKilled) && fault.KindOf(err) != fault.Conflict || kills > 500 {
			t.Fatalf("move %d: %v", kills, err)
		}
	}
}

// TestMoveUnderLoad moves a world between databases while two processes write to it and a third one, which
// moves it, is killed at any step. MOVES sets the number of moves.
func TestMoveUnderLoad(t *testing.T) {
	programtest.Long(t)
	for kind, create := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			testMoveUnderLoad(t, create(t))
		})
	}
}

func testMoveUnderLoad(t *testing.T, d databases) {
	moves := 3
	if n, err := strconv.Atoi(os.Getenv("MOVES")); err == nil {
		moves = n
	}
	one, two, mover := d.open(t), d.open(t), d.open(t)
	w := newWorld(t, one, "east-march")
	// Each move copies the whole world: the more moves there are, the slower the world grows.
	l := startLoad(t, w.ID, time.Duration(max(moves, 5))*10*time.Millisecond, one, two)
	kills := 0
	for i := range moves {
		kills += moveKilled(t, mover, w.ID, []string{"west", Home, "east"}[i%3], 0.1)
	}
	l.stop()
	l.check(one)
	l.check(two)
	// The log of check has the slowest write: the pause of a move should be shorter than two seconds.
	t.Logf("%d moves, killed %d times", moves, kills)
}

// TestKilledMove kills a move after each of its steps. The world is served, in one place, before the move
// is run again, which finishes it.
func TestKilledMove(t *testing.T) {
	programtest.Long(t)
	for _, step := range []string{"announce", "batch", "copy", "prove", "freeze", "rest", "seal", "finish", "discard batch",
		"discard"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			f := newFiles(t)
			one, mover := f.open(t), f.open(t)
			w := newWorld(t, one, "east-march")
			l := &load{t: t, world: w.ID, acks: map[uuid.UUID]string{}}
			c := canon.New(canon.Config{Store: one})
			put := func(n int) {
				t.Helper()
				name := fmt.Sprintf("Card %d", n)
				l.write(c, name, createCards(name))
				l.read(c, name)
			}
			for n := range moveBatch + 30 {
				name := fmt.Sprintf("Card %d", n)
				l.write(c, name, createCards(name))
			}
			m := &move{s: mover, world: w.ID, stream: canon.WorldStream(w.ID), progress: t.Logf, after: func(at string) error {
				if at == step {
					return errKilled
				}
				return nil
			}}
			if err := m.run(t.Context(), "west"); !errors.Is(err, errKilled) {
				t.Fatalf("the move was not killed: %v", err)
			}
			put(1000)
			if err := f.open(t).Move(t.Context(), w.ID, "west", t.Logf); err != nil {
				t.Fatal(err)
			}
			put(1001)
			l.check(one)
			if err := f.open(t).Move(t.Context(), w.ID, "west", t.Logf); err != nil {
				t.Fatal(err)
			}
			east, err := f.east(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer east.Close()
			if err := east.Read(t.Context(), func(r canon.Reader) error {
				streams, err := r.Streams(t.Context(), "")
				if len(streams) > 0 {
					t.Errorf("the old copy is left: %v", streams)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// moveFor is a move of a world to the database west, which calls after with each step.
func moveFor(t *testing.T, s *Store, w access.WorldID, after func(step string) error) *move {
	return &move{s: s, world: w, stream: canon.WorldStream(w), progress: t.Logf, after: after}
}

// TestErasedWhileProven erases a text between the digest of the world and the copy of its last commits.
func TestErasedWhileProven(t *testing.T) {
	s := newFiles(t).open(t)
	w := newWorld(t, s, "east-march")
	l := &load{t: t, world: w.ID, acks: map[uuid.UUID]string{}}
	c := canon.New(canon.Config{Store: s})
	l.write(c, "mill", createCards("Mill"))
	m := moveFor(t, s, w.ID, func(step string) error {
		switch step {
		case "copy":
			l.write(c, "create", createCards("Inn"))
		case "digest":
			l.write(c, "purge", func(p *canon.Plan) error { return purgeFirst(p, "Inn") })
		}
		return nil
	})
	if err := m.run(t.Context(), "west"); err != nil {
		t.Fatal(err)
	}
	l.check(s)
}

// TestDiscardedCopyIsNotContinued kills a move after the copy, and again while that copy is discarded.
func TestDiscardedCopyIsNotContinued(t *testing.T) {
	s := newFiles(t).open(t)
	w := newWorld(t, s, "east-march")
	l := &load{t: t, world: w.ID, acks: map[uuid.UUID]string{}}
	c := canon.New(canon.Config{Store: s})
	l.write(c, "create", func(p *canon.Plan) error {
		for n := range discardRows / 4 {
			if err := createCards(fmt.Sprintf("Card %d", n))(p); err != nil {
				return err
			}
		}
		return nil
	})
	killAt := func(at string) func(string) error {
		return func(step string) error {
			if step == at {
				return errKilled
			}
			return nil
		}
	}
	m := moveFor(t, s, w.ID, killAt("copy"))
	if err := m.run(t.Context(), "west"); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	m.after = killAt("discard batch")
	if err := m.discard(t.Context(), m.to); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	l.write(c, "purge", func(p *canon.Plan) error { return purgeFirst(p, "Card 1") })
	if err := s.Move(t.Context(), w.ID, "west", t.Logf); err != nil {
		t.Fatal(err)
	}
	l.check(s)
}

// TestMoveMakesFewRoundTrips counts the round trips of a move between two databases. MOVE_COMMITS sets the
// number of commits.
func TestMoveMakesFewRoundTrips(t *testing.T) {
	commits := 150
	if n, err := strconv.Atoi(os.Getenv("MOVE_COMMITS")); err == nil {
		commits = n
	}
	home, east := newDatabase(t), newDatabase(t)
	d := databases{openAt(home), openAt(east), openAt(newDatabase(t))}
	one := d.open(t)
	w := newWorld(t, one, "march")
	l := &load{t: t, world: w.ID, acks: map[uuid.UUID]string{}}
	c := canon.New(canon.Config{Store: one})
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for n := i; n < commits; n += 8 {
				name := fmt.Sprintf("Town %d+Hall %d", n%50, n)
				l.write(c, name, func(p *canon.Plan) error {
					_, err := p.Create(canon.NewCard{Name: name, Content: fmt.Sprintf("A text of [[Town %d]], %d.", n%20, n)})
					return err
				})
			}
		})
	}
	writers.Wait()
	from, to := pgtest.NewProxy(t, home), pgtest.NewProxy(t, east)
	mover := databases{openAt(from.URL), openAt(to.URL), d.west}.open(t)
	asked, told := from.RoundTrips(), to.RoundTrips()
	started, phase := time.Now(), ""
	m := &move{s: mover, world: w.ID, stream: canon.WorldStream(w.ID), progress: t.Logf, after: func(step string) error {
		if step != phase {
			phase = step
			t.Logf(
				"%s after %s: %d round trips to the old database, %d to the new one",
				step,
				time.Since(started).Round(time.Millisecond),
				from.RoundTrips()-asked,
				to.RoundTrips()-told,
			)
		}
		return nil
	}}
	if err := m.run(t.Context(), "east"); err != nil {
		t.Fatal(err)
	}
	asked, told = from.RoundTrips()-asked, to.RoundTrips()-told
	t.Logf("%d commits in %s: %d round trips to the old database, %d to the new one", commits,
		time.Since(started).Round(time.Millisecond), asked, told)
	if most := 400 + commits/2; asked+told > most {
		t.Errorf("%d round trips for %d commits, want at most %d", asked+told, commits, most)
	}
	l.check(one)
}
