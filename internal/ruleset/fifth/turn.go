package fifth

import "loregate/internal/ruleset"

// nextTurn ends turns until somebody can act, or the encounter is over.
func (e *Encounter) nextTurn() {
	for tried := 0; !e.over; tried++ {
		if tried > 2*len(e.order)*maxIdleRounds { // all are helpless, and nothing ends it
			e.over = true
			return
		}
		if e.turn++; e.turn == len(e.order) {
			e.turn = 0
			e.round++
		}
		i := e.order[e.turn]
		if e.fighters[i].dead {
			continue
		}
		e.beginTurn(i)
		if f := &e.fighters[i]; f.hasTurn() && !f.skips {
			e.tell(Event{Kind: "turn", Actor: f.Name})
			return
		}
		e.endTurn(i)
	}
}

// maxIdleRounds is the number of rounds without any act after which an encounter ends: conditions
// last a minute at most, which is 10 rounds.
const maxIdleRounds = 11

// beginTurn resets a fighter's actions, ends its spells whose time is over, and makes a death
// saving throw.
func (e *Encounter) beginTurn(i int) {
	f := &e.fighters[i]
	if f.ready != nil && f.ready.Kind == actCast && f.concentrates == f.ready.With {
		f.concentrates = "" // the readied spell is lost
	}
	f.acted, f.bonus, f.reacted, f.castBonus, f.castLeveled = false, false, false, false, false
	f.moved, f.dashes, f.dodging, f.disengaged, f.ready = 0, 0, false, false, nil
	for n := len(e.effects) - 1; n >= 0; n-- {
		if x := e.effects[n]; x.caster == i && x.until <= e.round {
			e.endEffect(n)
		}
	}
	if f.dying {
		e.rollDeathSave(f)
	}
}

// endTurn lets a fighter save again against conditions, and ends its surprise.
func (e *Encounter) endTurn(i int) {
	f := &e.fighters[i]
	f.skips, f.helped = false, false
	for n := len(e.effects) - 1; n >= 0 && !f.dead; n-- {
		if n >= len(e.effects) {
			continue
		}
		if x := e.effects[n]; x.target == i && x.save != nil && e.rollSave(f, *x.save, x.dc, 0, x.spell) {
			e.endEffect(n)
		}
	}
	e.checkOver()
}

// rollDeathSave makes a death saving throw: 10 or more succeeds, 1 fails twice, 20 revives.
func (e *Encounter) rollDeathSave(f *fighter) {
	v := Event{Kind: "death save", Actor: f.Name, Natural: rollD20(e.by, ruleset.ModeOf(false, f.exhaustion >= 3)),
		Against: 10, Citation: citeDeath}
	v.Total = v.Natural
	switch {
	case v.Natural == 20:
		v.Result = "revived"
		e.tell(v)
		e.heal(f, 1)
		return
	case v.Natural == 1:
		v.Result, f.failed = "two failures", f.failed+2
	case v.Natural < 10:
		v.Result, f.failed = "failure", f.failed+1
	default:
		v.Result, f.saved = "success", f.saved+1
	}
	e.tell(v)
	switch {
	case f.failed >= 3:
		e.kill(f)
	case f.saved >= 3:
		f.dying, f.saved, f.failed = false, 0, 0
		e.tell(Event{Kind: "stable", Actor: f.Name, Citation: citeDeath})
	}
}

// kill marks a fighter as dead and ends its spells.
func (e *Encounter) kill(f *fighter) {
	f.dead, f.dying, f.hp = true, false, 0
	e.tell(Event{Kind: "death", Actor: f.Name, Citation: citeDeath})
	e.endConcentration(f)
	e.leaveMelee(f)
}

// hurt applies damage. melee critical hits on the dying count as two failures.
func (e *Encounter) hurt(f *fighter, amount int, critical bool) {
	if f.dead {
		return
	}
	if amount == 0 {
		return
	}
	soaked := min(f.temp, amount)
	f.temp -= soaked
	amount -= soaked
	if f.hp == 0 {
		e.hurtDying(f, amount, critical)
		return
	}
	rest := amount - f.hp
	f.hp = max(f.hp-amount, 0)
	switch {
	case f.hp > 0:
		e.testConcentration(f, amount+soaked)
	case f.Mortal || rest >= f.maxHP():
		e.kill(f)
	default:
		f.dying, f.saved, f.failed = true, 0, 0
		f.base |= Unconscious | Prone
		e.refresh(f)
		e.tell(Event{Kind: "falls", Actor: f.Name, Citation: "SRD 5.1: Falling Unconscious"})
		e.endConcentration(f)
		e.leaveMelee(f)
	}
}

