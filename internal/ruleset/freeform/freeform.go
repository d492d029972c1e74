// Package freeform is a system of rules for worlds without character sheets: a skill is a share in
// a hundred, a difficulty is taken off it, and two ten-sided dice decide.
//
// Its invariant: the result depends only on the check and on the dice.
package freeform

import "loregate/internal/ruleset"

// System is the free-form system.
type System struct{}

var _ ruleset.System = System{}

// Citation names the rule; it is Loregate's own.
const Citation = "Loregate: free-form checks"

var (
	percentile = ruleset.MustDice("d100")
	worseOfTwo = ruleset.MustDice("2d100kh1")
	bestOfTwo  = ruleset.MustDice("2d100kl1")
)

// Name returns "freeform".
func (System) Name() string { return "freeform" }

// Untrained returns 50.
func (System) Untrained() int { return 50 }

// Difficulties returns the numbers that named difficulties take off the skill.
func (System) Difficulties() []ruleset.Difficulty {
	return []ruleset.Difficulty{{Name: "easy", Value: -20}, {Name: "medium", Value: 0}, {Name: "hard", Value: 20},
		{Name: "very hard", Value: 40}, {Name: "nearly impossible", Value: 60}}
}

// Check rolls d100 against the skill less the difficulty, at least 1 and at most 99. A roll of at
// most a tenth of that is a critical success, and 100 is always a critical failure. With advantage
// the lower of two rolls counts.
func (System) Check(c ruleset.Check, by ruleset.Chance) ruleset.Outcome {
	dice := percentile
	switch c.Mode {
	case ruleset.Advantage:
		dice = bestOfTwo
	case ruleset.Disadvantage:
		dice = worseOfTwo
	}
	target := min(max(c.Skill-c.Difficulty, 1), 99)
	total, thrown := dice.Throw(by)
	o := ruleset.Outcome{Total: total, Target: target, Margin: target - total, Success: total <= target,
		Thrown: thrown, Citation: Citation}
	switch {
	case total == 100:
		o.Degree = "critical failure"
	case !o.Success:
		o.Degree = "failure"
	case total <= (target+9)/10:
		o.Degree = "critical success"
	default:
		o.Degree = "success"
	}
	return o
}
