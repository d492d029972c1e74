package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// scope is a canon.Visibility prepared for SQL. The first two arguments of each query are the
// world's number and the subject.
type scope struct {
	id      access.WorldID
	w       int64
	top     access.Level // rows up to this level are visible
	subject string       // rows whose labels name the subject are visible too; "" for none
	ceiling access.Level // rows above this level are hidden, even if labels name the subject
}

// resolveScope prepares a visibility for queries. ok is false if the world does not exist or the
// view sees nothing.
func (r *reader) resolveScope(ctx context.Context, s canon.Visibility) (sc scope, ok bool, err error) {
	w, err := r.findWorldNumber(ctx, s.World)
	if err != nil || w == 0 {
		return scope{}, false, err
	}
	sc = scope{id: s.World, w: w, top: min(s.View.Level, access.LevelAdmin), ceiling: access.LevelAll}
	if sc.top < access.LevelAdmin {
		sc.subject = string(s.View.Subject)
	}
	if s.View.Ceiling > access.LevelNone {
		sc.ceiling = s.View.Ceiling
	}
	return sc, sc.top > access.LevelNone || sc.subject != "", nil
}

// withArgs puts the scope's arguments before a query's own, which are numbered from ?3.
func (sc scope) withArgs(more ...any) []any {
	return append([]any{sc.w, sc.subject}, more...)
}

// subjectLabels selects the labels that name the subject.
const subjectLabels = "(SELECT label FROM label_subjects WHERE w = ?1 AND subject = ?2)"

// visibleCond returns the condition that a row is visible to the caller.
func (sc scope) visibleCond(alias string) string {
	switch {
	case sc.top >= access.LevelAdmin:
		return "1"
	case sc.subject == "":
		return alias + ".level <= " + strconv.Itoa(int(sc.top))
	}
	return fmt.Sprintf("(%s.level <= %d OR %s)", alias, sc.top, sc.namedOnlyCond(alias))
}

// namedOnlyCond returns the condition that a row is visible only because its label names the
// subject.
func (sc scope) namedOnlyCond(alias string) string {
	return fmt.Sprintf("%[1]s.level > %[2]d AND %[1]s.level <= %[3]d AND %[1]s.label > 0 AND %[1]s.label IN %[4]s", alias,
		sc.top, sc.ceiling, subjectLabels)
}

// unionByLevel repeats a query for each visible level, and once for rows visible only because their
// labels name the subject. Each arm then uses an index that begins with world and level and reads
// no hidden row. The format's one verb takes the condition on alias c.
func (sc scope) unionByLevel(format string) string {
	var arms []string
	for l := access.LevelUser; l <= sc.top; l++ {
		arms = append(arms, fmt.Sprintf(format, "c.level = "+strconv.Itoa(int(l))))
	}
	if sc.subject != "" {
		arms = append(arms, fmt.Sprintf(format, sc.namedOnlyCond("c")))
	}
	return strings.Join(arms, "\nUNION ALL\n")
}

// countRows counts the rows of a query, up to one more than canon.CountCap.
func (r *reader) countRows(ctx context.Context, sql string, args ...any) (canon.Total, error) {
	n, err := r.c.queryInt(ctx, "SELECT count(*) FROM ("+sql+" LIMIT "+strconv.Itoa(canon.CountCap+1)+")", args...)
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
