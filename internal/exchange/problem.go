package exchange

import (
	"fmt"
	"strings"
)

// FirstNames lists up to three names and the number of the others.
func FirstNames(list []string) string {
	if len(list) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), len(list)-3)
	}
	return strings.Join(list, ", ")
}

// Problem is a part of the source that was left out or changed.
type Problem struct {
	File string
	Line int // 0 if it is about the whole file
	Why  string
}

// Limits of the problems that an import keeps. A summary shows fewer.
const (
	maxProblems = 1000
	maxQuoted   = 300 // bytes of a text of the source in one problem
)

// NewProblem returns a problem that quotes at most the beginning of long texts.
func NewProblem(file string, line int, format string, args ...any) Problem {
	for i, arg := range args {
		if text, ok := arg.(string); ok && len(text) > maxQuoted {
			args[i] = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
		}
	}
	return Problem{file, line, fmt.Sprintf(format, args...)}
}

// AppendProblems appends problems to a list of at most a thousand, which ends by saying that there are more.
func AppendProblems(list []Problem, more ...Problem) []Problem {
	for _, p := range more {
		switch {
		case len(list) < maxProblems:
			list = append(list, p)
		case len(list) == maxProblems:
			return append(list, Problem{File: p.File, Why: "further problems are not listed"})
		}
	}
	return list
}

// String returns the problem with its file and line, as it is shown to a person.
func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Why)
	}
	return p.File + ": " + p.Why
}
