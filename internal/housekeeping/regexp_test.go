package housekeeping

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestExpressionsCompile compiles the regular expressions that a program would compile when it first uses them.
// Expressions with names in them are left out.
func TestExpressionsCompile(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || f.Sel.Name != "New" {
				return true
			}
			if pkg, ok := f.X.(*ast.Ident); !ok || pkg.Name != "lazyregexp" {
				return true
			}
			if expr, ok := literalOf(call.Args[0]); ok {
				seen++
				if _, err := regexp.Compile(expr); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d expressions were found", seen)
	}
}

// literalOf returns the text of an expression of literals.
func literalOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return literalOf(e.X)
	case *ast.BinaryExpr:
		left, ok := literalOf(e.X)
		right, also := literalOf(e.Y)
		return left + right, ok && also
	}
	return "", false
}
