package fifth

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/ruleset"
)

// Creature is a character or a monster with the numbers that an encounter needs.
type Creature struct {
	Name       string `json:"name"`
	ArmorClass int    `json:"armor_class"`
	HitPoints  int    `json:"hit_points"` // the maximum
	Speed      int    `json:"speed"`      // feet a turn
	Scores     Scores `json:"scores"`
	// Saves and Checks are the bonuses that differ from the ability's modifier, by name of the
	// ability and of the skill.
	Saves  map[string]int `json:"saves,omitempty"`
	Checks map[string]int `json:"checks,omitempty"`
	Level  int            `json:"level,omitempty"` // of a character; 0 for a monster

	Attacks []Attack `json:"attacks,omitempty"`
	// Multiattack names the attacks of one Attack action, in order. Empty: one attack.
	Multiattack []string `json:"multiattack,omitempty"`

	Spells      []Spell `json:"spells,omitempty"`
	Slots       Slots   `json:"slots,omitzero"`
	SpellAttack int     `json:"spell_attack,omitempty"`
	SpellDC     int     `json:"spell_dc,omitempty"`
	SpellBonus  int     `json:"spell_bonus,omitempty"` // modifier of the spellcasting ability
	// Materials are the costly components that the creature carries.
	Materials []string `json:"materials,omitempty"`

	Resistances         []string `json:"resistances,omitempty"`
	Immunities          []string `json:"immunities,omitempty"`
	Vulnerabilities     []string `json:"vulnerabilities,omitempty"`
	ConditionImmunities []string `json:"condition_immunities,omitempty"`

	// Mortal is true for creatures that die at 0 hit points, as monsters usually do, instead of
	// making death saving throws.
	Mortal bool `json:"mortal,omitempty"`
	XP     int  `json:"xp,omitempty"` // for its defeat
}

// Attack is an attack with a weapon or a natural weapon.
type Attack struct {
	Name  string   `json:"name"`
	Bonus int      `json:"bonus"`
	Reach int      `json:"reach,omitempty"` // feet; of a melee attack
	Range int      `json:"range,omitempty"` // feet; of a ranged attack
	Long  int      `json:"long,omitempty"`  // feet; with disadvantage up to here
	Hits  []Damage `json:"hits"`
}

// Damage is dice of damage of one type.
type Damage struct {
	Dice ruleset.Dice `json:"dice"`
	Type string       `json:"type"`
}

// damageTypes are the types of damage (SRD "Damage Types").
var damageTypes = []string{"acid", "bludgeoning", "cold", "fire", "force", "lightning", "necrotic", "piercing",
	"poison", "psychic", "radiant", "slashing", "thunder"}

// Bounds of a creature.
const (
	maxListed  = 40
	maxBonus   = 50
	maxHP      = 10_000
	maxArmor   = 40
	maxReach   = 5_000
	maxScore   = 30
	maxNameLen = 100
)

// Check returns an error that names the first field that the rules do not allow.
func (c *Creature) Check() error {
	switch {
	case c.Name == "" || len(c.Name) > maxNameLen:
		return fmt.Errorf("name must have 1 to %d bytes", maxNameLen)
	case c.ArmorClass < 1 || c.ArmorClass > maxArmor:
		return fmt.Errorf("armor_class must be from 1 to %d", maxArmor)
	case c.HitPoints < 1 || c.HitPoints > maxHP:
		return fmt.Errorf("hit_points must be from 1 to %d", maxHP)
	case c.Speed < 0 || c.Speed > 500:
		return fmt.Errorf("speed must be from 0 to 500 feet")
	case c.Level < 0 || c.Level > maxLevel:
		return fmt.Errorf("level must be from 0, for a monster, to %d", maxLevel)
	case len(c.Attacks) > maxListed || len(c.Spells) > maxListed || len(c.Multiattack) > 10:
		return fmt.Errorf("attacks and spells must be at most %d, and multiattack at most 10", maxListed)
	case len(c.Resistances)+len(c.Immunities)+len(c.Vulnerabilities)+len(c.Materials) > maxListed:
		return fmt.Errorf("resistances, immunities, vulnerabilities and materials must be at most %d", maxListed)
	}
	for i, score := range c.Scores {
		if score < 1 || score > maxScore {
			return fmt.Errorf("scores: %s must be from 1 to %d", Ability(i), maxScore)
		}
	}
	return c.checkLists()
}

