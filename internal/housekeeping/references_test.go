package housekeeping

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	qualified = regexp.MustCompile(`(^|[^\w./"-])([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`) // canon.Card.Name
	// Card.Name, of the same package
	member    = regexp.MustCompile(`(^|[^\w./"-])([A-Z]\w*)\.([A-Z]\w*)\b`)
	fileName  = regexp.MustCompile(`(^|[\s(])((?:[a-z]\w*/)*[a-z]\w*\.go)\b`) // canon/card.go
	eventType = regexp.MustCompile(`^"([A-Z]\w*\.[A-Z]\w*)(\.[A-Z]\w*)*"$`)
	embedding = "an embedded type" // stands among the members of a type that has some
)

// declared are the names that a package declares; of a type, also its members.
type declared map[string]map[string]bool

func (d declared) add(name string, members ...string) {
	if d[name] == nil {
		d[name] = map[string]bool{}
	}
	for _, m := range members {
		d[name][m] = true
	}
}

// has reports whether a name is declared, with a member unless that is "".
func (d declared) has(name, member string) bool {
	members, ok := d[name]
	return ok && (member == "" || members[member] || members[embedding])
}

// addFile adds the declarations of a file.
func (d declared) addFile(f *ast.File) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				d.add(decl.Name.Name)
				continue
			}
			d.add(typeName(decl.Recv.List[0].Type), decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					d.add(spec.Name.Name, members(spec.Type)...)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						d.add(n.Name)
					}
				}
			}
		}
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members gives the fields of a struct and the methods of an interface.
func members(e ast.Expr) (names []string) {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return []string{embedding} // a type by another has its members
	}
	for _, f := range list.List {
		if len(f.Names) == 0 {
			names = append(names, embedding, typeName(f.Type))
		}
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

func TestCommentsNameDeclarations(t *testing.T) {
	inDir, inPackage := map[string]declared{}, map[string]declared{} // by folder, by package name
	eventTypes := map[string]bool{}                                  // the first two words of each
	for _, s := range sources(t) {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if inDir[s.dir] == nil {
			inDir[s.dir] = declared{}
		}
		if inPackage[name] == nil {
			inPackage[name] = declared{}
		}
		inDir[s.dir].addFile(s.file)
		inPackage[name].addFile(s.file)
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if m := eventType.FindStringSubmatch(lit.Value); m != nil {
					eventTypes[m[1]] = true
				}
			}
			return true
		})
	}
	for _, s := range sources(t) {
		for _, g := range s.file.Comments {
			text := g.Text()
			for _, m := range qualified.FindAllStringSubmatch(text, -1) {
				if p, ok := inPackage[m[2]]; ok && !p.has(m[3], m[4]) && !imports(s.file, m[2]) {
					t.Error(s.at(g.Pos(), "the comment names "+strings.TrimSpace(m[0])+", which is not declared"))
				}
			}
			for _, m := range member.FindAllStringSubmatch(text, -1) {
				if d := inDir[s.dir]; d.has(m[2], "") && !d.has(m[2], m[3]) && !eventTypes[m[2]+"."+m[3]] {
					t.Error(s.at(g.Pos(), "the comment names "+strings.TrimSpace(m[0])+", which is not declared"))
				}
			}
			for _, m := range fileName.FindAllStringSubmatch(text, -1) {
				if !isFile(m[2], s.dir) {
					t.Error(s.at(g.Pos(), "the comment names the file "+m[2]+", which is not there"))
				}
			}
		}
	}
}

// imports reports whether a file imports a package of others by the name.
func imports(f *ast.File, name string) bool {
	for _, im := range f.Imports {
		p := strings.Trim(im.Path.Value, `"`)
		if path.Base(p) == name && !strings.HasPrefix(p, "loregate/") {
			return true
		}
	}
	return false
}

// isFile reports whether there is a file of the name beside a source or below internal.
func isFile(name, dir string) bool {
	for _, at := range []string{dir, "internal", "."} {
		if _, err := os.Stat(filepath.Join(root, at, name)); err == nil {
			return true
		}
	}
	return false
}
