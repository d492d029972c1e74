package safety

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// literals are texts in lower case, one of which every match of a pattern contains; none if that is not known.
type literals struct {
	all   []string
	exact bool // every match is one of them
}

// maxLiterals is the number of literals beyond which a pattern is searched for without them.
const maxLiterals = 48

// leastLiteral is the length of the shortest literal that is worth looking for.
const leastLiteral = 2

// literalsOf returns the literals of a pattern.
func literalsOf(t *syntax.Regexp) literals {
	switch t.Op {
	case syntax.OpLiteral:
		return lowerLiterals(t.Rune, true)
	case syntax.OpCharClass:
		var runes []rune
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				if runes = append(runes, r); len(runes) > 8 {
					return literals{}
				}
			}
		}
		return lowerLiterals(runes, false)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literals{[]string{""}, true}
	case syntax.OpCapture:
		return literalsOf(t.Sub[0])
	case syntax.OpPlus:
		return literals{all: literalsOf(t.Sub[0]).all}
	case syntax.OpRepeat:
		if t.Min > 0 {
			return literals{all: literalsOf(t.Sub[0]).all}
		}
	case syntax.OpQuest:
		if l := literalsOf(t.Sub[0]); l.exact {
			return literals{append(l.all, ""), true}
		}
	case syntax.OpAlternate:
		return anyOf(t.Sub)
	case syntax.OpConcat:
		return joined(t.Sub)
	}
	return literals{}
}

// lowerLiterals returns the runes in lower case, as one literal or as one each.
func lowerLiterals(runes []rune, one bool) literals {
	var list []string
	for _, r := range runes {
		switch r = unicode.ToLower(r); {
		case r == longS:
			r = 's'
		case r > unicode.MaxASCII:
			return literals{}
		}
		if !slices.Contains(list, string(r)) || one {
			list = append(list, string(r))
		}
	}
	if one {
		list = []string{strings.Join(list, "")}
	}
	return literals{list, true}
}

// longS is the one letter beyond ASCII that case-insensitive patterns take for one of ASCII, and that is not changed to
// it by turning a text to lower case.
const longS = '\u017f'

// anyOf returns the literals of an alternation.
func anyOf(subs []*syntax.Regexp) literals {
	out := literals{exact: true}
	for _, s := range subs {
		l := literalsOf(s)
		if len(l.all) == 0 || len(out.all)+len(l.all) > maxLiterals {
			return literals{}
		}
		out.all, out.exact = append(out.all, l.all...), out.exact && l.exact
	}
	return out
}

// joined returns the literals of a sequence: all that its parts can make together, or those of the run of parts whose
// shortest literal is longest.
func joined(subs []*syntax.Regexp) literals {
	var best literals
	run, exact := []string{""}, true
	note := func(list []string) {
		if shortest(list) > shortest(best.all) {
			best.all = list
		}
	}
	for _, s := range subs {
		l := literalsOf(s)
		if l.exact && len(run)*len(l.all) <= maxLiterals {
			run = crossed(run, l.all)
			continue
		}
		exact = false
		note(run)
		note(l.all)
		run = []string{""}
	}
	if exact {
		return literals{run, true}
	}
	note(run)
	return best
}

func shortest(list []string) int {
	if len(list) == 0 {
		return 0
	}
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// crossed returns each text of a before each of b.
func crossed(a, b []string) (list []string) {
	for _, x := range a {
		for _, y := range b {
			list = append(list, x+y)
		}
	}
	return list
}