func (c *Creature) checkLists() error {
	for name := range c.Saves {
		if _, err := ParseAbility(name); err != nil {
			return fmt.Errorf("saves: %q %w", name, err)
		}
	}
	for name := range c.Checks {
		if _, ok := SkillAbility(name); !ok {
			return fmt.Errorf("checks: %q must be one of %s", name, strings.Join(Skills(), ", "))
		}
	}
	for _, name := range c.ConditionImmunities {
		if _, err := ParseCondition(name); err != nil && name != "exhaustion" {
			return fmt.Errorf("condition_immunities: %q %w", name, err)
		}
	}
	for _, a := range c.Attacks {
		if err := a.check(); err != nil {
			return fmt.Errorf("attacks: %q %w", a.Name, err)
		}
	}
	for _, name := range c.Multiattack {
		if c.attack(name) == nil {
			return fmt.Errorf("multiattack: %q is not the name of one of the attacks", name)
		}
	}
	for _, s := range c.Spells {
		if err := s.check(); err != nil {
			return fmt.Errorf("spells: %q %w", s.Name, err)
		}
	}
	return nil
}

func (a Attack) check() error {
	if a.Bonus < -maxBonus || a.Bonus > maxBonus || min(a.Reach, a.Range, a.Long) < 0 ||
		max(a.Reach, a.Range, a.Long) > maxReach || len(a.Hits) > 5 {
		return fmt.Errorf("needs a bonus within %d, distances up to %d feet and at most 5 kinds of "+
			"damage", maxBonus, maxReach)
	}
	return checkDamage(a.Hits)
}

// checkDamage returns an error if the type of a damage is unknown.
func checkDamage(list []Damage) error {
	for _, d := range list {
		if !slices.Contains(damageTypes, d.Type) {
			return fmt.Errorf("does damage of the unknown type %q; the types are %s", d.Type, strings.Join(damageTypes, ", "))
		}
	}
	return nil
}

func (c *Creature) attack(name string) *Attack {
	for i := range c.Attacks {
		if strings.EqualFold(c.Attacks[i].Name, name) {
			return &c.Attacks[i]
		}
	}
	return nil
}

func (c *Creature) spell(name string) *Spell {
	for i := range c.Spells {
		if strings.EqualFold(c.Spells[i].Name, name) {
			return &c.Spells[i]
		}
	}
	return nil
}

// SaveBonus returns the creature's bonus to a saving throw.
func (c *Creature) SaveBonus(a Ability) int {
	if b, ok := c.Saves[a.String()]; ok {
		return b
	}
	return c.Scores.Modifier(a)
}

// CheckBonus returns the creature's bonus to a check of a skill; 0 for a name of no skill.
func (c *Creature) CheckBonus(skill string) int {
	if b, ok := c.Checks[skill]; ok {
		return b
	}
	if a, ok := SkillAbility(skill); ok {
		return c.Scores.Modifier(a)
	}
	return 0
}

// damageOf returns the damage that remains of an amount of one type: first immunity, then
// resistance, which halves it, then vulnerability, which doubles it (SRD "Damage Resistance and
// Vulnerability").
func (c *Creature) damageOf(amount int, kind string, petrified bool) int {
	switch {
	case slices.Contains(c.Immunities, kind):
		return 0
	case petrified || slices.Contains(c.Resistances, kind):
		amount /= 2
	}
	if slices.Contains(c.Vulnerabilities, kind) {
		amount *= 2
	}
	return amount
}

func (c *Creature) isImmuneTo(conditions Condition) bool {
	return slices.ContainsFunc(conditions.Names(), func(n string) bool { return slices.Contains(c.ConditionImmunities, n) })
}
