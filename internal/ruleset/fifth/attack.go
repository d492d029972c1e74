package fifth

import (
	"errors"
	"fmt"

	"loregate/internal/ruleset"
)

// chooseAttack returns the attack of a name; the first attack when the name is empty.
func (f *fighter) chooseAttack(name string) (*Attack, error) {
	if name == "" && len(f.Attacks) > 0 {
		return &f.Attacks[0], nil
	}
	if w := f.attack(name); w != nil {
		return w, nil
	}
	return nil, fmt.Errorf("with: %s has no attack %q", f.Name, name)
}

// doAttack makes the attacks of one Attack action: one, or those of Multiattack if no attack is
// named. Each goes to the next of the targets, the last target taking the rest.
func (e *Encounter) doAttack(i int, a Act) error {
	f := &e.fighters[i]
	var list []*Attack
	if a.With == "" && len(f.Multiattack) > 0 {
		for _, name := range f.Multiattack {
			list = append(list, f.attack(name))
		}
	} else {
		w, err := f.chooseAttack(a.With)
		if err != nil {
			return err
		}
		list = append(list, w)
	}
	targets, err := e.attackTargets(i, a, list)
	if err != nil {
		return err
	}
	if err := f.spendAction(); err != nil {
		return err
	}
	for n, w := range list {
		t := targets[min(n, len(targets)-1)]
		if e.fighters[t].hp > 0 || !e.fighters[t].dead && len(list) == 1 {
			e.strike(i, t, w)
		}
	}
	return nil
}

// attackTargets returns the targets of attacks, each of which must be in the range of its attack.
func (e *Encounter) attackTargets(i int, a Act, list []*Attack) (targets []int, err error) {
	f := &e.fighters[i]
	if len(a.Targets) == 0 || len(a.Targets) > len(list) {
		return nil, fmt.Errorf("targets: must be 1 to %d names", len(list))
	}
	for n, w := range list {
		name := a.Targets[min(n, len(a.Targets)-1)]
		t := e.fighterOf(name)
		switch {
		case t < 0:
			return nil, fmt.Errorf("targets: nobody is called %q", name)
		case t == i:
			return nil, errors.New("targets: nobody attacks themselves")
		case e.isCharmedBy(i, t):
			return nil, fmt.Errorf("targets: %s is charmed by %s and cannot attack it", f.Name, e.fighters[t].Name)
		case e.fighters[t].dead:
			return nil, fmt.Errorf("targets: %s is dead", e.fighters[t].Name)
		}
		if d, most := e.distance(f, &e.fighters[t]), w.farthest(); d < 0 || d > most {
			return nil, fmt.Errorf("targets: %s is %s, and %s reaches %d feet", e.fighters[t].Name, e.describeDistance(d),
				w.Name, most)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (e *Encounter) isCharmedBy(i, t int) bool {
	for _, x := range e.effects {
		if x.target == i && x.caster == t && x.condition.Has(Charmed) {
			return true
		}
	}
	return false
}

func (e *Encounter) describeDistance(feet int) string {
	if feet < 0 {
		return "out of the way"
	}
	return fmt.Sprintf("%d feet away", feet)
}

// farthest returns the feet that an attack reaches at most.
func (w *Attack) farthest() int { return max(w.Reach, w.Range, w.Long, 5) }

// strike makes one attack: the roll, and the damage of a hit.
func (e *Encounter) strike(i, t int, w *Attack) {
	f, o := &e.fighters[i], &e.fighters[t]
	melee := w.Range == 0
	feet := e.distance(f, o)
	if melee && feet <= 5 {
		f.engaged |= 1 << t
		o.engaged |= 1 << i
	}
	m := e.attackMode(f, o, melee, feet)
	if !melee && w.Long > w.Range && feet > w.Range {
		m = min(m, ruleset.ModeOf(m == ruleset.Advantage, true))
	}
	hit, critical := e.rollAttack(f, o, w.Name, w.Bonus, m, feet)
	if !hit {
		return
	}
	times := 1
	if critical {
		times = 2
	}
	total := 0
	for _, d := range w.Hits {
		total += max(o.damageOf(d.Dice.Sum(e.by, times), d.Type, o.conditions.Has(Petrified)), 0)
	}
	e.deal(f, o, w.Name, total, critical)
}

// attackMode returns the mode of an attack (SRD "Advantage and Disadvantage", "Conditions", "Unseen
// Attackers and Targets", "Ranged Attacks in Close Combat").
func (e *Encounter) attackMode(f, o *fighter, melee bool, feet int) ruleset.Mode {
	unseen := f.hidden || f.conditions.Has(Invisible)
	better := unseen || f.helped || o.conditions.Has(attackedEasy) || o.conditions.Has(Prone) && feet <= 5
	worse := f.conditions.Has(attacksWorse) || f.exhaustion >= 3 || o.hidden || o.conditions.Has(Invisible) ||
		o.conditions.Has(Prone) && feet > 5 || o.dodging && o.canAct() && o.speed() > 0 && o.sees(f) || !melee && e.isThreatened(f)
	return ruleset.ModeOf(better, worse)
}

// isThreatened reports whether an enemy that can act is in melee with a fighter.
func (e *Encounter) isThreatened(f *fighter) bool {
	for n := range e.fighters {
		if f.engaged&(1<<n) != 0 && e.fighters[n].Side != f.Side && e.fighters[n].canAct() &&
			e.fighters[n].sees(f) {
			return true
		}
	}
	return false
}

// rollAttack rolls to hit: 20 always hits and is critical, 1 always misses. A hit from within 5 feet on
// somebody paralyzed or unconscious is critical.
func (e *Encounter) rollAttack(f, o *fighter, with string, bonus int, m ruleset.Mode, feet int) (hit, critical bool) {
	v := Event{Kind: actAttack, Actor: f.Name, Target: o.Name, With: with, Natural: rollD20(e.by, m),
		Against: o.ArmorClass + e.coverOf(f, o), Result: "miss", Citation: citeAttack}
	v.Total = v.Natural + bonus
	f.hidden, f.helped = false, false
	if hit = v.Natural == 20 || v.Natural != 1 && v.Total >= v.Against; hit {
		v.Result = "hit"
		if critical = v.Natural == 20 || o.conditions.Has(criticalClose) && feet <= 5; critical {
			v.Result = "critical hit"
		}
	}
	e.tell(v)
	return hit, critical
}

// coverOf returns the cover that a zone gives against attackers outside.
func (e *Encounter) coverOf(f, o *fighter) int {
	if f.zone == o.zone {
		return 0
	}
	return e.zones[o.zone].Cover
}

// deal tells and applies damage.
func (e *Encounter) deal(f, o *fighter, with string, total int, critical bool) {
	e.tell(Event{Kind: "damage", Actor: f.Name, Target: o.Name, With: with, Amount: total, Citation: citeDamage})
	e.hurt(o, total, critical)
}
