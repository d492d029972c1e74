package housekeeping

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	words = regexp.MustCompile(`\pL[\pL'’]*`)
	// fused are pronouns that stand for a noun and its relative at once: "what is known of it".
	fused = regexp.MustCompile(`(?i)\b(what|whatever|whoever|whom|whomever)\b`)
	// saysWhat is a doc comment that gives no more than a verb and a question.
	saysWhat = regexp.MustCompile(`^\w+(\.\w+)? (says|say|is|are|tells|gives|holds|shows|makes|does|names) (what|who|whom|whatever|whoever|how|whether|which|where|when)\b`)
)

// A figure is how often something was found among all that was looked at.
type figure struct {
	found, all int
	where      []string
}

// hold fails where there are more than a share of them, and lists some of the places.
func (f *figure) hold(t *testing.T, name string, most float64) {
	t.Helper()
	share := float64(f.found) / float64(max(f.all, 1))
	t.Logf("%s: %d of %d, %.2f%% (bar %.2f%%)", name, f.found, f.all, 100*share, 100*most)
	if share > most {
		t.Errorf("%s: above the bar, among them\n%s", name, strings.Join(f.where[:min(len(f.where), 40)], "\n"))
	}
}

func TestCommentsNameTheirNouns(t *testing.T) {
	var relatives, openings figure
	for _, s := range sources(t) {
		for _, g := range s.file.Comments {
			for _, c := range g.List {
				relatives.all += len(words.FindAllString(c.Text, -1))
				if n := len(fused.FindAllString(c.Text, -1)); n > 0 {
					relatives.found += n
					relatives.where = append(relatives.where, s.at(c.Pos(), c.Text))
				}
			}
		}
		s.docComments(func(g *ast.CommentGroup) {
			openings.all++
			if text := strings.TrimSpace(g.Text()); saysWhat.MatchString(text) {
				openings.found++
				first, _, _ := strings.Cut(text, "\n")
				openings.where = append(openings.where, s.at(g.Pos(), first))
			}
		})
	}
	relatives.hold(t, "what, whatever, whoever and whom among the words of comments", 10e-4)
	openings.hold(t, `doc comments of the form "X says what"`, 0.2e-2)
}

// A tab counts as one column, as linters count it by default.
func TestLinesFitTheScreen(t *testing.T) {
	var long figure
	for _, s := range sources(t) {
		n := 0
		for line := range strings.Lines(s.text) {
			n++
			long.all++
			if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 120 {
				long.found++
				long.where = append(long.where, s.atLine(n, strings.TrimSpace(line)))
			}
		}
	}
	long.hold(t, "lines over 120 columns", 0.5e-2)
}
