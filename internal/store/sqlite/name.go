package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	driverlib "modernc.org/sqlite"

	"loregate/internal/canon"
	"loregate/internal/markup"
)

// sqlGlob is lore_glob(pattern, name): 1 where the name fits.
func sqlGlob(_ *driverlib.FunctionContext, args []driver.Value) (driver.Value, error) {
	pattern, _ := args[0].(string)
	name, _ := args[1].(string)
	return truth(markup.MatchGlob(pattern, name)), nil
}

// sqlHas is lore_has(bounded text, name): 1 where the folded name, between its bounds,
// has the text.
func sqlHas(_ *driverlib.FunctionContext, args []driver.Value) (driver.Value, error) {
	text, _ := args[0].(string)
	name, _ := args[1].(string)
	return truth(strings.Contains(bounded(name), text)), nil
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// nameContains narrows a listing to names that contain a text.
func (r *reader) nameContains(ctx context.Context, sc scope, l *listing, text string) error {
	folded := foldName(text)
	if folded == "" {
		return nil
	}
	return r.nameHas(ctx, sc, l, folded)
}

// nameHas narrows a listing to names whose bounded form has a text. Runs of three
// characters find it; a shorter text is compared with each name in turn, which ends early
// because most names have it.
func (r *reader) nameHas(ctx context.Context, sc scope, l *listing, text string) error {
	if utf8.RuneCountInString(text) < 3 {
		l.and("lore_has(%s, c.name)", l.arg(text))
		return nil
	}
	parts, err := r.lookups(ctx, sc)
	if err != nil {
		return err
	}
	match, arms := l.arg(quote(text)), []string{"SELECT NULL"}
	for _, p := range parts {
		arms = append(arms, fmt.Sprintf("SELECT rowid FROM %s WHERE %[1]s MATCH %s", p.names(), match))
	}
	in := "c.rid IN (" + strings.Join(arms, " UNION ALL ") + ")"
	if sc.subject != "" {
		in = fmt.Sprintf("(%s OR c.level > %d AND lore_has(%s, c.name))", in, sc.top, l.arg(text))
	}
	l.and("%s", in)
	return nil
}

// CompleteNames gives names that begin with a text, in key order.
func (r *reader) CompleteNames(ctx context.Context, s canon.Sight, prefix string, n int) ([]string, error) {
	sc, ok, err := r.scope(ctx, s)
	if !ok || n <= 0 {
		return nil, err
	}
	l := &listing{}
	if err := r.nameHas(ctx, sc, l, nameStart+foldName(prefix)); err != nil {
		return nil, err
	}
	var names []string
	err = r.c.query(ctx, func(row row) error {
		if name := row.text(0); !slices.Contains(names, name) {
			names = append(names, name)
		}
		if len(names) == n {
			return errStop
		}
		return nil
	}, sc.arms("SELECT c.name, c.key, c.id FROM cards c WHERE c.w = ?1 AND %s AND c.trashed = 0"+escape(l.condition()))+" ORDER BY 2, 3", sc.args(l.args...)...)
	return names, err
}

const (
	// sampled is how many names are taken for each run of three characters of a name.
	// Rare runs give all theirs, and those resemble most.
	sampled = 300
	// compared is how many names are compared letter by letter.
	compared = 300
)

// NearNames holds names to resemble one another when a third of the letters of the
// shorter, and at least one, may differ.
func (r *reader) NearNames(ctx context.Context, s canon.Sight, name string, n int) ([]string, error) {
	sc, ok, err := r.scope(ctx, s)
	asked := []rune(foldName(name))
	if !ok || n <= 0 || len(asked) == 0 || len(asked) > 2*markup.MaxNameLength {
		return nil, err
	}
	shared, err := r.sharing(ctx, sc, name, compared)
	if err != nil {
		return nil, err
	}
	type near struct {
		name, key string
		id        []byte
		distance  int
	}
	var found []near
	look := func(row row) error {
		letters := []rune(foldName(row.text(0)))
		d := markup.Distance(asked, letters)
		if d <= max(1, min(len(asked), len(letters))/3) {
			found = append(found, near{row.text(0), row.text(1), row.bytes(2), d})
		}
		return nil
	}
	for _, rid := range shared {
		if err := r.c.query(ctx, look, "SELECT c.name, c.key, c.id FROM cards c WHERE c.rid = ?3 AND c.trashed = 0 AND "+sc.sees("c"), sc.args(rid)...); err != nil {
			return nil, err
		}
	}
	if sc.subject != "" {
		if err := r.c.query(ctx, look, fmt.Sprintf("SELECT c.name, c.key, c.id FROM cards c WHERE c.w = ?1 AND c.trashed = 0 AND c.label > 0 AND c.label IN %s AND c.level > %d AND c.level <= %d", named, sc.top, sc.ceiling), sc.args()...); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.key, b.key), slices.Compare(a.id, b.id))
	})
	var out []string
	for _, f := range found {
		if len(out) < n && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out, nil
}

// sharing gives the rows of up to n cards whose names or aliases share most runs of three
// characters with a name. Each level in sight is asked for itself.
func (r *reader) sharing(ctx context.Context, sc scope, name string, n int) ([]int64, error) {
	parts, err := r.lookups(ctx, sc)
	if err != nil {
		return nil, err
	}
	tally := map[int64]int{}
	count := func(row row) error { tally[row.int(0)]++; return nil }
	for _, run := range runsOf(name) {
		for _, p := range parts {
			if err := r.c.query(ctx, count, fmt.Sprintf(`SELECT * FROM (SELECT rowid FROM %s WHERE %[1]s MATCH ?1 LIMIT ?2)
				UNION ALL SELECT * FROM (SELECT rid FROM alias_runs WHERE w = ?3 AND level = ?4 AND run = ?5 LIMIT ?2)`, p.names()),
				quote(run), sampled, sc.w, p.n-4*sc.w, run); err != nil {
				return nil, err
			}
		}
	}
	return mostOften(tally, n), nil
}

// mostOften gives the n rows that were counted most often, the earliest of those that
// were as often. Most are counted once, and are seldom needed: only what is gets sorted.
func mostOften(tally map[int64]int, n int) []int64 {
	var times [][]int64 // rows by how often they were counted
	for rid, k := range tally {
		for len(times) <= k {
			times = append(times, nil)
		}
		times[k] = append(times[k], rid)
	}
	rids := make([]int64, 0, n)
	for _, same := range slices.Backward(times) {
		if len(rids) >= n {
			break
		}
		slices.Sort(same)
		rids = append(rids, same[:min(len(same), n-len(rids))]...)
	}
	return rids
}
