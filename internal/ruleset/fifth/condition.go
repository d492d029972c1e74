package fifth

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Condition is a set of conditions (SRD "Conditions"). Exhaustion has levels and is counted apart.
type Condition uint32

// The conditions.
const (
	Blinded Condition = 1 << iota
	Charmed
	Deafened
	Frightened
	Grappled
	Incapacitated
	Invisible
	Paralyzed
	Petrified
	Poisoned
	Prone
	Restrained
	Stunned
	Unconscious
)

var conditionNames = []string{"blinded", "charmed", "deafened", "frightened", "grappled", "incapacitated", "invisible",
	"paralyzed", "petrified", "poisoned", "prone", "restrained", "stunned", "unconscious"}

// ParseCondition returns the condition of a name.
func ParseCondition(name string) (Condition, error) {
	i := slices.Index(conditionNames, strings.ToLower(strings.TrimSpace(name)))
	if i < 0 {
		return 0, fmt.Errorf("must be one of %s", strings.Join(conditionNames, ", "))
	}
	return 1 << i, nil
}

// Names returns the names of the conditions of the set; nil for none.
func (c Condition) Names() []string {
	if c == 0 {
		return nil
	}
	list := make([]string, 0, bits.OnesCount32(uint32(c)))
	for i, name := range conditionNames {
		if c&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// Has reports whether the set contains any of the others.
func (c Condition) Has(any Condition) bool { return c&any != 0 }

// The effects of conditions, each with the conditions that have it.
const (
	noActions     = Incapacitated | Paralyzed | Petrified | Stunned | Unconscious
	noMovement    = Grappled | Restrained | Paralyzed | Petrified | Stunned | Unconscious
	attacksWorse  = Blinded | Frightened | Poisoned | Prone | Restrained
	attackedEasy  = Blinded | Paralyzed | Petrified | Restrained | Stunned | Unconscious
	criticalClose = Paralyzed | Unconscious
	failsStrDex   = Paralyzed | Petrified | Stunned | Unconscious
	checksWorse   = Frightened | Poisoned
)

// MaxExhaustion is the level of exhaustion that kills.
const MaxExhaustion = 6

// withImplied adds the conditions that a condition brings with it: unconsciousness a fall, and all
// that prevent actions the condition incapacitated.
func (c Condition) withImplied() Condition {
	if c.Has(Unconscious) {
		c |= Prone
	}
	if c.Has(noActions) {
		c |= Incapacitated
	}
	return c
}
