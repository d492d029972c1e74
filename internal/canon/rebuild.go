package canon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Broken is the first error found in a stream, and what is lost by it.
type Broken struct {
	Stream StreamID
	Seq    Seq // the first lost commit
	Why    string

	Before Head // the last whole commit before it; zero if there is none
	To     Seq  // the last lost commit: those after it follow each other up to the head; 0 if no commit is lost
	Head   Head // of the stream, as the store names it
}

func (b *Broken) Error() string { return fmt.Sprintf("%s commit %d: %s", b.Stream, b.Seq, b.Why) }

// Lost names the lost commits.
func (b *Broken) Lost() string {
	switch {
	case b.To <= b.Seq:
		return fmt.Sprintf("commit %d of %d", b.Seq, b.Head.Seq)
	default:
		return fmt.Sprintf("commits %d to %d of %d", b.Seq, b.To, b.Head.Seq)
	}
}

// Verified is the result for a stream without errors.
type Verified struct {
	Stream  StreamID
	Commits int
	Head    Hash
	Gaps    string // recorded gaps, of commits that a repair could not recover; "" for none
}

// Verify checks the chain of every stream: numbers without gaps that no commit records, each hash over
// the stored bytes, and the same stream, number and id in the bytes and in the row. It also checks that the
// streams have the commits in stated, by stream and in the order of their numbers; a store that was cut back,
// forked or exchanged since they were noted does not have them. It returns all whole streams. Its error
// has a *Broken for each other one (see BrokenIn), or is the store's.
func (c *Canon) Verify(ctx context.Context, g access.Grant, stated map[StreamID][]Head) (list []Verified, err error) {
	if !g.Valid() || !g.Caller().Operator {
		return nil, fault.New(fault.Denied, "only the instance's operator can verify streams")
	}
	return verifyAgainst(ctx, c.store, stated)
}

// VerifyStreams is Verify for a store that is not being served, without stated commits. It checks no
// grant: like Digest, it is for wiring code.
func VerifyStreams(ctx context.Context, s Store) (list []Verified, err error) {
	return verifyAgainst(ctx, s, nil)
}

// Heads returns the heads of all streams, except those of unfinished worlds, which may be discarded.
// It is for wiring code.
func (c *Canon) Heads(ctx context.Context) (list []StreamHead, err error) {
	err = c.read(ctx, func(r Reader) error {
		streams, err := r.Streams(ctx, "")
		if err != nil {
			return err
		}
		worlds, err := r.Worlds(ctx, WorldQuery{All: true})
		if err != nil {
			return err
		}
		unfinished := map[StreamID]bool{}
		for _, w := range worlds {
			if w.Unfinished() {
				unfinished[WorldStream(w.ID)] = true
			}
		}
		list = slices.DeleteFunc(streams, func(h StreamHead) bool { return unfinished[h.Stream] })
		return nil
	})
	return list, err
}

func verifyAgainst(ctx context.Context, s Store, stated map[StreamID][]Head) (list []Verified, err error) {
	var streams []StreamHead
	if err := s.Read(ctx, func(r Reader) (err error) {
		streams, err = r.Streams(ctx, "")
		return err
	}); err != nil {
		return nil, err
	}
	var broken []error
	for _, id := range slices.Sorted(maps.Keys(stated)) {
		if !slices.ContainsFunc(streams, func(h StreamHead) bool { return h.Stream == id }) {
			broken = append(broken, &Broken{Stream: id, Seq: stated[id][0].Seq,
				Why: "was stated outside the store, but the stream does not exist"})
		}
	}
	for _, h := range streams {
		v, b, err := verifyStream(ctx, s, h.Stream, stated[h.Stream])
		switch {
		case err != nil:
			return list, err
		case b != nil:
			broken = append(broken, b)
		default:
			list = append(list, v)
		}
	}
	return list, errors.Join(broken...)
}

// verifyStream checks the chain of one stream, in a snapshot of its own, and that it has the stated commits.
func verifyStream(ctx context.Context, s Store, id StreamID, stated []Head) (v Verified, b *Broken, err error) {
	head := StreamHead{Stream: id}
	err = s.Read(ctx, func(r Reader) (err error) {
		if head.Head, err = r.Head(ctx, id); err != nil {
			return err
		}
		v, b, err = readChain(ctx, r, head, &stated)
		return err
	})
	if b != nil && (err == nil || errors.Is(err, ErrDamaged)) {
		return v, b, measureGap(ctx, s, head, b)
	}
	if len(stated) > 0 && err == nil {
		b = &Broken{Stream: id, Seq: stated[0].Seq, Why: fmt.Sprintf(
			"was stated outside the store, but the last commit has the number %d", head.Seq)}
		if stated[0].Seq <= head.Seq {
			b.Why = "is not the commit that was stated outside the store"
		}
	}
	return v, b, err
}

