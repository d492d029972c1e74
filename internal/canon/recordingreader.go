package canon

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// recordingReader is a Reader that records its reads in a ReadSet. A look-up of cards by id, ids or key
// records the parts that it reads. Other reads of a world record the whole world. Reads that no
// part covers make the answer uncacheable. A read of a body records no part: a body never changes,
// and a commit that erases one touches all parts.
type recordingReader struct {
	r Reader
	b *ReadSet
}

var _ Reader = (*recordingReader)(nil)
var _ Prefetcher = (*recordingReader)(nil)

// Prefetch forwards to the underlying Reader.
func (r *recordingReader) Prefetch(ctx context.Context, n Needs) error { return Prefetch(ctx, r.r, n) }

// wholeWorld returns the underlying Reader for a read that depends on a whole world.
func (r *recordingReader) wholeWorld(w access.WorldID) Reader {
	r.b.noteWorld(w, true)
	return r.r
}

// uncacheable returns the underlying Reader for a read that no basis can describe.
func (r *recordingReader) uncacheable() Reader {
	r.b.noteWorld(access.WorldID{}, true)
	return r.r
}

func (r *recordingReader) Worlds(ctx context.Context, q WorldQuery) ([]World, error) {
	if q.Slug != "" || q.All {
		return r.uncacheable().Worlds(ctx, q)
	}
	r.b.noteWorld(q.ID, false) // a change to the row touches all parts
	return r.r.Worlds(ctx, q)
}

func (r *recordingReader) Members(ctx context.Context, q MemberQuery) ([]Member, error) {
	return r.wholeWorld(q.World).Members(ctx, q)
}

func (r *recordingReader) FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error) {
	if q.Alias != "" || q.Codename != "" || q.OldKey != "" || !q.TrashRoot.IsZero() {
		return r.wholeWorld(s.World).FindCards(ctx, s, q)
	}
	r.b.noteWorld(s.World, false)
	cards, err := r.r.FindCards(ctx, s, q)
	switch {
	case !q.ID.IsZero():
		r.b.addParts(cardPart(q.ID))
	case q.Key != "":
		r.b.addParts(keyPart(q.Key))
		for _, c := range cards {
			r.b.addParts(cardPart(c.ID))
		}
	}
	for _, id := range q.IDs {
		r.b.addParts(cardPart(id))
	}
	return cards, err
}

func (r *recordingReader) Cards(ctx context.Context, s Visibility, f Filter, p Page) ([]Card, Total, error) {
	return r.wholeWorld(s.World).Cards(ctx, s, f, p)
}

func (r *recordingReader) Descendants(ctx context.Context, s Visibility, id CardID, depth int,
	p Page) ([]Card, Total, error) {
	if depth != 1 {
		return r.wholeWorld(s.World).Descendants(ctx, s, id, depth, p)
	}
	r.b.noteWorld(s.World, false)
	r.b.addParts(belowPart(id))
	return r.r.Descendants(ctx, s, id, depth, p)
}

func (r *recordingReader) Trash(ctx context.Context, s Visibility, p Page) ([]Card, Total, error) {
	return r.wholeWorld(s.World).Trash(ctx, s, p)
}

func (r *recordingReader) Search(ctx context.Context, s Visibility, q SearchQuery, p Page) (SearchResult, error) {
	return r.wholeWorld(s.World).Search(ctx, s, q, p)
}

func (r *recordingReader) NearNames(ctx context.Context, s Visibility, name string, n int) ([]string, error) {
	return r.wholeWorld(s.World).NearNames(ctx, s, name, n)
}

func (r *recordingReader) NearCards(ctx context.Context, s Visibility, text string, f Filter, n int) ([]Hit, error) {
	return r.wholeWorld(s.World).NearCards(ctx, s, text, f, n)
}

func (r *recordingReader) CompleteNames(ctx context.Context, s Visibility, prefix string, n int) ([]string, error) {
	return r.wholeWorld(s.World).CompleteNames(ctx, s, prefix, n)
}

func (r *recordingReader) Versions(ctx context.Context, s Visibility, id CardID, p Page) ([]Version, Total, error) {
	return r.wholeWorld(s.World).Versions(ctx, s, id, p)
}

