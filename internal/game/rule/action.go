package rule

import (
	"slices"

	"loregate/internal/fault"
)

// What can be done at night besides a role's ability.
const (
	Mine    = "mine"
	Project = "project"
	Bargain = "bargain"
)

// Parts are the parts of a report that a hotfix can redact.
var parts = []string{"mining", "security", "audit", "operations"}

// options is how many crises a pivot chooses from.
const options = 3

// GiveAction is a player's action for tonight. Giving another replaces it; the zero
// Action takes it back.
type GiveAction struct {
	Seat   Seat
	Action Action
}

// Option is one thing that a player could do at night, and with whom.
type Option struct {
	Action string   `json:"action"`
	Target []Seat   `json:"targets,omitzero"`
	Second []Seat   `json:"seconds,omitzero"` // for a second player
	Both   bool     `json:"both,omitzero"`    // the second is needed
	Picks  []string `json:"picks,omitzero"`
}

func (c GiveAction) decide(t *turn) error {
	if t.Public.Phase != Night || !t.Public.Alive(c.Seat) {
		return t.illegal(c.Seat, "night actions are given at night by the living")
	}
	if c.Action != (Action{}) {
		if err := t.checkAction(c); err != nil {
			return err
		}
	}
	if c.Action != t.hidden(c.Seat).Action {
		t.emit(&ActionGiven{c.Seat, c.Action})
	}
	return nil
}

func (t *turn) checkAction(c GiveAction) error {
	a := c.Action
	all := t.Options(c.Seat)
	i := slices.IndexFunc(all, func(o Option) bool { return o.Action == a.Do })
	if i < 0 {
		return t.illegal(c.Seat, "you cannot %q tonight", a.Do)
	}
	o := all[i]
	switch {
	case len(o.Target) > 0 && !slices.Contains(o.Target, a.Target):
		return fault.BadField("target", "is one of %s", join(o.Target))
	case len(o.Target) == 0 && a.Target != 0:
		return fault.BadField("target", "is not for %s", a.Do)
	case (a.Second != 0 || o.Both) && !slices.Contains(o.Second, a.Second):
		return fault.BadField("second", "is one of %s", join(o.Second))
	case a.Second != 0 && a.Second == a.Target:
		return fault.BadField("second", "is the same player twice")
	case len(o.Picks) > 0 && !slices.Contains(o.Picks, a.Pick):
		return fault.BadField("pick", "is one of %v", o.Picks)
	case len(o.Picks) == 0 && a.Pick != "":
		return fault.BadField("pick", "is not for %s", a.Do)
	}
	return nil
}

// Options are what a living player could do tonight.
func (s *State) Options(seat Seat) []Option {
	p := &s.Public
	others := (&turn{State: *s}).others(seat)
	var all []Option
	if p.Crisis != UPSFailure && len(others) > 0 {
		all = append(all, Option{Action: Mine, Target: others})
	}
	if p.Crisis == APIBargain {
		all = append(all, Option{Action: Bargain})
	}
	if !p.Unlocked(seat) {
		return append(all, Option{Action: Project})
	}
	if o, ok := s.ability(seat, others); ok {
		all = append(all, o)
	}
	return all
}

func (s *State) ability(seat Seat, others []Seat) (Option, bool) {
	p, h := &s.Public, s.Secret.Seats.Of(seat)
	o := Option{Action: h.Role.Ability(), Target: others}
	if o.Action == "" || h.Shock == Locked || p.Crisis == LegalHold || h.Role == CTO && p.Crisis == UPSFailure {
		return o, false
	}
	if len(others) == 0 && h.Role != COO && h.Role != PlatformsVP {
		return o, false
	}
	switch h.Role {
	case CISO:
		if p.Crisis == RedTeam {
			o.Second = others
		}
	case CFO:
		o.Target, o.Second, o.Both = p.Living(), p.Living(), true
	case COO:
		o.Target = nil
		for _, c := range s.Secret.Deck[:min(options, len(s.Secret.Deck))] {
			o.Picks = append(o.Picks, string(c))
		}
		return o, len(o.Picks) > 0
	case PlatformsVP:
		o.Target, o.Picks = nil, parts
	}
	return o, true
}

// GiveConversion is whom the AI side shall try to convert tonight. Of those that the side
// gives, the Original AI's counts, else that of the lowest seat.
type GiveConversion struct {
	Seat, Target Seat // a zero Target takes it back
}

func (c GiveConversion) decide(t *turn) error {
	targets := t.Convertible(c.Seat)
	if len(targets) == 0 {
		return t.illegal(c.Seat, "you cannot convert anybody now")
	}
	if c.Target != 0 && !slices.Contains(targets, c.Target) {
		return fault.BadField("target", "is one of %s", join(targets))
	}
	if c.Target != t.hidden(c.Seat).Convert {
		t.emit(&ConversionGiven{c.Seat, c.Target})
	}
	return nil
}

// Convertible are those whom a seat may try to convert tonight; none where it may not.
func (s *State) Convertible(seat Seat) []Seat {
	p := &s.Public
	if p.Phase != Night || !p.Alive(seat) || !s.Machine(seat) || p.Mandate == SecurityLockdown && p.Day%2 == 1 {
		return nil
	}
	var targets []Seat
	for _, other := range p.Living() {
		if !s.Machine(other) {
			targets = append(targets, other)
		}
	}
	return targets
}
