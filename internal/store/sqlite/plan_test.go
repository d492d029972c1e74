package sqlite

import (
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/sqlstore"
)

// TestPlansUseNarrowIndexes reads SQLite's plans for the statements that build a place's context
// and for those that find misspelt names: none may scan all links or cards of a world. Without
// statistics SQLite considers an index over all rows of a kind as good as one over the rows of a
// card.
func TestPlansUseNarrowIndexes(t *testing.T) {
	s := openNew(t)
	if err := s.Write(t.Context(), func(tx canon.Tx) error {
		if err := tx.PutWorld(t.Context(), canon.World{ID: testWorld, Slug: "w", Title: "W",
			CreatedAt: testTime}); err != nil {
			return err
		}
		return tx.PutCard(t.Context(), cardOf(1, "Place", access.NewLabel(access.LevelUser), ""))
	}); err != nil {
		t.Fatal(err)
	}
	for _, view := range []access.View{{Level: access.LevelUser}, {Level: access.LevelUser, Subject: "alice"},
		{Level: access.LevelGM}, {Level: access.LevelAdmin}} {
		if err := s.read(t.Context(), func(c *conn) error {
			callForPlans(t, newReader(s, c), canon.Visibility{World: testWorld, View: view})
			for sql := range c.stmts {
				if strings.HasPrefix(sql, "SELECT") || strings.HasPrefix(sql, "WITH") {
					wantNarrow(t, c, sql)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// callForPlans makes the calls for a place's context, as of now and as of a commit.
func callForPlans(t *testing.T, r *reader, s canon.Visibility) {
	t.Helper()
	ctx, page, kinds := t.Context(), canon.Page{Limit: 10}, []string{"within", "exit"}
	must := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	for _, at := range []canon.Seq{0, 3} {
		_, _, err := r.Links(ctx, s, canon.LinkQuery{From: idOf(1), Kinds: kinds, AsOf: at, Page: page})
		must(err)
		_, _, err = r.Links(ctx, s, canon.LinkQuery{To: idOf(1), Kinds: kinds, AsOf: at, Page: page})
		must(err)
		for _, both := range []bool{false, true} {
			_, err = r.Reach(ctx, s, canon.ReachQuery{From: idOf(1), Kinds: kinds, Both: both, Depth: 2, Limit: 10, AsOf: at})
			must(err)
		}
		_, err = r.Layers(ctx, s, canon.LayerQuery{Cards: []canon.CardID{idOf(1), idOf(2)}, Active: true, AsOf: at})
		must(err)
	}
	_, err := r.NearCards(ctx, s, "Palce", canon.Filter{Types: []string{"Location", "Realm"}}, 5)
	must(err)
	_, _, err = r.Links(ctx, s, canon.LinkQuery{IDs: []canon.LinkID{{1}}, Page: page})
	must(err)
	_, err = r.Layers(ctx, s, canon.LayerQuery{IDs: []canon.LayerID{{1}}})
	must(err)
	for _, q := range []canon.CardQuery{{Key: "place", Prefetch: true}, {ID: idOf(1), Prefetch: true}} {
		_, err = r.FindCards(ctx, s, q)
		must(err)
	}
	_, _, err = r.Versions(ctx, s, idOf(1), page)
	must(err)
	_, _, err = r.Events(ctx, s, canon.EventQuery{Scopes: []string{"loc:x"}, Page: page})
	must(err)
}

// wantNarrow fails if a plan scans a table of the canon, or searches an index by the world and a
// kind alone.
func wantNarrow(t *testing.T, c *conn, sql string) {
	t.Helper()
	if err := sqlstore.Each(t.Context(), c, func(r sqlstore.Row) error {
		step := r.Text(3)
		if strings.Contains(step, "docs_gen (w=?)") { // max(gen) reads only the last entry of the index
			return nil
		}
		wide := strings.HasPrefix(step, "SCAN l") || strings.HasPrefix(step, "SCAN c") || strings.HasPrefix(step, "SCAN v") ||
			strings.Contains(step, "cards_type") || strings.Contains(step, "links_kind") ||
			strings.Contains(step, "links_newest")
		if wide || strings.HasSuffix(step, "(w=?)") && !strings.Contains(step, " n ") &&
			!strings.Contains(sql, "label_subjects") {
			t.Errorf("%s\nin %s", step, sql)
		}
		return nil
	}, "EXPLAIN QUERY PLAN "+sql, make([]any, 16)...); err != nil {
		t.Errorf("%v\nin %s", err, sql)
	}
}
