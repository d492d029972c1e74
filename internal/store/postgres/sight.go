package postgres

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// sql holds the arguments of a statement that is being built.
type sql struct{ args []any }

// arg adds an argument and returns its placeholder.
func (q *sql) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + formatInt(len(q.args))
}

// formatInt formats a small number for SQL.
func formatInt[T ~int | ~int8 | ~uint8](n T) string { return strconv.Itoa(int(n)) }

// inCond returns the condition that a column has one of some values. For a single value it uses =,
// which keeps the order of an index.
func (q *sql) inCond(column string, values []string) string {
	if len(values) == 1 {
		return column + " = " + q.arg(values[0])
	}
	return column + " = ANY(" + q.arg(slices.Clone(values)) + ")"
}

// scope is a canon.Visibility prepared for one SQL statement.
type scope struct {
	*sql
	id      access.WorldID
	w       string       // placeholder of the world's number
	top     access.Level // rows up to this level are visible
	subject access.Subject
	ceiling access.Level // rows above this level are hidden, even if labels name the subject
	named   string       // cached result of subjectLabels
}

// resolveScope prepares a visibility for one statement. ok is false if the world does not exist or
// the view sees nothing.
func (r *reader) resolveScope(ctx context.Context, s canon.Visibility) (sc *scope, ok bool, err error) {
	w, err := r.findWorldNumber(ctx, s.World)
	if err != nil || w == 0 {
		return nil, false, err
	}
	sc = &scope{sql: &sql{}, id: s.World, top: min(s.View.Level, access.LevelAdmin), ceiling: access.LevelAll}
	sc.w = sc.arg(w)
	if sc.top < access.LevelAdmin {
		sc.subject = s.View.Subject
	}
	if s.View.Ceiling > access.LevelNone {
		sc.ceiling = s.View.Ceiling
	}
	return sc, sc.top > access.LevelNone || sc.subject != "", nil
}

// cloneForStatement returns the same visibility for another statement.
func (sc *scope) cloneForStatement() *scope {
	c := *sc
	c.sql, c.named = &sql{args: []any{sc.args[0]}}, ""
	return &c
}

// argument matches a placeholder in a statement.
var argument = regexp.MustCompile(`\$[0-9]+`)

// trimArgs returns the statement with only those arguments that it uses: PostgreSQL rejects an
// argument whose type it cannot infer.
func (q *sql) trimArgs(query string) (string, []any) {
	var kept sql
	places := make(map[string]string, len(q.args))
	query = argument.ReplaceAllStringFunc(query, func(place string) string {
		if _, ok := places[place]; !ok {
			n, _ := strconv.Atoi(place[1:]) // the text consists of digits
			places[place] = kept.arg(q.args[n-1])
		}
		return places[place]
	})
	return query, kept.args
}

func (sc *scope) subjectLabels() string {
	if sc.named == "" {
		sc.named = fmt.Sprintf("(SELECT label FROM label_subjects WHERE w = %s AND subject = %s)", sc.w,
			sc.arg(string(sc.subject)))
	}
	return sc.named
}

// namedOnlyCond returns the condition that a row is visible only because its label names the
// subject.
func (sc *scope) namedOnlyCond(alias string) string {
	return fmt.Sprintf("%[1]s.level > %[2]d AND %[1]s.level <= %[3]d AND %[1]s.label > 0 AND %[1]s.label IN %[4]s", alias,
		sc.top, sc.ceiling, sc.subjectLabels())
}

// visibleCond returns the condition that a row is visible to the caller.
func (sc *scope) visibleCond(alias string) string {
	switch {
	case sc.top >= access.LevelAdmin:
		return "true"
	case sc.subject == "":
		return alias + ".level <= " + formatInt(sc.top)
	}
	return fmt.Sprintf("(%s.level <= %d OR %s)", alias, sc.top, sc.namedOnlyCond(alias))
}

// livingCond returns the condition that a card is not in the trash and is visible to the caller.
func (sc *scope) livingCond(alias string) string {
	return fmt.Sprintf("%[1]s.w = %[2]s AND %[1]s.trashed = 0 AND %[3]s", alias, sc.w, sc.visibleCond(alias))
}

// cardExists returns the condition that a living visible card has the id in a column.
func (sc *scope) cardExists(column string) string {
	return fmt.Sprintf("EXISTS (SELECT FROM cards h WHERE h.id = %s AND %s)", column, sc.livingCond("h"))
}

// unionByLevel repeats a query for each visible level, and once for rows visible only because their
// labels name the subject. Each arm then uses an index that begins with world and level and reads
// no hidden row. The format's one verb takes the condition on alias c.
func (sc *scope) unionByLevel(format string) string {
	var arms []string
	for l := access.LevelUser; l <= sc.top; l++ {
		arms = append(arms, "("+fmt.Sprintf(format, "c.level = "+formatInt(l))+")")
	}
	if sc.subject != "" {
		arms = append(arms, "("+fmt.Sprintf(format, sc.namedOnlyCond("c"))+")")
	}
	return strings.Join(arms, "\nUNION ALL\n")
}

// countRows counts the rows of a query, up to one more than canon.CountCap.
func (r *reader) countRows(ctx context.Context, query string, args ...any) (canon.Total, error) {
	n, err := r.c.queryInt(ctx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) t", query, canon.CountCap+1), args...)
	return cappedTotal(int(n)), err
}

func cappedTotal(n int) canon.Total {
	return canon.Total{Count: min(n, canon.CountCap), AtLeast: n > canon.CountCap}
}

// knownTotal returns the total if no count query is needed: if the page shows that it is the last,
// or the caller does not ask for a total.
func knownTotal(p canon.Page, rows int) (canon.Total, bool) {
	if p.Uncounted {
		return canon.Total{}, true
	}
	if rows < p.Limit && (rows > 0 || p.Offset == 0) && p.Offset+rows <= canon.CountCap {
		return canon.Total{Count: p.Offset + rows}, true
	}
	return canon.Total{}, false
}

// limitOffset returns the LIMIT and OFFSET of a page.
func (q *sql) limitOffset(p canon.Page) string {
	return fmt.Sprintf(" LIMIT %s OFFSET %s", q.arg(int64(max(p.Limit, 0))), q.arg(int64(max(p.Offset, 0))))
}

// limitArm returns the LIMIT of one arm of a union: all rows that the page may take from it.
func (q *sql) limitArm(p canon.Page) string {
	limit, offset := int64(max(p.Limit, 0)), int64(max(p.Offset, 0))
	return " LIMIT " + q.arg(min(limit, 1<<40)+min(offset, 1<<40))
}
