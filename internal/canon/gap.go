package canon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Gap says in a commit which commits before it are lost. The commit follows the last whole commit in
// the chain, and its number the last lost one, so that no number is given twice.
type Gap struct {
	From Seq  `json:"from"` // first lost commit
	To   Seq  `json:"to"`   // last lost commit
	Head Hash `json:"head"` // of commit To, as the store named it
}

// RepairOperation is the operation of commits with a Gap.
const RepairOperation = "repair_world"

// ErrDamaged is in the errors of stored commits that cannot be read because their bytes are damaged.
var ErrDamaged = errors.New("the stored data are damaged")

// Precedes reports whether a commit may follow the head.
func (h Head) Precedes(c StoredCommit) bool {
	next := c.Seq == h.Seq+1 || c.Op == RepairOperation && c.Seq > h.Seq
	return next && c.Prev == h.Hash
}

// BrokenIn returns all broken streams that the error of Verify names.
func BrokenIn(err error) (list []*Broken) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			list = append(list, BrokenIn(one)...)
		}
		return list
	}
	if b, ok := errors.AsType[*Broken](err); ok {
		list = append(list, b)
	}
	return list
}

// SetLost makes the Canon refuse calls that read or change the given streams, each with its error.
// It replaces the streams of an earlier call. It is for wiring code.
func (c *Canon) SetLost(lost map[StreamID]error) { c.lost.Store(&lost) }

// checkLost returns the error of a stream that was given to SetLost.
func (c *Canon) checkLost(s StreamID) error {
	if lost := c.lost.Load(); lost != nil {
		return (*lost)[s]
	}
	return nil
}

// IsLost reports whether an error is the one that SetLost gave to a stream. Work over all worlds goes on
// with the others.
func IsLost(err error) bool {
	_, lost := errors.AsType[*Broken](err)
	return lost && fault.KindOf(err) == fault.Unavailable
}

// LostWorld reports whether a world was given to SetLost.
func (c *Canon) LostWorld(w access.WorldID) bool { return c.checkLostWorld(w) != nil }

// checkLostWorld is checkLost for the stream of a world; the zero id has none.
func (c *Canon) checkLostWorld(w access.WorldID) error {
	if lost := c.lost.Load(); lost == nil || len(*lost) == 0 || w.IsZero() {
		return nil
	}
	return c.checkLost(WorldStream(w))
}

// measureGap sets the last lost commit of a broken stream: the commits after it follow each other up to
// the head.
func measureGap(ctx context.Context, s Store, head StreamHead, b *Broken) error {
	b.Head = head.Head
	low, high := b.Seq, head.Seq+1 // low is lost; the commits from high on are whole
	next := head.Hash              // what commit high has to follow, or the head
	for step := Seq(1); low+1 < high; step *= 2 {
		from := min(low+step, head.Seq)
		if high <= head.Seq {
			from = low + (high-low)/2
		}
		prev, reached, err := readTail(ctx, s, head, from, high, next)
		if err != nil {
			return err
		}
		if reached == 0 {
			high, next = from, prev
		} else {
			low = reached
		}
	}
	b.To = high - 1
	return nil
}

// readTail reads the commits from one on, up to the commit before high, or up to the head if high is
// after it. It returns the Prev of the first one; or the first commit that cannot be read or does not
// fit.
func readTail(ctx context.Context, s Store, head StreamHead, from, high Seq,
	next Hash) (prev Hash, lost Seq, err error) {
	v, last := Verified{Stream: head.Stream}, Head{Seq: from - 1}
	err = s.Read(ctx, func(r Reader) error {
		for commit, err := range r.Commits(ctx, head.Stream, from) {
			if err != nil {
				lost = last.Seq + 1
				return err
			}
			if last.Seq+1 == from {
				prev, last.Hash = commit.Prev, commit.Prev
			}
			if v.checkCommit(last, commit) != nil {
				lost = last.Seq + 1
				return nil
			}
			last = Head{Seq: commit.Seq, Hash: commit.Hash}
			if last.Seq+1 == high {
				break
			}
		}
		if lost == 0 && (last.Seq != high-1 || last.Hash != next) {
			lost = max(last.Seq, from)
		}
		return nil
	})
	if errors.Is(err, ErrDamaged) {
		err = nil
	}
	return prev, lost, err
}

