package housekeeping

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// wallTimes has the comparisons of wall time that are allowed in a file. They can only fall. A busy machine takes longer
// for everything: tests compare counted work, processor time, or the clock of a bubble. The comparisons that are left are
// of the length of benchmarks, of the pause before a program waits for input, of times of day, and for the log.
var wallTimes = map[string]int{
	"internal/app/benchtest/load_test.go": 1, "internal/app/clienttest/signin_test.go": 1,
	"internal/app/consoletest/manage_test.go": 1,
	"internal/app/scaletest/seen_test.go":     1, "internal/mcpd/bench_test.go": 1,
	"internal/store/placed/move_test.go": 1,
}

// TestTestsJudgeNoWallTime finds timers in tests, which wait with the packages wait and waittest instead, and counts
// comparisons of wall time in tests without a bubble.
func TestTestsJudgeNoWallTime(t *testing.T) {
	for _, s := range sources(t) {
		if !s.test && !strings.HasSuffix(s.dir, "test") || s.dir == "internal/loadtest" { // loadtest is in the product
			continue
		}
		bubbles := slices.ContainsFunc(s.file.Imports, func(i *ast.ImportSpec) bool {
			return i.Path.Value == `"testing/synctest"`
		})
		var after, compared []string
		passed := passedTimes(s.file)
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if isTimeCall(n, "After") {
					after = append(after, s.at(n.Pos(), "time.After"))
				}
			case *ast.BinaryExpr:
				if n.Op.Precedence() == token.EQL.Precedence() && !bubbles && (isWallTime(n.X, passed) || isWallTime(n.Y, passed)) {
					compared = append(compared, s.at(n.Pos(), "a wall time is compared"))
				}
			}
			return true
		})
		holdCount(t, s.path, after, nil)
		holdCount(t, s.path, compared, wallTimes)
	}
}

// holdCount fails the test unless a file has as many places as are allowed.
func holdCount(t *testing.T, path string, found []string, allowed map[string]int) {
	t.Helper()
	if len(found) > allowed[path] {
		t.Errorf("%d places, %d are allowed:\n%s", len(found), allowed[path], strings.Join(found, "\n"))
	} else if len(found) < allowed[path] {
		t.Errorf("%s has %d places: lower the %d that are allowed", path, len(found), allowed[path])
	}
}

// passedTimes returns the variables of a file that get a time that passed.
func passedTimes(f *ast.File) map[string]bool {
	names := map[string]bool{"took": true}
	ast.Inspect(f, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
			for i, to := range a.Lhs {
				if name, ok := to.(*ast.Ident); ok && isWallTime(a.Rhs[i], nil) {
					names[name.Name] = true
				}
			}
		}
		return true
	})
	return names
}

// isWallTime reports whether an operand is a time that passed: a variable of one, or with a call of time.Since in it.
func isWallTime(e ast.Expr, passed map[string]bool) (found bool) {
	if name, ok := e.(*ast.Ident); ok && passed[name.Name] {
		return true
	}
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && isTimeCall(call, "Since")
		return true
	})
	return found
}

func isTimeCall(call *ast.CallExpr, name string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != name {
		return false
	}
	from, ok := f.X.(*ast.Ident)
	return ok && from.Name == "time"
}
