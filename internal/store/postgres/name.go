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

// NearNames holds names to resemble one another when a third of the letters of the
// shorter, and at least one, may differ.
func (r *reader) NearNames(ctx context.Context, s canon.Sight, name string, n int) ([]string, error) {
	asked := []rune(markup.Fold(name))
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 || len(asked) == 0 || len(asked) > 2*markup.MaxNameLength {
		return nil, err
	}
	type near struct {
		name, key string
		distance  int
	}
	var found []near
	arg := sc.arg(string(asked))
	err = r.c.query(ctx, func(r row) error {
		letters := []rune(markup.Fold(r.text(0)))
		if d := markup.Distance(asked, letters); d <= max(1, min(len(asked), len(letters))/3) {
			found = append(found, near{r.text(0), r.text(1), d})
		}
		return nil
	}, fmt.Sprintf("SELECT c.name, c.key FROM cards c WHERE c.fold %% %s AND %s ORDER BY similarity(c.fold, %[1]s) DESC, c.key LIMIT %[3]d", arg, sc.living("c"), compared), sc.args...)
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.key, b.key)) })
	var out []string
	for _, f := range found {
		if len(out) < n && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out, err
}

// NearCards compares the cards whose names or aliases PostgreSQL finds most alike.
func (r *reader) NearCards(ctx context.Context, s canon.Sight, text string, f canon.Filter, n int) ([]canon.Hit, error) {
	folded := markup.Fold(text)
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 || folded == "" || len(text) > 4*markup.MaxNameLength {
		return nil, err
	}
	arg := sc.arg(folded)
	cards, err := r.cards(ctx, sc.id, fmt.Sprintf(`WITH near (rid) AS (
			SELECT c.rid FROM cards c WHERE (c.fold %% %[1]s OR %[1]s <%% c.fold) AND %[2]s%[3]s
			UNION SELECT c.rid FROM aliases a JOIN cards c ON c.rid = a.rid WHERE a.w = %[4]s AND a.fold %% %[1]s AND %[2]s%[3]s)
		SELECT %[5]s FROM near JOIN cards c ON c.rid = near.rid ORDER BY similarity(c.fold, %[1]s) DESC, c.key, c.id LIMIT %[6]d`,
		arg, sc.living("c"), sc.filter(f), sc.w, cardColumns, compared), sc.args...)
	if err != nil {
		return nil, err
	}
	var hits []canon.Hit
	alike := canon.LikenessTo(text)
	for _, c := range cards {
		if f.NotName != "" && markup.MatchGlob(f.NotName, c.Name) {
			continue
		}
		if score := alike.OfCard(c); score >= canon.NearFloor {
			hits = append(hits, canon.Hit{Card: c, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b canon.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Card.Key, b.Card.Key), bytes.Compare(a.Card.ID[:], b.Card.ID[:]))
	})
	return hits[:min(n, len(hits))], nil
}
