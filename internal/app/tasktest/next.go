package tasktest

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// Next returns the call that a picker makes after the answers to its calls so far, for a model that
// keeps no state between two requests of a client. ok is false if it has finished.
func Next(tools []Tool, task Task, answers []string) (tool string, arguments map[string]any, ok bool, err error) {
	var p *Picker
	p, err = New(tools, func(name string, in map[string]any) (string, bool) {
		if len(answers) > 0 {
			answer := answers[0]
			answers = answers[1:]
			return answer, isError(answer)
		}
		if !ok {
			tool, arguments, ok = name, in, true
		}
		p.Calls = maxPickerCalls // ends its work
		return "", true
	})
	if err == nil {
		p.Solve(task)
	}
	return tool, arguments, ok, err
}

// isError reports whether an answer is an error object, as text or as a text in JSON: some clients do
// not show their model the mark.
func isError(answer string) bool {
	return strings.Contains(strings.NewReplacer(`\`, "", " ", "").Replace(answer), `"error":{"code":`)
}

// readingVerbs begin the descriptions of tools that only read.
var readingVerbs = []string{"get", "see", "find", "list", "read", "search", "check", "fetch", "show", "roll"}

// ReadsByWords guesses from a description whether a tool only reads: clients do not show their models
// the mark.
func ReadsByWords(description string) bool {
	first, _, _ := strings.Cut(strings.ToLower(description), " ")
	return slices.Contains(readingVerbs, meaning.Lemma(first, meaning.Verb))
}
