package fifth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// doCast casts a spell.
func (e *Encounter) doCast(i int, a Act) error {
	f := &e.fighters[i]
	s := f.spell(a.With)
	switch {
	case s == nil:
		return fmt.Errorf("with: %s does not know the spell %q", f.Name, a.With)
	case s.Time == timeReaction:
		return errors.New("kind: a spell that is cast as a reaction needs the act react")
	}
	return e.castWith(i, s, a)
}

func (e *Encounter) castWith(i int, s *Spell, a Act) error {
	f := &e.fighters[i]
	targets, err := e.spellTargets(i, s, a)
	if err != nil {
		return err
	}
	if err := e.pay(f, s, &a); err != nil {
		return err
	}
	e.resolve(i, s, targets, a)
	return nil
}

// pay checks the components of a spell and spends the slot and the action. A spell cast as a bonus
// action leaves only cantrips for the action (SRD "Casting Time").
func (e *Encounter) pay(f *fighter, s *Spell, a *Act) error {
	if a.Slot == 0 {
		a.Slot = s.Level
	}
	bonus := s.Time == timeBonus
	switch {
	case !f.canAct():
		return fmt.Errorf("kind: %s cannot act", f.Name)
	case a.Slot < s.Level || s.Level == 0 && a.Slot > 0 || a.Slot > len(f.slots):
		return fmt.Errorf("slot: %s is a spell of level %d", s.Name, s.Level)
	case s.Material != "" && !slices.ContainsFunc(f.Materials, func(m string) bool { return strings.EqualFold(m, s.Material) }):
		return fmt.Errorf("with: %s needs %s, which %s does not carry", s.Name, s.Material, f.Name)
	case a.Slot > 0 && f.slots[a.Slot-1] == 0:
		return fmt.Errorf("slot: %s has no slot of level %d left", f.Name, a.Slot)
	case bonus && f.bonus:
		return fmt.Errorf("with: %s has already used its bonus action", f.Name)
	case bonus && f.castLeveled, s.Time != timeReaction && !bonus && f.castBonus && s.Level > 0:
		return errors.New("with: in a turn with a spell cast as a bonus action, the action can only cast a cantrip")
	}
	switch s.Time {
	case timeReaction:
		f.reacted = true
	case timeBonus:
		f.bonus, f.castBonus = true, true
	default:
		if err := f.spendAction(); err != nil {
			return err
		}
		f.castLeveled = s.Level > 0
	}
	if a.Slot > 0 {
		f.slots[a.Slot-1]--
	}
	return nil
}

// spellTargets returns the indexes of the fighters that a spell reaches.
func (e *Encounter) spellTargets(i int, s *Spell, a Act) (list []int, err error) {
	f := &e.fighters[i]
	if s.Area {
		return e.areaTargets(f, s, a)
	}
	most := max(s.Targets, 1)
	if s.Range == 0 && len(a.Targets) == 0 {
		a.Targets = []string{f.Name}
	}
	if len(a.Targets) == 0 || len(a.Targets) > most {
		return nil, fmt.Errorf("targets: must be 1 to %d names", most)
	}
	for _, name := range a.Targets {
		t := e.fighterOf(name)
		if t < 0 {
			return nil, fmt.Errorf("targets: nobody is called %q", name)
		}
		if s.isHarmful() && e.isCharmedBy(i, t) {
			return nil, fmt.Errorf("targets: %s is charmed by %s and cannot harm it", f.Name, e.fighters[t].Name)
		}
		d := e.distance(f, &e.fighters[t])
		if t == i {
			d = 0
		}
		if d < 0 || d > s.Range {
			return nil, fmt.Errorf("targets: %s is %s, and %s reaches %d feet", name, e.describeDistance(d), s.Name, s.Range)
		}
		list = append(list, t)
	}
	return list, nil
}

// areaTargets returns the fighters in the zone of an area.
func (e *Encounter) areaTargets(f *fighter, s *Spell, a Act) (list []int, err error) {
	zone := f.zone
	if a.Zone != "" {
		zone = e.zoneOf(a.Zone)
	}
	if zone < 0 {
		return nil, fmt.Errorf("zone: there is no zone %q", a.Zone)
	}
	if d := e.zoneDistance(f.zone, zone); zone != f.zone && (d < 0 || d > max(s.Range, 5)) {
		return nil, fmt.Errorf("zone: it is %s, and %s reaches %d feet", e.describeDistance(d), s.Name, s.Range)
	}
	for n := range e.fighters {
		o := &e.fighters[n]
		if o.zone == zone && !o.dead && (o != f || s.Range > 0) {
			list = append(list, n)
		}
	}
	return list, nil
}