func (r *recordingReader) VersionByCount(ctx context.Context, s Visibility, id CardID, n uint32) (Version, bool, error) {
	return r.wholeWorld(s.World).VersionByCount(ctx, s, id, n)
}

func (r *recordingReader) VersionByRev(ctx context.Context, w access.WorldID, id CardID,
	rev uint32) (Version, bool, error) {
	return r.wholeWorld(w).VersionByRev(ctx, w, id, rev)
}

func (r *recordingReader) Feed(ctx context.Context, s Visibility, q FeedQuery) ([]Version, Total, error) {
	return r.wholeWorld(s.World).Feed(ctx, s, q)
}

func (r *recordingReader) CardsAt(ctx context.Context, s Visibility, ids []CardID, at Seq) ([]Version, error) {
	return r.wholeWorld(s.World).CardsAt(ctx, s, ids, at)
}

func (r *recordingReader) Refs(ctx context.Context, s Visibility, q RefQuery) ([]RefRow, Total, error) {
	return r.wholeWorld(s.World).Refs(ctx, s, q)
}

func (r *recordingReader) Wanted(ctx context.Context, s Visibility, p Page) ([]Wanted, Total, error) {
	return r.wholeWorld(s.World).Wanted(ctx, s, p)
}

func (r *recordingReader) Tags(ctx context.Context, s Visibility, prefix string, p Page) ([]TagCount, Total, error) {
	return r.wholeWorld(s.World).Tags(ctx, s, prefix, p)
}

func (r *recordingReader) Links(ctx context.Context, s Visibility, q LinkQuery) ([]Link, Total, error) {
	return r.wholeWorld(s.World).Links(ctx, s, q)
}

func (r *recordingReader) Reach(ctx context.Context, s Visibility, q ReachQuery) (Reached, error) {
	return r.wholeWorld(s.World).Reach(ctx, s, q)
}

func (r *recordingReader) LinkMax(ctx context.Context, s Visibility, kind, attr string) (int64, bool, error) {
	return r.wholeWorld(s.World).LinkMax(ctx, s, kind, attr)
}

func (r *recordingReader) Layers(ctx context.Context, s Visibility, q LayerQuery) ([]Layer, error) {
	return r.wholeWorld(s.World).Layers(ctx, s, q)
}

func (r *recordingReader) Events(ctx context.Context, s Visibility, q EventQuery) ([]StoredEvent, Total, error) {
	return r.wholeWorld(s.World).Events(ctx, s, q)
}

func (r *recordingReader) TypeUse(ctx context.Context, s Visibility) (map[string]int, error) {
	return r.wholeWorld(s.World).TypeUse(ctx, s)
}

func (r *recordingReader) Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error) {
	r.b.noteWorld(w, false)
	return r.r.Body(ctx, w, h)
}

func (r *recordingReader) Streams(ctx context.Context, kind string) ([]StreamHead, error) {
	return r.uncacheable().Streams(ctx, kind)
}

func (r *recordingReader) Head(ctx context.Context, s StreamID) (Head, error) {
	return r.uncacheable().Head(ctx, s)
}

func (r *recordingReader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (Seq, error) {
	return r.uncacheable().SeqAt(ctx, w, at)
}

func (r *recordingReader) Commits(ctx context.Context, s StreamID, from Seq) iter.Seq2[StoredCommit, error] {
	return r.uncacheable().Commits(ctx, s, from)
}

func (r *recordingReader) CommitByID(ctx context.Context, s StreamID, id uuid.UUID) (StoredCommit, bool, error) {
	return r.uncacheable().CommitByID(ctx, s, id)
}

func (r *recordingReader) Stale(ctx context.Context) ([]access.WorldID, error) {
	return r.uncacheable().Stale(ctx)
}

func (r *recordingReader) Repeat(ctx context.Context, account, key string) (Repeat, bool, error) {
	return r.uncacheable().Repeat(ctx, account, key)
}

func (r *recordingReader) Dump(ctx context.Context, w access.WorldID, table Table) iter.Seq2[string, error] {
	return r.uncacheable().Dump(ctx, w, table)
}
