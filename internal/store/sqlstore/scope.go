package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/slicesx"
)

// Args are the arguments of a statement that is being built.
type Args []any

// Add adds an argument and returns its placeholder.
func (a *Args) Add(v any) string {
	*a = append(*a, v)
	return "$" + strconv.Itoa(len(*a))
}

// AddPage adds a page and returns its LIMIT and OFFSET.
func (a *Args) AddPage(p canon.Page) string {
	return " LIMIT " + a.Add(int64(max(p.Limit, 0))) + " OFFSET " + a.Add(int64(max(p.Offset, 0)))
}

// Scope is a canon.Visibility prepared for one statement, with the statement's arguments: the
// world's number is $1, the subject, if there is one, $2.
type Scope struct {
	Args
	Dialect *Dialect
	World   access.WorldID
	Top     access.Level // rows up to this level are visible
	Ceiling access.Level // rows above this level are hidden, even if labels name the subject
	Named   bool         // rows whose labels name the subject are visible too
}

// Scope prepares a visibility for one statement. ok is false if the world does not exist or the
// view sees nothing.
func (r *Reader) Scope(ctx context.Context, s canon.Visibility) (sc Scope, ok bool, err error) {
	w, err := r.WorldNumber(ctx, s.World)
	if err != nil || w == 0 {
		return sc, false, err
	}
	sc = Scope{Dialect: r.Dialect, World: s.World, Top: min(s.View.Level, access.LevelAdmin), Ceiling: access.LevelAll}
	sc.Args = append(make([]any, 0, 4), w)
	if sc.Top < access.LevelAdmin && s.View.Subject != "" {
		sc.Named = true
		sc.Args = append(sc.Args, string(s.View.Subject))
	}
	if s.View.Ceiling > access.LevelNone {
		sc.Ceiling = s.View.Ceiling
	}
	return sc, sc.Top > access.LevelNone || sc.Named, nil
}

// WorldNumber returns the first argument.
func (sc *Scope) WorldNumber() int64 { return sc.Args[0].(int64) }

// Clone returns the same visibility for another statement.
func (sc Scope) Clone() Scope {
	n := 1
	if sc.Named {
		n = 2
	}
	sc.Args = append(Args(nil), sc.Args[:n]...)
	return sc
}

// NamedOnly returns the condition that a row is visible only because its label names the subject.
func (sc *Scope) NamedOnly(alias string) string {
	return fmt.Sprintf("%[1]s.level > %[2]d AND %[1]s.level <= %[3]d AND %[1]s.label > 0 AND %[1]s.label IN "+
		"(SELECT label FROM label_subjects WHERE w = $1 AND subject = $2)", alias, sc.Top, sc.Ceiling)
}

// Visible returns the condition that a row is visible to the caller.
func (sc *Scope) Visible(alias string) string {
	switch {
	case sc.Top >= access.LevelAdmin:
		return "true"
	case !sc.Named:
		return alias + ".level <= " + strconv.Itoa(int(sc.Top))
	}
	return fmt.Sprintf("(%s.level <= %d OR %s)", alias, sc.Top, sc.NamedOnly(alias))
}

// Living returns the condition that a card of the world is not in the trash and is visible to the
// caller.
func (sc *Scope) Living(alias string) string {
	return fmt.Sprintf("%[1]s.w = $1 AND %[1]s.trashed = 0 AND %[2]s", alias, sc.Visible(alias))
}

// CardExists returns the condition that a living visible card has the id in a column.
func (sc *Scope) CardExists(column string) string {
	return sc.hasRow("cards h WHERE h.id = " + column + " AND " + sc.Living("h"))
}

func (sc *Scope) hasRow(from string) string {
	return fmt.Sprintf(sc.Dialect.HasRow, "SELECT 1 FROM "+from)
}

// inIDs returns the condition that a column is one of some ids; "" without ids.
func inIDs[T ~[16]byte](sc *Scope, column string, ids []T) string {
	switch len(ids) {
	case 0:
		return ""
	case 1:
		id := ids[0]
		return " AND " + column + " = " + sc.Add(id[:])
	}
	return " AND " + fmt.Sprintf(sc.Dialect.InIDs, column, sc.Add(sc.Dialect.IDs(RawIDs(ids))))
}

