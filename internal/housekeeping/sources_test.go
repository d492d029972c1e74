// Package housekeeping measures how the project's sources read, and fails where a figure
// is above its bar. docs/adr/0035-plain-words-are-measured.md has the bars and their reasons.
// It has tests alone and imports no other package of the project.
package housekeeping

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const root = "../.."

// source is a parsed Go file of the project.
type source struct {
	path string // slash-separated, from the project's root
	dir  string
	test bool
	text string
	file *ast.File
}

var fset = token.NewFileSet()

// parseSources parses the project's Go files, once for all tests.
var parseSources = sync.OnceValues(func() (all []source, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".git") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if ast.IsGenerated(f) {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{rel, filepath.ToSlash(filepath.Dir(rel)), strings.HasSuffix(rel, "_test.go"),
			string(text), f})
		return nil
	})
	return all, err
})

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// line is where a node begins, as an editor finds it.
func (s source) line(pos token.Pos) int { return fset.Position(pos).Line }

// docComments calls f with the doc comment of each function, type, constant and variable.
func (s source) docComments(f func(*ast.CommentGroup)) {
	report := func(g *ast.CommentGroup) {
		if g != nil {
			f(g)
		}
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			report(d.Doc)
		case *ast.GenDecl:
			report(d.Doc)
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					report(spec.Doc)
				case *ast.ValueSpec:
					report(spec.Doc)
				}
			}
		}
	}
}
