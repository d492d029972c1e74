package freeform_test

import (
	"fmt"
	"testing"

	"loregate/internal/ruleset"
	"loregate/internal/ruleset/freeform"
)

// fixed is a Chance that rolls given numbers.
type fixed []int

func (f *fixed) Roll(int) int {
	n := (*f)[0]
	*f = (*f)[1:]
	return n
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		check  ruleset.Check
		rolls  fixed
		degree string
	}{
		{ruleset.Check{Skill: 50}, fixed{50}, "success"},
		{ruleset.Check{Skill: 50}, fixed{51}, "failure"},
		{ruleset.Check{Skill: 50}, fixed{5}, "critical success"},
		{ruleset.Check{Skill: 50}, fixed{100}, "critical failure"},
		{ruleset.Check{Skill: 50, Difficulty: 60}, fixed{1}, "critical success"},
		{ruleset.Check{Skill: 90, Difficulty: -20}, fixed{99}, "success"},
		{ruleset.Check{Skill: 50, Mode: ruleset.Advantage}, fixed{80, 30}, "success"},
		{ruleset.Check{Skill: 50, Mode: ruleset.Disadvantage}, fixed{80, 30}, "failure"},
	} {
		o := freeform.System{}.Check(c.check, &c.rolls)
		if o.Degree != c.degree {
			t.Errorf("%+v is %+v, want %s", c.check, o, c.degree)
		}
	}
}

func Example() {
	o := freeform.System{}.Check(ruleset.Check{Skill: 60, Difficulty: 20}, ruleset.Seed{}.Stream())
	fmt.Println(o.Degree, o.Total, "of", o.Target)
	// Output: failure 42 of 40
}
