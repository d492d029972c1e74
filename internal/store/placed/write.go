package placed

import (
	"context"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// Write is WriteTo for the home database.
func (s *Store) Write(ctx context.Context, f func(canon.Tx) error) error {
	return s.WriteTo(ctx, access.WorldID{}, f)
}

// WriteTo implements canon.Placer. It waits for a world that is moving.
func (s *Store) WriteTo(ctx context.Context, w access.WorldID, f func(canon.Tx) error) error {
	return s.passFences(ctx, func() error {
		m, err := s.unplaced, error(nil)
		if !w.IsZero() {
			if m, err = s.memberOf(ctx, w); err != nil {
				return err
			}
		}
		db, err := s.opened(ctx, m)
		if err != nil {
			return err
		}
		var own error // of f
		err = db.Write(ctx, func(in canon.Tx) error {
			snap := &snapshot{m: m, r: in, writes: true}
			if !w.IsZero() {
				if err := s.checkFence(ctx, in, m, w, true); err != nil {
					return err
				}
				snap.passed = []access.WorldID{w}
			}
			t := &tx{reader: reader{s: s, ctx: ctx, open: []*snapshot{snap}, last: snap}, own: snap, in: in}
			defer t.close()
			own = f(t)
			return own
		})
		if err == nil {
			s.changes.wake()
		}
		if fault.KindOf(own) == fault.Unavailable { // f's own, of something else
			return err
		}
		return s.noteResult(ctx, m, err)
	})
}

// tx is a canon.Tx in one database. It reads the others too.
type tx struct {
	reader
	own *snapshot
	in  canon.Tx
}

// Repeat looks in the database that is written to.
func (t *tx) Repeat(ctx context.Context, account, key string) (canon.Repeat, bool, error) {
	return t.in.Repeat(ctx, account, key)
}

// Worlds fails if all worlds are asked for while a database is down: whether there is any is decided by it.
func (t *tx) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	if q.ID.IsZero() && q.All {
		if err := t.s.checkAllAnswer(ctx); err != nil {
			return nil, err
		}
	}
	return t.reader.Worlds(ctx, q)
}

// to refuses a write to a world of another database.
func (t *tx) to(ctx context.Context, w access.WorldID) error {
	if slices.Contains(t.own.passed, w) {
		return nil
	}
	m, err := t.s.memberOf(ctx, w)
	if err == nil && m != t.own.m {
		return fault.New(fault.Internal, "a write to one database includes a world of another")
	}
	if err == nil {
		err = t.s.checkFence(ctx, t.in, m, w, true)
	}
	if err == nil {
		t.own.passed = append(t.own.passed, w)
	}
	return err
}

func (t *tx) Append(ctx context.Context, c canon.StoredCommit) error {
	w, ok := canon.StreamWorld(c.Stream)
	switch {
	case ok:
		if err := t.to(ctx, w); err != nil {
			return err
		}
	case t.own.m != t.s.unplaced:
		return fault.New(fault.Internal, "a ledger is written outside of the home database")
	}
	return t.in.Append(ctx, c)
}

func (t *tx) PutRepeat(ctx context.Context, r canon.Repeat) error { return t.in.PutRepeat(ctx, r) }

func (t *tx) PutBody(ctx context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.PutBody(ctx, w, h, b)
}

func (t *tx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.EraseBody(ctx, w, h)
}

func (t *tx) PutWorld(ctx context.Context, w canon.World) error {
	if err := t.to(ctx, w.ID); err != nil {
		return err
	}
	return t.in.PutWorld(ctx, w)
}

func (t *tx) PutMember(ctx context.Context, m canon.Member) error {
	if err := t.to(ctx, m.World); err != nil {
		return err
	}
	return t.in.PutMember(ctx, m)
}

func (t *tx) PutCard(ctx context.Context, c canon.Card) error {
	if err := t.to(ctx, c.World); err != nil {
		return err
	}
	return t.in.PutCard(ctx, c)
}

func (t *tx) PutVersion(ctx context.Context, v canon.Version) error {
	if err := t.to(ctx, v.World); err != nil {
		return err
	}
	return t.in.PutVersion(ctx, v)
}

func (t *tx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.EndVersion(ctx, w, id, to)
}

func (t *tx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.PutRefs(ctx, w, from, refs)
}

func (t *tx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	if err := t.to(ctx, c.World); err != nil {
		return err
	}
	return t.in.Index(ctx, c, doc)
}

func (t *tx) PutLink(ctx context.Context, l canon.Link) error {
	if err := t.to(ctx, l.World); err != nil {
		return err
	}
	return t.in.PutLink(ctx, l)
}

func (t *tx) EndLink(ctx context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.EndLink(ctx, w, id, to)
}

func (t *tx) PutLayer(ctx context.Context, l canon.Layer) error {
	if err := t.to(ctx, l.World); err != nil {
		return err
	}
	return t.in.PutLayer(ctx, l)
}

func (t *tx) EndLayer(ctx context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.EndLayer(ctx, w, id, to)
}

func (t *tx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	if err := t.to(ctx, e.World); err != nil {
		return err
	}
	return t.in.PutEvent(ctx, e)
}

func (t *tx) Clear(ctx context.Context, w access.WorldID) error {
	if err := t.to(ctx, w); err != nil {
		return err
	}
	return t.in.Clear(ctx, w)
}

func (t *tx) BodyInUse(ctx context.Context, w access.WorldID, h canon.Hash) (bool, error) {
	if err := t.to(ctx, w); err != nil {
		return false, err
	}
	return t.in.BodyInUse(ctx, w, h)
}

func (t *tx) Discard(ctx context.Context, w access.WorldID, rows int) (bool, error) {
	if err := t.to(ctx, w); err != nil {
		return false, err
	}
	return t.in.Discard(ctx, w, rows)
}

// Rewind implements canon.Rewinder.
func (t *tx) Rewind(ctx context.Context, s canon.StreamID, to canon.Head) error {
	if w, ok := canon.StreamWorld(s); ok {
		if err := t.to(ctx, w); err != nil {
			return err
		}
	}
	in, ok := t.in.(canon.Rewinder)
	if !ok {
		return fault.New(fault.Internal, "the database cannot remove commits")
	}
	return in.Rewind(ctx, s, to)
}