// readChain checks the chain of one stream, and removes from stated the commits that it has.
func readChain(ctx context.Context, r Reader, head StreamHead, stated *[]Head) (Verified, *Broken, error) {
	v, last := Verified{Stream: head.Stream}, Head{}
	for commit, err := range r.Commits(ctx, head.Stream, 1) {
		var b *Broken
		if errors.Is(err, ErrDamaged) {
			b = &Broken{Why: "cannot be read: its bytes in the store are damaged"}
		} else if err != nil {
			return v, nil, err
		} else {
			b = v.checkCommit(last, commit)
		}
		if b != nil {
			b.Stream, b.Seq, b.Before = head.Stream, last.Seq+1, last
			return v, b, err // the snapshot may be of no use after an error
		}
		last = Head{Seq: commit.Seq, Hash: commit.Hash}
		if s := *stated; len(s) > 0 && s[0] == last {
			*stated = s[1:]
		}
		v.Commits, v.Head = v.Commits+1, commit.Hash
	}
	switch {
	case last == head.Head:
		return v, nil, nil
	case last.Seq < head.Seq:
		return v, &Broken{Stream: head.Stream, Seq: last.Seq + 1, Before: last,
			Why: fmt.Sprintf("is missing; the last one is %d", head.Seq)}, nil
	}
	return v, &Broken{Stream: head.Stream, Seq: head.Seq, Why: "is the head, but not the last commit"}, nil
}

// checkCommit checks that a commit follows another one, and notes a gap that it records.
func (v *Verified) checkCommit(last Head, commit StoredCommit) *Broken {
	rec, err := commit.Record()
	gap := Gap{From: last.Seq + 1, To: commit.Seq - 1}
	if err == nil && rec.Gap != nil {
		gap.Head = rec.Gap.Head
	}
	recorded := err == nil && rec.Gap != nil && rec.Op == RepairOperation && *rec.Gap == gap && gap.From <= gap.To
	switch {
	case commit.Seq != last.Seq+1 && !recorded:
		return &Broken{Why: fmt.Sprintf("is missing; the next is %d", commit.Seq)}
	case commit.Prev != last.Hash:
		return &Broken{Why: "does not follow the commit before it"}
	case Chain(commit.Prev, commit.Body) != commit.Hash:
		return &Broken{Why: "its bytes do not match its hash"}
	case err != nil:
		return &Broken{Why: "cannot be read"}
	case rec.Seq != commit.Seq || rec.Stream != v.Stream || rec.ID != commit.ID || rec.Gap != nil && !recorded:
		return &Broken{Why: "contains the id of another commit"}
	}
	if recorded {
		v.Gaps += fmt.Sprintf("; commits %d to %d are lost, as commit %d records", gap.From, gap.To, commit.Seq)
	}
	return nil
}

// Rebuilt is the comparison of a world's tables with its stream.
type Rebuilt struct {
	World     World
	Commits   int
	Rows      int
	Different []Table // tables that differed from the stream; empty if all were identical
}

// errCompareOnly rolls back a rebuild that only compares.
var errCompareOnly = errors.New("canon: compared only")

// Stale lists the worlds whose tables must be rebuilt after an upgrade of the store. Until then
// their tables lack data.
func (c *Canon) Stale(ctx context.Context) (list []access.WorldID, err error) {
	err = c.read(ctx, func(r Reader) error {
		list, err = r.Stale(ctx)
		return err
	})
	return list, err
}