// MendedState is the state of a world's tables, to which Mend brings a world whose latest commits are lost.
type MendedState struct {
	members []Member
	cards   *trace
}

// ReadState returns the state of a world's tables. It checks no grant: it is for wiring code that repairs
// stores.
func ReadState(ctx context.Context, r Reader, w access.WorldID) (*MendedState, error) {
	d, ok, err := First(r.Worlds(ctx, WorldQuery{ID: w}))
	if err != nil || !ok {
		return nil, fmt.Errorf("canon: world %s: present %t: %w", w, ok, err)
	}
	m := &MendedState{cards: newTrace()}
	m.cards.world = &WorldImage{Slug: d.Slug, Title: d.Title, Settings: d.Settings, Origin: d.Origin,
		OriginSeq: d.OriginSeq}
	if m.members, err = r.Members(ctx, MemberQuery{World: w}); err != nil {
		return nil, err
	}
	f := &forkContent{r: r, all: Visibility{w, access.View{Level: access.LevelAll}}, done: map[CardID]bool{}}
	if err := f.addCards(ctx); err != nil {
		return nil, err
	}
	if err := f.addLinks(ctx); err != nil {
		return nil, err
	}
	for _, ch := range f.changes {
		m.cards.applyChange(ch)
	}
	return m, nil
}

// Rewinder is implemented by the Txs of stores whose worlds can be repaired.
type Rewinder interface {
	// Rewind removes the commits of a stream after a head, and the idempotency keys that led to them.
	Rewind(ctx context.Context, s StreamID, to Head) error
}

// Mended is the result of Mend.
type Mended struct {
	Gap   Gap
	Seq   Seq // of the commit that records the gap
	Cards int // changes of cards in it
}

// Mend restarts the stream of a world whose commits from b.Seq on are lost. It removes all commits from
// there on and rebuilds the tables from the whole ones. Then it makes one commit, which records the gap and
// brings cards, links, layers, members and settings to a state. Without a state the world stays as it was
// before the gap. Everything happens in one transaction. Mend needs an operator's grant.
func (c *Canon) Mend(ctx context.Context, g access.Grant, b *Broken, state *MendedState) (out Mended, err error) {
	if !g.Valid() || !g.Caller().Operator {
		return out, fault.New(fault.Denied, "only the instance's operator can repair a world")
	}
	w, ok := StreamWorld(b.Stream)
	if !ok || b.Seq <= 1 && state == nil {
		return out, fault.New(fault.Rule, "no commit of %s is left to begin with: restore a backup", b.Stream)
	}
	err = c.write(ctx, w, func(tx Tx) error {
		out, err = c.mendIn(ctx, tx, g, w, b, state)
		return err
	})
	return out, commitError(err)
}

func (c *Canon) mendIn(ctx context.Context, tx Tx, g access.Grant, w access.WorldID, b *Broken,
	state *MendedState) (out Mended, err error) {
	rewinder, ok := tx.(Rewinder)
	if !ok {
		return out, errors.New("canon: the store cannot remove commits")
	}
	if err := checkUnmoved(ctx, tx, b); err != nil {
		return out, err
	}
	if err := rewinder.Rewind(ctx, b.Stream, b.Before); err != nil {
		return out, err
	}
	if err := tx.Clear(ctx, w); err != nil {
		return out, err
	}
	if _, err := replayWorld(ctx, tx, w); err != nil {
		return out, err
	}
	out.Gap = Gap{From: b.Seq, To: b.Head.Seq, Head: b.Head.Hash}
	rec := c.newRecord(g, b.Stream, b.Before)
	rec.Seq, rec.Op, rec.Gap = out.Gap.To+1, RepairOperation, &out.Gap
	rec.Note = fmt.Sprintf("repaired: commits %d to %d are lost", out.Gap.From, out.Gap.To)
	if state != nil {
		if rec.Changes, err = planMend(ctx, tx, w, state); err != nil {
			return out, err
		}
	}
	p := projector{tx: tx, world: w, rec: &rec}
	for _, ch := range rec.Changes {
		if ch.Card != nil {
			out.Cards++
		}
		if err := p.projectChange(ctx, ch); err != nil {
			return out, err
		}
	}
	_, err = appendTo(ctx, tx, b.Before, rec)
	out.Seq = rec.Seq
	return out, err
}

