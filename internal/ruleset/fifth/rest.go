package fifth

import (
	"errors"
	"fmt"

	"loregate/internal/ruleset"
)

// Resources are the numbers of a character that rests restore.
type Resources struct {
	HitPoints    int   `json:"hit_points" jsonschema:"Hit points now."`
	MaxHitPoints int   `json:"max_hit_points" jsonschema:"Maximum of hit points."`
	HitDie       int   `json:"hit_die" jsonschema:"Sides of a hit die."`
	HitDice      int   `json:"hit_dice" jsonschema:"Hit dice that are left."`
	Level        int   `json:"level" jsonschema:"Level of the character."`
	Constitution int   `json:"constitution,omitzero" jsonschema:"Constitution modifier."`
	Slots        Slots `json:"slots,omitzero" jsonschema:"Spell slots that are left, by level."`
	MaxSlots     Slots `json:"max_slots,omitzero" jsonschema:"Spell slots of a rested character, by level."`
	Pact         bool  `json:"pact,omitzero" jsonschema:"Slots come back with a short rest, as a warlock's do."`
	Exhaustion   int   `json:"exhaustion,omitzero" jsonschema:"Level of exhaustion."`
}

// Rested is the result of a rest.
type Rested struct {
	Resources
	Rolls    []int  `json:"rolls,omitempty"` // of hit dice
	Citation string `json:"citation"`
}

func (r Resources) check() error {
	switch {
	case r.Level < 1 || r.Level > maxLevel:
		return fmt.Errorf("level must be from 1 to %d", maxLevel)
	case r.MaxHitPoints < 1 || r.MaxHitPoints > maxHP || r.HitPoints < 0 || r.HitPoints > r.MaxHitPoints:
		return errors.New("hit_points must be from 0 to max_hit_points")
	case r.HitDie < 4 || r.HitDie > 20 || r.HitDice < 0 || r.HitDice > r.Level:
		return errors.New("hit_dice must be from 0 to level, of 4 to 20 sides")
	case r.Exhaustion < 0 || r.Exhaustion >= MaxExhaustion:
		return fmt.Errorf("exhaustion must be from 0 to %d", MaxExhaustion-1)
	}
	return nil
}

// ShortRest spends hit dice: each restores its roll and the Constitution modifier, at least 0. A rest
// needs at least an hour (SRD "Short Rest").
func ShortRest(r Resources, dice int, by ruleset.Chance) (Rested, error) {
	out := Rested{Resources: r, Citation: citeShortRest}
	if err := r.check(); err != nil {
		return Rested{}, err
	}
	if dice < 0 || dice > r.HitDice {
		return Rested{}, fmt.Errorf("spend_dice must be from 0 to the %d hit dice that are left", r.HitDice)
	}
	for range dice {
		n := by.Roll(r.HitDie)
		out.Rolls = append(out.Rolls, n)
		out.HitPoints = min(out.HitPoints+max(n+r.Constitution, 0), r.MaxHitPoints)
	}
	out.HitDice -= dice
	if r.Pact {
		out.Slots = r.MaxSlots
	}
	return out, nil
}

// LongRest restores all hit points and slots, half the hit dice, at least one, and one level of
// exhaustion. It needs at least 1 hit point (SRD "Long Rest").
func LongRest(r Resources) (Rested, error) {
	if err := r.check(); err != nil {
		return Rested{}, err
	}
	if r.HitPoints < 1 {
		return Rested{}, errors.New("hit_points must be at least 1 for a long rest to help")
	}
	out := Rested{Resources: r, Citation: citeLongRest}
	out.HitPoints, out.Slots = r.MaxHitPoints, r.MaxSlots
	out.HitDice = min(r.HitDice+max(r.Level/2, 1), r.Level)
	out.Exhaustion = max(r.Exhaustion-1, 0)
	return out, nil
}
