package canon

import (
	"context"
	"iter"
)

// A listing is read in pages of pageSize rows. Versions are read in smaller pages: most cards have
// few, and callers often stop at one of the first.
const (
	pageSize    = 1000
	versionPage = 200
	maxGrowth   = 16
)

// pages yields the rows of a listing, which it reads in pages: the first of size rows, each later one
// twice as long, up to maxGrowth times size. A store passes over all rows before a page, so that
// pages of one size would take quadratic time. It reads a page only when the loop needs its first
// row. An error ends the sequence.
func pages[T any](ctx context.Context, size int, list func(Page) ([]T, Total, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page := (Page{Limit: size, Uncounted: true}); ; {
			rows, err := listPage(ctx, page, list)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
			if len(rows) < page.Limit {
				return
			}
			page.Offset += page.Limit
			page.Limit = min(2*page.Limit, maxGrowth*size)
		}
	}
}

// listPage reads one page, unless ctx has ended.
func listPage[T any](ctx context.Context, page Page, list func(Page) ([]T, Total, error)) ([]T, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows, _, err := list(page)
	return rows, err
}

// Collect returns all rows of a sequence. It returns no rows with an error.
func Collect[T any](rows iter.Seq2[T, error]) (all []T, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, nil
}

// CollectUpTo returns the first most rows of a sequence and reports whether there are more.
func CollectUpTo[T any](rows iter.Seq2[T, error], most int) (first []T, more bool, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, false, err
		}
		if len(first) == most {
			return first, true, nil
		}
		first = append(first, row)
	}
	return first, false, nil
}

// The methods below yield all rows of a listing, in its order. They ignore the Page of a query. The
// sequence ends with the first error, or with that of ctx. It is valid as long as the snapshot.

// AllCards yields the cards that Cards lists.
func (s *Snapshot) AllCards(ctx context.Context, f Filter) iter.Seq2[Card, error] {
	return pages(ctx, pageSize, func(p Page) ([]Card, Total, error) { return s.Cards(ctx, f, p) })
}

// AllDescendants yields the cards that Descendants lists.
func (s *Snapshot) AllDescendants(ctx context.Context, id CardID, depth int) iter.Seq2[Card, error] {
	return pages(ctx, pageSize, func(p Page) ([]Card, Total, error) { return s.Descendants(ctx, id, depth, p) })
}

// AllTrash yields the cards that Trash lists.
func (s *Snapshot) AllTrash(ctx context.Context) iter.Seq2[Card, error] {
	return pages(ctx, pageSize, func(p Page) ([]Card, Total, error) { return s.Trash(ctx, p) })
}

// AllVersions yields the versions that Versions lists.
func (s *Snapshot) AllVersions(ctx context.Context, id CardID) iter.Seq2[Version, error] {
	return pages(ctx, versionPage, func(p Page) ([]Version, Total, error) { return s.Versions(ctx, id, p) })
}

// AllChanges yields the versions that Feed lists.
func (s *Snapshot) AllChanges(ctx context.Context, q FeedQuery) iter.Seq2[Version, error] {
	return pages(ctx, pageSize, func(p Page) ([]Version, Total, error) {
		q.Page = p
		return s.Feed(ctx, q)
	})
}

// AllRefs yields the references that Refs lists.
func (s *Snapshot) AllRefs(ctx context.Context, q RefQuery) iter.Seq2[RefRow, error] {
	return pages(ctx, pageSize, func(p Page) ([]RefRow, Total, error) {
		q.Page = p
		return s.Refs(ctx, q)
	})
}

// AllLinks yields the links that Links lists.
func (s *Snapshot) AllLinks(ctx context.Context, q LinkQuery) iter.Seq2[Link, error] {
	return pages(ctx, pageSize, func(p Page) ([]Link, Total, error) {
		q.Page = p
		return s.Links(ctx, q)
	})
}

// AllEvents yields the events that Events lists.
func (s *Snapshot) AllEvents(ctx context.Context, q EventQuery) iter.Seq2[StoredEvent, error] {
	return pages(ctx, pageSize, func(p Page) ([]StoredEvent, Total, error) {
		q.Page = p
		return s.Events(ctx, q)
	})
}