// resolve carries out the effects of a spell that has been paid for.
func (e *Encounter) resolve(i int, s *Spell, targets []int, a Act) {
	f := &e.fighters[i]
	e.tell(Event{Kind: actCast, Actor: f.Name, With: s.Name, Amount: a.Slot, Citation: citeCasting})
	if s.Concentration {
		if f.concentrates != s.Name {
			e.endConcentration(f)
		}
		f.concentrates = s.Name
	}
	damage := s.damageAt(a.Slot, max(f.Level, 1))
	var rolled []int // an area rolls its damage once for all
	if !s.Attack {
		for n, d := range damage {
			rolled = append(rolled, s.rollDamage(e.by, n, d, a.Slot, 1))
		}
	}
	for _, t := range targets {
		e.resolveOn(i, t, s, a, damage, rolled)
	}
	f.hidden = f.hidden && !s.isHarmful()
	if s.Concentration && s.Condition != "" && !e.hasEffectOf(i) {
		f.concentrates = "" // nobody is affected
	}
}

func (e *Encounter) resolveOn(i, t int, s *Spell, a Act, damage []Damage, rolled []int) {
	f, o := &e.fighters[i], &e.fighters[t]
	feet := e.distance(f, o)
	times, saved := 1, false
	switch {
	case o.dead:
		return
	case s.Attack:
		if s.Melee && feet <= 5 {
			f.engaged |= 1 << t
			o.engaged |= 1 << i
		}
		hit, critical := e.rollAttack(f, o, s.Name, f.SpellAttack, e.attackMode(f, o, s.Melee, feet), feet)
		if !hit {
			return
		}
		if critical {
			times = 2
		}
	case s.Save != nil:
		cover := 0
		if *s.Save == Dexterity {
			cover = e.coverOf(f, o)
		}
		saved = e.rollSave(o, *s.Save, s.saveDC(f), cover, s.Name)
	}
	if s.Heal {
		e.heal(o, s.rollDamage(e.by, 0, s.Healing, a.Slot, 1)+f.SpellBonus)
	}
	if len(damage) > 0 && (!saved || s.Half) {
		e.dealSpell(f, o, s, a, damage, rolled, times, saved)
	}
	if s.Condition != "" && !saved {
		e.afflict(i, t, s)
	}
}

// isHarmful reports whether a spell attacks its targets.
func (s *Spell) isHarmful() bool {
	return s.Attack || s.Save != nil || len(s.Damage) > 0 || s.Condition != ""
}

// saveDC returns the difficulty class of a spell's saving throw.
func (s *Spell) saveDC(f *fighter) int {
	if s.DC > 0 {
		return s.DC
	}
	return f.SpellDC
}

// dealSpell deals the damage of a spell to one target.
func (e *Encounter) dealSpell(f, o *fighter, s *Spell, a Act, damage []Damage, rolled []int, times int, saved bool) {
	total := 0
	for n, d := range damage {
		amount := 0
		if s.Attack {
			amount = s.rollDamage(e.by, n, d, a.Slot, times)
		} else {
			amount = rolled[n]
		}
		if saved {
			amount /= 2
		}
		total += max(o.damageOf(amount, d.Type, o.conditions.Has(Petrified)), 0)
	}
	e.deal(f, o, s.Name, total, times > 1)
}

// afflict puts the condition of a spell on a target.
func (e *Encounter) afflict(i, t int, s *Spell) {
	o := &e.fighters[t]
	c, _ := ParseCondition(s.Condition) // checked with the creature
	v := Event{Kind: "condition", Actor: o.Name, With: s.Condition, Citation: citeConditions}
	if o.isImmuneTo(c) || o.dead {
		v.Result = "immune"
		e.tell(v)
		return
	}
	x := effect{spell: s.Name, caster: i, target: t, condition: c, until: e.round + max(s.Rounds, 1),
		concentration: s.Concentration}
	if s.SaveAgain {
		x.save, x.dc = s.Save, s.saveDC(&e.fighters[i])
	}
	e.effects = append(e.effects, x)
	e.refresh(o)
	e.tell(v)
}
