package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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
	in := "c.rid IN (SELECT value FROM json_each(" + l.arg(string(list)) + "))"
	if sc.subject != "" {
		in = "(" + in + " OR c.label > 0 AND c.label IN " + named + ")"
	}
	cards, err := r.cards(ctx, sc.id, "SELECT "+cardColumns+" FROM cards c WHERE "+in+" AND c.w = ?1 AND c.trashed = 0 AND "+sc.sees("c")+l.condition(), sc.args(l.args...)...)
	if err != nil {
		return nil, err
	}
	return nearest(cards, text, n), nil
}

// nearest gives the n cards that are most like a text.
func nearest(cards []canon.Card, text string, n int) (hits []canon.Hit) {
	like := canon.LikenessTo(text)
	for _, c := range cards {
		if score := like.OfCard(c); score >= canon.NearFloor {
			hits = append(hits, canon.Hit{Card: c, Score: score})
		}
	}
	slices.SortFunc(hits, func(a, b canon.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Card.Key, b.Card.Key), bytes.Compare(a.Card.ID[:], b.Card.ID[:]))
	})
	return hits[:min(n, len(hits))]
}
