package canon

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
)

// restingReader is a Reader whose reads count for a basis: a look-up of cards by what it
// found and asked for, another of a world by the whole world, and all else as such that no
// answer that rests on it lasts. Bodies never change: what erases one touches all.
type restingReader struct {
	r Reader
	b *Basis
}

var _ Reader = (*restingReader)(nil)
var _ Prefetcher = (*restingReader)(nil)

// Prefetch passes on what will be asked for.
func (r *restingReader) Prefetch(ctx context.Context, n Needs) error { return Prefetch(ctx, r.r, n) }

// wholeOf is the reader of a world, for reads that rest on all of it.
func (r *restingReader) wholeOf(w access.WorldID) Reader {
	r.b.noteWorld(w, true)
	return r.r
}

// never is the reader for what no basis can name.
func (r *restingReader) never() Reader {
	r.b.noteWorld(access.WorldID{}, true)
	return r.r
}

func (r *restingReader) Worlds(ctx context.Context, q WorldQuery) ([]World, error) {
	if q.Slug != "" || q.All {
		return r.never().Worlds(ctx, q)
	}
	r.b.noteWorld(q.ID, false) // a change to it touches all
	return r.r.Worlds(ctx, q)
}

func (r *restingReader) Members(ctx context.Context, q MemberQuery) ([]Member, error) {
	return r.wholeOf(q.World).Members(ctx, q)
}

func (r *restingReader) FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error) {
	if q.Alias != "" || q.Codename != "" || q.OldKey != "" || !q.TrashRoot.IsZero() {
		return r.wholeOf(s.World).FindCards(ctx, s, q)
	}
	r.b.noteWorld(s.World, false)
	cards, err := r.r.FindCards(ctx, s, q)
	switch {
	case !q.ID.IsZero():
		r.b.restsOn(cardPart(q.ID))
	case q.Key != "":
		r.b.restsOn(keyPart(q.Key))
		for _, c := range cards {
			r.b.restsOn(cardPart(c.ID))
		}
	}
	for _, id := range q.IDs {
		r.b.restsOn(cardPart(id))
	}
	return cards, err
}

func (r *restingReader) Cards(ctx context.Context, s Visibility, f Filter, p Page) ([]Card, Total, error) {
	return r.wholeOf(s.World).Cards(ctx, s, f, p)
}

func (r *restingReader) Descendants(ctx context.Context, s Visibility, id CardID, depth int, p Page) ([]Card, Total, error) {
	if depth != 1 {
		return r.wholeOf(s.World).Descendants(ctx, s, id, depth, p)
	}
	r.b.noteWorld(s.World, false)
	r.b.restsOn(belowPart(id))
	return r.r.Descendants(ctx, s, id, depth, p)
}

func (r *restingReader) Trash(ctx context.Context, s Visibility, p Page) ([]Card, Total, error) {
	return r.wholeOf(s.World).Trash(ctx, s, p)
}

func (r *restingReader) Search(ctx context.Context, s Visibility, q SearchQuery, p Page) (SearchResult, error) {
	return r.wholeOf(s.World).Search(ctx, s, q, p)
}

func (r *restingReader) NearNames(ctx context.Context, s Visibility, name string, n int) ([]string, error) {
	return r.wholeOf(s.World).NearNames(ctx, s, name, n)
}

func (r *restingReader) NearCards(ctx context.Context, s Visibility, text string, f Filter, n int) ([]Hit, error) {
	return r.wholeOf(s.World).NearCards(ctx, s, text, f, n)
}

func (r *restingReader) CompleteNames(ctx context.Context, s Visibility, prefix string, n int) ([]string, error) {
	return r.wholeOf(s.World).CompleteNames(ctx, s, prefix, n)
}

func (r *restingReader) Versions(ctx context.Context, s Visibility, id CardID, p Page) ([]Version, Total, error) {
	return r.wholeOf(s.World).Versions(ctx, s, id, p)
}

