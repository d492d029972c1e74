package fifth

import (
	"errors"
	"fmt"
	"strings"

	"loregate/internal/ruleset"
)

// Act is something that a combatant does.
type Act struct {
	Kind  string `json:"kind"`
	Actor string `json:"actor"`
	// Targets are names of combatants: of attack, cast, help and stabilize.
	Targets []string `json:"targets,omitempty"`
	Zone    string   `json:"zone,omitempty"` // of move, and of cast with an area
	With    string   `json:"with,omitempty"` // the attack or spell
	Slot    int      `json:"slot,omitempty"` // the level of the slot; 0: the spell's own
	// Trigger is the circumstance for which ready waits; Then is the act, an attack or a
	// spell. react carries it out.
	Trigger string `json:"trigger,omitempty"`
	Then    *Act   `json:"then,omitempty"`
}

// The kinds of acts.
const (
	actAttack    = "attack"
	actCast      = "cast"
	actMove      = "move"
	actDash      = "dash"
	actDodge     = "dodge"
	actDisengage = "disengage"
	actHelp      = "help"
	actHide      = "hide"
	actReady     = "ready"
	actReact     = "react"
	actStand     = "stand"
	actStabilize = "stabilize"
	actEnd       = "end"
)

// ActKinds returns the kinds of acts.
func ActKinds() []string {
	return []string{actAttack, actCast, actMove, actDash, actDodge, actDisengage, actHelp, actHide, actReady, actReact,
		actStand, actStabilize, actEnd}
}

// errOver is returned for acts after the end.
var errOver = errors.New("the encounter is over")

// Do carries out an act and returns its events. If the rules do not allow it, Do returns an
// error that says why, and nothing changes.
func (e *Encounter) Do(a Act) ([]Event, error) {
	if e.over {
		return nil, errOver
	}
	i := e.fighterOf(a.Actor)
	switch {
	case i < 0:
		return nil, fmt.Errorf("actor: nobody is called %q; it is %s's turn", a.Actor, e.Current())
	case a.Kind != actReact && i != e.order[e.turn]:
		return nil, fmt.Errorf("actor: it is %s's turn", e.Current())
	}
	if err := e.dispatch(i, a); err != nil {
		e.events = nil
		return nil, err
	}
	if e.checkOver(); !e.over && !e.fighters[e.order[e.turn]].hasTurn() {
		e.endTurn(e.order[e.turn])
		e.nextTurn()
	}
	return e.takeEvents(), nil
}

func (e *Encounter) dispatch(i int, a Act) error {
	switch a.Kind {
	case actAttack:
		return e.doAttack(i, a)
	case actCast:
		return e.doCast(i, a)
	case actMove:
		return e.doMove(i, a)
	case actDash, actDodge, actDisengage:
		return e.doSimple(i, a)
	case actHelp:
		return e.doHelp(i, a)
	case actHide:
		return e.doHide(i, a)
	case actReady:
		return e.doReady(i, a)
	case actReact:
		return e.doReact(i, a)
	case actStand:
		return e.doStand(i, a)
	case actStabilize:
		return e.doStabilize(i, a)
	case actEnd:
		return e.doEnd(i, a)
	}
	return fmt.Errorf("kind must be one of %s", strings.Join(ActKinds(), ", "))
}

func (e *Encounter) doEnd(i int, _ Act) error {
	e.endTurn(i)
	e.nextTurn()
	return nil
}

// spendAction takes the action of a turn.
func (f *fighter) spendAction() error {
	if !f.canAct() {
		return fmt.Errorf("kind: %s cannot act; it may move, or end its turn", f.Name)
	}
	if f.acted {
		return fmt.Errorf("kind: %s has already used its action; it may move, use a bonus action, or end its turn", f.Name)
	}
	f.acted = true
	return nil
}

func (e *Encounter) doSimple(i int, a Act) error {
	f := &e.fighters[i]
	if err := f.spendAction(); err != nil {
		return err
	}
	switch a.Kind {
	case actDash:
		f.dashes++
	case actDodge:
		f.dodging = true
	case actDisengage:
		f.disengaged = true
	}
	e.tell(Event{Kind: a.Kind, Actor: f.Name, Citation: citeActions})
	return nil
}

