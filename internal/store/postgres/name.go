package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// CompleteNames gives names that begin with a text, in key order.
func (r *reader) CompleteNames(ctx context.Context, s canon.Sight, prefix string, n int) ([]string, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 {
		return nil, err
	}
	var names []string
	err = r.c.query(ctx, func(r row) error {
		if name := r.text(0); !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == n {
			return errStop
		}
		return nil
	}, fmt.Sprintf("SELECT c.name FROM cards c WHERE c.fold LIKE %s AND %s ORDER BY c.key, c.id", sc.arg(like.Replace(markup.Fold(prefix))+"%"), sc.living("c")), sc.args...)
	return names, err
}

// compared is how many names, those that PostgreSQL finds most alike, are compared letter
// by letter.
const compared = 300

// alike are how alike, from 0 to 1, names and a text must be for PostgreSQL to find them:
// first very much so, which it tells from its index, and only where that gives too few
// less so, which in a world of like names is most of them.
var alike = []string{"0.5", nearEnough}

// eachAlike calls f for each of alike until it has enough.
func (r *reader) eachAlike(f func() (enough bool, err error)) error {
	for _, least := range alike {
		r.c.later("SET LOCAL pg_trgm.similarity_threshold = " + least)
		r.c.later("SET LOCAL pg_trgm.word_similarity_threshold = " + least)
		if enough, err := f(); err != nil || enough {
			return err
		}
	}
	return nil
}

// NearNames holds names to resemble one another when a third of the letters of the
// shorter, and at least one, may differ.
func (r *reader) NearNames(ctx context.Context, s canon.Sight, name string, n int) (out []string, err error) {
	asked := []rune(markup.Fold(name))
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 || len(asked) == 0 || len(asked) > 2*markup.MaxNameLength {
		return nil, err
	}
	arg := sc.arg(string(asked))
	query := fmt.Sprintf(`WITH near AS MATERIALIZED (SELECT c.* FROM cards c WHERE c.fold %% %s AND c.trashed = 0)
		SELECT c.name, c.key FROM near c WHERE %s ORDER BY similarity(c.fold, %[1]s) DESC, c.key LIMIT %[3]d`, arg, sc.living("c"), compared)
	err = r.eachAlike(func() (bool, error) {
		out, err = r.nearNames(ctx, asked, n, query, sc.args)
		return len(out) >= n, err
	})
	return out, err
}

func (r *reader) nearNames(ctx context.Context, asked []rune, n int, query string, args []any) ([]string, error) {
	type near struct {
		name, key string
		distance  int
	}
	var found []near
	err := r.c.query(ctx, func(r row) error {
		letters := []rune(markup.Fold(r.text(0)))
		if d := markup.Distance(asked, letters); d <= max(1, min(len(asked), len(letters))/3) {
			found = append(found, near{r.text(0), r.text(1), d})
		}
		return nil
	}, query, args...)
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.key, b.key)) })
	var out []string
	for _, f := range found {
		if len(out) < n && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out, err
}

// NearCards compares the cards whose names, pieces of compound names, or aliases
// PostgreSQL finds alike.
func (r *reader) NearCards(ctx context.Context, s canon.Sight, text string, f canon.Filter, n int) (hits []canon.Hit, err error) {
	folded := markup.Fold(text)
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 || folded == "" || len(text) > 4*markup.MaxNameLength {
		return nil, err
	}
	// The index of names alone is to find what is near: comparing all names of a world
	// takes longer than PostgreSQL thinks.
	arg := sc.arg(folded)
	query := fmt.Sprintf(`WITH near AS MATERIALIZED (
			SELECT c.rid, similarity(c.fold, %[1]s) AS near FROM cards c WHERE c.fold %% %[1]s AND c.trashed = 0
			UNION ALL SELECT c.rid, word_similarity(%[1]s, c.fold) FROM cards c WHERE c.fold %%> %[1]s AND c.trashed = 0 AND c.parent <> %[6]s
			UNION ALL SELECT a.rid, similarity(a.fold, %[1]s) FROM aliases a WHERE a.fold %% %[1]s)
		SELECT %[2]s FROM (SELECT rid, max(near) AS near FROM near GROUP BY rid) n JOIN cards c ON c.rid = n.rid WHERE %[3]s%[4]s
		ORDER BY n.near DESC, c.key, c.id LIMIT %[5]d`, arg, cardColumns, sc.living("c"), sc.filter(f), compared, sc.arg(uuidOf(canon.CardID{})))
	err = r.eachAlike(func() (bool, error) {
		cards, err := r.cards(ctx, sc.id, query, sc.args...)
		hits = nearest(cards, text, f, n)
		return len(hits) >= n, err
	})
	return hits, err
}

// nearest gives the n cards that are most like a text.
func nearest(cards []canon.Card, text string, f canon.Filter, n int) (hits []canon.Hit) {
	like := canon.LikenessTo(text)
	for _, c := range cards {
		if f.NotName != "" && markup.MatchGlob(f.NotName, c.Name) {
			continue
		}
		if score := like.OfCard(c); score >= canon.NearFloor {
			hits = append(hits, canon.Hit{Card: c, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b canon.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Card.Key, b.Card.Key), bytes.Compare(a.Card.ID[:], b.Card.ID[:]))
	})
	return hits[:min(n, len(hits))]
}