// RawIDs converts ids to their common type.
func RawIDs[T ~[16]byte](ids []T) [][16]byte {
	return slicesx.Map(ids, func(id T) [16]byte { return [16]byte(id) })
}

// inTexts returns the condition that a column has one of some values; "" without values.
func (sc *Scope) inTexts(column string, values []string) string {
	switch len(values) {
	case 0:
		return ""
	case 1: // an equation keeps the order of an index
		return " AND " + column + " = " + sc.Add(values[0])
	}
	return " AND " + sc.Dialect.InTexts(&sc.Args, column, values)
}

// TrashCond returns the condition on trashed for queries that name one card, and find it in the
// trash for a view that sees that.
func TrashCond(view access.View, alias string) string {
	if view.SeesTrash() {
		return "true"
	}
	return alias + ".trashed = 0"
}

// escapeFormat escapes a text that is embedded in a format string.
func escapeFormat(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// unionByLevel repeats a query for each visible level, and once for rows visible only because their
// labels name the subject. Each part then uses an index that begins with world and level and reads
// no hidden row. The format's one verb takes the condition on alias c.
func (sc *Scope) unionByLevel(format string) string {
	var arms []string
	for l := access.LevelUser; l <= sc.Top; l++ {
		arms = append(arms, fmt.Sprintf(format, "c.level = "+strconv.Itoa(int(l))))
	}
	if sc.Named {
		arms = append(arms, fmt.Sprintf(format, sc.NamedOnly("c")))
	}
	return strings.Join(arms, "\nUNION ALL\n")
}

// pageByLevel returns a query for one page of the rows that unionByLevel finds, in an order of
// their columns. from is a format of a FROM clause.
func (sc *Scope) pageByLevel(columns, from, order string, p canon.Page) string {
	if !sc.Dialect.SortedArms {
		return sc.unionByLevel("SELECT "+columns+from) + " ORDER BY " + order + sc.AddPage(p)
	}
	// Each part returns all rows that the page may take from it.
	most := sc.Add(min(int64(max(p.Limit, 0)), 1<<40) + min(int64(max(p.Offset, 0)), 1<<40))
	arms := sc.unionByLevel("(SELECT " + columns + from + " ORDER BY " + order + " LIMIT " + most + ")")
	return "SELECT * FROM (" + arms + ") a ORDER BY " + order + sc.AddPage(p)
}

// qualifyOrder puts alias o before each column of an ORDER BY.
func qualifyOrder(order string) string { return "o." + strings.ReplaceAll(order, ", ", ", o.") }

// CountRows counts the rows of a query, up to one more than canon.CountCap.
func (r *Reader) CountRows(ctx context.Context, sql string, args ...any) (canon.Total, error) {
	n, err := QueryInt(ctx, r.Conn, "SELECT count(*) FROM ("+sql+" LIMIT "+strconv.Itoa(canon.CountCap+1)+") t", args...)
	return CappedTotal(int(n)), err
}

// CappedTotal returns the total for a count up to one more than canon.CountCap.
func CappedTotal(n int) canon.Total {
	return canon.Total{Count: min(n, canon.CountCap), AtLeast: n > canon.CountCap}
}

// WithTotal adds the total to a page of rows that was read with an error or without. It calls count
// only if the page does not show the total and the caller asks for it.
func WithTotal[T any](list []T, err error, p canon.Page,
	count func() (canon.Total, error)) ([]T, canon.Total, error) {
	switch rows := len(list); {
	case err != nil:
		return nil, canon.Total{}, err
	case p.Uncounted:
		return list, canon.Total{}, nil
	case rows < p.Limit && (rows > 0 || p.Offset == 0) && p.Offset+rows <= canon.CountCap:
		return list, canon.Total{Count: p.Offset + rows}, nil
	}
	total, err := count()
	return list, total, err
}