func (e *Encounter) doHelp(i int, a Act) error {
	f := &e.fighters[i]
	t, err := e.oneTarget(a)
	if err != nil {
		return err
	}
	switch {
	case t == f:
		return errors.New("targets: nobody can help themselves")
	case e.distance(f, t) > 5:
		return fmt.Errorf("targets: %s is not within 5 feet", t.Name)
	}
	if err := f.spendAction(); err != nil {
		return err
	}
	t.helped = true
	e.tell(Event{Kind: actHelp, Actor: f.Name, Target: t.Name, Citation: citeActions})
	return nil
}

// doHide compares a Stealth check with the passive Perception of all enemies that can see.
func (e *Encounter) doHide(i int, _ Act) error {
	f := &e.fighters[i]
	if err := f.spendAction(); err != nil {
		return err
	}
	against := 0
	for n := range e.fighters {
		if o := &e.fighters[n]; o.Side != f.Side && o.canAct() && !o.conditions.Has(Blinded) {
			against = max(against, Passive(o.CheckBonus("perception"), ruleset.Straight))
		}
	}
	v := Event{Kind: actHide, Actor: f.Name, Against: against, Result: "seen", Citation: citeActions}
	v.Natural = e.rollCheck(f)
	if v.Total = v.Natural + f.CheckBonus("stealth"); v.Total >= against {
		v.Result, f.hidden = "hidden", true
	}
	e.tell(v)
	return nil
}

func (e *Encounter) doStabilize(i int, a Act) error {
	f := &e.fighters[i]
	t, err := e.oneTarget(a)
	if err != nil {
		return err
	}
	if !t.dying || e.distance(f, t) > 5 {
		return fmt.Errorf("targets: %s is not dying within 5 feet", t.Name)
	}
	if err := f.spendAction(); err != nil {
		return err
	}
	v := Event{Kind: actStabilize, Actor: f.Name, Target: t.Name, Against: 10, Result: "failure",
		Citation: "SRD 5.1: Stabilizing a Creature"}
	v.Natural = e.rollCheck(f)
	if v.Total = v.Natural + f.CheckBonus("medicine"); v.Total >= 10 {
		v.Result, t.dying, t.saved, t.failed = "success", false, 0, 0
	}
	e.tell(v)
	return nil
}

// rollCheck rolls the d20 of an ability check, which help gives advantage.
func (e *Encounter) rollCheck(f *fighter) int {
	m := ruleset.ModeOf(f.helped, f.exhaustion >= 1 || f.conditions.Has(checksWorse))
	f.helped = false
	return rollD20(e.by, m)
}

// doStand spends half the speed to end being prone.
func (e *Encounter) doStand(i int, _ Act) error {
	f := &e.fighters[i]
	cost := f.speed() / 2
	switch {
	case !f.base.Has(Prone):
		return fmt.Errorf("kind: %s is not prone", f.Name)
	case f.speed() == 0 || f.moved+cost > f.mayMove():
		return fmt.Errorf("kind: %s has too little movement left to stand up", f.Name)
	}
	f.moved += cost
	f.base &^= Prone
	e.refresh(f)
	e.tell(Event{Kind: actStand, Actor: f.Name, Citation: citeProne})
	return nil
}

func (f *fighter) mayMove() int { return f.speed() * (1 + f.dashes) }

// doMove moves a fighter to a zone. Those in melee with it make opportunity attacks, unless it
// disengaged. Crawling costs double.
func (e *Encounter) doMove(i int, a Act) error {
	f := &e.fighters[i]
	to := e.zoneOf(a.Zone)
	switch {
	case to < 0:
		return fmt.Errorf("zone: there is no zone %q", a.Zone)
	case to == f.zone:
		return fmt.Errorf("zone: %s is there", f.Name)
	case e.steps[f.zone][to] < 0:
		return fmt.Errorf("zone: no way leads to %q", a.Zone)
	case e.fears(i, to):
		return fmt.Errorf("zone: %s is frightened and cannot move closer to the source of its fear", f.Name)
	}
	cost := e.zoneDistance(f.zone, to)
	if f.conditions.Has(Prone) {
		cost *= 2
	}
	if f.moved+cost > f.mayMove() {
		return fmt.Errorf("zone: it takes %d feet, and %s has %d left; dash gives more", cost, f.Name,
			max(f.mayMove()-f.moved, 0))
	}
	e.tell(Event{Kind: actMove, Actor: f.Name, With: e.zones[to].Name, Citation: citeMovement})
	e.takeOpportunities(i)
	if f.hp == 0 || f.speed() == 0 {
		return nil // stopped by an opportunity attack
	}
	f.moved += cost
	f.zone = to
	f.hidden = false
	e.leaveMelee(f)
	return nil
}

