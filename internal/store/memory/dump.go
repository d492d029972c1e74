package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/slicesx"
)

// Dump yields the rows of a world's table as lines of JSON, sorted.
func (r reader) Dump(_ context.Context, w access.WorldID, t canon.Table) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		rows, err := r.tableRows(w, t)
		if err != nil {
			yield("", err)
			return
		}
		lines := make([]string, len(rows))
		for i, row := range rows {
			b, err := json.Marshal(row)
			if err != nil {
				yield("", fmt.Errorf("memory: a row of %s: %w", t, err))
				return
			}
			lines[i] = string(b)
		}
		slices.Sort(lines)
		for _, l := range lines {
			if !yield(l, nil) {
				return
			}
		}
	}
}

// searchRow is a row of the table "search".
type searchRow struct {
	Card  canon.CardID
	Label access.Label
	Name  string
	Text  string
}

func (r reader) tableRows(w access.WorldID, t canon.Table) (rows []any, err error) {
	switch t {
	case "world":
		if world, ok := r.s.worlds.get(w); ok {
			rows = append(rows, world)
		}
	case "members":
		rows = collectRows(r.s.members, func(k memberKey) bool { return k.world == w }, oneRow)
	case "cards":
		rows = collectRows(r.s.cards, func(k cardKey) bool { return k.world == w }, oneRow)
	case "versions":
		rows = collectRows(r.s.versions, func(k cardKey) bool { return k.world == w }, eachRow)
	case "refs":
		rows = collectRows(r.s.refs, func(k cardKey) bool { return k.world == w }, eachRow)
	case "links":
		rows = collectRows(r.s.links, func(k linkKey) bool { return k.world == w }, eachRow)
	case "layers":
		rows = collectRows(r.s.layers, func(k layerKey) bool { return k.world == w }, eachRow)
	case "events":
		rows = collectRows(r.s.events, func(k eventKey) bool { return k.world == w }, oneRow)
	case "search":
		for k, d := range r.s.docs.all() {
			if k.world == w {
				rows = append(rows, searchRow{k.id, d.label, d.Name, d.Text})
			}
		}
	default:
		return nil, fmt.Errorf("memory: there is no table %q", t)
	}
	return rows, nil
}

// collectRows collects the rows of a table whose keys are wanted.
func collectRows[K comparable, V any](t table[K, V], wanted func(K) bool, rows func(V) []any) []any {
	var out []any
	for k, v := range t.all() {
		if wanted(k) {
			out = append(out, rows(v)...)
		}
	}
	return out
}

func oneRow[V any](v V) []any { return []any{v} }

func eachRow[V any](vs []V) []any {
	return slicesx.Map(vs, func(v V) any { return v })
}