// hurtDying counts damage at 0 hit points as a failed death saving throw, a critical hit as two.
func (e *Encounter) hurtDying(f *fighter, amount int, critical bool) {
	if amount == 0 {
		return
	}
	if f.dying = true; amount >= f.maxHP() {
		e.kill(f)
		return
	}
	if f.failed++; critical {
		f.failed++
	}
	if f.failed >= 3 {
		e.kill(f)
	}
}

// maxHP returns the maximum of hit points, which exhaustion of level 4 halves.
func (f *fighter) maxHP() int {
	if f.exhaustion >= 4 {
		return max(f.HitPoints/2, 1)
	}
	return f.HitPoints
}

// heal restores hit points, up to the maximum. It wakes the dying and does nothing for the dead.
func (e *Encounter) heal(f *fighter, amount int) {
	if f.dead || amount <= 0 {
		return
	}
	before := f.hp
	if f.hp = max(min(f.hp+amount, f.maxHP()), f.hp); before == 0 {
		f.dying, f.saved, f.failed = false, 0, 0
		f.base &^= Unconscious
		e.refresh(f)
	}
	e.tell(Event{Kind: "heal", Actor: f.Name, Amount: f.hp - before, Citation: citeHealing})
}

// rollSave makes a saving throw. bonus comes from cover.
func (e *Encounter) rollSave(f *fighter, a Ability, dc, bonus int, against string) bool {
	v := Event{Kind: "save", Actor: f.Name, With: against, Against: dc, Result: "failure", Citation: citeSave}
	if f.conditions.Has(failsStrDex) && (a == Strength || a == Dexterity) {
		v.Result = "fails by its condition"
		e.tell(v)
		return false
	}
	dex := a == Dexterity
	m := ruleset.ModeOf(dex && f.dodging && f.canAct() && f.speed() > 0,
		dex && f.conditions.Has(Restrained) || f.exhaustion >= 3)
	v.Natural = rollD20(e.by, m)
	v.Total = v.Natural + f.SaveBonus(a) + bonus
	if v.Total >= dc {
		v.Result = "success"
	}
	e.tell(v)
	return v.Total >= dc
}

// testConcentration makes the saving throw of a concentrating fighter that took damage.
func (e *Encounter) testConcentration(f *fighter, damage int) {
	if f.concentrates != "" && !e.rollSave(f, Constitution, max(10, damage/2), 0, f.concentrates) {
		e.endConcentration(f)
	}
}

// endConcentration ends the spell that a fighter concentrates on.
func (e *Encounter) endConcentration(f *fighter) {
	if f.concentrates == "" {
		return
	}
	e.tell(Event{Kind: "concentration ends", Actor: f.Name, With: f.concentrates, Citation: citeConcentration})
	f.concentrates = ""
	if f.ready != nil && f.ready.Kind == actCast {
		f.ready = nil
	}
	for n := len(e.effects) - 1; n >= 0; n-- {
		if x := e.effects[n]; x.concentration && &e.fighters[x.caster] == f {
			e.endEffect(n)
		}
	}
}

// endEffect removes an effect and the condition that it kept.
func (e *Encounter) endEffect(n int) {
	x := e.effects[n]
	e.effects = append(e.effects[:n:n], e.effects[n+1:]...)
	f := &e.fighters[x.target]
	e.refresh(f)
	e.tell(Event{Kind: "condition ends", Actor: f.Name, With: x.condition.Names()[0], Citation: citeConditions})
	if x.concentration && e.fighters[x.caster].concentrates == x.spell && !e.hasEffectOf(x.caster) {
		e.fighters[x.caster].concentrates = ""
	}
}

func (e *Encounter) hasEffectOf(caster int) bool {
	for _, x := range e.effects {
		if x.caster == caster && x.concentration {
			return true
		}
	}
	return false
}

// refresh computes a fighter's conditions again.
func (e *Encounter) refresh(f *fighter) {
	c := f.base
	for _, x := range e.effects {
		if &e.fighters[x.target] == f {
			c |= x.condition
		}
	}
	f.conditions = c.withImplied()
	if f.conditions.Has(noActions) {
		f.hidden, f.dodging, f.ready = false, false, nil
		e.endConcentration(f)
	}
}

// leaveMelee ends all melee of a fighter.
func (e *Encounter) leaveMelee(f *fighter) {
	f.engaged = 0
	for i := range e.fighters {
		if &e.fighters[i] == f {
			for j := range e.fighters {
				e.fighters[j].engaged &^= 1 << i
			}
		}
	}
}

// checkOver ends the encounter if the fighters that are not down or dead are of one side.
func (e *Encounter) checkOver() {
	winner, sides := "", 0
	for i := range e.fighters {
		if f := &e.fighters[i]; f.hp > 0 && f.Side != winner {
			winner = f.Side
			sides++
		}
	}
	if sides > 1 || e.over {
		return
	}
	e.over, e.winner = true, winner
	e.tell(Event{Kind: "end", Result: winner})
}
