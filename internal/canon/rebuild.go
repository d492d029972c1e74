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

// Broken is the first error found in a stream.
type Broken struct {
	Stream StreamID
	Seq    Seq
	Why    string
}

func (b *Broken) Error() string { return fmt.Sprintf("%s commit %d: %s", b.Stream, b.Seq, b.Why) }

// Verified is the result for a stream without errors.
type Verified struct {
	Stream  StreamID
	Commits int
	Head    Hash
}

// Verify checks the chain of every stream: numbers without gaps, each hash over the stored bytes,
// and the same stream, number and id in the bytes and in the row. It also checks that the streams
// have the commits in stated, by stream and in the order of their numbers; a store that was cut back,
// forked or exchanged since they were noted does not have them. Its error is a *Broken, or the
// store's.
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
	err = s.Read(ctx, func(r Reader) error {
		streams, err := r.Streams(ctx, "")
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(stated)) {
			if !slices.ContainsFunc(streams, func(h StreamHead) bool { return h.Stream == id }) {
				return &Broken{id, stated[id][0].Seq, "was stated outside the store, but the stream does not exist"}
			}
		}
		for _, s := range streams {
			v, err := verifyStream(ctx, r, s, stated[s.Stream])
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

// verifyStream checks the chain of one stream, and that it has the stated commits.
func verifyStream(ctx context.Context, r Reader, head StreamHead, stated []Head) (Verified, error) {
	s := head.Stream
	v := Verified{Stream: s}
	for commit, err := range r.Commits(ctx, s, 1) {
		if err != nil {
			return v, err
		}
		rec, err := commit.Record()
		switch {
		case commit.Seq != Seq(v.Commits+1):
			return v, &Broken{s, Seq(v.Commits + 1), fmt.Sprintf("is missing; the next is %d", commit.Seq)}
		case commit.Prev != v.Head:
			return v, &Broken{s, commit.Seq, "does not follow the commit before it"}
		case Chain(commit.Prev, commit.Body) != commit.Hash:
			return v, &Broken{s, commit.Seq, "its bytes do not match its hash"}
		case err != nil:
			return v, &Broken{s, commit.Seq, "cannot be read"}
		case rec.Seq != commit.Seq || rec.Stream != s || rec.ID != commit.ID:
			return v, &Broken{s, commit.Seq, "contains the id of another commit"}
		}
		for len(stated) > 0 && stated[0].Seq == commit.Seq {
			if stated[0].Hash != commit.Hash {
				return v, &Broken{s, commit.Seq, "is not the commit that was stated outside the store"}
			}
			stated = stated[1:]
		}
		v.Commits, v.Head = v.Commits+1, commit.Hash
	}
	if head.Seq != Seq(v.Commits) || head.Hash != v.Head {
		return v, &Broken{s, head.Seq, "is the head, but not the last commit"}
	}
	if len(stated) > 0 {
		return v, &Broken{s, stated[0].Seq, fmt.Sprintf(
			"was stated outside the store, but the last commit has the number %d", v.Commits)}
	}
	return v, nil
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
