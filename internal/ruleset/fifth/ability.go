package fifth

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/ruleset"
)

// Ability is one of the six abilities.
type Ability int

// The abilities.
const (
	Strength Ability = iota
	Dexterity
	Constitution
	Intelligence
	Wisdom
	Charisma
)

var abilityNames = []string{"strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma"}

// ParseAbility returns the ability of a name or of its first three letters.
func ParseAbility(name string) (Ability, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	for i, n := range abilityNames {
		if name == n || name == n[:3] {
			return Ability(i), nil
		}
	}
	return 0, fmt.Errorf("must be one of %s", strings.Join(abilityNames, ", "))
}

func (a Ability) String() string { return abilityNames[a] }

// MarshalText implements encoding.TextMarshaler.
func (a Ability) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (a *Ability) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAbility(string(text))
	return err
}

// Scores are the scores of the six abilities, in order.
type Scores [6]int

// Modifier returns the modifier of a score (SRD "Ability Scores and Modifiers"): 10 and 11 give 0,
// each two points more or less give one.
func Modifier(score int) int {
	return (score+20)/2 - 15
}

// Modifier returns the modifier of an ability.
func (s Scores) Modifier(a Ability) int { return Modifier(s[a]) }

// ProficiencyBonus returns the bonus of a level from 1 to 20, or of a challenge rating (SRD
// "Proficiency Bonus"; ratings above 20 continue the row).
func ProficiencyBonus(level int) int { return 2 + (max(level, 1)-1)/4 }

// skills maps each skill to its ability (SRD "Using Each Ability").
var skills = map[string]Ability{
	"acrobatics": Dexterity, "animal handling": Wisdom, "arcana": Intelligence, "athletics": Strength,
	"deception": Charisma, "history": Intelligence, "insight": Wisdom, "intimidation": Charisma,
	"investigation": Intelligence, "medicine": Wisdom, "nature": Intelligence, "perception": Wisdom,
	"performance": Charisma, "persuasion": Charisma, "religion": Intelligence, "sleight of hand": Dexterity,
	"stealth": Dexterity, "survival": Wisdom,
}

// Skills returns the names of the skills in alphabetical order.
func Skills() []string {
	list := make([]string, 0, len(skills))
	for name := range skills {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// SkillAbility returns the ability of a skill.
func SkillAbility(skill string) (Ability, bool) {
	a, ok := skills[strings.ToLower(strings.ReplaceAll(strings.TrimSpace(skill), "-", " "))]
	return a, ok
}

// System is the fifth edition as a system of rules.
type System struct{}

var _ ruleset.System = System{}

// Name returns "srd-5.1".
func (System) Name() string { return "srd-5.1" }

// Untrained returns 0, the modifier of an average ability.
func (System) Untrained() int { return 0 }

// Difficulties returns the typical difficulty classes.
func (System) Difficulties() []ruleset.Difficulty {
	return []ruleset.Difficulty{{Name: "very easy", Value: 5}, {Name: "easy", Value: 10}, {Name: "medium", Value: 15},
		{Name: "hard", Value: 20}, {Name: "very hard", Value: 25}, {Name: "nearly impossible", Value: 30}}
}

// The headings of the SRD that results cite.
const (
	citeCheck         = "SRD 5.1: Ability Checks"
	citeSave          = "SRD 5.1: Saving Throws"
	citeAttack        = "SRD 5.1: Attack Rolls"
	citeDamage        = "SRD 5.1: Damage Rolls"
	citeDeath         = "SRD 5.1: Death Saving Throws"
	citeInitiative    = "SRD 5.1: Initiative"
	citeHealing       = "SRD 5.1: Healing"
	citeConcentration = "SRD 5.1: Concentration"
	citeActions       = "SRD 5.1: Actions in Combat"
	citeOpportunity   = "SRD 5.1: Opportunity Attacks"
	citeConditions    = "SRD 5.1: Conditions"
	citeCasting       = "SRD 5.1: Casting a Spell"
	citeMovement      = "SRD 5.1: Movement and Position"
	citeProne         = "SRD 5.1: Being Prone"
	citeShortRest     = "SRD 5.1: Short Rest"
	citeLongRest      = "SRD 5.1: Long Rest"
)

var d20 = map[ruleset.Mode]ruleset.Dice{
	ruleset.Straight:     ruleset.MustDice("d20"),
	ruleset.Advantage:    ruleset.MustDice("2d20kh1"),
	ruleset.Disadvantage: ruleset.MustDice("2d20kl1"),
}

// Check rolls a d20, adds the skill and compares the total with the difficulty class; a tie
// succeeds (SRD "Ability Checks").
func (System) Check(c ruleset.Check, by ruleset.Chance) ruleset.Outcome {
	rolled, thrown := d20[c.Mode].Throw(by)
	total := rolled + c.Skill
	o := ruleset.Outcome{Success: total >= c.Difficulty, Degree: "failure", Total: total, Target: c.Difficulty,
		Margin: total - c.Difficulty, Thrown: thrown, Citation: citeCheck}
	if o.Success {
		o.Degree = "success"
	}
	return o
}

// Passive returns the total of a check that is made without dice (SRD "Passive Checks").
func Passive(modifier int, m ruleset.Mode) int { return 10 + modifier + 5*int(m) }

// rollD20 rolls a d20 without recording the dice.
func rollD20(by ruleset.Chance, m ruleset.Mode) int {
	first := by.Roll(20)
	if m == ruleset.Straight {
		return first
	}
	second := by.Roll(20)
	if m == ruleset.Advantage {
		return max(first, second)
	}
	return min(first, second)
}
