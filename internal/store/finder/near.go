package finder

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
)

// maxCompared limits the names that are compared with a text: those that share most trigrams with
// it.
const maxCompared = 300

// findAlike returns the rows of the cards whose names share most trigrams with a text, at least the
// given part of the text's, and of the cards visible only by name.
func (a *finding) findAlike(text string, part float64) (rows [][]byte, err error) {
	marks := canon.Trigrams(text)
	for i, run := range marks {
		marks[i] = runMark + run
	}
	err = a.withIndex(func(x *search.Index) error {
		hits, err := x.Alike(a.ctx, search.Likes{Marks: marks, MinShared: int(part * float64(len(marks))),
			Level: int(a.visibility.View.Level),
			Limit: maxCompared, Keep: a.rowFilterTyped()})
		for _, h := range hits {
			rows = append(rows, h.Row)
		}
		return err
	})
	for _, n := range a.named {
		rows = append(rows, rowOf(&n.Card, n.Card.Label.Level))
	}
	return rows, err
}

// rowFilterTyped is rowFilter including the types, the tag and the codename. Many cards share few types: each
// type is compared once.
func (a *finding) rowFilterTyped() func(row []byte) bool {
	types := canon.Filter{Type: a.filter.Type, Types: a.filter.Types}
	keep := a.rowFilter()
	tagged, coded := a.filter.Tag != "", a.filter.Coded
	if !types.Narrows() && !tagged && !coded {
		return keep
	}
	fits := map[string]bool{}
	return func(b []byte) bool {
		r := readRow(b)
		if tagged && !a.bearers[r.cardID()] || coded && r.fixed[atFlags]&isCoded == 0 {
			return false
		}
		ok, known := fits[string(r.kind)]
		if !known {
			ok = types.Fits(canon.Card{Type: string(r.kind)})
			fits[string(r.kind)] = ok
		}
		return ok && (keep == nil || keep(b))
	}
}

// NearCards implements canon.Finder.
func (f SnapshotFinder) NearCards(ctx context.Context, s canon.Visibility, text string, filter canon.Filter,
	n int) ([]canon.Hit, error) {
	if n <= 0 || len(text) > 4*markup.MaxNameLength {
		return nil, nil
	}
	a, err := f.newFinding(ctx, s, filter)
	if err != nil {
		return nil, err
	}
	rows, err := a.findAlike(text, canon.NearFloor) // names this alike share at least that part of the trigrams
	if err != nil {
		return nil, err
	}
	like := canon.LikenessTo(text)
	var near []item
	for _, b := range rows {
		x := item{row: b, id: readRow(b).cardID()}
		for name := range bytes.SplitSeq(readRow(b).names, []byte{'\n'}) {
			x.score = max(x.score, like.Of(string(name)))
		}
		if x.score >= canon.NearFloor {
			near = append(near, x)
		}
	}
	slices.SortFunc(near, func(x, y item) int { return cmp.Or(cmp.Compare(y.score, x.score), compareKeys(x.row, y.row)) })
	return a.readHits(near[:min(n, len(near))])
}

// NearNames implements canon.Finder. Two names are similar if they differ in at most a third of the
// letters of the shorter one, or in one letter.
func (f SnapshotFinder) NearNames(ctx context.Context, s canon.Visibility, name string, n int) ([]string, error) {
	asked := []rune(markup.Fold(name))
	if n <= 0 || len(asked) == 0 || len(asked) > 2*markup.MaxNameLength {
		return nil, nil
	}
	a, err := f.newFinding(ctx, s, canon.Filter{})
	if err != nil {
		return nil, err
	}
	rows, err := a.findAlike(name, 0)
	if err != nil {
		return nil, err
	}
	type near struct {
		row      []byte
		distance int
	}
	var found []near
	for _, b := range rows {
		letters := []rune(markup.Fold(readRow(b).ownName()))
		if d := markup.Distance(asked, letters); d <= max(1, min(len(asked), len(letters))/3) {
			found = append(found, near{b, d})
		}
	}
	slices.SortFunc(found, func(x, y near) int { return cmp.Or(x.distance-y.distance, compareKeys(x.row, y.row)) })
	var names []string
	for _, x := range found {
		if name := readRow(x.row).ownName(); len(names) < n && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// CompleteNames implements canon.Finder.
func (f SnapshotFinder) CompleteNames(ctx context.Context, s canon.Visibility, prefix string, n int) ([]string, error) {
	if n <= 0 {
		return nil, nil
	}
	a, err := f.newFinding(ctx, s, canon.Filter{NameStarts: prefix})
	if err != nil {
		return nil, err
	}
	// Few cards share a name, so a few more cards than requested names are enough.
	for most := n + 8; ; most *= 4 {
		var result search.Result
		if err := a.withIndex(func(x *search.Index) (err error) {
			q := a.indexQuery(nil)
			q.Limit, q.Compare = most, compareBy(canon.SortName)
			result, err = x.Find(a.ctx, q)
			return err
		}); err != nil {
			return nil, err
		}
		items := make([]item, 0, len(result.Hits))
		for _, h := range result.Hits {
			items = append(items, item{row: h.Row})
		}
		var names []string
		whole := len(items) == result.Total
		for _, x := range a.mergeNamed(items, compareBy(canon.SortName)) {
			if !whole && compareKeys(x.row, result.Hits[len(result.Hits)-1].Row) > 0 {
				break // names beyond the hits read may come in between
			}
			if name := readRow(x.row).ownName(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) >= n || whole {
			return names[:min(n, len(names))], nil
		}
	}
}
