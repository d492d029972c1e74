package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// putAliases replaces what a card is found by beside its name. Few cards have aliases:
// two look-ups that find none are all that others cost, and none when they are made.
func (t *tx) putAliases(ctx context.Context, w, rid int64, old spelling, level int64, c canon.Card) error {
	var list []string
	if !c.Trashed() {
		list = c.Aliases()
	}
	if old != (spelling{}) {
		for _, table := range []string{"aliases", "alias_runs"} {
			if _, err := t.c.exec(ctx, "DELETE FROM "+table+" WHERE rid = ?1", rid); err != nil {
				return err
			}
		}
	}
	for _, alias := range list {
		if _, err := t.c.exec(ctx, "INSERT INTO aliases (w, rid, key) VALUES (?1, ?2, ?3)", w, rid, string(markup.KeyOf(alias))); err != nil {
			return err
		}
		runs, err := json.Marshal(runsOf(alias))
		if err != nil {
			return err
		}
		if _, err := t.c.exec(ctx, "INSERT OR IGNORE INTO alias_runs (w, level, run, rid) SELECT ?1, ?2, value, ?3 FROM json_each(?4)",
			w, level, rid, string(runs)); err != nil {
			return err
		}
	}
	return nil
}

// runsOf gives each run of three characters of a bounded name once.
func runsOf(name string) (list []string) {
	runes := []rune(bounded(name))
	for i := 0; i+3 <= len(runes); i++ {
		if run := string(runes[i : i+3]); !slices.Contains(list, run) {
			list = append(list, run)
		}
	}
	return list
}

// NearCards compares the cards whose names or aliases share most runs of three characters
// with a text, and those in sight only by naming the subject.
func (r *reader) NearCards(ctx context.Context, s canon.Sight, text string, f canon.Filter, n int) ([]canon.Hit, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 || len(text) > 4*markup.MaxNameLength {
		return nil, err
	}
	l, err := r.filter(ctx, sc, f)
	if err != nil {
		return nil, err
	}
	rids, err := r.sharing(ctx, sc, text, compared)
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(rids)
	if err != nil {
		return nil, err
	}
	// Most of these are not shown: what is compared is read of them, and no more.
	like, near := canon.LikenessTo(text), map[int64]float64{}
	compare := func(row row) error {
		if score := like.OfCard(canon.Card{Name: row.text(1), Fields: row.bytes(2)}); score >= canon.NearFloor {
			near[row.int(0)] = score
		}
		return nil
	}
	passes := "c.w = ?1 AND c.trashed = 0 AND " + sc.sees("c") + l.condition()
	if sc.subject != "" {
		if err := r.c.query(ctx, compare, "SELECT c.rid, c.name, c.fields FROM cards c INDEXED BY cards_named WHERE c.label > 0 AND c.label IN "+named+" AND "+passes,
			sc.args(l.args...)...); err != nil {
			return nil, err
		}
	}
	// Joined to the list, a card is found by its row: asked for cards of the list, SQLite
	// walks all that pass.
	if err := r.c.query(ctx, compare, "SELECT c.rid, c.name, c.fields FROM json_each("+l.arg(string(list))+") j CROSS JOIN cards c ON c.rid = j.value WHERE "+passes,
		sc.args(l.args...)...); err != nil {
		return nil, err
	}
	return r.nearest(ctx, sc, near, n)
}

// nearest gives the n cards of the greatest scores, by row, then by key and id.
func (r *reader) nearest(ctx context.Context, sc scope, near map[int64]float64, n int) (hits []canon.Hit, err error) {
	rids := slices.Collect(maps.Keys(near))
	slices.SortFunc(rids, func(a, b int64) int { return cmp.Compare(near[b], near[a]) })
	for i, rid := range rids {
		if i >= n && near[rid] < near[rids[n-1]] {
			break // of those that are as near as the last, the key decides
		}
		c, ok, err := first(r.cardsByRow(ctx, sc.id, []int64{rid}))
		if err != nil {
			return nil, err
		}
		if ok {
			hits = append(hits, canon.Hit{Card: c, Score: near[rid]})
		}
	}
	slices.SortFunc(hits, func(a, b canon.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Card.Key, b.Card.Key), bytes.Compare(a.Card.ID[:], b.Card.ID[:]))
	})
	return hits[:min(n, len(hits))], nil
}
