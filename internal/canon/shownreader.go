package canon

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/markup"
)

// shownReader is a Reader that notes every card that a call reads through its own view, or through a narrower one, as
// shown by the call's answer. It cannot know which of the cards the answer really holds. Cards that the canon reads
// through a wider view, to decide something, are never shown.
type shownReader struct {
	Reader
	g access.Grant
}

var _ Prefetcher = (*shownReader)(nil)

// Prefetch forwards to the underlying Reader.
func (r *shownReader) Prefetch(ctx context.Context, n Needs) error { return Prefetch(ctx, r.Reader, n) }

func (r *shownReader) note(s Visibility, id CardID) {
	if s.View.Level <= r.g.View().Level {
		r.g.NoteShown(id)
	}
}

func (r *shownReader) noteCards(s Visibility, cards []Card) []Card {
	for i := range cards {
		r.note(s, cards[i].ID)
	}
	return cards
}

func (r *shownReader) noteVersions(s Visibility, list []Version) []Version {
	for i := range list {
		r.note(s, list[i].Card)
	}
	return list
}

func (r *shownReader) noteHits(s Visibility, list []Hit) []Hit {
	for i := range list {
		r.note(s, list[i].Card.ID)
	}
	return list
}

func (r *shownReader) FindCards(ctx context.Context, s Visibility, q CardQuery) ([]Card, error) {
	cards, err := r.Reader.FindCards(ctx, s, q)
	return r.noteCards(s, cards), err
}

func (r *shownReader) Cards(ctx context.Context, s Visibility, f Filter, p Page) ([]Card, Total, error) {
	cards, total, err := r.Reader.Cards(ctx, s, f, p)
	return r.noteCards(s, cards), total, err
}

func (r *shownReader) Descendants(ctx context.Context, s Visibility, id CardID, depth int,
	p Page) ([]Card, Total, error) {
	cards, total, err := r.Reader.Descendants(ctx, s, id, depth, p)
	return r.noteCards(s, cards), total, err
}

func (r *shownReader) Trash(ctx context.Context, s Visibility, p Page) ([]Card, Total, error) {
	cards, total, err := r.Reader.Trash(ctx, s, p)
	return r.noteCards(s, cards), total, err
}

func (r *shownReader) Search(ctx context.Context, s Visibility, q SearchQuery, p Page) (SearchResult, error) {
	out, err := r.Reader.Search(ctx, s, q, p)
	r.noteHits(s, out.Hits)
	return out, err
}

func (r *shownReader) NearCards(ctx context.Context, s Visibility, text string, f Filter, n int) ([]Hit, error) {
	hits, err := r.Reader.NearCards(ctx, s, text, f, n)
	return r.noteHits(s, hits), err
}

// NearNames looks the cards up that have the names, to note them.
func (r *shownReader) NearNames(ctx context.Context, s Visibility, name string, n int) ([]string, error) {
	names, err := r.Reader.NearNames(ctx, s, name, n)
	for _, one := range names {
		if _, err := r.FindCards(ctx, s, CardQuery{Key: markup.KeyOf(one)}); err != nil {
			return nil, err
		}
	}
	return names, err
}

// CompleteNames lists the cards that have the names, to note them.
func (r *shownReader) CompleteNames(ctx context.Context, s Visibility, prefix string, n int) ([]string, error) {
	names, err := r.Reader.CompleteNames(ctx, s, prefix, n)
	if err != nil || len(names) == 0 {
		return names, err
	}
	_, _, err = r.Cards(ctx, s, Filter{NameStarts: prefix}, Page{Limit: n, Uncounted: true})
	return names, err
}

func (r *shownReader) Refs(ctx context.Context, s Visibility, q RefQuery) ([]RefRow, Total, error) {
	rows, total, err := r.Reader.Refs(ctx, s, q)
	for i := range rows {
		r.note(s, rows[i].Card.ID)
	}
	return rows, total, err
}

func (r *shownReader) Reach(ctx context.Context, s Visibility, q ReachQuery) (Reached, error) {
	out, err := r.Reader.Reach(ctx, s, q)
	r.noteCards(s, out.Cards)
	return out, err
}

func (r *shownReader) Layers(ctx context.Context, s Visibility, q LayerQuery) ([]Layer, error) {
	list, err := r.Reader.Layers(ctx, s, q)
	for i := range list {
		r.note(s, list[i].Card)
	}
	return list, err
}

func (r *shownReader) Versions(ctx context.Context, s Visibility, id CardID, p Page) ([]Version, Total, error) {
	list, total, err := r.Reader.Versions(ctx, s, id, p)
	return r.noteVersions(s, list), total, err
}

func (r *shownReader) VersionByCount(ctx context.Context, s Visibility, id CardID, n uint32) (Version, bool, error) {
	v, ok, err := r.Reader.VersionByCount(ctx, s, id, n)
	if ok {
		r.note(s, id)
	}
	return v, ok, err
}

func (r *shownReader) Feed(ctx context.Context, s Visibility, q FeedQuery) ([]Version, Total, error) {
	list, total, err := r.Reader.Feed(ctx, s, q)
	return r.noteVersions(s, list), total, err
}

func (r *shownReader) CardsAt(ctx context.Context, s Visibility, ids []CardID, at Seq) ([]Version, error) {
	list, err := r.Reader.CardsAt(ctx, s, ids, at)
	return r.noteVersions(s, list), err
}
