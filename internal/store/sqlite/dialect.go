package sqlite

import (
	"strings"

	"loregate/internal/slicesx"
	"loregate/internal/store/sqlstore"
)

// streamShift leaves room for 2^40 commits in each of 2^23 streams: the number of a commit is its
// stream's number times 2^40 plus its own in the stream.
const streamShift = 40

var dialect = &sqlstore.Dialect{
	Name:      "sqlite",
	Columns:   sqlstore.PlainColumns.Map(unnamedColumns),
	Join:      "CROSS JOIN",
	Plain:     "+",
	IndexedBy: func(index string) string { return " INDEXED BY " + index },
	// SQLite would turn EXISTS into a join, and choose the join order without knowing the number of
	// rows.
	HasRow:    "(%s) = 1",
	IDs:       func(ids [][16]byte) any { return hexIDs(ids...) },
	InIDs:     "%s IN (SELECT unhex(value) FROM json_each(%s))",
	FromLinks: "FROM json_each(%[2]s) f CROSS JOIN links l ON l.w = $1 AND %[1]s = unhex(f.value) WHERE true",
	InTexts: func(a *sqlstore.Args, column string, values []string) string {
		marks := slicesx.Map(values, func(v string) string { return a.Add(v) })
		return column + " IN (" + strings.Join(marks, ", ") + ")"
	},
	// There are many roots: the index of the sort order serves better than the one by parent.
	NoParent: "+c.parent = x'00000000000000000000000000000000'",
	// The comparison with zero shows SQLite that it may use the index cards_parent, which leaves
	// out roots.
	Child:    "%[1]s.parent = %[2]s AND %[1]s.parent <> x'00000000000000000000000000000000'",
	NotNamed: "lore_glob(%s, c.name) = 0",
	NameHas: func(a *sqlstore.Args, folded string, atStart bool) string {
		if atStart {
			folded = nameStart + folded
		}
		return "lore_has(" + a.Add(folded) + ", c.name)"
	},
	CommitsFrom: selectCommits + "n >= ($1 << 40) + $2 AND n < ($1 + 1) << 40 ORDER BY n LIMIT $3",
	CommitByID:  selectCommits + "id = $2 AND n >= $1 << 40 AND n < ($1 + 1) << 40",
	CommitAt: "SELECT n & 1099511627775 FROM commits WHERE n >> 40 = $1 AND at <= $2 " +
		"ORDER BY at DESC, n DESC LIMIT 1",
	InsertCommit: "INSERT INTO commits (n, id, at, by, op, body, prev, hash) " +
		"VALUES (($1 << 40) + $2, $3, $4, $5, $6, $7, $8, $9)",
	UpdateHead:    "UPDATE streams SET seq = $2, hash = $3, mark = $2 WHERE s = $1",
	DeleteCommits: "DELETE FROM commits WHERE n >= $1 << 40 AND n < ($1 + 1) << 40",
	RewindCommits: "DELETE FROM commits WHERE n > ($1 << 40) + $2 AND n < ($1 + 1) << 40",
}

const selectCommits = "SELECT n & 1099511627775, id, at, by, op, body, prev, hash FROM commits WHERE "

// unnamedColumns removes the name and the declared type from result columns. The driver would copy
// both to the heap for every column of every query. Columns are read by position.
func unnamedColumns(columns string) string {
	list := strings.Fields(strings.ReplaceAll(columns, ",", " "))
	return "+" + strings.Join(list, ` AS "", +`) + ` AS ""`
}