// CutLedger removes the commits of a ledger from b.Seq on, because some are lost. If the ledger is one of a world, a
// commit to the world without changes records it. CutLedger needs an operator's grant.
func (c *Canon) CutLedger(ctx context.Context, g access.Grant, b *Broken, w access.WorldID) error {
	if !g.Valid() || !g.Caller().Operator {
		return fault.New(fault.Denied, "only the instance's operator can repair a ledger")
	}
	err := c.write(ctx, access.WorldID{}, func(tx Tx) error {
		rewinder, ok := tx.(Rewinder)
		if !ok {
			return errors.New("canon: the store cannot remove commits")
		}
		if err := checkUnmoved(ctx, tx, b); err != nil {
			return err
		}
		return rewinder.Rewind(ctx, b.Stream, b.Before)
	})
	if err != nil || w.IsZero() {
		return err
	}
	return c.write(ctx, w, func(tx Tx) error {
		head, err := tx.Head(ctx, WorldStream(w))
		if err != nil || head.Seq == 0 {
			return err
		}
		rec := c.newRecord(g, WorldStream(w), head)
		rec.Op = RepairOperation
		rec.Note = fmt.Sprintf("repaired: commits %d to %d of %s are lost", b.Seq, b.Head.Seq, b.Stream)
		_, err = appendTo(ctx, tx, head, rec)
		return err
	})
}

// checkUnmoved refuses to repair a stream that another process has written to since it was verified.
func checkUnmoved(ctx context.Context, tx Tx, b *Broken) error {
	head, err := tx.Head(ctx, b.Stream)
	if err == nil && head != b.Head {
		err = fault.New(fault.Conflict, "the stream was written to during the repair; stop its processes and repair again")
	}
	return err
}

// planMend returns the changes that bring a world from the state that its stream gives to another one.
func planMend(ctx context.Context, tx Tx, w access.WorldID, state *MendedState) (list []Change, err error) {
	now := newTrace()
	for commit, err := range tx.Commits(ctx, WorldStream(w), 1) {
		if err != nil {
			return nil, err
		}
		rec, err := commit.Record()
		if err != nil {
			return nil, err
		}
		for _, ch := range rec.Changes {
			now.applyChange(ch)
		}
	}
	// Links and layers of cards in the trash stay: the state does not show them.
	living := state.cards.cards
	maps.DeleteFunc(now.links, func(_ LinkID, l *LinkImage) bool { return living[l.From] == nil || living[l.To] == nil })
	maps.DeleteFunc(now.layers, func(_ LayerID, l *LayerImage) bool { return living[l.Card] == nil })
	if now.world == nil { // not even the first commit is left
		list = append(list, Change{World: state.cards.world})
		now.world = state.cards.world
	}
	held, err := tx.Members(ctx, MemberQuery{World: w})
	if err != nil {
		return nil, err
	}
	for _, m := range state.members {
		if !slices.Contains(held, m) {
			list = append(list, Change{Member: &MemberImage{Subject: m.Subject, Role: m.Role, May: m.May,
				Player: m.Player}})
		}
	}
	set, err := planReset(ctx, tx, w, state.cards, now)
	return append(list, set.Changes...), err
}

// SlugInStream returns the slug that the readable commits of a world's stream give it; "" if none does. It checks
// no grant: it is for wiring code that names worlds of damaged stores.
func SlugInStream(ctx context.Context, r Reader, w access.WorldID) (slug string) {
	for commit, err := range r.Commits(ctx, WorldStream(w), 1) {
		if err != nil {
			return slug
		}
		rec, err := commit.Record()
		if err != nil {
			return slug
		}
		for _, ch := range rec.Changes {
			if ch.World != nil {
				slug = ch.World.Slug
			}
		}
	}
	return slug
}
