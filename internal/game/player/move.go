package player

import (
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Moves are what the seat does in this phase, given what it sees. Asking again gives the
// same, unless what it sees has changed; doing the same again changes nothing.
func (c *Core) Moves(v *view.Own) []rule.Command {
	var moves []rule.Command
	for _, m := range v.Self.Legal {
		switch m.Type {
		case "vote":
			moves = append(moves, rule.CastVote{Seat: c.seat, Choice: c.vote(v)})
		case "night_action":
			moves = append(moves, c.night(v, m.Actions)...)
		case "exit_interview":
			moves = append(moves, c.leave(v))
		}
	}
	return moves
}

func (c *Core) vote(v *view.Own) rule.Choice {
	switch rule.VoteKind(v.Vote.Kind) {
	case rule.VoteExtension:
		return yesIf(c.roll(v.Day, "longer") < 0.3)
	case rule.VoteNomination:
		return rule.Choice(c.nominate(v).String())
	}
	if v.Nominee == nil {
		return ""
	}
	nominee, _ := rule.ParseSeat(*v.Nominee)
	if c.machine(v) {
		return yesIf(!c.friend(v, nominee))
	}
	return yesIf(c.suspicion(v, nominee)+0.3*c.roll(v.Day, "verdict", int(nominee)) > sureEnough(len(v.Players)))
}

// sureEnough is how suspicious a nominee must be for a human's YES. A large table can
// wait for more. The numbers were set by simulation, so that neither side wins much more
// often than the other at tables of any size.
func sureEnough(players int) float64 { return 0.5 + 0.035*float64(players-rule.MinSeats) }

func yesIf(b bool) rule.Choice {
	if b {
		return rule.Yes
	}
	return rule.No
}

func (c *Core) nominate(v *view.Own) rule.Seat {
	return best(c.living(v), func(s rule.Seat) float64 {
		if c.friend(v, s) {
			return -1
		}
		return c.suspicion(v, s) + 0.02*float64(v.Vote.Totals[s.String()])
	})
}

func (c *Core) night(v *view.Own, options []rule.Option) []rule.Command {
	var moves []rule.Command
	byName := map[string]rule.Option{}
	for _, o := range options {
		byName[o.Action] = o
	}
	if o, ok := byName["convert"]; ok {
		moves = append(moves, rule.GiveConversion{Seat: c.seat, Target: c.convert(v, o.Target)})
	}
	if a := c.action(v, byName); a.Do != "" {
		moves = append(moves, rule.GiveAction{Seat: c.seat, Action: a})
	}
	return moves
}

// convert goes for those whom few tokens protect, and stays with its choice.
func (c *Core) convert(v *view.Own, targets []rule.Seat) rule.Seat {
	return best(targets, func(s rule.Seat) float64 {
		return -float64(v.Players[s.String()].Tokens) + 0.9*c.roll(0, "convert", int(s))
	})
}

func (c *Core) action(v *view.Own, options map[string]rule.Option) rule.Action {
	if o, ok := options[v.Self.Ability]; ok && v.Self.Ability != "" && c.roll(v.Day, "ability") < 0.6 {
		return c.ability(v, o)
	}
	if _, ok := options[rule.Bargain]; ok && c.machine(v) {
		return rule.Action{Do: rule.Bargain}
	}
	o, mines := options[rule.Mine]
	_, works := options[rule.Project]
	if works && (!mines || c.roll(v.Day, "project") < 0.4) {
		return rule.Action{Do: rule.Project}
	}
	if !mines {
		return rule.Action{}
	}
	return rule.Action{Do: rule.Mine, Target: c.helped(v, o.Target)}
}

// helped is whom to mine for: the own side, or who seems human and has little.
func (c *Core) helped(v *view.Own, targets []rule.Seat) rule.Seat {
	return best(targets, func(s rule.Seat) float64 {
		x := -c.suspicion(v, s) - 0.2*float64(v.Players[s.String()].Tokens) + 0.3*c.roll(v.Day, "mine", int(s))
		if c.friend(v, s) {
			x += 2
		}
		return x
	})
}

// ability uses the role: helping what helps one's own, hurting whom one suspects.
func (c *Core) ability(v *view.Own, o rule.Option) rule.Action {
	a := rule.Action{Do: o.Action}
	if len(o.Picks) > 0 {
		a.Pick = o.Picks[int(c.roll(v.Day, "pick")*float64(len(o.Picks)))]
		return a
	}
	foe := func(s rule.Seat) float64 {
		if c.friend(v, s) || s == c.seat {
			return -1
		}
		return c.suspicion(v, s) + 0.1*c.roll(v.Day, "foe", int(s))
	}
	switch o.Action {
	case "overclock":
		a.Target = c.helped(v, o.Target)
	case "reallocate":
		a.Second = c.seat
		a.Target = best(o.Target, func(s rule.Seat) float64 { return foe(s) + float64(v.Players[s.String()].Tokens) })
		if a.Target == c.seat {
			a.Target = best(c.living(v), foe)
		}
	default:
		a.Target = best(o.Target, foe)
	}
	return a
}

// leave takes the last chance to help: what is left goes to who seems a friend.
func (c *Core) leave(v *view.Own) rule.Command {
	target := c.helped(v, c.living(v))
	return rule.TakeLeave{Seat: c.seat, Do: "handoff", Target: target, Status: "Good luck."}
}
