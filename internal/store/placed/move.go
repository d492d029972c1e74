package placed

import (
	"cmp"
	"context"
	"errors"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/store/sqlstore"
	"loregate/internal/wait"
)

const (
	// moveBatch is the number of commits that are copied in one transaction; canon.ReadCommits limits their bytes.
	moveBatch = 100
	// catchUpRounds is the number of batches in which the target must come nearer by half of what was copied.
	catchUpRounds = 10
	// freezeFor is the time after which writes go on if the process that moves a world does not seal it.
	freezeFor = 1500 * time.Millisecond
	// freezeTries is the number of times that the last commits are copied under a freeze.
	freezeTries = 20
	// proofWithin is the longest time that a proof under a freeze may be expected to take.
	proofWithin = 300 * time.Millisecond
	// discardRows is the number of rows that a step of discarding an old copy removes.
	discardRows = 2000
)

// Move moves a world to a database while it is served, and calls progress with each step. If it is
// interrupted or killed, calling it again finishes the move; until the world is sealed at its old place
// it is served there, and from then on at the new one. Moving it to the database that has it only
// discards old copies.
func (s *Store) Move(
	ctx context.Context,
	w access.WorldID,
	database string,
	progress func(format string, args ...any),
) error {
	m := &move{s: s, world: w, stream: canon.WorldStream(w), progress: progress}
	return m.run(ctx, database)
}

// move is one run of Move.
type move struct {
	s        *Store
	world    access.WorldID
	stream   canon.StreamID
	from, to *member
	version  int64         // of the placement after the move
	behind   canon.Seq     // commits that the target lacked after the last batch
	took     time.Duration // by the last proof
	progress func(format string, args ...any)
	after    func(step string) error // called after each step by tests; its error ends the run
}

func (m *move) step(name string) error {
	if m.after == nil {
		return nil
	}
	return m.after(name)
}

