package placed

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// The queries about one world go to the database that serves it.

func (r *reader) Search(
	ctx context.Context,
	s canon.Visibility,
	q canon.SearchQuery,
	p canon.Page,
) (canon.SearchResult, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) (canon.SearchResult, error) { return r.Search(ctx, s, q, p) })
}

func (r *reader) NearNames(ctx context.Context, s canon.Visibility, name string, n int) ([]string, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]string, error) { return r.NearNames(ctx, s, name, n) })
}

func (r *reader) NearCards(
	ctx context.Context,
	s canon.Visibility,
	text string,
	f canon.Filter,
	n int,
) ([]canon.Hit, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]canon.Hit, error) { return r.NearCards(ctx, s, text, f, n) })
}

func (r *reader) CompleteNames(ctx context.Context, s canon.Visibility, prefix string, n int) ([]string, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]string, error) { return r.CompleteNames(ctx, s, prefix, n) })
}

func (r *reader) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]canon.Card, error) { return r.FindCards(ctx, s, q) })
}

func (r *reader) Cards(
	ctx context.Context,
	s canon.Visibility,
	f canon.Filter,
	p canon.Page,
) ([]canon.Card, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.Card, canon.Total, error) { return r.Cards(ctx, s, f, p) })
}

func (r *reader) Descendants(
	ctx context.Context,
	s canon.Visibility,
	id canon.CardID,
	depth int,
	p canon.Page,
) ([]canon.Card, canon.Total, error) {
	return ask2(
		ctx,
		r,
		s.World,
		func(r canon.Reader) ([]canon.Card, canon.Total, error) { return r.Descendants(ctx, s, id, depth, p) },
	)
}

func (r *reader) Trash(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.Card, canon.Total, error) { return r.Trash(ctx, s, p) })
}

func (r *reader) TypeUse(ctx context.Context, s canon.Visibility) (map[string]int, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) (map[string]int, error) { return r.TypeUse(ctx, s) })
}

func (r *reader) Body(ctx context.Context, w access.WorldID, h canon.Hash) ([]byte, bool, error) {
	return ask2(ctx, r, w, func(r canon.Reader) ([]byte, bool, error) { return r.Body(ctx, w, h) })
}

func (r *reader) Refs(ctx context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.RefRow, canon.Total, error) { return r.Refs(ctx, s, q) })
}

func (r *reader) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.Wanted, canon.Total, error) { return r.Wanted(ctx, s, p) })
}

func (r *reader) Tags(
	ctx context.Context,
	s canon.Visibility,
	prefix string,
	p canon.Page,
) ([]canon.TagCount, canon.Total, error) {
	return ask2(
		ctx,
		r,
		s.World,
		func(r canon.Reader) ([]canon.TagCount, canon.Total, error) { return r.Tags(ctx, s, prefix, p) },
	)
}

func (r *reader) Links(ctx context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.Link, canon.Total, error) { return r.Links(ctx, s, q) })
}

func (r *reader) Reach(ctx context.Context, s canon.Visibility, q canon.ReachQuery) (canon.Reached, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) (canon.Reached, error) { return r.Reach(ctx, s, q) })
}

func (r *reader) LinkMax(ctx context.Context, s canon.Visibility, kind, attr string) (int64, bool, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) (int64, bool, error) { return r.LinkMax(ctx, s, kind, attr) })
}

func (r *reader) Layers(ctx context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]canon.Layer, error) { return r.Layers(ctx, s, q) })
}

func (r *reader) Versions(
	ctx context.Context,
	s canon.Visibility,
	id canon.CardID,
	p canon.Page,
) ([]canon.Version, canon.Total, error) {
	return ask2(
		ctx,
		r,
		s.World,
		func(r canon.Reader) ([]canon.Version, canon.Total, error) { return r.Versions(ctx, s, id, p) },
	)
}

func (r *reader) VersionByCount(
	ctx context.Context,
	s canon.Visibility,
	id canon.CardID,
	n uint32,
) (canon.Version, bool, error) {
	return ask2(
		ctx,
		r,
		s.World,
		func(r canon.Reader) (canon.Version, bool, error) { return r.VersionByCount(ctx, s, id, n) },
	)
}

func (r *reader) VersionByRev(
	ctx context.Context,
	w access.WorldID,
	id canon.CardID,
	rev uint32,
) (canon.Version, bool, error) {
	return ask2(ctx, r, w, func(r canon.Reader) (canon.Version, bool, error) { return r.VersionByRev(ctx, w, id, rev) })
}

func (r *reader) Feed(
	ctx context.Context,
	s canon.Visibility,
	q canon.FeedQuery,
) ([]canon.Version, canon.Total, error) {
	return ask2(ctx, r, s.World, func(r canon.Reader) ([]canon.Version, canon.Total, error) { return r.Feed(ctx, s, q) })
}

func (r *reader) CardsAt(
	ctx context.Context,
	s canon.Visibility,
	ids []canon.CardID,
	at canon.Seq,
) ([]canon.Version, error) {
	return ask(ctx, r, s.World, func(r canon.Reader) ([]canon.Version, error) { return r.CardsAt(ctx, s, ids, at) })
}

func (r *reader) Events(
	ctx context.Context,
	s canon.Visibility,
	q canon.EventQuery,
) ([]canon.StoredEvent, canon.Total, error) {
	return ask2(
		ctx,
		r,
		s.World,
		func(r canon.Reader) ([]canon.StoredEvent, canon.Total, error) { return r.Events(ctx, s, q) },
	)
}

func (r *reader) SeqAt(ctx context.Context, w access.WorldID, at time.Time) (canon.Seq, error) {
	return ask(ctx, r, w, func(r canon.Reader) (canon.Seq, error) { return r.SeqAt(ctx, w, at) })
}
