package placed

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Read runs f on a Reader that opens a snapshot of a database at the first query about one of its
// worlds. The snapshots of two databases are independent.
func (s *Store) Read(ctx context.Context, f func(canon.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &reader{s: s, ctx: ctx}
	defer r.close()
	return f(r)
}

// reader is a canon.Reader over all databases.
type reader struct {
	s    *Store
	ctx  context.Context //nolint:containedctx // context of the Read, for which the snapshots live
	open []*snapshot
	last *snapshot // of the world that was read last; nil before the first
}

// snapshot is a snapshot of one database, or its write transaction.
type snapshot struct {
	m      *member
	r      canon.Reader
	end    func(error) error // ends the snapshot after an error, and returns what the database makes of it
	passed []access.WorldID  // worlds whose fence was checked
	writes bool              // it is a write transaction
}

func (r *reader) close() {
	for _, s := range r.open {
		if !s.writes {
			_ = s.end(nil)
		}
	}
}

// openSnapshot returns a snapshot of a database that stays open until it is stopped: the function that the
// database gives its Reader to waits in a coroutine.
func (s *Store) openSnapshot(ctx context.Context, m *member) (*snapshot, error) {
	db, err := s.opened(ctx, m)
	if err != nil {
		return nil, err
	}
	err, failed := errors.New("placed: the database gave no reader"), error(nil)
	next, stop := iter.Pull(func(yield func(canon.Reader) bool) {
		err = db.Read(ctx, func(r canon.Reader) error {
			yield(r)
			return failed
		})
	})
	r, ok := next()
	if !ok {
		return nil, s.noteResult(ctx, m, err)
	}
	return &snapshot{m: m, r: r, end: func(why error) error {
		failed = why
		stop()
		return err
	}}, nil
}

// in returns the snapshot of a database.
func (r *reader) in(m *member) (*snapshot, error) {
	for _, s := range r.open {
		if s.m == m {
			return s, nil
		}
	}
	s, err := r.s.openSnapshot(r.ctx, m)
	if err == nil {
		r.open = append(r.open, s)
	}
	return s, err
}

// drop closes the snapshot of a database, to open a later one.
func (r *reader) drop(m *member) {
	r.open = slices.DeleteFunc(r.open, func(s *snapshot) bool {
		if s.m != m || s.writes {
			return false
		}
		_ = s.end(nil)
		return true
	})
}

// at returns the Reader of the database that serves a world.
func (r *reader) at(ctx context.Context, w access.WorldID) (canon.Reader, error) {
	err := r.s.passFences(ctx, func() error {
		m, err := r.s.memberOf(ctx, w)
		if err != nil {
			return err
		}
		snap, err := r.in(m)
		if err != nil {
			return err
		}
		if !slices.Contains(snap.passed, w) {
			if err := r.s.checkFence(ctx, snap.r, m, w, false); err != nil {
				if _, ok := errors.AsType[*fenced](err); ok && snap.writes {
					return errMoving
				} else if ok {
					r.drop(m) // a later snapshot may show another fence
					return err
				}
				return r.fail(ctx, snap, err)
			}
			snap.passed = append(snap.passed, w)
			m.setProblem(nil)
		}
		r.last = snap
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.last.r, nil
}

// ofStream returns the snapshot of the database that has a stream. Ledgers are in the home database.
func (r *reader) ofStream(ctx context.Context, s canon.StreamID) (*snapshot, error) {
	w, ok := canon.StreamWorld(s)
	if !ok {
		return r.in(r.s.unplaced)
	}
	if _, err := r.at(ctx, w); err != nil {
		return nil, err
	}
	return r.last, nil
}

// ask calls f with the Reader for a world, and keeps the state of its database.
func ask[T any](ctx context.Context, r *reader, w access.WorldID, f func(canon.Reader) (T, error)) (out T, err error) {
	in, err := r.at(ctx, w)
	if err != nil {
		return out, err
	}
	snap := r.last
	out, err = f(in)
	return out, r.fail(ctx, snap, err)
}

// fail ends a snapshot after an error, so that its database says which kind of error it is.
func (r *reader) fail(ctx context.Context, snap *snapshot, err error) error {
	if err == nil || snap.writes {
		return err
	}
	r.open = slices.DeleteFunc(r.open, func(s *snapshot) bool { return s == snap })
	if r.last == snap {
		r.last = nil
	}
	return r.s.noteResult(ctx, snap.m, snap.end(err))
}

// listed is one of two results.
type listed[A, B any] struct {
	a A
	b B
}

// ask2 is ask for a query with two results.
func ask2[A, B any](ctx context.Context, r *reader, w access.WorldID,
	f func(canon.Reader) (A, B, error)) (a A, b B, err error) {
	out, err := ask(ctx, r, w, func(r canon.Reader) (listed[A, B], error) {
		a, b, err := f(r)
		return listed[A, B]{a, b}, err
	})
	return out.a, out.b, err
}

// Prefetch implements canon.Prefetcher.
func (r *reader) Prefetch(ctx context.Context, n canon.Needs) error {
	if n.World.IsZero() {
		return nil
	}
	_, err := ask(ctx, r, n.World, func(r canon.Reader) (struct{}, error) { return struct{}{}, canon.Prefetch(ctx, r, n) })
	return err
}

// union asks every database and keeps the results about the worlds that are placed in it. Databases that
// are down are left out, unless all must answer.
func union[T any](ctx context.Context, r *reader, all bool, worldOf func(T) access.WorldID,
	query func(canon.Reader) ([]T, error)) (list []T, err error) {
	if err := r.s.freshPlacements(ctx); err != nil {
		return nil, err
	}
	if !all {
		r.s.awaitTried(ctx, r.s.members...)
	}
	for _, m := range r.s.members {
		if m.shunned() && !all {
			continue
		}
		rows, err := queryMember(ctx, r, m, query)
		if err != nil {
			if m != r.s.home && !all && fault.KindOf(err) == fault.Unavailable &&
				ctx.Err() == nil {
				continue
			}
			return nil, err
		}
		m.setProblem(nil)
		for _, row := range rows {
			if r.s.places(ctx, m, worldOf(row)) {
				list = append(list, row)
			}
		}
	}
	return list, nil
}

// places reports whether a world that a database has is placed in it.
func (s *Store) places(ctx context.Context, m *member, w access.WorldID) bool {
	if _, known := s.placement(w); !known && m == s.unplaced {
		return true
	}
	in, err := s.memberOf(ctx, w)
	return err == nil && in == m
}

// queryMember asks a database: in the snapshot of the reader if it is open, otherwise in one that is
// closed afterwards, so that a list holds no connections.
func queryMember[T any](ctx context.Context, r *reader, m *member, query func(canon.Reader) ([]T, error)) ([]T, error) {
	for _, s := range r.open {
		if s.m == m {
			list, err := query(s.r)
			return list, r.fail(ctx, s, err)
		}
	}
	snap, err := r.s.openSnapshot(ctx, m)
	if err != nil {
		return nil, err
	}
	list, err := query(snap.r)
	return list, r.s.noteResult(ctx, m, snap.end(err))
}

// freshPlacements reads all placements again if they are older than listAge.
func (s *Store) freshPlacements(ctx context.Context) error {
	s.mu.Lock()
	fresh := time.Since(s.loaded) < listAge
	s.mu.Unlock()
	if fresh {
		return nil
	}
	return s.loadPlacements(ctx)
}

// checkAllAnswer returns errDown if a database does not answer.
func (s *Store) checkAllAnswer(ctx context.Context) error {
	s.awaitTried(ctx, s.members...)
	for _, m := range s.members {
		if why := m.explain(); why != nil {
			return errDown.Because(why)
		}
	}
	return nil
}

// Worlds finds a world by slug through the placements. While a database is down, an unknown world is
// answered as one of that database, so that the answer does not reveal which worlds it has.
func (r *reader) Worlds(ctx context.Context, q canon.WorldQuery) (list []canon.World, err error) {
	if q.ID.IsZero() && q.All {
		list, err = union(ctx, r, false, func(w canon.World) access.WorldID { return w.ID },
			func(r canon.Reader) ([]canon.World, error) { return r.Worlds(ctx, q) })
		slices.SortFunc(list, func(a, b canon.World) int { return cmp.Compare(a.Slug, b.Slug) })
		return list, err
	}
	known := false // which database has the world
	if !q.ID.IsZero() {
		list, err = ask(ctx, r, q.ID, func(r canon.Reader) ([]canon.World, error) { return r.Worlds(ctx, q) })
		_, known = r.s.placement(q.ID)
	} else {
		list, err = r.worldsBySlug(ctx, q)
		_, known = r.s.worldBySlug(q.Slug)
	}
	if err == nil && len(list) == 0 && !known {
		err = r.s.checkAllAnswer(ctx)
	}
	return list, err
}

func (r *reader) worldsBySlug(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	w, ok := r.s.worldBySlug(q.Slug)
	if !ok {
		if err := r.s.loadPlacements(ctx); err != nil {
			return nil, err
		}
		w, ok = r.s.worldBySlug(q.Slug)
	}
	if ok {
		return ask(ctx, r, w, func(r canon.Reader) ([]canon.World, error) { return r.Worlds(ctx, q) })
	}
	list, err := queryMember(ctx, r, r.s.unplaced, func(r canon.Reader) ([]canon.World, error) { return r.Worlds(ctx, q) })
	return slices.DeleteFunc(list, func(w canon.World) bool {
		p, placed := r.s.placement(w.ID)
		return placed && p.Database != r.s.unplaced.name
	}), err
}

func (s *Store) worldBySlug(slug string) (access.WorldID, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.slugs[slug]
	return w, ok
}

func (r *reader) Members(ctx context.Context, q canon.MemberQuery) (list []canon.Member, err error) {
	if !q.World.IsZero() {
		return ask(ctx, r, q.World, func(r canon.Reader) ([]canon.Member, error) { return r.Members(ctx, q) })
	}
	list, err = union(ctx, r, false, func(m canon.Member) access.WorldID { return m.World },
		func(r canon.Reader) ([]canon.Member, error) { return r.Members(ctx, q) })
	slices.SortFunc(list, func(a, b canon.Member) int { return slices.Compare(a.World[:], b.World[:]) })
	return list, err
}

func (r *reader) Stale(ctx context.Context) ([]access.WorldID, error) {
	list, err := union(ctx, r, false, func(w access.WorldID) access.WorldID { return w },
		func(r canon.Reader) ([]access.WorldID, error) { return r.Stale(ctx) })
	slices.SortFunc(list, func(a, b access.WorldID) int { return slices.Compare(a[:], b[:]) })
	return list, err
}

// Streams fails if a database is down and streams of all kinds are asked for: such lists are compared.
func (r *reader) Streams(ctx context.Context, kind string) ([]canon.StreamHead, error) {
	from, to := canon.StreamRange(kind)
	world := canon.WorldStream(access.WorldID{})
	if kind != "" && (world < from || world >= to) {
		return queryMember(
			ctx,
			r,
			r.s.unplaced,
			func(r canon.Reader) ([]canon.StreamHead, error) { return r.Streams(ctx, kind) },
		)
	}
	type row struct {
		canon.StreamHead
		world access.WorldID
	}
	list, err := union(ctx, r, kind == "", func(s row) access.WorldID { return s.world },
		func(r canon.Reader) (list []row, err error) {
			heads, err := r.Streams(ctx, kind)
			for _, h := range heads {
				if w, ok := canon.StreamWorld(h.Stream); ok {
					list = append(list, row{h, w})
				}
			}
			return list, err
		})
	if err != nil {
		return nil, err
	}
	var heads []canon.StreamHead
	for _, s := range list {
		heads = append(heads, s.StreamHead)
	}
	if kind == "" {
		ledgers, err := queryMember(ctx, r, r.s.unplaced,
			func(r canon.Reader) ([]canon.StreamHead, error) { return r.Streams(ctx, "") })
		if err != nil {
			return nil, err
		}
		for _, h := range ledgers {
			if _, ok := canon.StreamWorld(h.Stream); !ok {
				heads = append(heads, h)
			}
		}
	}
	slices.SortFunc(heads, func(a, b canon.StreamHead) int { return cmp.Compare(a.Stream, b.Stream) })
	return heads, nil
}

func (r *reader) Head(ctx context.Context, s canon.StreamID) (h canon.Head, err error) {
	in, err := r.ofStream(ctx, s)
	if err != nil {
		return h, err
	}
	h, err = in.r.Head(ctx, s)
	return h, r.fail(ctx, in, err)
}

func (r *reader) CommitByID(
	ctx context.Context,
	s canon.StreamID,
	id uuid.UUID,
) (c canon.StoredCommit, ok bool, err error) {
	in, err := r.ofStream(ctx, s)
	if err != nil {
		return c, false, err
	}
	c, ok, err = in.r.CommitByID(ctx, s, id)
	return c, ok, r.fail(ctx, in, err)
}

func (r *reader) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return func(yield func(canon.StoredCommit, error) bool) {
		in, err := r.ofStream(ctx, s)
		if err != nil {
			yield(canon.StoredCommit{}, err)
			return
		}
		failing(ctx, r, in, in.r.Commits(ctx, s, from))(yield)
	}
}

func (r *reader) Dump(ctx context.Context, w access.WorldID, t canon.Table) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		in, err := r.at(ctx, w)
		if err != nil {
			yield("", err)
			return
		}
		failing(ctx, r, r.last, in.Dump(ctx, w, t))(yield)
	}
}

// failing passes the error that ends a sequence to fail.
func failing[T any](ctx context.Context, r *reader, snap *snapshot, all iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range all {
			if !yield(v, r.fail(ctx, snap, err)) || err != nil {
				return
			}
		}
	}
}

// Repeat looks for an idempotency key in the database of the world that was read last: a key belongs to
// a change of that world. Before any world was read it belongs to a ledger.
func (r *reader) Repeat(ctx context.Context, account, key string) (p canon.Repeat, ok bool, err error) {
	snap := r.last
	if snap == nil {
		if snap, err = r.in(r.s.unplaced); err != nil {
			return p, false, err
		}
	}
	p, ok, err = snap.r.Repeat(ctx, account, key)
	return p, ok, r.fail(ctx, snap, err)
}
