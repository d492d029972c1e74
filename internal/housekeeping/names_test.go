package housekeeping

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// ownWords are names of one word that Go or the field gives, so that any number of
// packages may define them.
var ownWords = []string{
	"add", "begin", "close", "commit", "get", "len", "list", "load", "next", "open", "put", "read", "render", "run",
	"send", "set", "write",
}

// at gives a place and the text there, for a message.
func (s source) at(pos token.Pos, text string) string { return s.atLine(s.line(pos), text) }

func (s source) atLine(line int, text string) string {
	if len(text) > 100 {
		text = text[:100] + " …"
	}
	return s.path + ":" + strconv.Itoa(line) + ": " + text
}

// isOneWord reports whether a name has no second word: "find", but neither "findExit" nor "toJSON".
func isOneWord(name string) bool {
	return !strings.Contains(name, "_") && strings.IndexFunc(strings.TrimLeftFunc(name, unicode.IsUpper),
		unicode.IsUpper) < 0
}

// unexported calls f for each unexported function and method of the file, except main and init.
func (s source) unexported(f func(*ast.FuncDecl)) {
	for _, d := range s.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if ok && !ast.IsExported(fn.Name.Name) && !slices.Contains([]string{"main", "init", "_"}, fn.Name.Name) {
			f(fn)
		}
	}
}

func TestFunctionsHaveVerbAndNoun(t *testing.T) {
	var short figure
	packages := map[string]map[string]bool{} // that define a name
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		s.unexported(func(fn *ast.FuncDecl) {
			name := fn.Name.Name
			short.all++
			if isOneWord(name) {
				short.found++
				short.where = append(short.where, s.at(fn.Pos(), name))
			}
			if packages[name] == nil {
				packages[name] = map[string]bool{}
			}
			packages[name][s.dir] = true
		})
	}
	short.hold(t, "unexported functions of one word", 0.35)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if n := len(packages[name]); n > 4 && !slices.Contains(ownWords, name) {
			t.Errorf("%s is defined in %d packages: %v", name, n, slices.Sorted(maps.Keys(packages[name])))
		}
	}
}