func (r *restingReader) VersionByCount(ctx context.Context, s Visibility, id CardID, n uint32) (Version, bool, error) {
	return r.wholeOf(s.World).VersionByCount(ctx, s, id, n)
}

func (r *restingReader) VersionByRev(ctx context.Context, w access.WorldID, id CardID, rev uint32) (Version, bool, error) {
	return r.wholeOf(w).VersionByRev(ctx, w, id, rev)
}

func (r *restingReader) Feed(ctx context.Context, s Visibility, q FeedQuery) ([]Version, Total, error) {
	return r.wholeOf(s.World).Feed(ctx, s, q)
}

func (r *restingReader) CardsAt(ctx context.Context, s Visibility, ids []CardID, at Seq) ([]Version, error) {
	return r.wholeOf(s.World).CardsAt(ctx, s, ids, at)
}

func (r *restingReader) Refs(ctx context.Context, s Visibility, q RefQuery) ([]RefRow, Total, error) {
	return r.wholeOf(s.World).Refs(ctx, s, q)
}

func (r *restingReader) Wanted(ctx context.Context, s Visibility, p Page) ([]Wanted, Total, error) {
	return r.wholeOf(s.World).Wanted(ctx, s, p)
}

func (r *restingReader) Tags(ctx context.Context, s Visibility, prefix string, p Page) ([]TagCount, Total, error) {
	return r.wholeOf(s.World).Tags(ctx, s, prefix, p)
}

func (r *restingReader) Links(ctx context.Context, s Visibility, q LinkQuery) ([]Link, Total, error) {
	return r.wholeOf(s.World).Links(ctx, s, q)
}

func (r *restingReader) Reach(ctx context.Context, s Visibility, q ReachQuery) (Reached, error) {
	return r.wholeOf(s.World).Reach(ctx, s, q)
}

func (r *restingReader) LinkMax(ctx context.Context, s Visibility, kind, attr string) (int64, bool, error) {
	return r.wholeOf(s.World).LinkMax(ctx, s, kind, attr)
}

func (r *restingReader) Layers(ctx context.Context, s Visibility, q LayerQuery) ([]Layer, error) {
	return r.wholeOf(s.World).Layers(ctx, s, q)
}

func (r *restingReader) Events(ctx context.Context, s Visibility, q EventQuery) ([]StoredEvent, Total, error) {
	return r.wholeOf(s.World).Events(ctx, s, q)
}

func (r *restingReader) TypeUse(ctx context.Context, s Visibility) (map[string]int, error) {
	return r.wholeOf(s.World).TypeUse(ctx, s)
}

func (r *restingReader) Body(ctx context.Context, w access.WorldID, h Hash) ([]byte, bool, error) {
	r.b.noteWorld(w, false)
	return r.r.Body(ctx, w, h)
}

func (r *restingReader) Streams(ctx context.Context, kind string) ([]StreamHead, error) {
	return r.never().Streams(ctx, kind)
}

func (r *restingReader) Head(ctx context.Context, s StreamID) (Head, error) {
	return r.never().Head(ctx, s)
}

func (r *restingReader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (Seq, error) {
	return r.never().SeqAt(ctx, w, at)
}

func (r *restingReader) Commits(ctx context.Context, s StreamID, from Seq) iter.Seq2[StoredCommit, error] {
	return r.never().Commits(ctx, s, from)
}

func (r *restingReader) CommitByID(ctx context.Context, s StreamID, id uuid.UUID) (StoredCommit, bool, error) {
	return r.never().CommitByID(ctx, s, id)
}

func (r *restingReader) Stale(ctx context.Context) ([]access.WorldID, error) {
	return r.never().Stale(ctx)
}

func (r *restingReader) Repeat(ctx context.Context, account, key string) (Repeat, bool, error) {
	return r.never().Repeat(ctx, account, key)
}

func (r *restingReader) Dump(ctx context.Context, w access.WorldID, table Table) iter.Seq2[string, error] {
	return r.never().Dump(ctx, w, table)
}
