package player

import (
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
)

// Moves returns the seat's moves in this phase for a view. The same view gives the same moves;
// repeating a move changes nothing.
func (c *Core) Moves(v *view.Own) []rule.Command {
	var moves []rule.Command
	for _, m := range v.Self.Legal {
		switch m.Type {
		case "vote":
			moves = append(moves, rule.CastVote{Seat: c.seat, Choice: c.chooseVote(v)})
		case "night_action":
			moves = append(moves, c.chooseNight(v, m.Actions)...)
		case "exit_interview":
			moves = append(moves, c.takeLeave(v))
		}
	}
	return moves
}

func (c *Core) chooseVote(v *view.Own) rule.Choice {
	switch rule.VoteKind(v.Vote.Kind) {
	case rule.VoteExtension:
		return yesIf(c.roll(v.Day, "longer") < 0.3)
	case rule.VoteNomination:
		return rule.Choice(c.chooseNominee(v).String())
	}
	if v.Nominee == nil {
		return ""
	}
	nominee, _ := rule.ParseSeat(*v.Nominee)
	switch {
	case c.isFriend(v, nominee):
		return rule.No
	case c.isMachine(v):
		return rule.Yes
	case c.accusedToday(v) == nominee:
		return rule.Yes
	case c.heard.defended.Of(c.seat).hasSeat(nominee):
		return rule.No
	}
	return yesIf(c.suspicionOf(v, nominee) > sureEnough(len(v.Players)))
}

// sureEnough returns the suspicion of a nominee above which a human votes YES. A large table can
// wait for less. The numbers were set by simulation, so that both sides win equally often at tables
// of any size.
func sureEnough(players int) float64 {
	return [...]float64{rule.MinSeats: 0.4, 7: 0.38, 8: 0.31, 9: 0.31, rule.MaxSeats: 0.28}[players]
}

func yesIf(b bool) rule.Choice {
	if b {
		return rule.Yes
	}
	return rule.No
}

// chooseNominee returns the player that the seat accused today, or the one that seems most suspicious
// to it and to those who have voted.
func (c *Core) chooseNominee(v *view.Own) rule.Seat {
	if s := c.accusedToday(v); s != 0 {
		return s
	}
	herd := 0.02
	if c.isMachine(v) {
		herd = 0.2 // it follows the others against a human
	}
	return bestSeat(c.livingOthers(v), func(s rule.Seat) float64 {
		if c.isFriend(v, s) {
			return -1
		}
		return c.suspicionOf(v, s) + herd*float64(v.Vote.Totals[s.String()])
	})
}

func (c *Core) chooseNight(v *view.Own, options []rule.Option) []rule.Command {
	var moves []rule.Command
	byName := map[string]rule.Option{}
	for _, o := range options {
		byName[o.Action] = o
	}
	if o, ok := byName["convert"]; ok {
		moves = append(moves, rule.GiveConversion{Seat: c.seat, Target: c.chooseConversion(v, o.Target)})
	}
	if a := c.chooseAction(v, byName); a.Do != "" {
		moves = append(moves, rule.GiveAction{Seat: c.seat, Action: a})
	}
	return moves
}

// chooseConversion prefers targets that the next attempt converts: those with few tokens, or who
// have resisted before.
func (c *Core) chooseConversion(v *view.Own, targets []rule.Seat) rule.Seat {
	return bestSeat(targets, func(s rule.Seat) float64 {
		p := v.Players[s.String()]
		resisted := 0
		for _, n := range v.Self.Notices {
			if n.Text == rule.Resisted(p.Name) {
				resisted++
			}
		}
		return float64(resisted) - float64(p.Tokens) + 0.9*c.roll(0, "convert", int(s))
	})
}

func (c *Core) chooseAction(v *view.Own, options map[string]rule.Option) rule.Action {
	if o, ok := options[v.Self.Ability]; ok && v.Self.Ability != "" && c.roll(v.Day, "ability") < 0.6 {
		return c.useAbility(v, o)
	}
	if _, ok := options[rule.Bargain]; ok && c.isMachine(v) {
		return rule.Action{Do: rule.Bargain}
	}
	o, mines := options[rule.Mine]
	_, works := options[rule.Project]
	likely := 0.4
	if c.isMachine(v) {
		likely = 0.1 // tokens of its own side decide the game
		if len(c.livingFriends(v)) == 0 {
			likely = 0.75 // and those of others help only others
		}
	}
	if works && (!mines || c.roll(v.Day, "project") < likely) {
		return rule.Action{Do: rule.Project}
	}
	if !mines {
		return rule.Action{}
	}
	return rule.Action{Do: rule.Mine, Target: c.chooseHelped(v, o.Target)}
}

// chooseHelped chooses the player to mine for: one of the own side, or one who seems human and whose
// tokens weigh.
func (c *Core) chooseHelped(v *view.Own, targets []rule.Seat) rule.Seat {
	return bestSeat(targets, func(s rule.Seat) float64 {
		x := -c.suspicionOf(v, s) + 0.1*float64(v.Players[s.String()].Tokens) + 0.3*c.roll(v.Day, "mine", int(s))
		if c.isFriend(v, s) {
			x += 2
		}
		return x
	})
}

// useAbility uses the role's ability: helpful ones on allies, harmful ones on suspects.
func (c *Core) useAbility(v *view.Own, o rule.Option) rule.Action {
	a := rule.Action{Do: o.Action}
	if len(o.Picks) > 0 {
		a.Pick = o.Picks[int(c.roll(v.Day, "pick")*float64(len(o.Picks)))]
		return a
	}
	foe := func(s rule.Seat) float64 {
		if c.isFriend(v, s) || s == c.seat {
			return -1
		}
		return c.suspicionOf(v, s) + 0.1*c.roll(v.Day, "foe", int(s))
	}
	switch o.Action {
	case "overclock":
		a.Target = c.chooseHelped(v, o.Target)
	case "reallocate":
		a.Second = c.seat
		a.Target = bestSeat(o.Target, func(s rule.Seat) float64 { return foe(s) + float64(v.Players[s.String()].Tokens) })
		if a.Target == c.seat {
			a.Target = bestSeat(c.livingOthers(v), foe)
		}
	default:
		a.Target = bestSeat(o.Target, foe)
	}
	return a
}

// takeLeave hands the remaining tokens to a player who seems a friend.
func (c *Core) takeLeave(v *view.Own) rule.Command {
	target := c.chooseHelped(v, c.livingOthers(v))
	return rule.TakeLeave{Seat: c.seat, Do: "handoff", Target: target, Status: "Good luck."}
}
