package safety

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// pattern is a compiled pattern. If marked is true, it matches only texts that contain a mark. If there are literals,
// it matches only texts that contain one of them in lower case. Few texts do, and looking for literals is much faster
// than matching.
type pattern struct {
	*regexp.Regexp
	marked   bool
	literals []string
}

func newPattern(text string) (p pattern, err error) {
	if p.Regexp, err = regexp.Compile(text); err != nil {
		return p, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return p, err
	}
	p.marked = needsMark(tree)
	if p.literals = literalsOf(tree).all; shortest(p.literals) < leastLiteral {
		p.literals = nil
	}
	return p, nil
}

func newPatterns(texts []string) (list []pattern, err error) {
	for _, t := range texts {
		p, err := newPattern(t)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// dropMarks replaces the marks of hidden text by spaces: the word "secret" in a mark names no credential. The text
// between the marks stays.
func (p *Policy) dropMarks(text string) string {
	if !strings.ContainsFunc(text, isMark) {
		return text
	}
	lower := strings.ToLower(text)
	for _, m := range p.marks {
		if m.mayMatch(lower, true) {
			text = m.ReplaceAllString(text, " ")
		}
	}
	return text
}

// mayMatch reports whether the pattern may match a text. lower is the text in lower case.
func (p pattern) mayMatch(lower string, marked bool) bool {
	return (marked || !p.marked) && (p.literals == nil || strings.ContainsRune(lower, longS) ||
		slices.ContainsFunc(p.literals, func(l string) bool { return strings.Contains(lower, l) }))
}

// matchPatterns marks the categories whose patterns or checks match a text.
func (p *Policy) matchPatterns(text string, found *evidence) {
	marked, lower := strings.ContainsFunc(text, isMark), strings.ToLower(text)
	for i, c := range p.categories {
		if found.strong[i] {
			continue
		}
		if slices.ContainsFunc(c.patterns, func(re pattern) bool {
			return re.mayMatch(lower, marked) && re.MatchString(text)
		}) || marked && slices.ContainsFunc(c.checks, func(f func(string) bool) bool { return f(text) }) {
			found.met[i], found.strong[i] = true, true
		}
	}
}

// isMark reports whether r is a sign or digit that is rare in prose and required by most patterns.
func isMark(r rune) bool { return r >= '0' && r <= '9' || strings.ContainsRune("<>[]/#@+_=:|-", r) }

// needsMark reports whether every match of a pattern contains a mark.
func needsMark(t *syntax.Regexp) bool {
	switch t.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(t.Rune, isMark)
	case syntax.OpCharClass:
		for i := 0; i < len(t.Rune); i += 2 {
			for r := t.Rune[i]; r <= t.Rune[i+1]; r++ {
				if !isMark(r) {
					return false
				}
			}
		}
		return true
	case syntax.OpConcat:
		return slices.ContainsFunc(t.Sub, needsMark)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(t.Sub, func(s *syntax.Regexp) bool { return !needsMark(s) })
	case syntax.OpCapture, syntax.OpPlus:
		return needsMark(t.Sub[0])
	case syntax.OpRepeat:
		return t.Min > 0 && needsMark(t.Sub[0])
	}
	return false
}
