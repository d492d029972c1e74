package archtest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// exempt maps each package that needs no example to the reason. Packages that support tests need none
// either.
var exempt = map[string]string{
	"mcpd/conformance": "fixtures for the conformance suite, served only with a build tag",
	"store/finder":     "a part of the stores; docs/new-store.md shows how a store uses it",
	"store/words":      "a part of the stores; docs/new-store.md shows how a store uses it",
	"store/postgres":   "an example would need a running database; store/sqlite has one",
	"proposal/kind":    "declarations of kinds; proposal has an example of a proposal",
}

// TestPackagesHaveExamples checks that each package has an example whose output go test compares: the
// shortest real use, for a reader who does not know the package.
func TestPackagesHaveExamples(t *testing.T) {
	packages := map[string]string{} // folders by package
	each(t, "../..", func(path string) {
		if pkg, _ := importsOf(t, path); pkg != "" {
			packages[pkg] = filepath.Dir(path)
		}
	})
	for pkg, dir := range packages {
		found := hasExample(t, dir)
		switch {
		case found && exempt[pkg] != "":
			t.Errorf("%s has an example, and is in the list of those that need none", pkg)
		case !found && exempt[pkg] == "" && !isTestSupport(pkg):
			t.Errorf("%s has no example with an // Output comment; write one in %s/example_test.go", pkg, pkg)
		}
	}
	for pkg := range exempt {
		if packages[pkg] == "" {
			t.Errorf("the list of packages without examples has %q, which does not exist", pkg)
		}
	}
}

// hasExample reports whether the tests of a folder have an example with an output.
func hasExample(t *testing.T, dir string) bool {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return slices.ContainsFunc(doc.Examples(files...), func(e *doc.Example) bool { return e.Output != "" || e.EmptyOutput })
}