// fears reports whether a zone is nearer to somebody whose spell frightens a fighter.
func (e *Encounter) fears(i, to int) bool {
	for _, x := range e.effects {
		from := e.fighters[x.caster].zone
		if x.target == i && x.condition.Has(Frightened) && e.steps[to][from] < e.steps[e.fighters[i].zone][from] {
			return true
		}
	}
	return false
}

// takeOpportunities makes the opportunity attacks against a fighter that leaves its zone.
func (e *Encounter) takeOpportunities(i int) {
	f := &e.fighters[i]
	if f.disengaged {
		return
	}
	for n := range e.fighters {
		o := &e.fighters[n]
		if f.engaged&(1<<n) == 0 || o.Side == f.Side || o.reacted || o.skips || !o.canAct() ||
			!o.sees(f) || e.isCharmedBy(n, i) || f.hp == 0 {
			continue
		}
		for k := range o.Attacks {
			if w := &o.Attacks[k]; w.Range == 0 {
				o.reacted = true
				e.tell(Event{Kind: "opportunity attack", Actor: o.Name, Target: f.Name, Citation: citeOpportunity})
				e.strike(n, i, w)
				break
			}
		}
	}
}

// doReady keeps an attack or a spell for a trigger. A readied spell spends its slot and needs
// concentration.
func (e *Encounter) doReady(i int, a Act) error {
	f := &e.fighters[i]
	if a.Then == nil || a.Then.Kind != actAttack && a.Then.Kind != actCast {
		return errors.New("then: must be an attack or a spell")
	}
	then := *a.Then
	then.Actor = f.Name
	if a.Trigger == "" || len(a.Trigger) > 200 {
		return errors.New("trigger: must name the awaited event in 1 to 200 bytes")
	}
	if then.Kind == actAttack {
		if _, err := f.chooseAttack(then.With); err != nil {
			return err
		}
		if err := f.spendAction(); err != nil {
			return err
		}
	} else {
		s := f.spell(then.With)
		switch {
		case s == nil:
			return fmt.Errorf("then: %s does not know the spell %q", f.Name, then.With)
		case s.Time != "" && s.Time != timeAction:
			return fmt.Errorf("then: only spells with a casting time of an action can be readied")
		}
		if err := e.pay(f, s, &then); err != nil {
			return err
		}
		e.endConcentration(f)
		f.concentrates = s.Name
	}
	f.ready = &then
	e.tell(Event{Kind: actReady, Actor: f.Name, With: a.Trigger, Citation: citeActions})
	return nil
}

// doReact carries out a readied act, or casts a spell that is cast as a reaction.
// Targets may be given now.
func (e *Encounter) doReact(i int, a Act) error {
	f := &e.fighters[i]
	switch s := f.spell(a.With); {
	case f.reacted || f.skips || !f.canAct():
		return fmt.Errorf("kind: %s has no reaction left", f.Name)
	case s != nil && s.Time == timeReaction:
		return e.castWith(i, s, a)
	case f.ready == nil:
		return fmt.Errorf("kind: %s has readied nothing", f.Name)
	}
	then := *f.ready
	if len(a.Targets) > 0 {
		then.Targets = a.Targets
	}
	if a.Zone != "" {
		then.Zone = a.Zone
	}
	if then.Kind == actAttack {
		return e.strikeReadied(i, then)
	}
	s := f.spell(then.With)
	targets, err := e.spellTargets(i, s, then)
	if err != nil {
		return err
	}
	f.reacted, f.ready = true, nil
	if !s.Concentration {
		f.concentrates = ""
	}
	e.resolve(i, s, targets, then)
	return nil
}

func (e *Encounter) strikeReadied(i int, then Act) error {
	f := &e.fighters[i]
	w, err := f.chooseAttack(then.With)
	if err != nil {
		return err
	}
	targets, err := e.attackTargets(i, then, []*Attack{w})
	if err != nil {
		return err
	}
	f.reacted, f.ready = true, nil
	e.strike(i, targets[0], w)
	return nil
}

// oneTarget returns the only target of an act.
func (e *Encounter) oneTarget(a Act) (*fighter, error) {
	if len(a.Targets) != 1 {
		return nil, errors.New("targets: must be one name")
	}
	n := e.fighterOf(a.Targets[0])
	if n < 0 {
		return nil, fmt.Errorf("targets: nobody is called %q", a.Targets[0])
	}
	return &e.fighters[n], nil
}
