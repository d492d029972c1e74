package sqlite

import (
	"context"
	"fmt"
	"time"
)

const (
	// tidyEvery is how long a step leaves to others after it.
	tidyEvery = 20 * time.Millisecond
	// tidyPages is how many pages a step merges, about 10 ms of work.
	tidyPages = 100
)

// tidy merges a little of the full-text index, and tells whether there may be more to do.
// A word is looked for in each segment that writes have left, of which a bulk load leaves
// a dozen: merged, a search takes half the time. Nothing that is found changes by it, so
// it wakes nobody, and where it fails it is left for the next idle time.
func (b *batch) tidy() (more bool) {
	ctx := context.Background()
	begin := b.merging == ""
	if begin {
		var err error
		if b.merging, err = b.scattered(ctx); err != nil || b.merging == "" {
			return false
		}
	}
	table := b.merging
	b.merging = ""
	if _, err := b.c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false
	}
	wrote := false
	err := storeSchema.current(ctx, b.c)
	if err == nil {
		wrote, err = b.merge(ctx, table, begin)
	}
	if err == nil {
		_, err = b.c.exec(ctx, "COMMIT")
	}
	if err != nil {
		if _, err := b.c.exec(ctx, "ROLLBACK"); err != nil {
			_ = b.reopen(err) // the next write says so if it cannot be
		}
		return false
	}
	if wrote {
		b.merging = table
	}
	return wrote || !begin // done with this table, there may be another
}

// merge takes a step, and tells whether it did anything. A negative number of pages
// begins to merge all segments to one, which a positive one goes on with.
func (b *batch) merge(ctx context.Context, table string, begin bool) (wrote bool, err error) {
	pages := tidyPages
	if begin {
		pages = -tidyPages
	}
	before, err := b.c.number(ctx, changedRows)
	if err != nil {
		return false, err
	}
	if _, err := b.c.exec(ctx, fmt.Sprintf("INSERT INTO %s (%[1]s, rank) VALUES ('merge', ?1)", table), pages); err != nil {
		return false, err
	}
	after, err := b.c.number(ctx, changedRows)
	// The statement itself counts as one change; see FTS5, the merge command.
	return after-before >= 2, err
}

const (
	// A table is merged when it has more than fewSegments, of which all but the largest
	// are together at least a share of it: so a card is written again some five times in
	// its life, and not with every few writes of others.
	fewSegments  = 4
	largestShare = 4
)

// scattered gives a full-text table that is worth merging; "" where there is none.
func (b *batch) scattered(ctx context.Context) (string, error) {
	var parts []int64
	if err := b.c.query(ctx, func(r row) error { parts = append(parts, r.int(0)); return nil }, "SELECT part FROM parts ORDER BY part"); err != nil {
		return "", err
	}
	for _, n := range parts {
		p := partition{n}
		for _, table := range []string{p.text(), p.tokens(), p.names()} {
			var segments, pages, largest int64
			if err := b.c.query(ctx, func(r row) error {
				segments, pages, largest = segments+1, pages+r.int(0), max(largest, r.int(0))
				return nil
			}, "SELECT count(*) FROM "+table+"_idx GROUP BY segid"); err != nil {
				return "", err
			}
			if segments > fewSegments && (pages-largest)*largestShare >= largest {
				return table, nil
			}
		}
	}
	return "", nil
}
