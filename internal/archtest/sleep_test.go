package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestTestsDoNotSleep checks that tests sleep only in the bubbles of testing/synctest, where no real
// time passes. Elsewhere they wait for a signal, or poll with apptest.Eventually.
func TestTestsDoNotSleep(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		if sleeps(f) && !importsPackage(f, "testing/synctest") {
			t.Errorf("%s calls time.Sleep", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sleeps reports whether a file calls time.Sleep.
func sleeps(f *ast.File) (found bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Sleep" {
			from, ok := call.X.(*ast.Ident)
			found = found || ok && from.Name == "time"
		}
		return true
	})
	return found
}

func importsPackage(f *ast.File, name string) bool {
	for _, im := range f.Imports {
		if path, err := strconv.Unquote(im.Path.Value); err == nil && path == name {
			return true
		}
	}
	return false
}
