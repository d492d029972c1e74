package housekeeping

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Bars of fused relatives among the words of texts: the product's errors, help texts, descriptions
// and log messages.
const (
	textsBar = 10e-4
	// laterBar is for the packages of later. 0: their figure is printed and fails nothing.
	laterBar = 0
)

// later are the packages whose texts are rewritten last.
var later = []string{"world", "exchange", "proposal", "archive", "campaign", "studio", "game", "store"}

// isLater reports whether a source belongs to a package of later, or to one below it.
func (s source) isLater() bool {
	below, ok := strings.CutPrefix(s.dir, "internal/")
	name, _, _ := strings.Cut(below, "/")
	return ok && slices.Contains(later, name)
}

// texts calls f with the string literals of at least four words in a source, struct tags among
// them.
func (s source) texts(f func(at token.Pos, text string, words int)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true
		}
		if n := len(words.FindAllString(text, -1)); n >= 4 {
			f(lit.Pos(), text, n)
		}
		return true
	})
}

// TestTextsNameTheirNouns measures the texts that the product's users and operators read.
func TestTextsNameTheirNouns(t *testing.T) {
	var now, then figure
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		f := &now
		if s.isLater() {
			f = &then
		}
		s.texts(func(at token.Pos, text string, words int) {
			f.all += words
			if n := len(fused.FindAllString(text, -1)); n > 0 {
				f.found += n
				f.where = append(f.where, s.at(at, strings.ReplaceAll(text, "\n", " ")))
			}
		})
	}
	now.hold(t, "what, whatever, whoever and whom among the words of texts", textsBar)
	if laterBar > 0 {
		then.hold(t, "the same in the packages of later", laterBar)
	} else {
		t.Logf("the same in the packages of later: %d of %d words", then.found, then.all)
	}
}
