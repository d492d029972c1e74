package postgres

import (
	"slices"
	"strings"

	"loregate/internal/store/sqlstore"
)

var dialect = &sqlstore.Dialect{
	Name:      "postgres",
	Columns:   sqlstore.PlainColumns,
	Join:      "JOIN",
	IndexedBy: func(string) string { return "" },
	HasRow:    "EXISTS (%s)",
	IDs:       func(ids [][16]byte) any { return ids },
	InIDs:     "%s = ANY(%s)",
	FromLinks: "FROM links l WHERE l.w = $1 AND %s = ANY(%s)",
	InTexts: func(a *sqlstore.Args, column string, values []string) string {
		return column + " = ANY(" + a.Add(slices.Clone(values)) + ")"
	},
	NoID:     [16]byte{},
	NoParent: "c.parent = '00000000-0000-0000-0000-000000000000'",
	Child:    "%s.parent = %s",
	NameHas: func(a *sqlstore.Args, folded string, atStart bool) string {
		pattern := escapeLike.Replace(folded) + "%"
		if !atStart {
			pattern = "%" + pattern
		}
		return "c.fold LIKE " + a.Add(pattern)
	},
	SortedArms:  true,
	WorldAdded:  "INSERT INTO searched (w) VALUES ($1) ON CONFLICT DO NOTHING",
	CommitsFrom: selectCommits + "s = $1 AND seq >= $2 ORDER BY seq LIMIT $3",
	CommitByID:  selectCommits + "s = $1 AND id = $2 ORDER BY seq LIMIT 1",
	CommitAt:    "SELECT seq FROM commits WHERE s = $1 AND at <= $2 ORDER BY at DESC, seq DESC LIMIT 1",
	InsertCommit: "INSERT INTO commits (s, seq, id, at, by, op, body, prev, hash) " +
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
	UpdateHead:    "UPDATE streams SET seq = $2, hash = $3 WHERE s = $1",
	DeleteCommits: "DELETE FROM commits WHERE s = $1",
	RewindCommits: "DELETE FROM commits WHERE s = $1 AND seq > $2",
}

const selectCommits = "SELECT seq, id, at, by, op, body, prev, hash FROM commits WHERE "

// escapeLike escapes a text for use in a LIKE pattern.
var escapeLike = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// uuidOf converts an id to an argument that can be compared with others.
func uuidOf[T ~[16]byte](id T) [16]byte { return [16]byte(id) }
