package fifth

import (
	"fmt"
	"slices"

	"loregate/internal/ruleset"
)

// Slots are numbers of spell slots; Slots[0] is of the first level.
type Slots [9]int

// Spell is a spell with the effects that the rules can settle. The rest of its text is for the
// people at the table.
type Spell struct {
	Name  string `json:"name"`
	Level int    `json:"level"`           // 0 for a cantrip
	Range int    `json:"range,omitempty"` // feet; 0: self; 5: touch
	// Time is action, bonus action or reaction.
	Time          string `json:"time,omitempty"`
	Components    string `json:"components,omitempty"` // letters of V, S and M
	Material      string `json:"material,omitempty"`   // a costly component, which must be carried
	Concentration bool   `json:"concentration,omitempty"`
	Rounds        int    `json:"rounds,omitempty"`  // how long its conditions last; 0: instantaneous
	Area          bool   `json:"area,omitempty"`    // reaches everybody in a zone
	Targets       int    `json:"targets,omitempty"` // at most, without an area; 0 means 1

	Attack    bool     `json:"attack,omitempty"` // needs a spell attack for each target
	Melee     bool     `json:"melee,omitempty"`
	Save      *Ability `json:"save,omitempty"`
	DC        int      `json:"dc,omitempty"`   // of the save; 0: the caster's
	Half      bool     `json:"half,omitempty"` // a successful save halves the damage
	Damage    []Damage `json:"damage,omitempty"`
	Heal      bool     `json:"heal,omitempty"` // the dice of Healing and the caster's modifier
	Healing   Damage   `json:"healing,omitzero"`
	Condition string   `json:"condition,omitempty"`  // that a failed save brings
	SaveAgain bool     `json:"save_again,omitempty"` // at the end of each turn of the target
	// Upcast are the dice that each slot level above the spell's adds to the first damage or to the
	// healing.
	Upcast ruleset.Dice `json:"upcast,omitzero"`
	// Cantrip are the damage dice of a cantrip from the levels 5, 11 and 17.
	Cantrip []ruleset.Dice `json:"cantrip,omitempty"`
}

func (s Spell) check() error {
	if s.Level < 0 || s.Level > len(Slots{}) || s.Range < 0 || s.Range > maxReach || s.Targets < 0 ||
		s.Targets > maxFighters || s.Rounds < 0 || len(s.Damage) > 5 || len(s.Cantrip) > 3 {
		return fmt.Errorf("needs a level from 0 to 9, a range up to %d feet and at most %d targets", maxReach, maxFighters)
	}
	if !slices.Contains([]string{"", timeAction, timeBonus, timeReaction}, s.Time) {
		return fmt.Errorf("takes a casting time that no encounter has room for; it must be action, bonus action or reaction")
	}
	if err := checkDamage(s.Damage); err != nil {
		return err
	}
	if s.Condition != "" {
		_, err := ParseCondition(s.Condition)
		return err
	}
	return nil
}

const (
	timeAction   = "action"
	timeBonus    = "bonus action"
	timeReaction = "reaction"
)

// fullCaster has the spell slots of each level of a full caster (SRD "Multiclass Spellcaster: Spell
// Slots per Spell Level", which is also the table of bards, clerics, druids, sorcerers and wizards).
var fullCaster = [maxLevel]Slots{
	{2}, {3}, {4, 2}, {4, 3}, {4, 3, 2}, {4, 3, 3}, {4, 3, 3, 1}, {4, 3, 3, 2}, {4, 3, 3, 3, 1}, {4, 3, 3, 3, 2},
	{4, 3, 3, 3, 2, 1}, {4, 3, 3, 3, 2, 1}, {4, 3, 3, 3, 2, 1, 1}, {4, 3, 3, 3, 2, 1, 1}, {4, 3, 3, 3, 2, 1, 1, 1},
	{4, 3, 3, 3, 2, 1, 1, 1}, {4, 3, 3, 3, 2, 1, 1, 1, 1}, {4, 3, 3, 3, 3, 1, 1, 1, 1}, {4, 3, 3, 3, 3, 2, 1, 1, 1},
	{4, 3, 3, 3, 3, 2, 2, 1, 1},
}

// casting names the table of a class's spell slots.
type casting string

const (
	castsFull casting = "full" // the level
	castsHalf casting = "half" // half the level from the second, rounded up
	castsPact casting = "pact" // a few slots, all of the highest level
)

// slotsOf returns the spell slots of a class of one level.
func slotsOf(how casting, level int) (s Slots) {
	switch how {
	case castsFull:
		return fullCaster[level-1]
	case castsHalf:
		if level >= 2 {
			return fullCaster[(level+1)/2-1]
		}
	case castsPact: // SRD "Warlock": the table's columns Spell Slots and Slot Level
		count := 1
		switch {
		case level >= 17:
			count = 4
		case level >= 11:
			count = 3
		case level >= 2:
			count = 2
		}
		s[min((level+1)/2, 5)-1] = count
	}
	return s
}

// damageAt returns the damage of a spell that is cast with a slot by a caster of a level.
func (s *Spell) damageAt(slot, level int) []Damage {
	if s.Level > 0 || len(s.Cantrip) == 0 {
		return s.Damage
	}
	step := -1
	for i, from := range []int{5, 11, 17} {
		if level >= from && i < len(s.Cantrip) {
			step = i
		}
	}
	if step < 0 {
		return s.Damage
	}
	return append([]Damage{{Dice: s.Cantrip[step], Type: s.Damage[0].Type}}, s.Damage[1:]...)
}

// rollDamage rolls the damage of one type, with the dice that the slot adds to the first.
func (s *Spell) rollDamage(by ruleset.Chance, i int, d Damage, slot, times int) int {
	n := d.Dice.Sum(by, times)
	if i == 0 && slot > s.Level && !s.Upcast.IsZero() {
		for range slot - s.Level {
			n += s.Upcast.Sum(by, times)
		}
	}
	return n
}
