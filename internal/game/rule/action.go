package rule

import (
	"slices"

	"loregate/internal/fault"
	"loregate/internal/slicesx"
)

// Night actions besides a role's ability.
const (
	Mine    = "mine"
	Project = "project"
	Bargain = "bargain"
)

// reportParts are the parts of a report that a hotfix can redact.
var reportParts = []string{"mining", "security", "audit", "operations"}

// pivotChoices is the number of crises that a pivot chooses from.
const pivotChoices = 3

// GiveAction sets a player's action for tonight and replaces an earlier one; the zero Action
// withdraws it.
type GiveAction struct {
	Seat   Seat
	Action Action
}

// Option is an action that a player could take at night, with its legal targets.
type Option struct {
	Action string   `json:"action"`
	Target []Seat   `json:"targets,omitzero"`
	Second []Seat   `json:"seconds,omitzero"` // legal second players
	Both   bool     `json:"both,omitzero"`    // a second player is required
	Picks  []string `json:"picks,omitzero"`
}

func (c GiveAction) emitEvents(t *turn) error {
	if t.Public.Phase != Night || !t.Public.Alive(c.Seat) {
		return t.newIllegal(c.Seat, "night actions are given at night by the living")
	}
	if c.Action != (Action{}) {
		if err := t.checkAction(c); err != nil {
			return err
		}
	}
	if c.Action != t.hiddenOf(c.Seat).Action {
		t.emitEvent(&ActionGiven{c.Seat, c.Action})
	}
	return nil
}

func (t *turn) checkAction(c GiveAction) error {
	a := c.Action
	all := t.Options(c.Seat)
	i := slices.IndexFunc(all, func(o Option) bool { return o.Action == a.Do })
	if i < 0 {
		return t.newIllegal(c.Seat, "you cannot %q tonight", a.Do)
	}
	o := all[i]
	switch {
	case len(o.Target) > 0 && !slices.Contains(o.Target, a.Target):
		return fault.BadField("target", "is one of %s", joinSeats(o.Target))
	case len(o.Target) == 0 && a.Target != 0:
		return fault.BadField("target", "is not for %s", a.Do)
	case (a.Second != 0 || o.Both) && !slices.Contains(o.Second, a.Second):
		return fault.BadField("second", "is one of %s", joinSeats(o.Second))
	case a.Second != 0 && a.Second == a.Target:
		return fault.BadField("second", "is the same player twice")
	case len(o.Picks) > 0 && !slices.Contains(o.Picks, a.Pick):
		return fault.BadField("pick", "is one of %v", o.Picks)
	case len(o.Picks) == 0 && a.Pick != "":
		return fault.BadField("pick", "is not for %s", a.Do)
	}
	return nil
}

// Options returns the night actions of a living player.
func (s *State) Options(seat Seat) []Option {
	p := &s.Public
	others := (&turn{State: *s}).otherSeats(seat)
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
	if o, ok := s.abilityOption(seat, others); ok {
		all = append(all, o)
	}
	return all
}

func (s *State) abilityOption(seat Seat, others []Seat) (Option, bool) {
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
		for _, c := range s.Secret.Deck[:min(pivotChoices, len(s.Secret.Deck))] {
			o.Picks = append(o.Picks, string(c))
		}
		return o, len(o.Picks) > 0
	case PlatformsVP:
		o.Target, o.Picks = nil, reportParts
	}
	return o, true
}

// GiveConversion sets the player that the AI side shall try to convert tonight. If several of the
// side name one, the Original AI's counts, else that of the lowest seat.
type GiveConversion struct {
	Seat, Target Seat // a zero Target withdraws it
}

func (c GiveConversion) emitEvents(t *turn) error {
	targets := t.Convertible(c.Seat)
	if len(targets) == 0 {
		return t.newIllegal(c.Seat, "you cannot convert anybody now")
	}
	if c.Target != 0 && !slices.Contains(targets, c.Target) {
		return fault.BadField("target", "is one of %s", joinSeats(targets))
	}
	if c.Target != t.hiddenOf(c.Seat).Convert {
		t.emitEvent(&ConversionGiven{c.Seat, c.Target})
	}
	return nil
}

// Convertible returns the players that a seat may try to convert tonight; it is empty if the seat
// may not convert.
func (s *State) Convertible(seat Seat) []Seat {
	p := &s.Public
	if p.Phase != Night || !p.Alive(seat) || !s.Machine(seat) || p.Mandate == SecurityLockdown && p.Day%2 == 1 {
		return nil
	}
	return slicesx.Filter(p.Living(), func(other Seat) bool { return !s.Machine(other) })
}
