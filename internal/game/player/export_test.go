package player

import (
	"fmt"
	"strings"

	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Suspicion returns seat 1's suspicion of another seat at a table, after its messages.
func Suspicion(t view.Table, of rule.Seat) float64 {
	c := NewCore(rule.Seed{1}, 1)
	c.Hear(&t, t.ChatLog)
	return c.suspicionOf(&view.Own{Table: t}, of)
}

// Line is a line, the category that it is used up with, and the claim that it makes.
type Line struct {
	Category, Text string
	Claim          Claim
}

// Lines returns all lines of all categories, about the seats 2 and 3.
func Lines() (all []Line) {
	add := func(p *persona, name string, phase rule.Phase, cue Cue) {
		for _, text := range p.linesFor(&view.Table{Phase: string(phase)}, cue) {
			all = append(all, Line{name, text, cue.Claim})
		}
	}
	for i := range personas {
		for kind := range cores {
			add(&personas[i], fmt.Sprintf("persona %d %s", i, kind), rule.Discussion, Cue{Claim: claimOf(kind)})
		}
		for basis := range proofs {
			add(&personas[i], fmt.Sprintf("persona %d accuse %s", i, basis), rule.Discussion,
				Cue{Claim: Claim{Kind: Accuse, About: 2, Basis: basis, Third: 3}})
		}
	}
	for i, p := range append(personas[:], shared) {
		add(&p, fmt.Sprintf("persona %d remarks", i), rule.Discussion, Cue{})
		add(&p, fmt.Sprintf("persona %d replies", i), rule.Discussion, Cue{Answer: true})
		add(&p, fmt.Sprintf("persona %d denials", i), rule.Discussion, Cue{Claim: Claim{Kind: Deny}})
		add(&p, fmt.Sprintf("persona %d defences", i), rule.Trial, Cue{Claim: Claim{Kind: Deny}})
	}
	for _, text := range pulseAnswers {
		all = append(all, Line{"answers", text, Claim{}})
	}
	for _, text := range pulseNames {
		all = append(all, Line{"names", text, Claim{About: 2}})
	}
	return all
}

func claimOf(kind Kind) Claim {
	c := Claim{Kind: kind}
	if strings.Contains(cores[kind][0], "{other}") {
		c.About = 2
	}
	return c
}

// Fill fills the line's placeholders at a table.
func (l Line) Fill(t *view.Table) string { return fillLine(l.Text, t, l.Claim) }

// Blanked returns the line with blanks in place of names and numbers.
func (l Line) Blanked() string { return placeholders.Replace(l.Text) }

// Blanked returns a message at a table with blanks in place of names and numbers.
func Blanked(t *view.Table, text string) string {
	for blanked := range saidIn(t, []view.Message{{Text: text}}) {
		return blanked
	}
	return ""
}
