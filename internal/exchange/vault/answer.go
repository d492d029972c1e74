package vault

import (
	"slices"
	"strings"

	"loregate/internal/fault"
)

// answers are the user's decisions about links that fit several notes, each as TARGET=PATH.
type answers struct {
	given, kept []string        // of this import, and of earlier ones
	used        map[string]bool // those that a link has asked for
}

// remember adds the answers of earlier imports, except those that a new one replaces.
func (a *answers) remember(texts []string) {
	for _, text := range texts {
		target, _, _ := strings.Cut(text, "=")
		if !slices.ContainsFunc(a.given, func(g string) bool { return isAnswerTo(g, target) }) {
			a.kept = append(a.kept, text)
		}
	}
}

func isAnswerTo(answer, target string) bool {
	name, _, _ := strings.Cut(answer, "=")
	return strings.TrimSpace(name) == strings.TrimSpace(target)
}

// choose returns the note that the user chose for a target, or else the first.
func (a *answers) choose(target string, among []*note) (to *note, answered bool) {
	for _, answer := range slices.Concat(a.given, a.kept) {
		_, chosen, _ := strings.Cut(answer, "=")
		chosen = strings.TrimSpace(chosen)
		for _, n := range among {
			if isAnswerTo(answer, target) && (n.Path == chosen || n.Stem() == chosen) {
				if a.used == nil {
					a.used = map[string]bool{}
				}
				a.used[answer] = true
				return n, true
			}
		}
	}
	return among[0], false
}

// texts returns all answers.
func (a *answers) texts() []string { return slices.Concat(a.given, a.kept) }

// checkUnused returns an error if an answer of this import is to no question.
func (a *answers) checkUnused() error {
	for _, text := range a.given {
		if !a.used[text] {
			return fault.New(fault.Invalid,
				"link: %q answers no question; a dry run lists the links that fit several notes, with the answers", text)
		}
	}
	return nil
}