// Rebuild recreates every table of a world from its stream and compares it with the old one. If
// they differ, the stream is right: KeepRebuilt keeps the recreated tables, CompareOnly leaves
// everything as it was.
func (c *Canon) Rebuild(ctx context.Context, g access.Grant, w access.WorldID, repair Repair) (out Rebuilt, err error) {
	if !g.Valid() || !g.Caller().Operator {
		return Rebuilt{}, fault.New(fault.Denied, "only the instance's operator can rebuild tables")
	}
	err = c.write(ctx, w, func(tx Tx) error {
		out = Rebuilt{}
		stale, err := tx.Stale(ctx)
		if err != nil {
			return err
		}
		before, _, err := digestTables(ctx, tx, w)
		if err != nil {
			return err
		}
		if err := tx.Clear(ctx, w); err != nil {
			return err
		}
		if out.Commits, err = replayWorld(ctx, tx, w); err != nil {
			return err
		}
		after, rows, err := digestTables(ctx, tx, w)
		if err != nil {
			return err
		}
		out.Rows = rows
		if out.World, _, err = First(tx.Worlds(ctx, WorldQuery{ID: w})); err != nil {
			return err
		}
		for _, t := range Tables {
			if before[t] != after[t] {
				out.Different = append(out.Different, t)
			}
		}
		if repair == CompareOnly || len(out.Different) == 0 && !slices.Contains(stale, w) {
			return errCompareOnly
		}
		return nil
	})
	if errors.Is(err, errCompareOnly) {
		err = nil
	}
	return out, err
}

// Repair is the action of Rebuild on tables that differ.
type Repair string

// The actions.
const (
	CompareOnly Repair = "compare"
	KeepRebuilt Repair = "repair"
)

// replayWorld projects a world's whole stream.
func replayWorld(ctx context.Context, tx Tx, w access.WorldID) (n int, err error) {
	var list []Record
	bodyBytes := 0 // bytes of the contents of list
	flush := func() error {
		err := replayBatch(ctx, tx, w, list)
		n += len(list)
		list, bodyBytes = list[:0], 0
		return err
	}
	for commit, err := range tx.Commits(ctx, WorldStream(w), 1) {
		if err != nil {
			return n, err
		}
		rec, err := commit.Record()
		if err != nil {
			return n, err
		}
		list = append(list, rec)
		for _, h := range prefetchedImages(rec) {
			bodyBytes += h.Size
		}
		if len(list) < replayBatchCommits && bodyBytes < replayBatchBytes {
			continue
		}
		if err := flush(); err != nil {
			return n, err
		}
	}
	return n, flush()
}

// Commits are replayed in batches, whose contents are prefetched together. A batch ends at the
// first of these two bounds.
const (
	replayBatchCommits = 100
	replayBatchBytes   = 4 << 20
)

// prefetchedImages returns the card images of a commit whose content is prefetched for a replay.
// Longer contents are read one by one.
func prefetchedImages(rec Record) (list []*CardImage) {
	for _, ch := range rec.Changes {
		if c := ch.Card; c != nil && c.Content != (Hash{}) && c.Size <= prefetchSize && TextOf(c.Type) != TextFile {
			list = append(list, c)
		}
	}
	return list
}

// replayBatch prefetches the contents of some commits and projects them.
func replayBatch(ctx context.Context, tx Tx, w access.WorldID, list []Record) error {
	n := Needs{World: w}
	for _, rec := range list {
		for _, c := range prefetchedImages(rec) {
			n.Bodies = append(n.Bodies, c.Content)
		}
	}
	if err := Prefetch(ctx, tx, n); err != nil {
		return err
	}
	for _, rec := range list {
		p := projector{tx: tx, world: w, rec: &rec, replaying: true}
		for _, ch := range rec.Changes {
			if err := p.projectChange(ctx, ch); err != nil {
				return err
			}
		}
		if err := p.projectEvent(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Digested is the number of rows of a table of a world and a hash of them.
type Digested struct {
	Rows int
	Sum  Hash
}

// Digest returns the digest of a table of a world. It checks no grant: it is for wiring code that
// compares whole stores.
func Digest(ctx context.Context, r Reader, w access.WorldID, t Table) (d Digested, err error) {
	h := sha256.New()
	for line, err := range r.Dump(ctx, w, t) {
		if err != nil {
			return Digested{}, fmt.Errorf("canon: dump of %s: %w", t, err)
		}
		h.Write([]byte(line))
		h.Write([]byte{'\n'})
		d.Rows++
	}
	d.Sum = Hash(h.Sum(nil))
	return d, nil
}

// digestTables returns the hash of each of a world's tables, and the number of rows of all.
func digestTables(ctx context.Context, r Reader, w access.WorldID) (map[Table]Hash, int, error) {
	sums, rows := make(map[Table]Hash), 0
	for _, t := range Tables {
		d, err := Digest(ctx, r, w, t)
		if err != nil {
			return nil, 0, err
		}
		sums[t] = d.Sum
		rows += d.Rows
	}
	return sums, rows, nil
}
