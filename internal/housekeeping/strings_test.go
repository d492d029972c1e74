package housekeeping

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// textsBar is the bar of fused relatives among the words of texts: the product's errors, help texts,
// descriptions and log messages.
const textsBar = 10e-4

// prose are the packages and files whose texts are prose of a world and speech of its people.
var prose = []string{"internal/game/player", "internal/game/rule", "internal/agent/compose.go", "internal/world/command", "internal/world/play"}

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
	var f figure
	for _, s := range sources(t) {
		if s.test || strings.HasSuffix(s.dir, "test") || slices.Contains(prose, s.dir) || slices.Contains(prose, s.path) {
			continue
		}
		s.texts(func(at token.Pos, text string, words int) {
			f.all += words
			if n := len(fused.FindAllString(text, -1)); n > 0 {
				f.found += n
				f.where = append(f.where, s.at(at, strings.ReplaceAll(text, "\n", " ")))
			}
		})
	}
	f.hold(t, "what, whatever, whoever and whom among the words of texts", textsBar)
}