func (m *move) run(ctx context.Context, database string) error {
	if m.to = m.s.memberNamed(database); m.to == nil {
		return fault.New(fault.Invalid, "there is no database %q; name one of the setting databases, or %s", database, Home)
	}
	if err := m.findSource(ctx); err != nil {
		return err
	}
	if m.from == m.to {
		m.progress("the world is in %s", cmp.Or(m.to.name, Home))
		return m.discardOldCopies(ctx)
	}
	for _, d := range []*member{m.from, m.to} {
		if _, err := m.s.opened(ctx, d); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{{"announce", m.announce}, {"copy", m.copyRounds}, {"prove", m.proveEqual}, {"seal", m.sealSource},
		{"finish", m.finish}, {"discard", m.discardOldCopies}} {
		if err := step.run(ctx); err != nil {
			return err
		}
		if err := m.step(step.name); err != nil {
			return err
		}
	}
	return nil
}

// findSource finds the database that has the world, and first finishes a move that was sealed.
func (m *move) findSource(ctx context.Context) error {
	return m.s.passFences(ctx, func() error {
		if err := m.s.refreshPlacement(ctx, m.world); err != nil {
			return err
		}
		p, ok := m.s.placement(m.world)
		if !ok {
			return fault.New(fault.NotFound, "no such world")
		}
		m.version = p.Version + 1
		m.from = m.s.memberNamed(p.Database)
		if m.from == nil {
			return fault.New(fault.Invalid, "the world is in the database %q; add it to the setting databases", p.Database)
		}
		db, err := m.s.opened(ctx, m.from)
		if err != nil {
			return err
		}
		return db.Read(ctx, func(r canon.Reader) error {
			if _, found, err := canon.First(r.Worlds(ctx, canon.WorldQuery{ID: m.world})); err != nil || !found {
				if err == nil {
					err = m.s.checkFence(ctx, r, m.from, m.world, false)
				}
				if err == nil {
					err = fault.New(fault.NotFound, "no such world")
				}
				return err
			}
			return m.s.checkFence(ctx, r, m.from, m.world, false)
		})
	})
}

// change writes to a database.
func (m *move) change(ctx context.Context, d *member, f func(tx canon.Tx, fence sqlstore.Fence) error) error {
	return d.database().Write(ctx, func(tx canon.Tx) error {
		fence, err := tx.(fencedReader).Fence(ctx, m.world)
		if err != nil {
			return err
		}
		return f(tx, fence)
	})
}

func (m *move) putFence(ctx context.Context, tx canon.Tx, state sqlstore.FenceState, other *member) error {
	f := sqlstore.Fence{State: state, Database: other.name, Version: m.version}
	if state == sqlstore.Frozen {
		f.Until = m.s.cfg.Now().Add(freezeFor)
	}
	return tx.(fencedTx).PutFence(ctx, m.world, f)
}

// announce fences the target, so that it serves nothing of the copy, after the remains of an earlier copy
// were discarded.
func (m *move) announce(ctx context.Context) error {
	dead := false
	err := m.change(ctx, m.to, func(tx canon.Tx, fence sqlstore.Fence) error {
		head, err := tx.Head(ctx, m.stream)
		if err != nil {
			return err
		}
		if fence.State == 0 && head.Seq > 0 {
			return fault.New(fault.Conflict,
				"the database %s has a world with this id that was not moved there; look at it, and discard it first",
				cmp.Or(m.to.name, Home))
		}
		if dead = fence.State == sqlstore.Moved && head.Seq > 0; dead {
			return nil
		}
		return m.putFence(ctx, tx, sqlstore.Arriving, m.from)
	})
	if err != nil || !dead {
		return err
	}
	if err := m.discard(ctx, m.to); err != nil {
		return err
	}
	return m.announce(ctx)
}

// copyRounds copies commits until the target is only a few behind, or does not come nearer because the world
// is written to as fast. A copy that is not the beginning of the world's stream is discarded first.
func (m *move) copyRounds(ctx context.Context) error {
	before, done := canon.Seq(0), 0 // commits that it was behind catchUpRounds earlier, and that were copied since
	for round := 0; ; round++ {
		n, err := m.copyNext(ctx)
		if errors.Is(err, errOtherChain) && round == 0 {
			if err = m.discard(ctx, m.to); err == nil {
				err = m.announce(ctx)
			}
			if err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		done += n
		if round%20 == 0 && n > 0 {
			m.progress("copied %d commits, %d are left", n, m.behind)
		}
		if n == 0 || m.behind < moveBatch/4 {
			return nil
		}
		if round%catchUpRounds == 0 {
			if round > 0 && m.behind+canon.Seq(done/2) > before {
				return nil
			}
			before, done = m.behind, 0
		}
		if err := m.step("batch"); err != nil {
			return err
		}
	}
}

// errOtherChain means that the target has another chain than the source.
var errOtherChain = fault.New(fault.Conflict, "the target has another chain of this world; move the world again")

// copied is a part of a world that is copied in one transaction.
type copied struct {
	head    canon.Head // of the source
	commits []canon.StoredCommit
	bodies  map[canon.Hash][]byte
	repeats []canon.Repeat
}

// copyNext copies the next commits that the target does not have, and returns how many it copied.
func (m *move) copyNext(ctx context.Context) (n int, err error) {
	err = m.from.database().Read(ctx, func(r canon.Reader) error {
		n, err = m.copyFrom(ctx, r)
		return err
	})
	return n, err
}

// copyFrom is copyNext from a snapshot of the source.
func (m *move) copyFrom(ctx context.Context, r canon.Reader) (n int, err error) {
	have, err := m.headAt(ctx, m.to)
	if err != nil {
		return 0, err
	}
	part, err := m.readPart(ctx, r, have)
	if err != nil || len(part.commits) == 0 {
		return 0, err
	}
	m.behind = part.head.Seq - part.commits[len(part.commits)-1].Seq
	return len(part.commits), m.change(ctx, m.to, func(tx canon.Tx, fence sqlstore.Fence) error {
		if fence.State != sqlstore.Arriving || fence.Version != m.version {
			return errOtherMove
		}
		if err := canon.AppendCopied(ctx, tx, m.world, part.commits, part.bodies); err != nil {
			return err
		}
		for _, r := range part.repeats {
			if err := tx.PutRepeat(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// errOtherMove means that another process moves the world.
var errOtherMove = fault.New(fault.Conflict, "another process moves this world; wait for it, or run the command again")

func (m *move) headAt(ctx context.Context, d *member) (h canon.Head, err error) {
	err = d.database().Read(ctx, func(r canon.Reader) error {
		h, err = r.Head(ctx, m.stream)
		return err
	})
	return h, err
}

// readPart reads the commits after a head of the target, with their contents and idempotency keys.
func (m *move) readPart(ctx context.Context, r canon.Reader, have canon.Head) (part copied, err error) {
	if part.head, err = r.Head(ctx, m.stream); err != nil {
		return part, err
	}
	part.commits, part.bodies, err = canon.ReadCommits(ctx, r, m.stream, max(have.Seq, 1), moveBatch)
	if err != nil {
		return part, err
	}
	if have.Seq > 0 {
		if len(part.commits) == 0 || part.commits[0].Hash != have.Hash {
			return part, errOtherChain
		}
		part.commits = part.commits[1:]
	}
	if len(part.commits) > 0 {
		part.repeats, err = r.(fencedReader).RepeatsBetween(ctx, m.stream, part.commits[0].Seq,
			part.commits[len(part.commits)-1].Seq)
	}
	return part, err
}

// proof is the state of a world in one database.
type proof struct {
	head     canon.Head
	tables   map[canon.Table]canon.Digested
	contents canon.Digested
}

// digest reads the whole world in one snapshot.
func (m *move) digest(ctx context.Context, d *member) (p proof, err error) {
	err = d.database().Read(ctx, func(r canon.Reader) error {
		p, err = m.digestFrom(ctx, r)
		return err
	})
	return p, err
}

func (m *move) digestFrom(ctx context.Context, r canon.Reader) (p proof, err error) {
	p = proof{tables: map[canon.Table]canon.Digested{}}
	if p.head, err = r.Head(ctx, m.stream); err != nil {
		return p, err
	}
	for _, t := range canon.Tables {
		if p.tables[t], err = canon.Digest(ctx, r, m.world, t); err != nil {
			return p, err
		}
	}
	p.contents, err = canon.DigestContents(ctx, r, m.world)
	return p, err
}

// compareProofs returns an error that names the first difference.
func (m *move) compareProofs(a, b proof) error {
	differ := func(what string) error {
		return fault.New(
			fault.Conflict,
			"%s of the copy differ: the world stays where it is; run loregate rebuild on the world, "+
				"and move it again",
			what,
		)
	}
	if a.head != b.head {
		return differ("the commits")
	}
	for _, t := range canon.Tables {
		if a.tables[t] != b.tables[t] {
			return differ("the rows of the table " + string(t))
		}
	}
	if a.contents != b.contents {
		return differ("the contents")
	}
	return nil
}

// proveEqual compares the source as it is in one snapshot with the copy at the same commit. It copies the
// rest from that snapshot: a content that is erased meanwhile would be missing from the copy.
func (m *move) proveEqual(ctx context.Context) error {
	started := time.Now()
	var source proof
	err := m.from.database().Read(ctx, func(r canon.Reader) (err error) {
		if source, err = m.digestFrom(ctx, r); err != nil {
			return err
		}
		if err := m.step("digest"); err != nil {
			return err
		}
		for n := 1; n > 0 && err == nil; {
			n, err = m.copyFrom(ctx, r)
		}
		return err
	})
	if err != nil {
		return err
	}
	target, err := m.digest(ctx, m.to)
	if err != nil {
		return err
	}
	m.took = time.Since(started)
	if err := m.compareProofs(source, target); err != nil {
		return errors.Join(err, m.discard(ctx, m.to))
	}
	m.progress("both are equal at commit %d", source.head.Seq)
	return nil
}

// sealSource freezes the world, copies its last commits and compares both, and closes the old place for
// good. If the freeze ended before, it tries again.
func (m *move) sealSource(ctx context.Context) error {
	for try := range freezeTries {
		if try > 0 && !wait.For(ctx, freezeFor/3) {
			return ctx.Err()
		}
		started := time.Now()
		sealed, err := m.trySeal(ctx)
		if err != nil {
			return err
		}
		if sealed {
			m.progress("writes waited for %s", time.Since(started).Round(time.Millisecond))
			return nil
		}
	}
	return fault.New(fault.Conflict, "the world is written to faster than its last commits can be copied; "+
		"it stays where it is: move it again when fewer people use it")
}

func (m *move) trySeal(ctx context.Context) (sealed bool, err error) {
	if err := m.change(ctx, m.from, func(tx canon.Tx, fence sqlstore.Fence) error {
		mine := fence.Database == m.to.name && fence.Version == m.version
		if fence.State != 0 && (fence.State != sqlstore.Frozen || !mine && !m.s.cfg.Now().After(fence.Until)) {
			return errOtherMove
		}
		return m.putFence(ctx, tx, sqlstore.Frozen, m.to)
	}); err != nil {
		return false, err
	}
	if err := m.step("freeze"); err != nil {
		return false, err
	}
	if err := m.copyRest(ctx); err != nil {
		return false, err
	}
	if err := m.step("rest"); err != nil {
		return false, err
	}
	target, err := m.headAt(ctx, m.to)
	if err != nil {
		return false, err
	}
	err = m.change(ctx, m.from, func(tx canon.Tx, fence sqlstore.Fence) error {
		head, err := tx.Head(ctx, m.stream)
		if err != nil || head != target {
			return err
		}
		if fence.State != sqlstore.Frozen || fence.Database != m.to.name || fence.Version != m.version {
			return errOtherMove
		}
		sealed = true
		return m.putFence(ctx, tx, sqlstore.Moved, m.to)
	})
	return sealed && err == nil, err
}

// copyRest copies the commits since the last proof. It compares everything again if that is quick, and
// otherwise the chain alone, from which the tables were made by the same program.
func (m *move) copyRest(ctx context.Context) error {
	for end := time.Now().Add(freezeFor); time.Now().Before(end); {
		n, err := m.copyNext(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	if m.took > proofWithin {
		return nil
	}
	source, err := m.digest(ctx, m.from)
	if err != nil {
		return err
	}
	target, err := m.digest(ctx, m.to)
	if err != nil || source.head != target.head { // the freeze ended
		return err
	}
	return m.compareProofs(source, target)
}

// finish opens the new place.
func (m *move) finish(ctx context.Context) error {
	err := m.s.finishMove(ctx, m.world, m.from,
		sqlstore.Fence{State: sqlstore.Moved, Database: m.to.name, Version: m.version})
	if err == nil {
		m.progress("the world is in %s", cmp.Or(m.to.name, Home))
	}
	return err
}

// discardOldCopies discards the copies of the world in databases that do not serve it.
func (m *move) discardOldCopies(ctx context.Context) error {
	p, ok := m.s.placement(m.world)
	if !ok || m.s.memberNamed(p.Database) != m.to {
		return nil
	}
	m.s.awaitTried(ctx, m.s.members...)
	waited := false
	for _, d := range m.s.members {
		if d == m.to || d.database() == nil {
			continue
		}
		remains := false
		if err := m.change(ctx, d, func(tx canon.Tx, fence sqlstore.Fence) error {
			head, err := tx.Head(ctx, m.stream)
			remains = head.Seq > 0 && (fence.State == sqlstore.Moved ||
				fence.State == sqlstore.Arriving && fence.Version <= p.Version)
			return err
		}); err != nil {
			return err
		}
		if !remains {
			continue
		}
		if !waited && !wait.For(ctx, discardAfter) {
			return ctx.Err()
		}
		waited = true
		if err := m.discard(ctx, d); err != nil {
			return err
		}
		m.progress("the old copy in %s is discarded", cmp.Or(d.name, Home))
	}
	return nil
}

// discard removes the copy of the world in a database that does not serve it. The fence stays. It first calls
// an arriving copy one that has moved: if it is killed, nobody goes on with a copy that is partly gone.
func (m *move) discard(ctx context.Context, d *member) error {
	for left := true; left; {
		if err := m.change(ctx, d, func(tx canon.Tx, fence sqlstore.Fence) (err error) {
			p, ok := m.s.placement(m.world)
			if fence.State != sqlstore.Moved && fence.State != sqlstore.Arriving || !ok || p.Database == d.name {
				return errOtherMove
			}
			if fence.State == sqlstore.Arriving {
				moved := sqlstore.Fence{State: sqlstore.Moved, Database: p.Database, Version: p.Version}
				if err := tx.(fencedTx).PutFence(ctx, m.world, moved); err != nil {
					return err
				}
			}
			left, err = tx.Discard(ctx, m.world, discardRows)
			return err
		}); err != nil {
			return err
		}
		if err := m.step("discard batch"); err != nil {
			return err
		}
	}
	return nil
}
